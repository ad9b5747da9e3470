"""Charts fetched from a Helm repository and from an OCI registry, by Helm on PATH and the extra."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from aicr.charts.engine import HelmBinary, HelmLibrary, helm
from aicr.charts.source import Charts
from aicr.errors import AicrError
from small_charts import chart, helm_repository, registry
from tools import tool


@pytest.fixture(params=["binary", "library"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Only this engine can be found."""
    if request.param == "binary":
        program = tool("helm", "HELM_BIN")
        monkeypatch.setenv("PATH", os.path.dirname(program), prepend=os.pathsep)
    else:
        if importlib.util.find_spec("helm_python") is None:
            pytest.skip("the charts extra is not installed")
        (tmp_path / "empty").mkdir()
        monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    for name in ("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    return str(request.param)


def test_which_engine_is_found(engine: str) -> None:
    assert isinstance(helm("x"), HelmBinary if engine == "binary" else HelmLibrary)


def test_from_a_helm_repository(engine: str, tmp_path: Path) -> None:
    archives = {"app-1.0.0.tgz": chart("app"), "app-1.1.0.tgz": chart("app", "1.1.0")}
    with helm_repository(tmp_path / "repo", archives) as address:
        found = Charts().get(address, "app", "v1.0.0")
        assert found.data == archives["app-1.0.0.tgz"]
        assert found.origin == address
        with pytest.raises(AicrError) as caught:
            Charts().get(address, "app", "3.0.0")
        assert caught.value.code == "UNAVAILABLE"
        assert "app" in caught.value.message


@pytest.fixture
def charts_in_a_registry(tmp_path: Path) -> Iterator[str]:
    """A registry with the chart ``app``, pushed by Helm."""
    program = tool("helm", "HELM_BIN")
    archive = tmp_path / "app-1.0.0.tgz"
    archive.write_bytes(chart("app"))
    with registry(tmp_path / "registry") as host:
        repository = f"oci://{host}/charts"
        push = [program, "push", str(archive), repository, "--plain-http"]
        subprocess.run(push, check=True, capture_output=True)
        yield repository


def test_from_a_registry(charts_in_a_registry: str, engine: str, tmp_path: Path) -> None:
    found = Charts(plain_http=True).get(charts_in_a_registry, "app", "1.0.0")
    assert found.data == (tmp_path / "app-1.0.0.tgz").read_bytes()


def test_rendering(engine: str, tmp_path: Path) -> None:
    archive = tmp_path / "app-1.0.0.tgz"
    archive.write_bytes(chart("app"))
    text = helm("x").render(str(archive), "rel", "ns", {"image": {"tag": "7"}}).decode()
    assert "quay.example/team/app:7" in text
    with pytest.raises(AicrError, match="logLevel"):
        helm("x").render(str(archive), "rel", "ns", {"logLevel": 7})


def test_no_helm_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(__import__("sys").modules, "helm_python", None)
    with pytest.raises(AicrError, match="helm is not on PATH") as caught:
        helm("rendering")
    assert ".[charts]" in caught.value.hint
