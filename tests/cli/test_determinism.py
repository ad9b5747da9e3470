"""The same input gives the same bytes, whatever the surroundings are."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from command import COMMAND
from small_catalog import simple

SURROUNDINGS = [
    {"PYTHONHASHSEED": "0"},
    {"PYTHONHASHSEED": "1"},
    {"LC_ALL": "C", "LANG": "C"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "ascii"},
    {"TZ": "Asia/Kathmandu"},
    {"COLUMNS": "20", "TERM": "dumb", "NO_COLOR": "1"},
    {"HOME": "/nowhere", "XDG_CACHE_HOME": "/nowhere"},
]


@pytest.mark.parametrize(
    "arguments",
    [
        ["recipe", "--service", "eks", "--catalog", "catalog"],
        ["recipe", "--service", "eks", "--catalog", "catalog", "-t", "json"],
        ["recipe", "--service", "eks", "--catalog", "catalog", "-t", "table"],
        ["recipe", "list", "--catalog", "catalog"],
        ["recipe", "--service", "eks", "--accelerator", "h100", "--intent", "training"],
    ],
    ids=" ".join,
)
def test_same_bytes(tmp_path: Path, arguments: list[str]) -> None:
    components = [{"name": "a", "namespace": "naïve-日本", "overrides": {"x": "é", "y": [1, 2]}}]
    simple(*components).write(tmp_path / "catalog")
    seen: set[bytes] = set()
    for surrounding in SURROUNDINGS:
        done = subprocess.run(
            [*COMMAND, *arguments], cwd=tmp_path, env={**os.environ, **surrounding},
            capture_output=True,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b"")
        seen.add(done.stdout)
    assert len(seen) == 1
    assert b"\r" not in next(iter(seen))
