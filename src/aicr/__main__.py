"""``python -m aicr``: the same as the command ``aicr``."""

from __future__ import annotations

from aicr.cli.main import run

if __name__ == "__main__":
    run()
