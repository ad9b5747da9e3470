"""Upgrade safety for GPU clusters: recipes, upgrade checks, bundles."""

from __future__ import annotations

__version__ = "0.1.0"
