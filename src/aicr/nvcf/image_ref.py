"""What an image reference names, for the modules of this floor (``aicr.artifact.image_ref``)."""

from __future__ import annotations

from aicr.artifact.image_ref import DIGEST, DOCKER_HUB, ImageRef, parse_image

__all__ = ["DIGEST", "DOCKER_HUB", "ImageRef", "parse_image"]
