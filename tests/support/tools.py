"""The tools of the field that some tests use: found, skipped for, or (in CI) demanded."""

from __future__ import annotations

import os
import shutil

import pytest

# Read once: the tests' environment is cleared of the project's own variables later on.
DEMANDED = frozenset(os.environ.get("DEMANDED_TOOLS", "").split())


def tool(name: str, variable: str = "") -> str:
    """The path of a tool: what ``variable`` names, else the one on PATH.

    Skips the test where it is missing, and fails it where ``DEMANDED_TOOLS`` lists it.
    """
    path = (os.environ.get(variable) if variable else None) or shutil.which(name)
    if path is None:
        if name in DEMANDED:
            pytest.fail(f"{name} is demanded (DEMANDED_TOOLS) and is not on PATH")
        pytest.skip(f"{name} is not installed")
    return path
