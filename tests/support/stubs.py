"""Stand-ins for helm and kubectl that record how they were called."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

_STUB = """\
#!{python}
import json, os, sys
with open({log!r}, "a") as file:
    file.write(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:]]) + "\\n")
fails = os.environ.get("STUB_FAILS")
sys.exit(int(os.environ.get("STUB_CODE", "1")) if fails and fails in sys.argv else 0)
"""


class Stubs:
    """A folder to put first on PATH; ``calls`` is what the stand-ins were called with."""

    def __init__(self, root: Path, *names: str) -> None:
        self.bin = root / "bin"
        self.log = root / "calls"
        self.bin.mkdir(parents=True)
        for name in names:
            file = self.bin / name
            file.write_text(_STUB.format(python=sys.executable, log=str(self.log)))
            file.chmod(0o755)

    @property
    def calls(self) -> list[list[str]]:
        if not self.log.exists():
            return []
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def run(
        self, *command: str | Path, cwd: Path, fails: str = "", code: int = 1
    ) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PATH": f"{self.bin}:/usr/bin:/bin", "CDPATH": "/tmp:."}
        env |= {"STUB_FAILS": fails, "STUB_CODE": str(code)}
        return subprocess.run(
            list(map(str, command)), cwd=cwd, env=env, capture_output=True, encoding="utf-8",
            timeout=60,
        )  # fmt: skip
