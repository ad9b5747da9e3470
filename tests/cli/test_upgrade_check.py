"""``aicr upgrade-check`` from end to end: arguments in, report and exit code out."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from aicr.cli.main import main
from small_catalog import simple

RECIPE = """\
apiVersion: aicr.run/v1beta1
kind: RecipeResult
criteria: {{service: eks, intent: {intent}}}
componentRefs:
  - name: alpha
    namespace: {namespace}
    chart: alpha
    source: https://charts.example.com
    type: Helm
    version: {alpha}
  - name: beta
    namespace: beta
    chart: beta
    source: https://charts.example.com
    type: Helm
    version: {beta}
deploymentOrder: [alpha, beta]
"""
REGISTRY = """\
apiVersion: aicr.run/v1beta1
kind: ComponentRegistry
components:
  - name: alpha
    helm: {defaultRepository: https://charts.example.com, defaultChart: alpha,
           defaultVersion: 2.1.0, defaultNamespace: alpha}
    upgrades: {file: components/alpha/upgrades.yaml}
  - name: beta
    helm: {defaultRepository: https://charts.example.com, defaultChart: beta,
           defaultVersion: 1.0.0, defaultNamespace: beta}
"""
BASE = """\
apiVersion: aicr.run/v1beta1
kind: RecipeMetadata
metadata: {name: base}
spec:
  criteria: {}
  componentRefs: [{name: alpha, type: Helm}, {name: beta, type: Helm}]
"""
EKS = """\
apiVersion: aicr.run/v1beta1
kind: RecipeMetadata
metadata: {name: eks-training}
spec:
  base: base
  criteria: {service: eks, intent: training}
"""
RECORDS = """\
apiVersion: aicr.run/v1beta1
kind: ComponentUpgrades
component: alpha
transitions:
  - from: "<1.2.0"
    to: ">=1.2.0 <=1.9.0"
    verdict: safe
    verifiedBy: lane-7
    summary: Nothing to see.
  - from: ">=1.2.0 <2.0.0"
    to: ">=2.0.0 <=2.5.0"
    verdict: manual
    summary: A kind is renamed.
    stepsByDeployer:
      - steps: [{id: rename, description: Rename it.}]
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a catalog in ``catalog`` to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for path, text in (
        ("registry.yaml", REGISTRY),
        ("overlays/base.yaml", BASE),
        ("overlays/eks.yaml", EKS),
        ("components/alpha/upgrades.yaml", RECORDS),
    ):
        file = tmp_path / "catalog" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def recipe(
    name: str,
    alpha: str,
    *,
    beta: str = "1.0.0",
    namespace: str = "alpha",
    intent: str = "training",
) -> str:
    text = RECIPE.format(alpha=alpha, beta=beta, namespace=namespace, intent=intent)
    Path(name).write_text(text)
    return name


def run(*arguments: str) -> int:
    return main(["upgrade-check", "--catalog", "catalog", *arguments])


def compare(old: str, new: str, *arguments: str) -> int:
    return run("--from", recipe("old.yaml", old), "--to", recipe("new.yaml", new), *arguments)


@pytest.mark.parametrize(
    ("old", "new", "arguments", "code"),
    [
        ("1.0.0", "1.2.0", [], 0),
        ("1.0.0", "1.0.0", [], 0),
        ("1.0.0", "1.1.0", [], 2),
        ("1.0.0", "1.1.0", ["--fail-on-error=false"], 0),
        ("1.0.0", "1.1.0", ["--fail-on-error"], 2),
        ("1.0.0", "1.1.0", ["--fail-on-error=true"], 2),
        ("1.0.0", "1.1.0", ["--detailed-exit-code"], 2),
        ("1.0.0", "1.2.0", ["--detailed-exit-code"], 0),
        ("1.0.0", "1.1.0", ["--detailed-exit-code", "--fail-on-error=false"], 0),
        ("1.2.0", "2.0.0", ["--deployer", "helm"], 2),
        ("1.2.0", "2.0.0", [], 2),
        ("1.2.0", "2.0.0", ["--detailed-exit-code"], 1),
        ("1.2.0", "2.0.0", ["--detailed-exit-code=true"], 1),
        ("1.2.0", "2.0.0", ["--detailed-exit-code=false"], 2),
        ("1.2.0", "2.0.0", ["--deployer", "argo", "--detailed-exit-code"], 1),
        ("1.2.0", "2.0.0", ["--format", "xml", "--detailed-exit-code"], 1),
        ("1.2.0", "2.0.0", ["--nonsense", "--detailed-exit-code"], 1),
    ],
)
def test_exit_codes(old: str, new: str, arguments: list[str], code: int) -> None:
    assert compare(old, new, *arguments) == code


def test_the_exit_codes_are_also_detailed_by_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AICR_DETAILED_EXIT_CODE", "true")
    assert compare("1.2.0", "2.0.0") == 1
    assert compare("1.0.0", "1.1.0") == 2


def test_the_table_shows_the_steps_of_the_deployer(capsys: pytest.CaptureFixture[str]) -> None:
    assert compare("1.2.0", "2.0.0", "--deployer", "flux") == 2
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "  deployer  flux\n" in shown.out
    assert "alpha      1.2.0  2.0.0  manual   1 major, 1 step\n" in shown.out
    assert "  STEPS (deployer: flux)\n    1. rename\n       Rename it.\n" in shown.out
    assert "object names were not compared: old.yaml is not a bundle" in shown.out
    assert shown.out.endswith("1 component change, 1 needs attention\n")


def test_json_to_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    code = compare("1.0.0", "2.0.0", "--format", "json", "-o", "report.json", "--deployer", "helm")
    assert code == 2
    report = json.loads(Path("report.json").read_text())
    assert report["summary"] == {"components": 1, "failing": 1}
    assert report["components"][0]["path"] == ["1.9.0", "2.0.0"]
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("form", "begins"),
    [("yaml", "from: old.yaml\nto: new.yaml\n"), ("markdown", "# Upgrade check\n")],
)
def test_other_formats(form: str, begins: str, capsys: pytest.CaptureFixture[str]) -> None:
    compare("1.0.0", "1.2.0", "--format", form)
    assert capsys.readouterr().out.startswith(begins)


def test_without_to_the_criteria_are_resolved_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--from", recipe("old.yaml", "1.5.0"), "--deployer", "helm", "--format", "json") == 2
    report = json.loads(capsys.readouterr().out)
    assert report["to"] == "the current catalog (service=eks, intent=training)"
    row = report["components"][0]
    assert (row["from"], row["to"], row["verdict"]) == ("1.5.0", "2.1.0", "manual")


def test_criteria_that_do_not_resolve_any_more(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--from", recipe("old.yaml", "1.0.0", intent="inference")) == 2
    said = capsys.readouterr().err
    assert "old.yaml (service=eks, intent=inference) no longer resolve" in said
    assert "pass --to" in said
    text = Path("old.yaml").read_text()
    Path("old.yaml").write_text(text.replace("criteria:", "#"))
    assert run("--from", "old.yaml") == 2
    said = capsys.readouterr().err
    assert "old.yaml states no criteria" in said
    assert "pass --to" in said


def test_one_artifact_is_an_empty_report(capsys: pytest.CaptureFixture[str]) -> None:
    recipe("old.yaml", "main")
    Path("link.yaml").symlink_to("old.yaml")
    for to in ("old.yaml", "./old.yaml", "link.yaml"):
        assert run("--from", "old.yaml", "--to", to, "--format", "json") == 0
        shown = capsys.readouterr()
        assert json.loads(shown.out)["components"] == []
        assert "name one artifact" in shown.err
    assert run("--from", "old.yaml", "--to", "old.yaml") == 0
    table = capsys.readouterr().out
    assert "name one artifact" in table
    assert "no component changes" in table


def test_different_clusters(capsys: pytest.CaptureFixture[str]) -> None:
    old = recipe("old.yaml", "1.0.0")
    arguments = ("--from", old, "--to", recipe("new.yaml", "1.2.0", intent="inference"))
    assert run(*arguments) == 2
    assert "different clusters (intent training and inference)" in capsys.readouterr().err
    assert run(*arguments, "--allow-different-criteria") == 0
    assert "warning: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--to", "new.yaml"], 2, "--from"),
        (["--from", "nowhere.yaml", "--to", "new.yaml"], 2, "--from nowhere.yaml"),
        (["--from", "new.yaml", "--to", "nowhere.yaml"], 2, "--to nowhere.yaml"),
        (["--from", "catalog", "--to", "new.yaml"], 2, "recipe.yaml"),
        (["--from", "cluster", "--to", "new.yaml"], 2, "cluster"),
        (["--from", "cm://a/b", "--to", "new.yaml"], 2, "cm://a/b"),
        (["--from", "new.yaml", "--to", "cm://a/b"], 2, "cm://a/b"),
        (["--from", "new.yaml", "--fail-on-error=maybe"], 2, "expected true or false"),
        (["--from", "catalog/registry.yaml", "--to", "new.yaml"], 2, "RecipeResult"),
    ],
)
def test_bad_invocations(
    arguments: list[str], code: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe("new.yaml", "1.0.0")
    assert run(*arguments) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert says in shown.err
    assert "Traceback" not in shown.err


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("version: 1.0.0", "version: [1.0.0]"), "expected text, found a list"),
        (("name: beta", "name: alpha"), "twice"),
        (("version: 1.0.0", "version: 1.0.0\n    install: no"), "expected true or false"),
        (("version: 1.0.0", 'version: 1.0.0\n    overrides: {enabled: "false"}'),
         'found the text "false"'),
    ],
)  # fmt: skip
def test_damaged_recipes(
    change: tuple[str, str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe("old.yaml", "0.9.0")
    text = Path(recipe("new.yaml", "1.2.0")).read_text()
    Path("new.yaml").write_text(text.replace(*change))
    assert run("--from", "old.yaml", "--to", "new.yaml") == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("written", "row"),
    [("1.20", ("1.20", "unknown")), ("~", (None, "unversioned")), ("1e3", ("1e3", "unversioned"))],
)
def test_versions_are_text_as_written(
    written: str, row: tuple[str | None, str], capsys: pytest.CaptureFixture[str]
) -> None:
    compare("1.0.0", "1.2.0", "--format", "json")
    capsys.readouterr()
    old, new = recipe("old.yaml", "1.0.0"), recipe("new.yaml", "1.0.0", beta=written)
    run("--from", old, "--to", new, "--format", "json")
    (found,) = json.loads(capsys.readouterr().out)["components"]
    assert (found.get("to"), found["verdict"]) == row


def test_a_record_that_does_not_load_stops_the_check(capsys: pytest.CaptureFixture[str]) -> None:
    Path("catalog/components/alpha/upgrades.yaml").write_text(RECORDS.replace("manual", "hard"))
    for fields in ([], ["--allow-unknown-fields"]):
        assert compare("1.0.0", "1.2.0", *fields) == 2
        shown = capsys.readouterr()
        assert "catalog/components/alpha/upgrades.yaml:12: transitions[1].verdict" in shown.err
        assert shown.out == ""


def test_an_unknown_key_in_a_record_is_never_only_a_warning(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("catalog/components/alpha/upgrades.yaml").write_text(RECORDS + "extra: 1\n")
    assert compare("1.0.0", "1.2.0", "--allow-unknown-fields") == 2
    assert 'unknown key "extra"' in capsys.readouterr().err


def test_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert compare("1.0.0", "1.2.0", "--why", "alpha") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("WHY alpha 1.0.0 -> 1.2.0\n")
    assert "catalog/components/alpha/upgrades.yaml:5" in shown
    assert compare("1.0.0", "1.2.0", "--why", "alpha", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["records"][0]["line"] == 5
    assert compare("1.0.0", "1.2.0", "--why", "alpha", "--format", "html") == 2
    assert "--why is shown as table, json, yaml, not as html" in capsys.readouterr().err
    assert compare("1.0.0", "1.2.0", "--why", "beta") == 3
    assert "components that changed: alpha" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["table", "json", "yaml", "markdown", "html", "junit"])
def test_a_name_that_is_not_utf_8(form: str, capfd: pytest.CaptureFixture[str]) -> None:
    old, new = recipe("o\udcffld.yaml", "1.0.0"), recipe("new.yaml", "1.2.0")
    assert run("--from", old, "--to", new, "--format", form, "-o", "report") == 0
    assert "udcffld" in Path("report").read_text(encoding="utf-8")
    assert run("--from", old, "--to", new, "--format", form) == 0
    assert "udcffld" in capfd.readouterr().out


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["upgrade-check", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "aicr upgrade-check --from old-recipe.yaml --to new-recipe.yaml --deployer helm" in shown
    for flag in ("--from", "--to", "--deployer", "--why", "--fail-on-error", "--data", "--catalog"):
        assert flag in shown


CASES = Path(__file__).parent.parent / "data" / "upgrade-check"


def test_a_folder_over_the_shipped_catalog(capsys: pytest.CaptureFixture[str]) -> None:
    old, new = str(CASES / "from.yaml"), str(CASES / "to.yaml")
    data = str(CASES / "catalog")
    code = main(
        ["upgrade-check", "--data", data, "--from", old, "--to", new, "--deployer", "helm",
         "--format", "json"]
    )  # fmt: skip
    assert code == 2
    expected = json.loads((CASES / "expected.json").read_text())
    assert json.loads(capsys.readouterr().out)["summary"]["failing"] == expected["failing"]


def test_a_copy_of_hard_links_is_another_bundle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As ``cp -al`` makes it; what was changed in it since is seen."""
    simple({"name": "a", "version": "1.0.0"}).write(tmp_path / "catalog")
    catalog = ["--catalog", str(tmp_path / "catalog")]
    recipe = str(tmp_path / "recipe.yaml")
    assert main(["recipe", "--service", "eks", *catalog, "-o", recipe]) == 0
    words = ["bundle", "-r", recipe, *catalog, "--deployer", "helm", "-o"]
    old, other, new = (tmp_path / name for name in ("old", "other", "new"))
    assert main([*words, str(old), "--set", "a:fullnameOverride=foo"]) == 0
    assert main([*words, str(other)]) == 0
    shutil.copytree(old, new, copy_function=os.link)
    for path in ("001-a/values.yaml", "bundle-info.yaml"):
        (new / path).unlink()
        shutil.copy(other / path, new / path)
    capsys.readouterr()
    assert main(["upgrade-check", "--from", str(old), "--to", str(new), *catalog]) == 2
    assert "fullnameOverride" in capsys.readouterr().out
