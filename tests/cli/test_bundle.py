"""``aicr bundle``, as its users run it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from bundles import stack
from command import assert_fails, run_aicr


@pytest.fixture
def work(tmp_path: Path) -> Path:
    stack().write(tmp_path / "catalog")
    done = run_aicr(
        "recipe", "--service", "eks", "--catalog", "catalog", "-o", "r.yaml", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    return tmp_path


def bundle(work: Path, *arguments: str, recipe: str = "r.yaml") -> subprocess.CompletedProcess[str]:
    common = ["bundle", "-r", recipe, "--deployer", "helm", "--catalog", "catalog"]
    return run_aicr(*common, *arguments, cwd=work)


def contents(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_it_says_where_the_bundle_is_and_what_comes_next(work: Path) -> None:
    done = bundle(work)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith("./bundles: 5 releases")
    assert "./bundles/deploy.sh" in done.stdout
    assert (work / "bundles" / "deploy.sh").is_file()


def test_twice_gives_the_same_bytes_without_a_flag(work: Path) -> None:
    assert bundle(work, "-o", "b").returncode == 0
    before = contents(work / "b")
    assert bundle(work, "-o", "b").returncode == 0
    assert contents(work / "b") == before


def test_what_a_bundle_was_made_with_is_not_in_its_recipe(work: Path) -> None:
    given = [
        "--set",
        "chart:size=secret:enabled=false",
        "--set",
        "plain:enabled=false",
        "--dynamic",
        "oci:late",
    ]
    assert bundle(work, "-o", "b", *given).returncode == 0
    done = bundle(work, "-o", "c", recipe="b")
    assert done.returncode == 0
    assert (
        "b/recipe.yaml: made with --dynamic oci:late, --set chart:size, which its recipe"
        in done.stderr
    )
    assert "secret" not in done.stderr
    assert "plain" not in done.stderr
    again = bundle(work, "-o", "d", *given[:2], *given[4:], recipe="b")
    assert "made with" not in again.stderr
    assert contents(work / "d").keys() == contents(work / "b").keys()


def test_a_bundle_is_a_recipe_too(work: Path) -> None:
    assert bundle(work, "-o", "b", "--set", "plain:enabled=false").returncode == 0
    assert bundle(work, "-o", "c", recipe="b").returncode == 0
    same = {"bundle-info.yaml", "checksums.txt"}
    one, two = contents(work / "b"), contents(work / "c")
    assert {k: v for k, v in one.items() if k not in same} == {
        k: v for k, v in two.items() if k not in same
    }


def test_edited_files_need_overwrite(work: Path) -> None:
    bundle(work, "-o", "b")
    (work / "b" / "deploy.sh").write_text("mine")
    assert_fails(bundle(work, "-o", "b"), 2, "b: changed since it was written: deploy.sh")
    assert (work / "b" / "deploy.sh").read_text() == "mine"
    assert bundle(work, "-o", "b", "--overwrite").returncode == 0
    assert (work / "b" / "deploy.sh").read_text() != "mine"


def test_files_of_others_are_refused(work: Path) -> None:
    (work / "b").mkdir()
    (work / "b" / "thesis.txt").write_text("mine")
    assert_fails(bundle(work, "-o", "b", "--overwrite"), 2, "did not write: thesis.txt")


def test_what_the_operator_wrote_is_kept(work: Path) -> None:
    bundle(work, "-o", "b")
    mine = work / "b" / "003-chart" / "cluster-values.yaml"
    mine.write_text("size: 9\n")
    assert_fails(bundle(work, "-o", "b"), 2, "003-chart/cluster-values.yaml")
    assert bundle(work, "-o", "b", "--overwrite").returncode == 0
    assert mine.read_text() == "size: 9\n"
    # From now on it belongs to the bundle, and still nothing replaces it.
    assert bundle(work, "-o", "b", "--set", "oci:enabled=false").returncode == 0
    assert (work / "b" / "002-chart" / "cluster-values.yaml").read_text() == "size: 9\n"
    other = ["bundle", "-r", "r.yaml", "--deployer", "flux", "--catalog", "catalog", "-o", "b"]
    assert_fails(run_aicr(*other, cwd=work), 2, "has no place for, of chart")
    gone = ["-o", "b", "--set", "chart:enabled=false"]
    assert_fails(bundle(work, *gone), 2, "has no place for, of chart")
    done = bundle(work, *gone, "--overwrite")
    assert done.returncode == 0
    assert "cluster-values.yaml of chart are dropped" in done.stderr


def test_values_of_every_kind(work: Path) -> None:
    (work / "text").write_text("a\nb\n")
    words = [
        "--set", "oci:a=1", "--set-json", 'oci:j={"l": [1, null]}', "--set-file", "oci:f=text",
        "--dynamic", "oci:replicas",
    ]  # fmt: skip
    assert bundle(work, "-o", "b", *words).returncode == 0
    values = yaml.safe_load((work / "b" / "001-oci" / "values.yaml").read_text())
    assert values == {"a": 1, "j": {"l": [1, None]}, "f": "a\nb\n"}
    info = yaml.safe_load((work / "b" / "bundle-info.yaml").read_text())
    assert info["build"]["settings"] == {
        "set": ["oci:a=1"], "setJson": ['oci:j={"l": [1, null]}'], "setFile": ["oci:f=text"],
        "dynamic": ["oci:replicas"],
    }  # fmt: skip


def test_values_that_wait_for_the_cluster_are_not_taken_for_the_operators(work: Path) -> None:
    mine = work / "b" / "001-oci" / "cluster-values.yaml"
    assert bundle(work, "-o", "b", "--dynamic", "oci:replicas").returncode == 0
    assert yaml.safe_load(mine.read_text()) == {"replicas": 2}
    # Untouched, it follows the recipe; and goes with the flag.
    text = (work / "r.yaml").read_text()
    (work / "r.yaml").write_text(text.replace("replicas: 2", "replicas: 5"))
    assert bundle(work, "-o", "b", "--dynamic", "oci:replicas").returncode == 0
    assert yaml.safe_load(mine.read_text()) == {"replicas": 5}
    assert bundle(work, "-o", "b").returncode == 0
    assert yaml.safe_load(mine.read_text()) is None
    # Touched, it is the operator's.
    assert bundle(work, "-o", "b", "--dynamic", "oci:replicas").returncode == 0
    mine.write_text(mine.read_text().replace("5", "7"))
    assert bundle(work, "-o", "b", "--dynamic", "oci:replicas", "--overwrite").returncode == 0
    assert yaml.safe_load(mine.read_text()) == {"replicas": 7}
    assert yaml.safe_load((work / "b" / "001-oci" / "values.yaml").read_text()) == {}
    # An override that this file undoes cannot take effect.
    assert_fails(
        bundle(work, "-o", "b", "--set", "oci:replicas=9"), 2,
        "--set oci:replicas=9: has no effect: oci's cluster-values.yaml says otherwise",
    )  # fmt: skip


def test_flags_of_the_whole_cluster_from_a_file(work: Path) -> None:
    registry = work / "catalog" / "registry.yaml"
    entries = registry.read_text()
    paths = (
        '"nodeScheduling": {"nodeCountPaths": ["count"], "system": {"nodeSelectorPaths": ["sel"],'
        ' "tolerationPaths": ["tol"]}, "accelerated": {"taintStrPaths": ["gate"]}}, '
        '"storageClassPaths": ["class"], "name": "oci"'
    )
    registry.write_text(entries.replace('"name": "oci"', paths))
    (work / "config.yaml").write_text("""\
kind: AICRConfig
apiVersion: aicr.run/v1beta1
spec:
  bundle:
    deployment:
      dynamic: ["oci:replicas"]
    scheduling:
      systemNodeSelector: {pool: sys, zone: "1"}
      systemNodeTolerations: ["sys=yes:NoSchedule"]
      workloadGate: gate:NoSchedule
      nodes: 8
      storageClass: fast
""")
    done = bundle(work, "-o", "b", "--config", "config.yaml", "--storage-class", "slow")
    assert done.returncode == 0, done.stderr
    assert yaml.safe_load((work / "b" / "001-oci" / "values.yaml").read_text()) == {
        "sel": {"pool": "sys", "zone": "1"},
        "tol": [{"key": "sys", "operator": "Equal", "value": "yes", "effect": "NoSchedule"}],
        "gate": "gate:NoSchedule",
        "count": 8,
        "class": "slow",
    }
    info = yaml.safe_load((work / "b" / "bundle-info.yaml").read_text())
    assert info["build"]["settings"]["nodes"] == "8"
    assert info["build"]["settings"]["systemNodeSelector"] == ["pool=sys", "zone=1"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--set", "nope:a=1"], "there is no component 'nope'"),
        (["--set", "chart:enabled=false", "--set", "chart:a=1"], "is left out by"),
        (["-o", "r.yaml"], "it is a file"),
        (["-o", "."], "the current folder"),
        (["--overwrite=maybe"], "expected true or false"),
    ],
)
def test_wrong_arguments(work: Path, arguments: list[str], says: str) -> None:
    assert_fails(bundle(work, *arguments), 2, says)
    assert not (work / "bundles").exists()


def test_a_hostile_recipe_writes_nothing(work: Path) -> None:
    text = (work / "r.yaml").read_text()
    (work / "r.yaml").write_text(text.replace("version: v1.2.3", 'version: "1.0\\n$(reboot)"'))
    assert_fails(bundle(work), 2, "componentRefs[chart].version", r"'1.0\n$(reboot)'")
    assert not (work / "bundles").exists()


def test_a_missing_manifest_is_named(work: Path) -> None:
    (work / "catalog" / "components" / "plain" / "manifests" / "only.yaml").unlink()
    assert_fails(bundle(work), 2, "components/plain/manifests/only.yaml")


def test_an_unknown_deployer() -> None:
    done = run_aicr("bundle", "-r", "x", "--deployer", "salt")
    assert_fails(done, 2, "argocd-helm")


def test_help_has_examples() -> None:
    done = run_aicr("bundle", "--help")
    assert done.returncode == 0
    assert "aicr bundle -r recipe.yaml --deployer helm -o ./bundles" in done.stdout
