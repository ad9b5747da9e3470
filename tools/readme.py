"""Fills the generated blocks of README.md; ``--check`` only says whether they are as generated."""

from __future__ import annotations

import contextlib
import io
import os
import sys

from aicr.cli.main import main as aicr

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
README = os.path.join(ROOT, "README.md")
COMMAND = ["upgrade-check", "--from", "examples/eks-h100-training-v0.21.1.yaml", "--deployer",
           "helm"]  # fmt: skip
LINES = 44
BEGIN, END = "<!-- report -->\n", "<!-- /report -->"


def report() -> str:
    """The first lines of what the command in the README prints."""
    here = os.getcwd()
    out = io.StringIO()
    try:
        os.chdir(ROOT)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            aicr(COMMAND)
    finally:
        os.chdir(here)
    return "".join(out.getvalue().splitlines(keepends=True)[:LINES])


def filled(text: str) -> str:
    """The README with its report block generated anew."""
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    return f"{head}{BEGIN}```\n{report()}```\n{END}{tail}"


def main(arguments: list[str]) -> int:
    with open(README, encoding="utf-8") as file:
        text = file.read()
    wanted = filled(text)
    if arguments == ["--check"]:
        return 0 if wanted == text else 1
    with open(README, "w", encoding="utf-8") as file:
        file.write(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
