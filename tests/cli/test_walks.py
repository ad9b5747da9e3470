"""The walks in the documentation, run as they are written: each line shown is in the output."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from aicr.cli.main import main

ROOT = Path(__file__).parents[2]
PAGES = ("upgrade-plan.md", "fleet.md")
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


def walk(page: str) -> list[tuple[str, list[str]]]:
    """The commands of a page, each with the lines that are shown of its output."""
    found: list[tuple[str, list[str]]] = []
    for block in BLOCK.findall((ROOT / "docs" / page).read_text()):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif line:
                found[-1][1].append(line)
    return found


@pytest.mark.parametrize("page", PAGES)
def test_a_walk(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path / "examples")
    commands = walk(page)
    assert len(commands) > 3
    for command, shown in commands:
        name, *arguments = shlex.split(command)
        assert name == "aicr"
        code = main(arguments)
        out = capsys.readouterr().out
        assert shown[-1] == f"(exit {code})", command
        at = 0
        for line in shown[:-1]:
            assert line in out[at:], f"{command}: {line}"
            at = out.index(line, at)
