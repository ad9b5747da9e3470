"""What a hot command imports: the time of a cold start is the time of its imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import aicr
from command import run_aicr

HEAVY = {
    "asyncio", "concurrent.futures", "contextlib", "ctypes", "dataclasses", "datetime", "decimal",
    "difflib", "email", "hashlib", "http", "importlib.metadata", "importlib.resources", "inspect",
    "logging", "pathlib", "pkgutil", "platform", "pprint", "random", "select",
    "selectors", "shutil", "signal", "socket", "ssl", "subprocess", "tempfile", "textwrap",
    "threading", "tokenize", "traceback", "typing", "typing_extensions", "unittest", "urllib",
    "uuid", "xml", "zipfile", "jsonschema", "kubernetes", "msgspec", "nats", "pydantic",
}  # fmt: skip

# Without site: what an environment's own start-up imports is not of this command's doing.
PROGRAM = """\
import sys
before = set(sys.modules)
from aicr.cli.main import main
code = main(sys.argv[1:])
import json
print(json.dumps([code, sorted(set(sys.modules) - before)]), file=sys.stderr)
"""


def imported(*arguments: str | Path) -> set[str]:
    places = [os.path.dirname(os.path.dirname(module.__file__)) for module in (aicr, yaml)
              if module.__file__]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        encoding="utf-8",
    )
    code, modules = json.loads(done.stderr.splitlines()[-1])
    assert code in (0, 2), done.stderr
    return set(modules)


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("recipe") / "r.yaml"
    ask = ("recipe", "--service", "eks", "--accelerator", "h100", "--intent", "training")
    assert run_aicr(*ask, "-o", file).returncode == 0
    return file


def heavy(modules: set[str]) -> set[str]:
    return modules & HEAVY


@pytest.mark.parametrize("verb", ["recipe", "query"])
def test_resolving_imports_no_yaml_and_nothing_heavy(recipe: Path, verb: str) -> None:
    ask = [verb, "--service", "eks", "--accelerator", "h100", "--intent", "training"]
    if verb == "query":
        ask += ["--selector", "components.gpu-operator.values"]
    modules = imported(*ask)
    assert heavy(modules) == set()
    assert not {name for name in modules if name.split(".")[0] in ("yaml", "_yaml")}
    assert "aicr.recipe.resolve" in modules


def test_an_upgrade_check_imports_nothing_heavy(recipe: Path) -> None:
    modules = imported("upgrade-check", "--from", recipe, "--to", recipe, "--deployer", "helm")
    assert heavy(modules) - {"datetime", "contextlib"} == set()  # PyYAML's own
    assert "aicr.upgrade.check" in modules


def test_a_verb_imports_only_its_own_file(recipe: Path) -> None:
    verbs = {"aicr.cli.recipe", "aicr.cli.upgrade_check", "aicr.cli.bundle", "aicr.cli.completion"}
    ask = ("--service", "eks", "--accelerator", "h100", "--intent", "training")
    assert imported("recipe", *ask) & verbs == {"aicr.cli.recipe"}
    assert imported("--version") & verbs == set()
    for package in ("aicr.upgrade", "aicr.bundle", "aicr.cluster"):
        assert not [name for name in imported("recipe", *ask) if name.startswith(package)]
