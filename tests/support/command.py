"""Runs ``aicr`` as its users do: another process, streams, an exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

COMMAND = (sys.executable, "-m", "aicr")


def run_aicr(
    *arguments: str | Path,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float = 60,
) -> subprocess.CompletedProcess[str]:
    """The finished command; ``env`` is added to this process's environment."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        env={**os.environ, **(env or {})},
        cwd=cwd,
        timeout=timeout,
        capture_output=True,
        encoding="utf-8",
    )


def assert_fails(done: subprocess.CompletedProcess[str], code: int, *parts: str) -> None:
    """The command failed with this exit code and one error message that has these parts."""
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("aicr: error: ")
    assert done.stderr.count("aicr: error: ") == 1
    assert "Traceback" not in done.stderr
    for part in parts:
        assert part in done.stderr
