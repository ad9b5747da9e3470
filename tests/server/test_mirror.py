"""``/v1/mirror-list`` gives the bytes of ``aicr mirror list``, never fewer images in silence."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from command import run_aicr
from live_server import LiveServer, live_server
from mirrored import mirrored
from tools import tool

# 26.10 is no version that a chart can have.
SET = ["oci:enabled=false"]
MEDIA = {"json": "application/json"}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mirrored(tmp_path_factory.mktemp("mirrored"))


@pytest.fixture(scope="module")
def with_charts(work: Path, own_cache: Path) -> Iterator[LiveServer]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", _path())
        folders = ("--catalog", str(work / "catalog"), "--charts-dir", str(work / "charts"))
        with live_server(*folders) as found:
            yield found


def _path() -> str:
    return os.path.dirname(tool("helm", "HELM_BIN")) + os.pathsep + os.environ["PATH"]


def command(work: Path, *arguments: str) -> str:
    flags = ["--catalog", "catalog", "--charts-dir", "charts", "--service", "eks"]
    sets = [word for one in SET for word in ("--set", one)]
    done = run_aicr("mirror", "list", *flags, *sets, *arguments, cwd=work, env={"PATH": _path()})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("form", ["yaml", "json", "hauler", "zarf"])
@pytest.mark.parametrize("platforms", [[], ["linux/amd64", "linux/arm64"]])
def test_the_bytes_of_the_command(
    with_charts: LiveServer, work: Path, form: str, platforms: list[str]
) -> None:
    more = ["--image-platform", ",".join(platforms)] if platforms else []
    expected = command(work, "--format", form, *more)
    asked = {"set": SET, "format": form, "platforms": platforms}
    media = MEDIA.get(form, "application/yaml")
    answer = with_charts.post("/v1/mirror-list", {**asked, "criteria": {"service": "eks"}})
    assert (answer.status, answer.headers["content-type"]) == (200, media), answer.text
    assert answer.text == expected
    assert "aicr-warnings" not in answer.headers
    recipe = with_charts.get("/v1/recipe?service=eks").values
    assert with_charts.post("/v1/mirror-list", {**asked, "recipe": recipe}).text == expected


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_the_form_that_is_accepted(with_charts: LiveServer, work: Path, form: str) -> None:
    asked = {"set": SET, "criteria": {"service": "eks"}}
    answer = with_charts.post("/v1/mirror-list", asked, accept=f"application/{form}")
    assert answer.text == command(work, "--format", form)


def test_what_is_not_there_is_an_error(with_charts: LiveServer, work: Path) -> None:
    asked = {"set": ["chart:enabled=false"], "criteria": {"service": "eks"}}
    answer = with_charts.post("/v1/mirror-list", asked)
    assert answer.status == 400
    assert "26.10" in str(answer.values["message"])
    assert answer.values["details"] == {"incomplete": ["oci"], "hint": _hint(answer.values)}


def _hint(values: dict[str, object]) -> object:
    details = values["details"]
    assert isinstance(details, dict)
    return details["hint"]


@pytest.mark.parametrize("form", ["yaml", "json", "hauler", "zarf"])
def test_without_charts_it_says_what_it_does_not_know(server: LiveServer, form: str) -> None:
    criteria = {"service": "eks", "accelerator": "h100", "intent": "training"}
    asked = {"criteria": criteria, "format": form}
    refused = server.post("/v1/mirror-list", asked)
    assert refused.status == 400
    answer = server.post("/v1/mirror-list", {**asked, "allowIncomplete": True})
    assert answer.status == 200, answer.text
    said = json.loads(answer.headers["aicr-warnings"])
    recipe = server.get("/v1/recipe?service=eks&accelerator=h100&intent=training").values
    order = recipe["deploymentOrder"]
    assert isinstance(order, list)
    assert {one.split(": ")[1] for one in said} == set(order)
    assert all(one.startswith("incomplete: ") for one in said)
    assert "given no charts to render" in answer.text
    if form in ("json", "yaml"):
        assert yaml.safe_load(answer.text)["metadata"]["complete"] is False


def test_a_recipe_of_another_catalog_is_pointed_out(with_charts: LiveServer) -> None:
    recipe = with_charts.get("/v1/recipe?service=eks").values
    metadata = recipe["metadata"]
    assert isinstance(metadata, dict)
    metadata["catalogDigest"] = "sha256:" + "0" * 64
    answer = with_charts.post("/v1/mirror-list", {"recipe": recipe, "set": SET})
    assert answer.status == 200, answer.text
    (said,) = json.loads(answer.headers["aicr-warnings"])
    assert "another catalog" in said
