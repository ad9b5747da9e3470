from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from aicr.cli.config import BUNDLE, RECIPE, known_keys
from aicr.cli.main import main
from snapshots import EKS_H100

DOCS = Path(__file__).parents[2] / "docs"
HEAD = "kind: AICRConfig\napiVersion: aicr.run/v1beta1\nmetadata: {name: mine}\n"
WHOLE = (
    HEAD
    + """\
spec:
  snapshot:
    output: {path: snapshot.yaml}
  recipe:
    criteria:
      service: eks
      accelerator: h100
      intent: training
    output:
      path: recipe.yaml
      format: json
    profile: ""
    criteriaStrict: true
  bundle:
    input: {recipe: recipe.yaml}
    output: {target: ./out}
    deployment:
      deployer: helm
      set: ["nfd:enabled=false"]
      vendorCharts: false
    attestation: {enabled: false}
    registry: {plainHTTP: false}
  validate: {}
"""
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def config(text: str) -> str:
    Path("config.yaml").write_text(text)
    return "config.yaml"


def query(*words: str) -> int:
    return main(["query", "-s", "criteria", "-t", "json", *words])


def test_one_file_for_recipe_and_bundle(capsys: pytest.CaptureFixture[str]) -> None:
    file = config(WHOLE)
    assert main(["recipe", "--config", file]) == 0
    done = capsys.readouterr()
    assert done.out == ""
    assert "not used by this tool: spec.snapshot, spec.validate" in done.err
    assert json.loads(Path("recipe.yaml").read_text())["criteria"] == {
        "service": "eks", "accelerator": "h100", "intent": "training",
    }  # fmt: skip
    assert main(["bundle", "--config", file]) == 0
    assert Path("out/deploy.sh").exists()
    filtered = yaml.safe_load(Path("out/recipe.yaml").read_text())
    assert "nfd" not in [ref["name"] for ref in filtered["componentRefs"]]


def test_a_query_is_not_written_where_the_recipe_goes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", "--config", config(WHOLE), "-s", "criteria.service"]) == 0
    assert capsys.readouterr().out == "eks\n"
    assert not Path("recipe.yaml").exists()


def test_flag_over_variable_over_file_over_snapshot(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("snapshot.yaml").write_text(EKS_H100)
    file = config(HEAD + """\
spec:
  recipe:
    criteria: {accelerator: gb200, intent: training, nodes: 3}
    input: {snapshot: snapshot.yaml}
""")  # fmt: skip

    def criteria(*words: str) -> dict[str, object]:
        capsys.readouterr()
        assert query("--config", file, *words) == 0
        found: dict[str, object] = json.loads(capsys.readouterr().out)
        return found

    # service comes from the snapshot, whose accelerator (h100) the file overrules
    assert criteria() == {
        "service": "eks", "accelerator": "gb200", "intent": "training", "os": "ubuntu", "nodes": 3,
    }  # fmt: skip
    monkeypatch.setenv("AICR_ACCELERATOR", "h100")
    monkeypatch.setenv("AICR_NODES", "5")
    assert criteria()["accelerator"] == "h100"
    assert criteria("--nodes", "7")["nodes"] == 7
    assert "os" not in criteria("--os", "any")
    monkeypatch.setenv("AICR_CONFIG", file)
    assert query("--intent", "inference") == 0


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("recipe: {criterias: {}}", 'config.yaml:5: spec.recipe: unknown key "criterias"'),
        ("recipe: {criterias: {}}", 'did you mean "criteria"?'),
        ("recipe: {criteria: {acelerator: h100}}", 'did you mean "accelerator"?'),
        ("recipes: {}", 'did you mean "recipe"?'),
        ("bundle: {deployment: {deployr: helm}}", 'did you mean "deployer"?'),
        ("recipe: {profile: gpuStack=x}", "spec.recipe.profile: is a key of the public schema"),
        ("recipe: {artifacts: {inventory: i.yaml}}", "no counterpart"),
        ("recipe: {criteria: {nodes: many}}", "recipe.criteria.nodes: expected a whole number"),
        ("{}", "none of the sections"),
        ("recipe: []", "expected a map"),
    ],
)  # fmt: skip
def test_what_is_refused(capsys: pytest.CaptureFixture[str], spec: str, said: str) -> None:
    text = HEAD + ("spec: {}\n" if spec == "{}" else f"spec:\n  {spec}\n")
    assert query("--config", config(text), "--service", "eks") == 2
    assert said in capsys.readouterr().err


def test_a_line_break_in_a_value_is_part_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    """In a variable a line is a value; in a file each item of the list is one."""
    items = 'deployment: {deployer: helm, set: ["nfd:note=one\\ntwo", "nfd:b=3"]}'
    path = config(f"{HEAD}spec:\n  bundle:\n    {items}\n")
    assert main(["recipe", "--service", "eks", "-o", "recipe.yaml"]) == 0
    assert main(["bundle", "-r", "recipe.yaml", "--config", path, "-o", "out"]) == 0
    capsys.readouterr()
    (values,) = Path("out").glob("*-nfd/values.yaml")
    found = yaml.safe_load(values.read_text())
    assert (found["note"], found["b"]) == ("one\ntwo", 3)


def test_a_value_out_of_the_file_names_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    file = config(HEAD + "spec:\n  recipe:\n    output:\n      format: xml\n")
    assert main(["recipe", "--config", file, "--service", "eks"]) == 2
    assert "(from config.yaml:7)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kind: Other\nspec: {recipe: {}}\n", "expected AICRConfig"),
        ("kind: AICRConfig\napiVersion: aicr.run/v9\nspec: {recipe: {}}\n", "apiVersion"),
        ("kind: AICRConfig\n", "spec: is missing"),
    ],
)
def test_other_documents(capsys: pytest.CaptureFixture[str], text: str, said: str) -> None:
    assert query("--config", config(text)) == 2
    assert said in capsys.readouterr().err


def test_a_bundle_setting_that_asks_for_what_is_not_done_is_an_error_for_bundle_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    own, other = "recipe: {criteria: {service: eks}}", "bundle: {attestation: {enabled: true}}"
    file = config(f"{HEAD}spec:\n  {own}\n  {other}\n")
    assert query("--config", file) == 0
    assert main(["bundle", "--config", file, "-r", "r.yaml", "--deployer", "helm"]) == 2
    assert "spec.bundle.attestation.enabled" in capsys.readouterr().err


def test_no_file_and_an_address(capsys: pytest.CaptureFixture[str]) -> None:
    assert query("--config", "nowhere.yaml") == 2
    assert "--config nowhere.yaml: there is no such file" in capsys.readouterr().err
    assert query("--config", "https://example.com/config.yaml") == 2
    assert "a file was expected" in capsys.readouterr().err


def test_the_documentation_names_every_key() -> None:
    text = (DOCS / "bring-your-own-catalog.md").read_text("utf-8")
    for schema, at in ((RECIPE, "spec.recipe"), (BUNDLE, "spec.bundle")):
        for key, flag in known_keys(schema, at).items():
            assert f"`{key}`" in text
            if flag:
                assert f"`{flag}`" in text
