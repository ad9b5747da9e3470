"""Records load whole or not at all: every way in which a file can be wrong, with its place."""

from __future__ import annotations

import pytest

from aicr.catalog.layers import Catalog
from aicr.catalog.open import open_catalog
from aicr.documents.fields import Problems
from aicr.documents.reader import read_yaml
from aicr.errors import AicrError
from aicr.upgrade.model import Records, Step, StepGroup, choose_steps
from aicr.upgrade.records import load_records, read_records

HEAD = "apiVersion: aicr.run/v1beta1\nkind: ComponentUpgrades\ncomponent: alpha\n"
SAFE = """\
  - from: "<2.0.0"
    to: ">=2.0.0 <=2.5.0"
    verdict: safe
    verifiedBy: lane-7
    summary: A boundary.
"""
GROUP = "      - steps:"
GROUP_HELM = "      - deployers: [helm]\n        steps:"
GROUP_BOTH = "      - deployers: [flux, helm]\n        steps:"
GROUP_ARGO = "      - deployers: [argocd, argocd-helm, flux]\n        steps:"
MANUAL = """\
  - from: "<2.0.0"
    to: ">=2.0.0 <=2.5.0"
    verdict: manual
    summary: A boundary.
    stepsByDeployer:
      - deployers: [argocd, argocd-helm, flux]
        steps:
          - {id: commit, description: Commit., reason: One sync.}
      - steps:
          - {id: apply, description: Apply.}
"""
REPLACES = """\
replaces:
  component: beta
  verdict: safe
  verifiedBy: lane-7
  summary: It takes over.
"""


def load(text: str) -> tuple[Records | None, list[str]]:
    problems = Problems()
    found = read_records(read_yaml(text, "upgrades.yaml"), "upgrades.yaml", "alpha", problems)
    assert (found is None) == bool(problems.errors)
    return found, [str(p) for p in problems.errors]


def transitions(text: str) -> str:
    return f"{HEAD}transitions:\n{text}"


def test_a_whole_file() -> None:
    found, problems = load(
        transitions(MANUAL)
        + """\
    precondition: Drain it.
    reversible: true
    reversibleNotes: Roll back the chart.
    affectedResources:
      - {group: example.com, kinds: [Widget]}
      - {kinds: [Secret]}
    references: [https://example.com/notes]
  - from: ">=2.0.0, <3.0.0"
    to: v3.0.0
    verdict: safe
    verifiedBy: lane-8
    summary: Another.
"""
        + REPLACES
    )
    assert problems == []
    assert found is not None
    first, second = found.transitions
    assert (first.place, second.place) == ("upgrades.yaml:5", "upgrades.yaml:22")
    assert (first.verdict, first.origin.text, first.to.text) == (
        "manual",
        "<2.0.0",
        ">=2.0.0 <=2.5.0",
    )
    assert (first.precondition, first.reversible, first.reversible_notes) == (
        "Drain it.",
        True,
        "Roll back the chart.",
    )
    assert [(r.group, r.kinds) for r in first.affected_resources] == [
        ("example.com", ["Widget"]),
        ("", ["Secret"]),
    ]
    assert list(first.references) == ["https://example.com/notes"]
    assert [s.id for s in choose_steps(first.step_groups, "flux")] == ["commit"]
    assert [s.id for s in choose_steps(first.step_groups, "helm")] == ["apply"]
    assert (second.floor, second.ceiling) == (second.ceiling, second.floor)
    assert found.replaces is not None
    assert (found.replaces.component, found.replaces.verdict) == ("beta", "safe")
    assert found.replaces.place == "upgrades.yaml:28"


def test_the_older_edition_and_a_replaces_block_alone() -> None:
    found, _ = load(HEAD.replace("v1beta1", "v1alpha2") + REPLACES)
    assert found is not None
    assert list(found.transitions) == []
    found, _ = load(HEAD + "transitions: []\n" + REPLACES)
    assert found is not None


def test_rules_of_the_linter_do_not_keep_a_record_from_loading() -> None:
    found, problems = load(
        transitions(
            SAFE.replace("<=2.5.0", "<=99.0.0")  # a ceiling above any pin
            + SAFE.replace('"<2.0.0"', '">=2.0.0 <3.0.0"')  # same floor, not forward only
            + SAFE.replace('"<2.0.0"', '"<1.0.0 >2.0.0"')  # a range that nothing satisfies
        )
    )
    assert problems == []
    assert found is not None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (transitions(SAFE).replace("aicr.run/v1beta1", "aicr.run/v2"),
         ('upgrades.yaml:1: apiVersion: expected aicr.run/v1beta1 or aicr.run/v1alpha2, found '
         '"aicr.run/v2"')),
        (transitions(SAFE).replace("apiVersion: aicr.run/v1beta1\n", ""),
         "apiVersion: expected aicr.run/v1beta1 or aicr.run/v1alpha2, found none"),
        (transitions(SAFE).replace("ComponentUpgrades", "Upgrades"),
         'kind: expected ComponentUpgrades, found "Upgrades"'),
        (transitions(SAFE).replace("component: alpha", "component: beta"),
         'upgrades.yaml:3: component: expected alpha, found "beta"'),
        (HEAD, "transitions: expected at least one, or a replaces block"),
        (HEAD + "transitions: []\n", "transitions: expected at least one"),
        (HEAD + "transitions:\n", "transitions: expected at least one"),
        (HEAD + "transitions: {from: x}\n", "transitions: expected a list, found a map"),
        (transitions("  - text\n"), "transitions[0]: expected a map, found text"),
        ("[]\n", "expected a map, found a list"),
        ("~\n", "apiVersion: expected"),
        (transitions(SAFE) + "hooks: []\n", "hooks: is reserved"),
        (transitions(SAFE) + "    hooks: {}\n", "transitions[0].hooks: is reserved"),
        (transitions(SAFE) + "    hooks:\n", "transitions[0].hooks: is reserved"),
        (transitions(SAFE) + REPLACES + "  hooks: []\n", "replaces.hooks: is reserved"),
        (transitions(MANUAL).replace("description: Apply.", "description: Apply., hooks: []"),
         "steps[0].hooks: is reserved"),
        (transitions(MANUAL) + "        hooks: []\n", "stepsByDeployer[1].hooks: is reserved"),
        (transitions(SAFE) + "    affectedResources: [{kinds: [A], hooks: 1}]\n", "is reserved"),
        (transitions(SAFE) + "    verdikt: safe\n",
         'unknown key "verdikt", did you mean "verdict"?'),
        (transitions(SAFE) + "extra: 1\n", 'unknown key "extra"'),
        (transitions(SAFE).replace("verdict: safe", "verdict: fine"),
         'transitions[0].verdict: expected safe, manual, blocked; found "fine"'),
        (transitions(SAFE).replace("    verdict: safe\n", ""), ("verdict: expected safe, manual, "
         "blocked; found none")),
        (transitions(SAFE).replace("verdict: safe", "verdict: [safe]"),
         "expected text, found a list"),
        (transitions(SAFE).replace("verdict: safe", "verdict: Safe"), 'found "Safe"'),
        (transitions(SAFE).replace("    verifiedBy: lane-7\n", ""),
         "transitions[0].verifiedBy: is missing; safe must say who or what verified it"),
        (transitions(SAFE).replace("lane-7", '"  "'), "verifiedBy: is missing"),
        (transitions(SAFE).replace("    summary: A boundary.\n", ""), "summary: is missing"),
        (transitions(SAFE).replace("A boundary.", '" "'), "summary: is blank"),
        (transitions(SAFE).replace('"<2.0.0"', '">=1.0.0"'),
         'upgrades.yaml:5: transitions[0].from: ">=1.0.0" has no upper bound'),
        (transitions(SAFE).replace('">=2.0.0 <=2.5.0"', '">=2.0.0"'),
         'upgrades.yaml:6: transitions[0].to: ">=2.0.0" lacks an upper bound'),
        (transitions(SAFE).replace('">=2.0.0 <=2.5.0"', '"<=2.5.0"'),
         'to: "<=2.5.0" lacks a lower'),
        (transitions(SAFE).replace('">=2.0.0 <=2.5.0"', '"^2.0.0"'), "write '>=2.0.0 <3.0.0'"),
        (transitions(SAFE).replace('"<2.0.0"', "1.20"),
         "transitions[0].from: '1.20': partial version; write all three parts: '1.20.0'"),
        (transitions(SAFE).replace('"<2.0.0"', "~"), "transitions[0].from: is missing"),
        (transitions(SAFE).replace('"<2.0.0"', '""'), "transitions[0].from: is missing"),
        (transitions(SAFE).replace('"<2.0.0"', "[1.0.0]"), "from: expected text, found a list"),
        (transitions(SAFE).replace('"<2.0.0"', "{a: b}"), "from: expected text, found a map"),
        (transitions(SAFE).replace("- from:", "- form:"), "transitions[0].from: is missing"),
        (transitions(MANUAL[: MANUAL.index("    stepsByDeployer")]),
         "transitions[0].stepsByDeployer: is missing; manual and blocked have steps"),
        (transitions(MANUAL).replace("[argocd, argocd-helm, flux]", "[]"),
         "stepsByDeployer[0].deployers: is empty"),
        (transitions(MANUAL).replace("[argocd, argocd-helm, flux]", ""),
         "stepsByDeployer[0].deployers: is empty"),
        (transitions(MANUAL).replace("[argocd, argocd-helm, flux]", "flux"),
         "stepsByDeployer[0].deployers: expected a list, found text"),
        (transitions(MANUAL).replace("[argocd, argocd-helm, flux]", "[argo]"),
         '"argo" is no deployer; expected helm, helmfile, argocd, argocd-helm, flux'),
        (transitions(MANUAL).replace("[argocd, argocd-helm, flux]", "[flux, flux]"),
         'the deployer "flux" is in group 0 and in group 0'),
        (transitions(MANUAL).replace(GROUP, GROUP_BOTH),
         'the deployer "flux" is in group 0 and in group 1'),
        (transitions(MANUAL).replace(GROUP, GROUP_HELM),
         "no group is for helmfile; add one without deployers"),
        (transitions(MANUAL).replace(GROUP_ARGO, GROUP), "two groups without deployers"),
        (transitions(MANUAL).replace("          - {id: apply, description: Apply.}\n", ""),
         "transitions[0].stepsByDeployer[1]: has no steps"),
        (transitions(MANUAL).replace("id: apply, ", ""), "steps[0].id: is missing"),
        (transitions(MANUAL).replace(", description: Apply.", ""), "description: is missing"),
        (transitions(MANUAL) + "          - {id: apply, description: Again.}\n",
         '"apply" is there twice in this group'),
        (transitions(MANUAL).replace("verdict: manual", "verdict: safe\n    verifiedBy: x"),
         "safe has no steps; with steps the verdict is manual"),
        (transitions(SAFE) + "    reversible: true\n",
         "transitions[0].reversibleNotes: is missing; reversible: true needs it"),
        (transitions(SAFE) + '    reversible: "true"\n',
         'expected true or false, found the text "true"'),
        (transitions(SAFE) + "    affectedResources: [{group: g}]\n", "kinds: is missing"),
        (transitions(SAFE) + "    references: https://x\n", "references: expected a list"),
        (transitions(SAFE) + "    references: [~]\n", "references[0]: expected text, found null"),
        (HEAD + REPLACES.replace("  component: beta\n", ""), "replaces.component: is missing"),
        (HEAD + REPLACES.replace("safe", "manual"), "replaces.stepsByDeployer: is missing"),
        (HEAD + REPLACES.replace("  verifiedBy: lane-7\n", ""), "replaces.verifiedBy: is missing"),
        (HEAD + "replaces: beta\n", "replaces: expected a map, found text"),
    ],
)  # fmt: skip
def test_does_not_load(text: str, says: str) -> None:
    _, problems = load(text)
    assert any(says in problem for problem in problems), problems


def test_all_problems_come_at_once_and_a_duplicate_key_is_one() -> None:
    _, problems = load(transitions(SAFE.replace("safe", "fine") + SAFE.replace("2.0.0", "2.0")))
    assert len(problems) == 3
    with pytest.raises(AicrError, match="twice"):
        load(transitions(SAFE + "    verdict: safe\n"))


def test_choose_steps_takes_the_group_that_names_the_deployer() -> None:
    groups = [StepGroup(None, [Step("b", "B.")]), StepGroup(["flux"], [Step("a", "A.")])]
    assert [s.id for s in choose_steps(groups, "flux")] == ["a"]
    assert [s.id for s in choose_steps(groups, "helm")] == ["b"]
    assert list(choose_steps(groups[1:], "helm")) == []


REGISTRY = """\
apiVersion: aicr.run/v1beta1
kind: ComponentRegistry
components:
  - name: alpha
    upgrades: {file: components/alpha/upgrades.yaml}
  - name: beta
    upgrades: {file: components/beta/upgrades.yaml}
  - name: gamma
  - name: delta
    upgrades: {fil: components/delta/upgrades.yaml}
"""


def catalog(tmp_path_factory: pytest.TempPathFactory, files: dict[str, str]) -> Catalog:
    root = tmp_path_factory.mktemp("catalog")
    for path, text in {"registry.yaml": REGISTRY, **files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return open_catalog(catalog=str(root))


def test_load_records_of_a_catalog(tmp_path_factory: pytest.TempPathFactory) -> None:
    opened = catalog(tmp_path_factory, {"components/alpha/upgrades.yaml": transitions(SAFE)})
    found = load_records(opened, ["alpha", "gamma", "not-in-the-registry"])
    assert list(found) == ["alpha"]
    assert found["alpha"].transitions[0].file.endswith("components/alpha/upgrades.yaml")


def test_load_records_collects_the_problems_of_all_files(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    opened = catalog(
        tmp_path_factory,
        {"components/alpha/upgrades.yaml": transitions(SAFE).replace("safe", "ok")},
    )
    with pytest.raises(AicrError) as refused:
        load_records(opened, ["alpha", "beta", "delta"])
    message = refused.value.message
    assert refused.value.code == "INVALID_REQUEST"
    assert "components/alpha/upgrades.yaml:7: transitions[0].verdict: expected safe" in message
    assert 'beta.upgrades.file: "components/beta/upgrades.yaml" is not in the catalog' in message
    assert "registry.yaml:9: delta.upgrades.file: is missing" in message


@pytest.mark.parametrize("text", ["a: [", "a: 1\na: 2\n", "", "\0"])
def test_a_file_that_does_not_parse_is_never_no_record(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    opened = catalog(tmp_path_factory, {"components/alpha/upgrades.yaml": text})
    with pytest.raises(AicrError, match=r"upgrades\.yaml"):
        load_records(opened, ["alpha"])
