"""Hostile input to the command: refused, named, and nothing is written, for every deployer."""

from __future__ import annotations

import functools
import gzip
import io
import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from aicr.bundle.writers import WRITERS
from aicr.cli.main import main
from bundles import stack
from small_charts import write_chart


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "work"
    root.mkdir()
    monkeypatch.chdir(root)
    stack().write(root / "catalog")
    assert main(["recipe", "--service", "eks", "--catalog", "catalog", "-o", "r.yaml"]) == 0
    return root


def everything(root: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in root.rglob("*") if p.is_file() and not p.is_symlink()}


def bundle(deployer: str, *words: str) -> int:
    common = ["bundle", "-r", "r.yaml", "--deployer", deployer, "--catalog", "catalog"]
    return main([*common, "-o", "out", *words])


def refused(
    capsys: pytest.CaptureFixture[str], root: Path, deployer: str, *words: str, says: str
) -> None:
    """The command ends with 2 and says so, and no file of the disk is another."""
    before = everything(root.parent)
    capsys.readouterr()
    assert bundle(deployer, *words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("aicr: error: ")
    assert says in said.err
    assert everything(root.parent) == before
    assert not (root / "out").exists()


def edit(change: Callable[[dict[str, Any]], None]) -> None:
    """Change the recipe: ``chart``, which has everything, and what is around it."""
    recipe = yaml.safe_load(Path("r.yaml").read_text())
    change(recipe)
    Path("r.yaml").write_text(json.dumps(recipe))


def component(recipe: dict[str, Any]) -> dict[str, Any]:
    (found,) = (ref for ref in recipe["componentRefs"] if ref["name"] == "chart")
    assert isinstance(found, dict)
    return found


HOSTILE: dict[str, tuple[str, object, str]] = {
    "a name that leads out": ("name", "../../escaped", ".name: found '../../escaped'"),
    "a namespace that leads out": ("namespace", "../ns", ".namespace: found '../ns'"),
    "an absolute manifest": ("manifestFiles", ["/etc/passwd"], ".manifestFiles[0]: found '/etc"),
    "a manifest that leads out": ("preManifestFiles", ["a/../../b"], ".preManifestFiles[0]: found"),
    "an absolute values file": ("valuesFile", "/etc/passwd", ".valuesFile: found '/etc/passwd'"),
    "quotes in a version": ("version", '1.0"; reboot; "', ".version: found '1.0\"; reboot"),
    "a command in a version": ("version", "1.0$(reboot)", ".version: found '1.0$(reboot)'"),
    "a command in a namespace": ("namespace", "$(reboot)", ".namespace: found '$(reboot)'"),
    "a quote in a namespace": ("namespace", "a'b", '.namespace: found "a\'b"'),
    "a template in a version": ("version", "{{ .Values.x }}", ".version: found '{{ .Values.x }}'"),
    "a line end in a chart": ("chart", "a\nb", ".chart: found 'a\\nb'"),
    # Cyrillic letters that look like those of ASCII, a full-width digit, a reversed direction.
    "a look-alike name": ("name", "ch\u0430rt", ".name: found 'ch\\u0430rt'"),
    "a look-alike namespace": ("namespace", "pr\u043ed", ".namespace: found 'pr\\u043ed'"),
    "a look-alike version": ("version", "1.0.\uff11", ".version: found '1.0.\\uff11'"),
    "a look-alike source": (
        "source",
        "https://ch\u0430rts.example",
        ".source: found 'https://ch\\",
    ),
    "a reversed version": ("version", "1.0.0\u202e", ".version: found '1.0.0\\u202e'"),
    "a source with a login": ("source", "https://u:p@h/x", ".source: holds credentials"),
}


@pytest.mark.parametrize("deployer", WRITERS)
@pytest.mark.parametrize("case", HOSTILE)
def test_a_recipe(work: Path, capsys: pytest.CaptureFixture[str], case: str, deployer: str) -> None:
    field, value, says = HOSTILE[case]
    edit(lambda recipe: component(recipe).update({field: value}))
    refused(capsys, work, deployer, says=says)


@pytest.mark.parametrize("deployer", WRITERS)
def test_a_link_out_of_the_data(
    work: Path, capsys: pytest.CaptureFixture[str], deployer: str
) -> None:
    secret = work.parent / "secret.yaml"
    secret.write_text("password: 1\n")
    data = work / "data" / "components" / "chart"
    data.mkdir(parents=True)
    (data / "values.yaml").symlink_to(secret)
    where = "data/components/chart/values.yaml: a link that leads out of the catalog"
    before = everything(work.parent)
    capsys.readouterr()
    common = ["bundle", "-r", "r.yaml", "--deployer", deployer, "-o", "out"]
    assert main([*common, "--data", "data"]) == 2
    assert where in capsys.readouterr().err
    assert everything(work.parent) == before


@pytest.mark.parametrize("deployer", WRITERS)
def test_a_link_in_the_output_folder(
    work: Path, capsys: pytest.CaptureFixture[str], deployer: str
) -> None:
    """Neither replaced with what it leads to nor written through, with --overwrite too."""
    assert bundle(deployer) == 0
    precious = work.parent / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("mine")
    folder = next(path for path in sorted((work / "out").iterdir()) if path.is_dir())
    folder.rename(work.parent / "moved")
    folder.symlink_to(precious)
    before = everything(work.parent)
    capsys.readouterr()
    assert bundle(deployer) == 2
    assert folder.name in capsys.readouterr().err
    bundle(deployer, "--overwrite")
    assert (precious / "thesis.txt").read_text() == "mine"
    assert [path.name for path in precious.iterdir()] == ["thesis.txt"]
    kept = {path: data for path, data in before.items() if f"{os.sep}out{os.sep}" not in path}
    assert kept.items() <= everything(work.parent).items()


@pytest.mark.parametrize("deployer", WRITERS)
def test_a_values_file_of_50_mb(
    work: Path, capsys: pytest.CaptureFixture[str], deployer: str
) -> None:
    values = work / "catalog" / "components" / "chart" / "values.yaml"
    values.write_bytes(b"x: " + b"y" * 50_000_000)
    refused(capsys, work, deployer, says="components/chart/values.yaml")


@functools.cache
def bomb() -> bytes:
    return gzip.compress(bytes(200_000_000), 6, mtime=0)


def traversal() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        tar.addfile(tarfile.TarInfo("chart/../../../escaped"))
    return buffer.getvalue()


def linked() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        link = tarfile.TarInfo("chart/values.yaml")
        link.type = tarfile.SYMTYPE
        link.linkname = "/etc/passwd"
        tar.addfile(link)
    return buffer.getvalue()


ARCHIVES: dict[str, tuple[Callable[[], bytes], str]] = {
    "traversal": (traversal, "leads out of the archive"),
    "link": (linked, "chart-1.2.3.tgz"),
    "bomb": (bomb, "unpacks to more than"),
    "no archive": (lambda: b"PK\x03\x04", "chart-1.2.3.tgz"),
}


@pytest.mark.parametrize("deployer", WRITERS)
@pytest.mark.parametrize("case", ARCHIVES)
def test_a_chart_archive(
    work: Path, capsys: pytest.CaptureFixture[str], case: str, deployer: str
) -> None:
    make, says = ARCHIVES[case]
    write_chart(work / "charts", "oci-chart", "26.10")
    (work / "charts" / "chart-1.2.3.tgz").write_bytes(make())
    words = ("--vendor-charts", "--charts-dir", "charts")
    refused(capsys, work, deployer, *words, says=says)
