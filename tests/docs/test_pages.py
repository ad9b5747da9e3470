"""The examples of the pages run, and print what the pages say.

A fence ``yaml file=PATH`` is a file. A fence ``console`` has commands after ``$ `` and what they
print (standard output, then standard error; ``...`` stands for anything), with ``[exit N]`` where
that is not 0.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("bring-your-own-catalog.md", "keep-what-you-deployed.md")
_FENCE = re.compile(r"^```(\S+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An ``aicr`` on PATH that is the one under test, and no settings of the user."""
    tools = tmp_path / "tools"
    tools.mkdir()
    command = tools / "aicr"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m aicr "$@"\n')
    command.chmod(0o755)
    found = {key: value for key, value in os.environ.items() if not key.startswith("AICR_")}
    return {**found, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}


def examples(text: str) -> list[tuple[str, str]]:
    """Commands of a ``console`` fence, each with what it prints."""
    found: list[tuple[str, str]] = []
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        found.append((command, output))
    return found


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page(page: str, tmp_path: Path, environment: dict[str, str]) -> None:
    here = tmp_path / "here"
    here.mkdir()
    ran = 0
    for kind, file, body in _FENCE.findall((DOCS / page).read_text("utf-8")):
        if file:
            (here / file).parent.mkdir(parents=True, exist_ok=True)
            (here / file).write_text(body, "utf-8")
        elif kind == "console":
            for command, expected in examples(body):
                done = subprocess.run(
                    ["sh", "-c", command], cwd=here, env=environment, capture_output=True, text=True
                )
                printed = done.stdout + done.stderr
                if done.returncode:
                    printed += f"[exit {done.returncode}]\n"
                pattern = ".*".join(map(re.escape, expected.split("...")))
                assert re.fullmatch(pattern, printed), f"{page}: {command}\n{printed}"
                ran += 1
    assert ran > 3
