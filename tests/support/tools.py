"""The tools of the field that some tests use: found, skipped for, or (in CI) demanded."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable

import pytest

# Read once: the tests' environment is cleared of the project's own variables later on.
DEMANDED = frozenset(os.environ.get("DEMANDED_TOOLS", "").split())


def tool(
    name: str,
    variable: str = "",
    *,
    needed: bool = False,
    accepts: Callable[[str], bool] = lambda path: True,
) -> str:
    """The path of a tool: what ``variable`` names, else the first on PATH, or beside this
    interpreter, that ``accepts`` takes (another program may have the name).

    Skips the test where it is missing, and fails it where ``DEMANDED_TOOLS`` lists it or it is
    ``needed``: a dependency of the tests.
    """
    path = find_tool(name, variable, accepts=accepts)
    if path is None:
        if needed:
            pytest.fail(f"{name} is not installed: pip install -e '.[test]'")
        pytest.skip(f"{name} is not installed")
    return path


def find_tool(
    name: str, variable: str = "", *, accepts: Callable[[str], bool] = lambda path: True
) -> str | None:
    """The same; None where it is missing, for a test that has another way then."""
    given = os.environ.get(variable) if variable else None
    if given:
        return given
    folders = [*os.environ.get("PATH", "").split(os.pathsep), os.path.dirname(sys.executable)]
    for folder in folders:
        path = shutil.which(name, path=folder)
        if path is not None and accepts(path):
            return path
    if name in DEMANDED:
        pytest.fail(f"{name} is demanded (DEMANDED_TOOLS) and is not on PATH")
    return None
