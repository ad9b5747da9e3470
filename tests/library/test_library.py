"""What ``import aicr`` gives: cheap, whole, safe between threads; and the page that shows it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import aicr

ROOT = Path(__file__).parents[2]
NAMES = ["AicrError", "Bundle", "Catalog", "Plan", "Recipe", "Report", "bundle", "check", "plan",
         "resolve"]  # fmt: skip


def run(program: str, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=cwd, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_import_brings_nothing() -> None:
    program = "import sys; a = set(sys.modules); import aicr; print(sorted(set(sys.modules) - a))"
    assert run(program) == "['__future__', 'aicr', 'aicr.version']\n"


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_there_by_itself(name: str) -> None:
    run(f"from aicr import {name}; import aicr; assert callable(aicr.{name})")
    run(
        f"import aicr.bundle.build, aicr\nassert callable(aicr.{name})\n"
        f"assert '{name}' in dir(aicr)"
    )


def test_what_is_not_there() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        aicr.nothing  # noqa: B018


def test_the_page(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "library.md").read_text("utf-8")
    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(examples) >= 4
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    said = run("\n".join(examples), cwd=tmp_path)
    assert "gpu-operator v26.3.3 -> v26.7.0 manual" in said


def test_a_catalog_is_shared_between_threads() -> None:
    old = aicr.Recipe.open(str(ROOT / "examples" / "eks-h100-training-v0.20.0.yaml"))
    fresh = aicr.Catalog()

    def answer(_: int) -> tuple[str, str, bytes]:
        new = aicr.resolve(fresh, service="eks", accelerator="h100", intent="training")
        report = aicr.check(old, new, catalog=fresh, deployer="helm")
        return (
            new.yaml(),
            report.text("json"),
            aicr.bundle(new, catalog=fresh, deployer="flux").archive(),
        )

    with ThreadPoolExecutor(8) as pool:
        answers = set(pool.map(answer, range(16)))
    assert len(answers) == 1


def test_records_that_do_not_load_are_an_error_where_they_count(tmp_path: Path) -> None:
    from record_catalog import record, records_file, write_catalog

    files = {"a": records_file("a", record()), "b": "kind: nonsense\n"}
    catalog = aicr.Catalog(str(write_catalog(tmp_path, {"a": "2.1.0", "b": "2.1.0"}, files)))

    def recipe(a: str, b: str) -> aicr.Recipe:
        refs = "".join(
            f"- {{name: {name}, type: Helm, source: s, version: {version}}}\n"
            for name, version in (("a", a), ("b", b))
        )
        return aicr.Recipe.read(f"kind: RecipeResult\ncomponentRefs:\n{refs}")

    report = aicr.check(recipe("1.0.0", "1.0.0"), recipe("2.1.0", "1.0.0"), catalog=catalog)
    assert report.verdicts == {"a": "safe"}
    with pytest.raises(aicr.AicrError, match=r"components/b/upgrades\.yaml"):
        aicr.check(recipe("1.0.0", "1.0.0"), recipe("2.1.0", "2.1.0"), catalog=catalog)


def test_words_that_are_none() -> None:
    """Nothing is taken for something else in silence."""
    catalog = aicr.Catalog()
    recipe = aicr.resolve(catalog, service="eks", accelerator="h100", intent="training")
    report = aicr.check(recipe, catalog=catalog)
    plan = aicr.plan(recipe, catalog=catalog)
    made = aicr.bundle(recipe, catalog=catalog, deployer="helm")
    for call in (
        lambda: report.text("csv"),
        lambda: plan.text("junit"),
        lambda: plan.archive("rar"),
        lambda: made.archive("rar"),
        lambda: aicr.plan(recipe, catalog=catalog, stages="x"),
    ):
        with pytest.raises(aicr.AicrError) as caught:
            call()
        assert caught.value.code == "INVALID_REQUEST"


def test_paths_are_paths(tmp_path: Path) -> None:
    catalog = aicr.Catalog()
    recipe = aicr.resolve(catalog, service="eks", accelerator="h100", intent="training")
    path = tmp_path / "recipe.yaml"
    path.write_text(recipe.yaml())
    assert aicr.Recipe.open(path).yaml() == aicr.Recipe.open(str(path)).yaml()
    with pytest.raises(aicr.AicrError):
        aicr.Catalog(tmp_path / "nowhere")
