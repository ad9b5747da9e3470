"""The API and the command give the same bytes for the same input."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from base64 import b64encode
from pathlib import Path

import pytest
import yaml

from command import run_aicr
from live_server import LiveServer

CRITERIA = {"service": "eks", "accelerator": "h100", "intent": "training"}
FLAGS = [word for key, value in CRITERIA.items() for word in (f"--{key}", value)]
QUERY = "&".join(f"{key}={value}" for key, value in CRITERIA.items())
MEDIA = {"json": "application/json", "yaml": "application/yaml", "table": "text/plain",
         "markdown": "text/markdown", "html": "text/html", "junit": "application/xml"}  # fmt: skip


def command(*arguments: str | Path, cwd: Path | None = None) -> str:
    done = run_aicr(*arguments, cwd=cwd)
    assert done.returncode in (0, 2), done.stderr
    assert not done.stderr.startswith("aicr: error"), done.stderr
    return done.stdout


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_a_recipe(server: LiveServer, form: str) -> None:
    expected = command("recipe", *FLAGS, "--format", form)
    for _ in range(2):  # computed, and kept
        assert server.get(f"/v1/recipe?{QUERY}", accept=MEDIA[form]).text == expected
    assert server.post("/v1/recipe", CRITERIA, accept=MEDIA[form]).text == expected
    body = {"kind": "RecipeCriteria", "spec": CRITERIA}
    assert server.post("/v1/recipe", body, accept=MEDIA[form]).text == expected


def test_the_other_names_of_criteria(server: LiveServer) -> None:
    expected = command("recipe", *FLAGS, "--nodes", "4", "--format", "json")
    query = "service=EKS&gpu=H100&intent=training&os=any&nodes=4"
    assert server.get(f"/v1/recipe?{query}").text == expected


@pytest.mark.parametrize("selector", ["components.gpu-operator.values", "deploymentOrder[0]", "."])
def test_a_value(server: LiveServer, selector: str) -> None:
    expected = command("query", *FLAGS, "--selector", selector)
    found = server.get(f"/v1/query?{QUERY}&selector={selector}", accept="application/yaml").text
    plain = server.get(f"/v1/query?{QUERY}&selector={selector}", accept="text/plain").text
    assert plain == expected
    if selector != "deploymentOrder[0]":  # a text prints bare at a terminal
        assert found == expected


@pytest.mark.parametrize("form", list(MEDIA))
def test_a_check(server: LiveServer, old_recipe: Path, tmp_path: Path, form: str) -> None:
    new = tmp_path / "new.yaml"
    command("recipe", *FLAGS, "-o", new)
    (tmp_path / "old.yaml").write_bytes(old_recipe.read_bytes())
    pair = ["--from", "old.yaml", "--to", "new.yaml", "--deployer", "helm"]
    expected = command("upgrade-check", *pair, "--format", form, cwd=tmp_path)
    body = {"from": old_recipe.read_text("utf-8"), "fromName": "old.yaml", "deployer": "helm",
            "to": new.read_text("utf-8"), "toName": "new.yaml"}  # fmt: skip
    assert server.post("/v1/upgrade-check", body, accept=MEDIA[form]).text == expected
    as_json = command("recipe", *FLAGS, "--format", "json")
    body["to"] = json.loads(as_json)
    assert server.post("/v1/upgrade-check", body, accept=MEDIA[form]).text == expected


@pytest.mark.parametrize("form", ["json", "yaml", "table", "markdown", "html"])
@pytest.mark.parametrize("verb", ["upgrade-check", "upgrade-plan"])
def test_one_document_is_resolved_again(
    server: LiveServer, old_recipe: Path, verb: str, form: str
) -> None:
    flags = ["--from", old_recipe.name, "--deployer", "flux", "--format", form]
    expected = command(verb, *flags, cwd=old_recipe.parent)
    path = f"/v1/{verb}?deployer=flux&fromName={old_recipe.name}"
    answer = server.post(
        path, old_recipe.read_bytes(), media="application/yaml", accept=MEDIA[form]
    )
    assert answer.text == expected


@pytest.mark.parametrize("deployer", ["helm", "helmfile", "argocd", "argocd-helm", "flux"])
def test_a_bundle(server: LiveServer, tmp_path: Path, deployer: str) -> None:
    recipe = tmp_path / "recipe"
    command("recipe", *FLAGS, "-o", recipe)
    command("bundle", "-r", recipe, "--deployer", deployer, "-o", tmp_path / "out")
    out = tmp_path / "out"
    expected = {str(path.relative_to(out)): path.read_bytes()
                for path in out.rglob("*") if path.is_file()}  # fmt: skip
    body = {"recipe": recipe.read_text("utf-8"), "deployer": deployer}
    packed = server.post("/v1/bundle", body)
    assert packed.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(packed.body)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == expected
    assert (
        server.post("/v1/bundle", {"criteria": CRITERIA, "deployer": deployer}).body == packed.body
    )
    tarball = server.post("/v1/bundle", body, accept="application/gzip")
    with tarfile.open(fileobj=io.BytesIO(tarball.body)) as tar:
        found = {one.name: tar.extractfile(one) for one in tar.getmembers()}
        assert {name: file.read() for name, file in found.items() if file} == expected


@pytest.mark.parametrize("media", ["application/zip", "application/gzip"])
def test_a_bundle_out_of_an_archive_is_checked_as_the_folder_is(
    server: LiveServer, tmp_path: Path, media: str
) -> None:
    command("recipe", *FLAGS, "-o", tmp_path / "r.yaml")
    command("bundle", "-r", "r.yaml", "--deployer", "flux", "-o", "old", cwd=tmp_path)
    expected = command("upgrade-check", "--from", "old", "--format", "json", cwd=tmp_path)
    assert json.loads(expected)["objectNamesCompared"] is True
    archive = server.post(
        "/v1/bundle", {"criteria": CRITERIA, "deployer": "flux"}, accept=media
    ).body
    whole = server.post("/v1/upgrade-check?fromName=old", archive, media=media)
    assert whole.text == expected
    body = {"from": {"archive": b64encode(archive).decode()}, "fromName": "old"}
    assert server.post("/v1/upgrade-check", body).text == expected


@pytest.mark.parametrize("verb", ["recipe", "query", "upgrade-check", "upgrade-plan", "bundle"])
def test_a_body_in_json_or_in_yaml(server: LiveServer, old_recipe: Path, verb: str) -> None:
    old = yaml.safe_load(old_recipe.read_text("utf-8"))
    bodies: dict[str, dict[str, object]] = {
        "recipe": dict(CRITERIA),
        "query": {**CRITERIA, "selector": "components.gpu-operator"},
        "bundle": {"recipe": old, "deployer": "flux"},
    }
    body = bodies.get(verb, {"from": old, "deployer": "flux"})
    path, text = f"/v1/{verb}", yaml.safe_dump(body, sort_keys=False).encode()
    one = server.post(path, body)
    other = server.post(path, text, media="application/yaml")
    assert one.status == other.status == 200, other.text
    assert other.body == one.body
    if verb != "bundle":
        as_yaml = server.post(path, text, media="application/yaml", accept="application/yaml")
        assert as_yaml.headers["content-type"] == "application/yaml"
        assert yaml.safe_load(as_yaml.text) == one.values


def test_a_bundle_with_overrides(server: LiveServer, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe"
    command("recipe", *FLAGS, "-o", recipe)
    flags = ["--set", "nfd:enabled=false", "--system-node-selector", "pool=system",
             "--nodes", "4", "--set-json", 'gpu-operator:toolkit.env=[{"name": "A"}]']  # fmt: skip
    command("bundle", "-r", recipe, "--deployer", "helm", *flags, "-o", tmp_path / "out")
    expected = (tmp_path / "out" / "checksums.txt").read_bytes()
    body = {"recipe": recipe.read_text("utf-8"), "deployer": "helm", "set": ["nfd:enabled=false"],
            "systemNodeSelector": ["pool=system"], "nodes": "4",
            "setJson": ['gpu-operator:toolkit.env=[{"name": "A"}]']}  # fmt: skip
    answer = server.post("/v1/bundle", body)
    assert answer.status == 200, answer.text
    with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
        assert archive.read("checksums.txt") == expected


def test_criteria_and_records(server: LiveServer) -> None:
    listed = json.loads(command("recipe", "list", "--format", "json"))
    assert server.get("/v1/criteria").values["recipes"] == listed["recipes"]
    shown = command("records", "show", "gpu-operator", "--format", "json")
    assert server.get("/v1/records/gpu-operator").text == shown
    components = server.get("/v1/components").values["components"]
    assert isinstance(components, list)
    assert {"gpu-operator", "nfd"} <= {one["name"] for one in components}
