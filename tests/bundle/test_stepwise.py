"""UPGRADING.md says how to take one release at a time, with commands that do it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from aicr.bundle.build import Bundle, Request, build_bundle
from aicr.bundle.writers import GITOPS, WRITERS
from aicr.catalog.layers import Catalog
from aicr.catalog.open import open_catalog
from aicr.recipe.criteria import Criteria
from aicr.recipe.model import Recipe
from aicr.recipe.resolve import resolve
from bundles import build, write_out
from crds import check
from stubs import Stubs
from tools import tool
from upgrading import blocks, rows

# Takes what it is given, and keeps it beside the call.
KEEPING = '#!/bin/sh\ncat >>"{kept}"\n'


@pytest.fixture(scope="module")
def shipped() -> tuple[Recipe, Catalog]:
    catalog = open_catalog()
    return resolve(catalog, Criteria(service="eks", accelerator="h100", intent="training")), catalog


def bundle(shipped: tuple[Recipe, Catalog], deployer: str, repo: str = "") -> Bundle:
    recipe, catalog = shipped
    return build_bundle(recipe, catalog, Request(deployer, repo=repo), where="r.yaml")


@pytest.mark.parametrize("deployer", WRITERS)
def test_every_release_has_its_command_in_order(
    shipped: tuple[Recipe, Catalog], deployer: str
) -> None:
    found = bundle(shipped, deployer)
    listed = rows(found)
    releases = found.plan.releases
    assert [number for number, _, _ in listed] == [one.index for one in releases]
    for (_, command, _), release in zip(listed, releases, strict=True):
        assert re.search(rf"(?:[ =]|\b\d{{3}}-){re.escape(release.name)}(?![\w-])", command)
    text = found.files["UPGRADING.md"][0].decode()
    headed = set(re.findall(r"^## (\S+) \S+ \((?:manual|blocked)\)$", text, re.M))
    assert headed
    assert sorted(steps for _, _, steps in listed if steps) == sorted(f"of {x}" for x in headed)


@pytest.mark.parametrize("deployer", WRITERS)
def test_the_readme_and_the_warning_lead_there(
    shipped: tuple[Recipe, Catalog], deployer: str
) -> None:
    found = bundle(shipped, deployer, "https://git.example/b.git" if deployer in GITOPS else "")
    assert "one release at a time" in found.files["README.md"][0].decode()
    (notice,) = (one for one in found.notices if "UPGRADING.md" in one.message)
    assert ("before anything is pushed" in notice.message) is (deployer in GITOPS)


def test_nothing_to_do_no_section(recipe: Recipe, catalog: Catalog) -> None:
    assert "UPGRADING.md" not in build(recipe, catalog, "argocd").files


@pytest.mark.parametrize("deployer", WRITERS)
def test_shellcheck(shipped: tuple[Recipe, Catalog], deployer: str) -> None:
    program = tool("shellcheck", "SHELLCHECK_BIN")
    for block in blocks(bundle(shipped, deployer)):
        done = subprocess.run(
            [program, "--shell", "bash", "-"], input=block, capture_output=True, encoding="utf-8"
        )
        assert done.stdout == ""


def test_helm_has_the_calls_of_deploy(shipped: tuple[Recipe, Catalog], tmp_path: Path) -> None:
    found = bundle(shipped, "helm")
    root = write_out(found, tmp_path / "b")
    whole, single = Stubs(tmp_path / "one", "helm"), Stubs(tmp_path / "two", "helm")
    assert whole.run(root / "deploy.sh", cwd=root).returncode == 0
    for _, command, _ in rows(found):
        assert single.run("bash", "-c", f"./{command}", cwd=root).returncode == 0
    assert single.calls == whole.calls


@pytest.mark.parametrize("deployer", ["argocd", "argocd-helm"])
def test_applications_are_stopped(
    shipped: tuple[Recipe, Catalog], tmp_path: Path, deployer: str
) -> None:
    found = bundle(shipped, deployer)
    stubs = Stubs(tmp_path, "kubectl", "helm")
    done = stubs.run("bash", "-euc", blocks(found)[0], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    names = [one.name for one in found.plan.releases]
    assert [call[5] for call in stubs.calls] == ["aicr-bundle", *names]
    for call in stubs.calls:
        assert call[:5] == ["kubectl", "-n", "argocd", "patch", "application"]
        assert json.loads(call[-1]) == {"spec": {"syncPolicy": {"automated": None}}}


def test_a_failing_patch_does_not_end_the_loop(
    shipped: tuple[Recipe, Catalog], tmp_path: Path
) -> None:
    """A release that is new has no Application yet."""
    found = bundle(shipped, "argocd")
    stubs = Stubs(tmp_path, "kubectl")
    stubs.run("bash", "-c", blocks(found)[0], cwd=tmp_path, fails="nfd")
    assert len(stubs.calls) == len(found.plan.releases) + 1


def test_what_argocd_gets_syncs_itself_again(shipped: tuple[Recipe, Catalog]) -> None:
    found = bundle(shipped, "argocd")
    for (_, command, _), release in zip(rows(found), found.plan.releases, strict=True):
        path = command.removeprefix("kubectl apply -f ")
        document = yaml.safe_load(found.files[path][0])
        assert document["metadata"]["name"] == release.name
        assert document["spec"]["syncPolicy"]["automated"]
    assert blocks(found)[-1] == "kubectl apply -f app-of-apps.yaml\n"
    root = yaml.safe_load(found.files["app-of-apps.yaml"][0])
    assert root["spec"]["syncPolicy"]["automated"]
    assert root["metadata"]["name"] == "aicr-bundle"


@pytest.mark.parametrize("repo", ["", "https://git.example/ours.git"])
def test_argocd_helm_gives_one_application(
    shipped: tuple[Recipe, Catalog], tmp_path: Path, repo: str
) -> None:
    helm = tool("helm", "HELM_BIN")
    found = bundle(shipped, "argocd-helm", repo)
    root = write_out(found, tmp_path / "b")
    kept = tmp_path / "kept"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "kubectl").write_text(KEEPING.format(kept=kept))
    (tmp_path / "bin" / "kubectl").chmod(0o755)
    (tmp_path / "bin" / "helm").symlink_to(helm)
    env = {**os.environ, "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "HOME": str(tmp_path)}
    for _, command, _ in rows(found):
        kept.write_text("")
        script = f"set -euo pipefail\n{blocks(found)[1]}\n{command}\n"
        subprocess.run(["bash", "-c", script], cwd=root, env=env, check=True, timeout=60)
        (document,) = yaml.safe_load_all(kept.read_text())
        check(document)
        assert document["metadata"]["name"] == command.removeprefix("release ")
        assert document["metadata"]["namespace"] == "argocd"
        assert document["spec"]["syncPolicy"]["automated"]


def test_flux_says_nothing_of_suspend(shipped: tuple[Recipe, Catalog], tmp_path: Path) -> None:
    """What a bundle does not say stays as the operator has it."""
    found = bundle(shipped, "flux")
    for path, (data, _) in found.files.items():
        if path.endswith("helmrelease.yaml"):
            assert "suspend" not in yaml.safe_load(data)["spec"]
    stubs = Stubs(tmp_path, "kubectl")
    assert stubs.run("bash", "-euc", blocks(found)[0], cwd=tmp_path).returncode == 0
    assert [call[5] for call in stubs.calls] == [one.name for one in found.plan.releases]
    for call in stubs.calls:
        assert json.loads(call[-1]) == {"spec": {"suspend": True}}


@pytest.mark.parametrize("repo", ["", "https://git.example/ours.git"])
def test_the_application_in_the_readme_of_argocd_helm(
    shipped: tuple[Recipe, Catalog], repo: str
) -> None:
    found = bundle(shipped, "argocd-helm", repo)
    text = found.files["README.md"][0].decode()
    (example,) = re.findall(r"```yaml\n(apiVersion: argoproj.*?)```", text, re.S)
    document = yaml.safe_load(example)
    check(document)
    source = document["spec"]["source"]
    assert source["path"] == "."
    assert {one["name"]: one["value"] for one in source["helm"]["parameters"]} == {
        "repoURL": source["repoURL"],
        "targetRevision": source["targetRevision"],
    }
    # What is in the chart's values already does not have to be said.
    assert ("--set repoURL=" in text) is (repo == "")
