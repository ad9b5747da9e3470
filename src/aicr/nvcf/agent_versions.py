"""Which class a version of the NVCA agent is in: by a table, for the order of versions alone does
not tell which trains have the correction.

    version = ["v"] N "." N "." N ["-hotfix." N]

Anything else, such as ``-rc.1``, is no version that this table knows.
"""

from __future__ import annotations

import re

FIXED = "fixed"
AFFECTED = "affected"
UNKNOWN_TRAIN = "unknown-train"
UNVERIFIED = "unverified"
CORRECTED = "corrected"
FIX = "3.10.3"
_TRAIN = (3, 10)
_FIRST_FIXED = 3
_VERSION = re.compile(r"v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-hotfix\.(0|[1-9]\d*))?")


def parts_of(version: str) -> tuple[int, int, int, int] | None:
    """Major, minor, patch and hotfix (0 for none); None for what is no such version."""
    found = _VERSION.fullmatch(version)
    if found is None:
        return None
    major, minor, patch, hotfix = found.groups()
    return int(major), int(minor), int(patch), int(hotfix or 0)


def class_of(version: str, corrected: str = "") -> str:
    """The class of one version. ``corrected`` is the version that a guide names for another
    train: exact, and without effect on a version that is known to be affected."""
    parts = parts_of(version)
    if parts is None:
        return UNVERIFIED
    if parts[:2] == _TRAIN:
        return FIXED if parts[2] >= _FIRST_FIXED else AFFECTED
    return CORRECTED if corrected and parts == parts_of(corrected) else UNKNOWN_TRAIN


def same(one: str, other: str) -> bool:
    """Whether two texts name one version."""
    return parts_of(one) == parts_of(other) if parts_of(one) else one == other
