"""Records, sides and rows to test with, said in few words."""

from __future__ import annotations

from aicr.catalog.model import ComponentRef, Release
from aicr.recipe.criteria import Criteria
from aicr.recipe.model import Recipe
from aicr.upgrade.check import Rules, compare
from aicr.upgrade.inventory import Identity
from aicr.upgrade.model import Records, Replacement, Step, StepGroup, Transition
from aicr.upgrade.rows import Row
from aicr.upgrade.sides import Side
from aicr.versions.ranges import parse_range
from aicr.versions.semver import Version, parse

STEPS = (
    StepGroup(["argocd", "argocd-helm", "flux"], [Step("commit-first", "Commit.", "One sync.")]),
    StepGroup(None, [Step("apply-crds", "Apply the CRDs."), Step("upgrade", "Upgrade.")]),
)


def version(text: str) -> Version:
    found = parse(text)
    assert found is not None, text
    return found


def transition(
    origin: str,
    to: str,
    verdict: str = "safe",
    *,
    line: int = 0,
    summary: str = "A boundary.",
    precondition: str = "",
    reversible: bool | None = None,
    reversible_notes: str = "",
    references: tuple[str, ...] = (),
    verified_by: str = "lane-7",
) -> Transition:
    return Transition(
        parse_range(origin),
        parse_range(to),
        verdict,
        summary=summary,
        verified_by=verified_by if verdict == "safe" else "",
        precondition=precondition,
        reversible=reversible,
        reversible_notes=reversible_notes,
        step_groups=() if verdict == "safe" else STEPS,
        references=references,
        file="components/alpha/upgrades.yaml",
        line=line,
    )


def records(*transitions: Transition, replaces: Replacement | None = None) -> Records:
    return Records("alpha", transitions, replaces, file="components/alpha/upgrades.yaml")


def replacement(component: str, verdict: str = "manual") -> Replacement:
    return Replacement(
        component,
        verdict,
        summary="It takes over.",
        verified_by="lane-7" if verdict == "safe" else "",
        step_groups=() if verdict == "safe" else STEPS,
        file="components/alpha/upgrades.yaml",
        line=4,
    )


def row(
    old: str,
    new: str,
    *transitions: Transition,
    old_identity: Identity | None = None,
    new_identity: Identity | None = None,
    releases: tuple[Release, ...] = (),
    deployer: str = "helm",
) -> Row:
    """The row of one component that moves from old to new."""
    rules = Rules({"alpha": records(*transitions)} if transitions else {}, releases)
    rows = compare(
        {"alpha": old_identity or Identity(old)},
        {"alpha": new_identity or Identity(new)},
        rules,
        deployer=deployer,
    )
    assert len(rows) == 1
    return rows[0]


def side(
    label: str,
    *components: ComponentRef,
    criteria: Criteria | None = None,
    is_bundle: bool = False,
    deployer: str = "",
    values: dict[str, object] | None = None,
    values_missing: str = "",
    readable: dict[str, object] | None = None,
) -> Side:
    recipe = Recipe(
        api_version="aicr.run/v1beta1",
        version="",
        catalog_digest="",
        criteria=criteria or Criteria(),
        components=components,
        deployment_order=[c.name for c in components],
    )
    return Side(
        label,
        recipe,
        is_bundle=is_bundle,
        deployer=deployer,
        values=values,
        readable=readable,
        values_missing=values_missing,
    )
