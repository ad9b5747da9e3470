"""Why a row reads as it does, and the recipe of each stage: as the command has them."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from base64 import b64encode
from pathlib import Path

import pytest

import aicr
from command import run_aicr
from live_server import LiveServer

FAR = Path(__file__).parents[2] / "examples" / "aks-h100-training-kubeflow-v0.16.0.yaml"
MEDIA = {"table": "text/plain", "json": "application/json", "yaml": "application/yaml"}


def command(*arguments: str | Path, cwd: Path | None = None) -> str:
    done = run_aicr(*arguments, cwd=cwd)
    assert done.returncode in (0, 2), done.stderr
    assert not done.stderr.startswith("aicr: error"), done.stderr
    return done.stdout


def folder(path: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()
    }


def unzipped(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("form", list(MEDIA))
def test_why(server: LiveServer, old_recipe: Path, form: str) -> None:
    flags = ["--from", old_recipe.name, "--deployer", "helm", "--why", "gpu-operator"]
    expected = command("upgrade-check", *flags, "--format", form, cwd=old_recipe.parent)
    path = f"/v1/upgrade-check?deployer=helm&why=gpu-operator&fromName={old_recipe.name}"
    answer = server.post(
        path, old_recipe.read_bytes(), media="application/yaml", accept=MEDIA[form]
    )
    assert answer.status == 200, answer.text
    assert answer.text == expected
    body = {"from": old_recipe.read_text("utf-8"), "why": "gpu-operator", "deployer": "helm",
            "fromName": old_recipe.name}  # fmt: skip
    assert server.post("/v1/upgrade-check", body, accept=MEDIA[form]).text == expected
    found = aicr.check(
        aicr.Recipe.open(str(old_recipe)), catalog=aicr.Catalog(), deployer="helm"
    ).why("gpu-operator", form)
    assert found == expected


def test_why_of_nothing(server: LiveServer, old_recipe: Path) -> None:
    body = {"from": old_recipe.read_text("utf-8"), "why": "nothing", "deployer": "helm"}
    answer = server.post("/v1/upgrade-check", body)
    assert answer.status == 404
    assert "gpu-operator" in json.dumps(answer.values["details"])
    assert str(answer.values["message"]).startswith("why nothing: ")
    body["why"] = "gpu-operator"
    answer = server.post("/v1/upgrade-check", body, accept="text/html")
    assert answer.status == 400
    assert "table, json, yaml" in answer.text


def test_the_folder_of_a_plan(server: LiveServer, tmp_path: Path) -> None:
    """A bundle carries its values, so that the recipes of earlier stages can be written."""
    old = _bundle_of_the_past(tmp_path)
    pair = ["--from", "old", "--deployer", "flux", "-o", "plan"]
    command("upgrade-plan", *pair, cwd=tmp_path)
    expected = folder(tmp_path / "plan")
    assert {"plan.md", "plan.json", "stage-1/recipe.yaml", "stage-2/recipe.yaml"} <= set(expected)
    path = "/v1/upgrade-plan?deployer=flux&fromName=old"
    answer = server.post(path, old, media="application/zip", accept="application/zip")
    assert answer.status == 200, answer.text
    assert answer.headers["content-disposition"] == 'attachment; filename="plan.zip"'
    assert unzipped(answer.body) == expected
    again = server.post(path, old, media="application/zip", accept="application/zip")
    assert again.body == answer.body
    packed = server.post(path, old, media="application/zip", accept="application/gzip")
    with tarfile.open(fileobj=io.BytesIO(packed.body)) as tar:
        files = {one.name: tar.extractfile(one) for one in tar.getmembers()}
        assert {name: file.read() for name, file in files.items() if file} == expected
    said = json.loads(answer.headers["aicr-warnings"])
    assert any("read what changed in the values" in one for one in said)


def test_the_same_in_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _bundle_of_the_past(tmp_path)
    command("upgrade-plan", "--from", "old", "--deployer", "flux", "-o", "plan", cwd=tmp_path)
    monkeypatch.chdir(tmp_path)
    found = aicr.plan(aicr.Recipe.open("old"), catalog=aicr.Catalog(), deployer="flux")
    assert found.files("plan") == folder(tmp_path / "plan")
    assert len(found.recipes) == len(found.stages) == 2
    assert aicr.bundle(found.recipes[0], catalog=aicr.Catalog(), deployer="flux").files
    found.write("other")
    assert set(folder(tmp_path / "other")) == set(folder(tmp_path / "plan"))
    assert unzipped(found.archive(folder="other")) == folder(tmp_path / "other")


def test_what_is_in_no_file_becomes_one(server: LiveServer, old_recipe: Path) -> None:
    criteria = {"service": "eks", "accelerator": "h100", "intent": "training"}
    body = {"from": old_recipe.read_text("utf-8"), "deployer": "helm", "criteria": criteria}
    answer = server.post("/v1/upgrade-plan", body, accept="application/zip")
    assert answer.status == 200, answer.text
    found = unzipped(answer.body)
    assert {"from.yaml", "target.yaml", "plan.md"} <= set(found)
    assert b"--from plan/from.yaml" in found["plan.md"]
    assert aicr.Recipe.read(found["target.yaml"]).components
    lone = server.post("/v1/upgrade-plan", {**body, "stages": "releases"}, accept="application/zip")
    files = unzipped(lone.body)
    assert {"from.yaml", "target.yaml", "plan.md"} <= set(files)


def test_recipes_of_stages_that_cannot_be_written(server: LiveServer) -> None:
    """Without the values of that time there are none, which is said."""
    for stages in ("hops", "releases"):
        body = {"from": FAR.read_text("utf-8"), "deployer": "helm", "stages": stages}
        answer = server.post("/v1/upgrade-plan", body, accept="application/zip")
        files = unzipped(answer.body)
        assert not [name for name in files if name.startswith("stage-")]
        (said,) = json.loads(answer.headers["aicr-warnings"])
        assert said.startswith("the recipes of the stages are not written: ")
        assert said[:42].encode() in files["plan.md"]


def _bundle_of_the_past(tmp_path: Path) -> bytes:
    """Writes the bundle ``old`` of what a release of the stack pinned, and gives its archive."""
    made = aicr.bundle(aicr.Recipe.open(str(FAR)), catalog=aicr.Catalog(), deployer="flux")
    made.write(str(tmp_path / "old"))
    return made.archive()


def test_an_archive_as_one_side_of_two(server: LiveServer, tmp_path: Path) -> None:
    old = _bundle_of_the_past(tmp_path)
    body = {"from": {"archive": b64encode(old).decode()}, "fromName": "old"}
    expected = command("upgrade-plan", "--from", "old", "--format", "json", cwd=tmp_path)
    assert server.post("/v1/upgrade-plan", body).text == expected
