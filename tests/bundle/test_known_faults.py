"""Faults that a bundle of this kind is known to have had, in all writers: none of them is here."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from aicr.bundle.build import Bundle, Request, build_bundle
from aicr.bundle.writers import GITOPS, WRITERS
from aicr.bundle.writers.flux import git_url
from aicr.catalog.layers import Catalog
from aicr.errors import AicrError
from aicr.recipe.criteria import Criteria
from aicr.recipe.model import Recipe
from aicr.recipe.resolve import resolve
from bundles import build, config_map, parsed, stack, write_out
from command import assert_fails, run_aicr
from small_catalog import SmallCatalog
from tools import tool

REPO = "https://git.example/b.git"


def for_deployer(
    recipe: Recipe, catalog: Catalog, deployer: str, files: list[tuple[str, str]] | None = None
) -> Bundle:
    repo = REPO if deployer in GITOPS else ""
    request = Request(deployer, repo=repo, target_revision="v3" if repo else "",
                      set_files=files or [])  # fmt: skip
    return build_bundle(recipe, catalog, request, where="r.yaml")


def applications(bundle: Bundle, root: Path) -> dict[str, dict[str, dict[str, object]]]:
    """The Applications of the chart, as Helm renders them."""
    command = [tool("helm", "HELM_BIN"), "template", "x", str(write_out(bundle, root))]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    return {one["metadata"]["name"]: one for one in yaml.safe_load_all(done.stdout)}


@pytest.mark.parametrize(
    "text",
    [
        "  indented\nnot\n", "ends\n\n\n", "\n\nbegins", "  a: b\n- c\n", "---\nx: 1\n...\n",
        "tab\there", "# no comment", "{{ not }} a template", " ", "\n", "trailing  \nblanks ",
    ],
)  # fmt: skip
def test_values_of_any_shape_stay_in_helm_values(
    recipe: Recipe, catalog: Catalog, tmp_path: Path, text: str
) -> None:
    """Text that breaks an indented template, last in the values and not last."""
    files = [("oci:aa.file=f", text), ("oci:zz.file=f", text)]
    bundle = for_deployer(recipe, catalog, "argocd-helm", files)
    helm = applications(bundle, tmp_path / "b")["oci"]["spec"]["source"]
    assert isinstance(helm, dict)
    values = {"replicas": 2, "aa": {"file": text}, "zz": {"file": text}}
    assert yaml.safe_load(helm["helm"]["values"]) == values


@pytest.fixture(scope="module")
def manifests_only(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recipe, Catalog]:
    catalog = SmallCatalog().registry({"name": "plain"})
    catalog.add("components/plain/manifests/only.yaml", config_map("only", "plain"))
    manifests = ["components/plain/manifests/only.yaml"]
    catalog.overlay("base", componentRefs=[{"name": "plain", "manifestFiles": manifests}])
    opened = catalog.overlay("eks", criteria={"service": "eks"}).open(
        tmp_path_factory.mktemp("only") / "catalog"
    )
    return resolve(opened, Criteria(service="eks")), opened


@pytest.mark.parametrize("deployer", WRITERS)
def test_manifests_are_never_dropped(manifests_only: tuple[Recipe, Catalog], deployer: str) -> None:
    recipe, catalog = manifests_only
    files = for_deployer(recipe, catalog, deployer).files
    copies = [path for path in files if path.endswith("/templates/only.yaml")]
    assert len(copies) == 1
    assert files[copies[0]][0] == catalog.file("components/plain/manifests/only.yaml")
    assert copies[0].replace("templates/only.yaml", "Chart.yaml") in files


def test_manifests_alone_have_a_source(
    manifests_only: tuple[Recipe, Catalog], tmp_path: Path
) -> None:
    """Neither repoURL nor targetRevision nor path is empty where there is no upstream chart."""
    recipe, catalog = manifests_only
    argocd = parsed(for_deployer(recipe, catalog, "argocd").files["001-plain/application.yaml"][0])
    rendered = applications(for_deployer(recipe, catalog, "argocd-helm"), tmp_path / "b")["plain"]
    for application in (argocd, rendered):
        assert isinstance(application, dict)
        source = application["spec"]["source"]
        assert (source["repoURL"], source["targetRevision"], source["path"]) == (
            REPO, "v3", "001-plain",
        )  # fmt: skip
    flux = for_deployer(recipe, catalog, "flux")
    source = parsed(flux.files["sources/aicr-bundle.yaml"][0])
    assert isinstance(source, dict)
    assert (source["spec"]["url"], source["spec"]["ref"]) == (REPO, {"tag": "v3"})


@pytest.mark.parametrize("deployer", WRITERS)
def test_no_template_is_left_in_what_is_applied(
    recipe: Recipe, catalog: Catalog, tmp_path: Path, deployer: str
) -> None:
    """Braces stand only in manifests, and in the one chart that Helm renders at install time."""
    bundle = for_deployer(recipe, catalog, deployer)
    for path, (data, _) in bundle.files.items():
        if "templates/" not in path and path != "README.md":
            assert b"{{" not in data, path
            assert b"${" not in data or path.endswith(".sh"), path
    if deployer == "argocd-helm":
        for document in applications(bundle, tmp_path / "b").values():
            assert "{{" not in str(document)


def test_flux_gets_an_address_that_it_reads() -> None:
    assert git_url("git@git.example:team/b.git") == "ssh://git@git.example/team/b.git"
    assert git_url("git.example/team/b") == "https://git.example/team/b"
    assert git_url(REPO) == REPO
    with pytest.raises(AicrError, match="https, http and ssh"):
        git_url("file:///srv/b.git")


def test_the_order_of_flags_does_not_matter(recipe: Recipe, catalog: Catalog) -> None:
    sets = ["oci:a=1", "chart:b.c=x", "oci:d[0]=2"]
    one, two = (build(recipe, catalog, sets=order).files for order in (sets, sets[::-1]))
    differ = {path for path in one if one[path] != two[path]}
    assert differ == {"bundle-info.yaml", "checksums.txt"}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("work")
    stack().write(root / "catalog")
    asked = ("recipe", "--service", "eks", "--catalog", "catalog", "-o", "r.yaml")
    assert run_aicr(*asked, cwd=root).returncode == 0
    return root


class TestCommand:
    """What only a command can do wrong."""

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["--nodes", "-3"], "--nodes '-3': expected a whole number"),
            (["--nodes=-3"], "--nodes '-3': expected a whole number"),
            (["extra"], "unrecognized arguments: extra"),
            (["--set", "oci"], "expected component:path=value"),
            (["--set", "nobody:a=1"], "there is no component 'nobody'"),
            (["--set", "oci:gone.x[3]=1"], "has 0 items"),
            (["--sett", "oci:a=1"], "unrecognized arguments"),
            (["--storage-class", "fast"], "no component of the recipe has a place for it"),
            (["--set-json", "oci:enabled=false"], "--set oci:enabled=false"),
            (["--set-file", "oci:a=nowhere"], "--set-file nowhere: there is no such file"),
            (["--dynamic", "oci:a", "--set", "oci:a=1"], "contradict each other"),
        ],
    )
    def test_nothing_is_accepted_in_silence(self, work: Path, words: list[str], says: str) -> None:
        before = sorted(work.iterdir())
        common = ["bundle", "-r", "r.yaml", "--deployer", "helm", "--catalog", "catalog"]
        assert_fails(run_aicr(*common, *words, cwd=work), 2, says)
        assert sorted(work.iterdir()) == before

    @pytest.mark.parametrize("deployer", WRITERS)
    def test_nothing_is_left_behind_and_nothing_is_coloured(
        self, work: Path, tmp_path: Path, deployer: str
    ) -> None:
        before = sorted(work.iterdir())
        done = run_aicr(
            "bundle", "-r", "r.yaml", "--deployer", deployer, "--catalog", "catalog",
            "-o", tmp_path / "out", cwd=work,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "\x1b" not in done.stdout + done.stderr
        assert sorted(work.iterdir()) == before
        assert sorted(one.name for one in tmp_path.iterdir()) == ["out"]
        for file in (tmp_path / "out").rglob("*"):
            assert file.is_dir() or b"\x1b" not in file.read_bytes()

    def test_an_unknown_key_of_a_recipe(self, work: Path, tmp_path: Path) -> None:
        text = (
            (work / "r.yaml")
            .read_text()
            .replace("componentRefs:", "componentRef: []\ncomponentRefs:")
        )
        (tmp_path / "r.yaml").write_text(text)
        done = run_aicr(
            "bundle", "-r", tmp_path / "r.yaml", "--deployer", "helm", "--catalog", "catalog",
            "-o", tmp_path / "out", cwd=work,
        )  # fmt: skip
        assert 'unknown key "componentRef"' in done.stderr
