"""``python -m aicr``: the same as the command ``aicr``."""

from __future__ import annotations

import sys

from aicr.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
