"""``aicr upgrade-plan`` from end to end, on the made-up stack whose moves need three hops."""

from __future__ import annotations

import json
from pathlib import Path
from shlex import split

import pytest
import yaml

from aicr.cli.main import main
from aicr.documents.reader import read_yaml

EXAMPLES = Path(__file__).parents[2] / "examples"
THREE_HOPS = EXAMPLES / "three-hops"
OLD = str(THREE_HOPS / "old-recipe.yaml")
CATALOG = ["--catalog", str(THREE_HOPS / "catalog")]
FROM_CATALOG = ["--from-catalog", str(THREE_HOPS / "old-catalog")]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plan(*arguments: str, deployer: str = "helm") -> int:
    by = ["--deployer", deployer] if deployer else []
    return main(["upgrade-plan", "--from", OLD, *CATALOG, *by, *arguments])


def planned(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    plan("--format", "json", *arguments)
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_the_fields_of_a_plan(capsys: pytest.CaptureFixture[str]) -> None:
    found = planned(capsys)
    assert found["mode"] == "hops"
    assert found["deployer"] == "helm"
    assert found["summary"] == {"components": 5, "stages": 3, "hops": 6, "manual": 2, "held": 1}
    stages = found["stages"]
    assert isinstance(stages, list)
    assert [stage["n"] for stage in stages] == [1, 2, 3]
    assert [stage["reversible"] for stage in stages] == [False, True, False]
    assert [stage["shippedCombination"] for stage in stages] == [False] * 3
    hop = next(h for h in stages[0]["hops"] if h["component"] == "alpha-operator")
    assert hop == {
        "component": "alpha-operator",
        "from": "1.0.0",
        "to": "2.4.0",
        "change": "version",
        "verdict": "manual",
        "precondition": "kubectl -n alpha get pods shows every pod Running.",
        "steps": [
            {
                "id": "drop-the-proxy",
                "description": "Remove legacyProxy from your values, then apply the bundle.",
                "reason": "The chart refuses values that it does not know.",
            }
        ],
        "reversible": True,
        "pinnedBy": "stack-2",
    }
    held = found["held"]
    assert isinstance(held, list)
    assert [h["component"] for h in held] == ["delta-agent"]
    assert held[0]["reason"] == "no-record"
    assert held[0]["missingRecord"] == {"from": "1.5.0", "to": "2.0.0"}


def test_a_folder_to_work_from(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    assert plan("-o", "plan", *FROM_CATALOG) == 2
    said = capsys.readouterr()
    assert said.out.startswith("UPGRADE PLAN\n")
    assert "written for the charts that run now" in said.err
    page = (here / "plan/plan.md").read_text()
    assert page.index("## Held") < page.index("## Stage 1 of 3") < page.index("## Stage 3 of 3")
    assert "- [ ] **drop-the-proxy**" in page
    for verb in ("drift -r", "upgrade-check --from", "bundle -r"):
        assert f"aicr {verb}" in page
    values = json.loads((here / "plan/plan.json").read_text())
    assert [stage["recipe"] for stage in values["stages"]] == [
        f"stage-{n}/recipe.yaml" for n in (1, 2, 3)
    ]
    first = (here / "plan/stage-1/recipe.yaml").read_text()
    assert first.startswith("# Stage 1 of 3")
    assert "valuesFile" not in first
    assert "legacyProxy" in first
    last = read_yaml((here / "plan/stage-3/recipe.yaml").read_bytes(), "r")
    assert isinstance(last, dict)
    refs = last["componentRefs"]
    assert isinstance(refs, list)
    pins = {ref["name"]: ref["version"] for ref in refs if isinstance(ref, dict)}
    assert pins == {
        "alpha-operator": "4.0.2",
        "alpha-operator-crds": "4.0.2",
        "beta-exporter": "1.3.0",
        "delta-agent": "1.5.0",
        "gamma-webhook": "0.4.0",
    }


def test_each_stage_is_checked_bundled_and_planned_from(
    capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    plan("-o", "plan", *FROM_CATALOG)
    values = json.loads((here / "plan/plan.json").read_text())
    runs = OLD
    for stage in values["stages"]:
        recipe = f"plan/{stage['recipe']}"
        capsys.readouterr()
        main(["upgrade-check", "--from", runs, "--to", recipe, "--deployer", "helm", *CATALOG,
              "--format", "json"])  # fmt: skip
        report = json.loads(capsys.readouterr().out)
        assert {(c["component"], c.get("from"), c.get("to"), c.get("verdict"))
                for c in report["components"]} == {
            (h["component"], h.get("from"), h.get("to"), h.get("verdict"))
            for h in stage["hops"]}  # fmt: skip
        bundles = f"bundles-{stage['n']}"
        assert main(["bundle", "-r", recipe, "--deployer", "helm", *CATALOG, "-o", bundles]) == 0
        capsys.readouterr()
        main(["upgrade-plan", "--from", recipe, "--deployer", "helm", *CATALOG, "--format", "json"])
        rest = json.loads(capsys.readouterr().out)
        strip = [[{**hop} for hop in s["hops"]] for s in values["stages"][stage["n"] :]]
        assert [s["hops"] for s in rest["stages"]] == strip
        assert [h["component"] for h in rest["held"]] == ["delta-agent"]
        runs = recipe


def test_a_bundle_carries_its_own_values(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    old = ["--catalog", str(THREE_HOPS / "old-catalog")]
    made = ["bundle", "-r", OLD, "--deployer", "flux", *old, "-o", "old"]
    assert main([*made, "--set", "alpha-operator:replicas=7"]) == 0
    assert main(["upgrade-plan", "--from", "old", *CATALOG, "-o", "plan"]) == 2
    first = (here / "plan/stage-1/recipe.yaml").read_text()
    assert "replicas: 7" in first
    assert "valuesFile" not in first
    assert "--deployer flux" in (here / "plan/plan.md").read_text()


def test_without_the_old_catalog_only_the_plan_is_written(
    capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    assert plan("-o", "plan") == 2
    assert "--from-catalog" in capsys.readouterr().err
    assert sorted(p.name for p in (here / "plan").iterdir()) == [
        "checksums.txt", "plan.json", "plan.md",
    ]  # fmt: skip
    page = (here / "plan/plan.md").read_text().replace("\\", "")
    assert "the recipes of the stages are not written" in page


def test_an_edited_page_is_not_lost(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    plan("-o", "plan", *FROM_CATALOG)
    page = here / "plan/plan.md"
    assert plan("-o", "plan", *FROM_CATALOG) == 2
    assert "cannot" not in capsys.readouterr().err
    page.write_text(page.read_text().replace("- [ ]", "- [x]", 1))
    plan("-o", "plan", *FROM_CATALOG)
    assert "changed since it was written: plan.md" in capsys.readouterr().err
    assert "- [x]" in page.read_text()
    plan("-o", "plan", *FROM_CATALOG, "--overwrite")
    assert "- [x]" not in page.read_text()
    (here / "mine").mkdir()
    (here / "mine/notes.txt").write_text("x")
    plan("-o", "mine", *FROM_CATALOG)
    assert "did not write: notes.txt" in capsys.readouterr().err


def test_through_releases_where_no_walk_leads(capsys: pytest.CaptureFixture[str]) -> None:
    found = planned(capsys, "--stages", "releases")
    assert found["stages"] == []
    closed = found["noWalk"]
    assert isinstance(closed, dict)
    assert closed["reached"] == "stack-1"
    assert closed["closed"][0] == {"release": "stack-2", "component": "alpha-operator-crds"}
    assert plan("--stages", "releases") == 2


def test_include_unplanned(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    assert plan("-o", "plan", *FROM_CATALOG, "--include-unplanned") == 2
    last = (here / "plan/stage-3/recipe.yaml").read_text()
    assert "version: 2.0.0" in last
    values = json.loads((here / "plan/plan.json").read_text())
    assert values["held"][0]["inLastStage"] is True


def test_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert plan("--fail-on-error=false") == 0
    assert plan(deployer="") == 2
    assert "--deployer is required" in capsys.readouterr().err
    assert plan("--detailed-exit-code", deployer="") == 1
    assert plan("--detailed-exit-code") == 2
    assert main(["upgrade-plan", "--from", OLD, "--to", OLD, *CATALOG]) == 0


@pytest.mark.parametrize("form", ["table", "json", "yaml", "markdown", "html"])
def test_every_format_names_what_is_held_before_the_stages(
    capsys: pytest.CaptureFixture[str], form: str
) -> None:
    assert plan("--format", form) == 2
    text = capsys.readouterr().out
    if form in ("json", "yaml"):
        assert '"held"' in text or "held:" in text
    else:
        assert text.index("delta-agent") < text.lower().index("stage 1 of 3")


def test_the_page_is_complete_in_itself(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    plan("-o", "plan", *FROM_CATALOG, "--format", "html")
    html = (here / "plan/plan.html").read_text()
    assert "Content-Security-Policy" in html
    assert "default-src 'none'" in html
    for loading in ("src=", "@import", "url("):
        assert loading not in html
    assert html.count('type="checkbox"') > 10


def test_what_was_read_from_a_cluster_gets_a_plan_and_no_recipes(
    capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    text = Path(OLD).read_text().replace("metadata:\n", "metadata:\n  inventory: {server: x}\n")
    (here / "prod.yaml").write_text(text)
    main(["upgrade-plan", "--from", "prod.yaml", *CATALOG, "--deployer", "helm", "-o", "plan"])
    assert "read from a cluster" in capsys.readouterr().err
    assert not list((here / "plan").glob("stage-*"))
    assert "aicr bundle" not in (here / "plan/plan.md").read_text()


def test_a_manifest_that_no_catalog_has_is_named(
    capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    lost = "    version: 1.0.0\n    manifestFiles: [components/gone/m.yaml]\n"
    (here / "old.yaml").write_text(Path(OLD).read_text().replace("    version: 1.0.0\n", lost, 1))
    main(["upgrade-plan", "--from", "old.yaml", *CATALOG, *FROM_CATALOG, "--deployer", "helm",
          "-o", "plan"])  # fmt: skip
    assert "stage 1: no catalog here has components/gone/m.yaml" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["table", "markdown", "html"])
@pytest.mark.parametrize(
    "name",
    ["<script>alert(1)</script>", 'x" onload="y', "a\nforged", "\x1b[31m", "[l](http://e)", "`c`"],
)
def test_names_are_only_names(
    capsys: pytest.CaptureFixture[str], here: Path, form: str, name: str
) -> None:
    recipe = yaml.safe_load(Path(OLD).read_text())
    recipe["componentRefs"][0]["version"] = name
    recipe["componentRefs"].append({"name": name, "version": "1.0.0", "type": "Helm"})
    recipe.pop("deploymentOrder")
    Path("old.yaml").write_text(json.dumps(recipe))
    main(["upgrade-plan", "--from", "old.yaml", *CATALOG, "--deployer", "helm", "--format", form])
    out = capsys.readouterr().out
    assert "UPGRADE PLAN" in out.upper()
    assert "\x1b" not in out
    assert not any(line.startswith("forged") for line in out.splitlines())
    if form == "html":
        assert "<script" not in out
        assert 'onload="' not in out
    if form == "markdown":
        assert "[l](http" not in out
        assert "<script" not in out.replace("\\<script", "")


@pytest.mark.parametrize("output", ["cm://ns/x", "oci://registry.example/x:1"])
def test_a_plan_is_written_to_a_folder(
    output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["upgrade-plan", "--from", "r.yaml", "--deployer", "helm", "-o", output]) == 2
    assert "a plan is written to a folder" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_commands_of_the_page_have_the_flags_that_the_plan_had(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert (
        main(["recipe", "--service", "eks", "--intent", "training", *CATALOG, "-o", "to.yaml"]) == 0
    )
    wanted = yaml.safe_load(Path("to.yaml").read_text())
    wanted["criteria"]["service"] = "gke"
    Path("to.yaml").write_text(yaml.safe_dump(wanted))
    words = ["--to", "to.yaml", "--allow-different-criteria", "--allow-unknown-fields",
             "--kubeconfig", "k c", "--context", "prod", *FROM_CATALOG, "-o", "made"]  # fmt: skip
    plan(*words)
    capsys.readouterr()
    lines = [line.strip() for line in Path("made/plan.md").read_text().splitlines()]
    commands = [split(line) for line in lines if line.startswith("aicr ")]
    checks = [one for one in commands if one[1] == "upgrade-check"]
    drifts = [one for one in commands if one[1] == "drift"]
    assert len(checks) == 3
    assert drifts
    for one in checks:
        assert main([*one[1:], "--fail-on-error=false"]) == 0, capsys.readouterr().err
    for one in drifts:
        assert one[-5:] == ["--allow-unknown-fields", "--kubeconfig", "k c", "--context", "prod"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--overwrite"], "--overwrite: is for -o alone"),
        (FROM_CATALOG, "--from-catalog: is for -o alone"),
        (["--exclude", "a/b"], "--exclude: is for --from cluster alone"),
        (["--allow-empty"], "--allow-empty: is for --from cluster alone"),
    ],
)
def test_flags_that_would_do_nothing(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plan(*words) == 2
    assert said in capsys.readouterr().err


def test_in_the_environment_they_may_be_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AICR_OVERWRITE", "true")
    monkeypatch.setenv("AICR_EXCLUDE", "a/b")
    assert plan("--fail-on-error=false") == 0
