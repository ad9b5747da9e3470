"""What the README and the examples show is what the commands print today."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


def load_tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_printed_report_is_the_command_s() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert load_tool("readme").filled(text) == text, "run: python tools/readme.py"


def test_the_two_commands_come_first() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    first = text.index("```")
    assert text[first : text.index("```", first + 3)].split()[1:3] == ["make", "demo"]
    assert "make test" in text[first : first + 200]


def test_every_linked_page_is_there() -> None:
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_examples_are_as_generated(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, str(ROOT / "tools" / "make_examples.py"), str(tmp_path)], check=True
    )
    written = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.yaml"))
    assert written
    for path in written:
        assert (ROOT / "examples" / path).read_bytes() == (tmp_path / path).read_bytes(), (
            f"run: python tools/make_examples.py ({path})"
        )
