"""``--data`` for a bundle, and charts that a bundle takes from an OCI registry."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest
import yaml

from aicr.artifact.read import open_artifact
from aicr.artifact.values import bundle_values
from aicr.bundle.writers import WRITERS
from aicr.cli.main import main
from bundles import config_map
from command import assert_fails, run_aicr
from small_catalog import SmallCatalog
from small_charts import chart, registry
from tools import tool

EKS = ["--service", "eks", "--accelerator", "h100", "--intent", "training"]


@pytest.mark.parametrize("deployer", WRITERS)
def test_a_folder_over_the_shipped_catalog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deployer: str
) -> None:
    """Its values and its manifests are taken, all else is as shipped."""
    monkeypatch.chdir(tmp_path)
    own = SmallCatalog()
    own.add("components/nfd/values.yaml", {"ours": deployer})
    own.add("components/extra/manifests/map.yaml", config_map("ours", "extra"))
    own.registry({"name": "extra"})
    extra = {
        "name": "extra",
        "manifestFiles": ["components/extra/manifests/map.yaml"],
        "overrides": {"size": "ours"},
    }
    own.overlay("ours", criteria={"service": "eks"}, componentRefs=[extra])
    own.write(Path("data"))
    assert main(["recipe", *EKS, "--data", "data", "-o", "r.yaml"]) == 0
    common = ["bundle", "-r", "r.yaml", "--deployer", deployer, "-o", "b"]
    assert main([*common, "--data", "data"]) == 0
    values, why = bundle_values(open_artifact("b", "--from"))
    assert values is not None, why
    assert isinstance(values["nfd"], dict)
    assert values["nfd"]["ours"] == deployer
    assert values["extra"] == {"size": "ours"}
    copies = list(Path("b").glob("*extra/templates/map.yaml"))
    assert [copy.read_bytes() for copy in copies] == [
        Path("data/components/extra/manifests/map.yaml").read_bytes()
    ]


def test_without_the_folder_what_is_missing_is_named(tmp_path: Path) -> None:
    SmallCatalog().registry({"name": "extra"}).add("components/extra/m.yaml", "a: 1").overlay(
        "ours", criteria={"service": "eks"},
        componentRefs=[{"name": "extra", "manifestFiles": ["components/extra/m.yaml"]}],
    ).write(tmp_path / "data")  # fmt: skip
    asked = ["recipe", *EKS, "--data", "data", "-o", "r.yaml"]
    assert run_aicr(*asked, cwd=tmp_path).returncode == 0
    done = run_aicr("bundle", "-r", "r.yaml", "--deployer", "helm", cwd=tmp_path)
    assert done.returncode == 2
    assert "components/extra/m.yaml" in done.stderr
    assert not (tmp_path / "bundles").exists()


def test_vendoring_from_a_registry(tmp_path: Path) -> None:
    program = tool("helm", "HELM_BIN")
    env = {"PATH": os.path.dirname(program) + os.pathsep + os.environ["PATH"]}
    archive = tmp_path / "app-1.0.0.tgz"
    archive.write_bytes(chart("app"))
    with registry(tmp_path / "registry") as host:
        repository = f"oci://{host}/charts"
        push = [program, "push", str(archive), repository, "--plain-http"]
        subprocess.run(push, check=True, capture_output=True)
        where = {"defaultRepository": repository, "defaultChart": "app", "defaultVersion": "1.0.0"}
        catalog = SmallCatalog().registry({"name": "app", "helm": where})
        catalog.overlay("base", componentRefs=[])
        catalog.overlay("eks", criteria={"service": "eks"}, componentRefs=[{"name": "app"}])
        catalog.write(tmp_path / "catalog")
        asked = ("recipe", "--service", "eks", "--catalog", "catalog", "-o", "r.yaml")
        assert run_aicr(*asked, cwd=tmp_path).returncode == 0
        words = ["bundle", "-r", "r.yaml", "--deployer", "helm", "--catalog", "catalog"]
        words += ["--vendor-charts", "--plain-http"]
        done = run_aicr(*words, cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    (listed,) = yaml.safe_load((tmp_path / "bundles" / "provenance.yaml").read_text())["charts"]
    assert (listed["name"], listed["version"], listed["source"]) == ("app", "1.0.0", repository)
    data = (tmp_path / "bundles" / listed["path"]).read_bytes()
    assert data == archive.read_bytes()
    assert listed["sha256"] == hashlib.sha256(data).hexdigest()
    assert run_aicr("verify", "bundles", cwd=tmp_path).returncode == 0
    assert_fails(run_aicr(*words, "-o", "c", cwd=tmp_path, env=env), 6, "helm pull failed")
