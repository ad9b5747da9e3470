"""Many clients at once, with all that there is: a short form of ``tools/bench_server.py``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools" / "bench_server.py"


def test_a_short_storm() -> None:
    done = subprocess.run(
        [sys.executable, str(TOOL), "--clients", "200", "--seconds", "4"],
        capture_output=True,
        encoding="utf-8",
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 errors" in done.stdout
