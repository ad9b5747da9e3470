"""A plan as files: the page to walk through, the recipe of each stage, and the commands of both."""

from __future__ import annotations

import os

from aicr.artifact.checksums import CHECKSUMS, checksums_text
from aicr.recipe.document import write_recipe
from aicr.upgrade.formats import plan_text
from aicr.upgrade.plan import make_plan
from aicr.upgrade.plan_page import Commands
from aicr.upgrade.stage_recipes import as_deployed, stage_recipes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.catalog.layers import Catalog
    from aicr.upgrade.check import Report
    from aicr.upgrade.plan import Plan
    from aicr.upgrade.sides import Side
    from aicr.upgrade.stage_recipes import StageRecipe

_NAMES = {"markdown": "plan.md", "json": "plan.json", "html": "plan.html"}


class StagedPlan:
    """A plan with the recipe of each stage, [] where they cannot be written; ``notes`` say why, and
    what else to know before."""

    __slots__ = ("notes", "plan", "recipes")

    def __init__(self, plan: Plan, recipes: Sequence[StageRecipe], notes: Sequence[str]) -> None:
        self.plan = plan
        self.recipes = recipes
        self.notes = notes


def staged_plan(
    report: Report,
    old: Side,
    new: Side,
    catalog: Catalog,
    *,
    mode: str = "hops",
    unplanned: bool = False,
    from_catalog: Catalog | None = None,
) -> StagedPlan:
    """As ``make_plan``, with the recipes; ``from_catalog`` is the one that ``old`` came from.

    Raises INVALID_REQUEST where ``from_catalog`` lacks a values file.
    """
    deployed = as_deployed(old, catalog, from_catalog)
    plan = make_plan(
        report, old, new, catalog, mode=mode, unplanned=unplanned, as_deployed=deployed.components
    )
    recipes, why_not, notes = stage_recipes(plan, old, new, deployed, catalog, from_catalog)
    if why_not and plan.stages:
        notes = [*notes, f"the recipes of the stages are not written: {why_not}"]
    return StagedPlan(plan, recipes, notes)


class Places:
    """What the commands of the page name: the folder, the artifacts, the deployer, catalogs, and
    flags of the cluster. ``different`` where the criteria of both sides may differ."""

    __slots__ = (
        "after", "before", "catalog", "cluster", "deployer", "different", "folder", "from_catalog",
    )  # fmt: skip

    def __init__(
        self,
        folder: str,
        *,
        before: str,
        after: str,
        deployer: str,
        catalog: Sequence[str],
        from_catalog: str,
        cluster: Sequence[str] = (),
        different: bool = False,
    ) -> None:
        self.folder = folder
        self.before = before
        self.after = after
        self.deployer = deployer
        self.catalog = catalog
        self.from_catalog = from_catalog
        self.cluster = cluster
        self.different = different


def commands_of(staged: StagedPlan, places: Places) -> dict[int, Commands]:
    """The commands around each stage, to be run where the plan was made."""
    from shlex import join

    deployer = places.deployer or "DEPLOYER"
    catalog = list(places.catalog)
    drift = [*catalog, *places.cluster]
    bundles = places.folder.rstrip("/") + "-bundles"
    plan = staged.plan
    by_stage = {one.n: one for one in staged.recipes}
    found: dict[int, Commands] = {}
    runs = places.before
    for stage in plan.stages:
        one = by_stage.get(stage.n)
        artifact = places.after
        if one is not None:
            artifact = os.path.join(places.folder, one.file)
        elif stage.n < len(plan.stages) or plan.held:
            continue
        before: list[list[str]] = []
        if runs != "cluster":
            before.append(["aicr", "drift", "-r", runs, "--deployer", deployer, *drift])
        check = ["aicr", "upgrade-check", "--from", runs]
        if artifact:
            check += ["--to", artifact]
        if runs == "cluster" or "cm://" in (runs[:5], artifact[:5]):
            check += places.cluster
        if places.different:
            check.append("--allow-different-criteria")
        before.append([*check, "--deployer", deployer, *catalog])
        target = f"{bundles}/stage-{stage.n}"
        apply: list[list[str]] = []
        if artifact:
            own = ["--catalog", places.from_catalog] if one and one.from_catalog else catalog
            apply.append(
                ["aicr", "bundle", "-r", artifact, "--deployer", deployer, *own, "-o", target]
            )
        after = [["aicr", "drift", "-r", target, "--deployer", deployer, *drift]]
        found[stage.n] = Commands(
            [join(words) for words in before],
            [join(words) for words in apply],
            [join(words) for words in after] if apply else [],
        )
        runs = artifact or places.before
    return found


def plan_files(
    staged: StagedPlan,
    places: Places,
    *,
    html: bool = False,
    more: Mapping[str, tuple[bytes, bool]] | None = None,
) -> dict[str, tuple[bytes, bool]]:
    """Every file of the folder by its path, each with whether it is a program; same plan, same
    bytes. ``more`` are files that the commands name besides."""
    plan, recipes, notes = staged.plan, staged.recipes, staged.notes
    commands = commands_of(staged, places)
    files = dict(more or {})
    for form in ("markdown", "json", *(("html",) if html else ())):
        text = plan_text(plan, form, recipes, commands, notes)
        files[_NAMES[form]] = (text.encode("utf-8"), False)
    for one in recipes:
        head = "".join(f"# {line}\n" for line in one.head)
        files[one.file] = ((head + write_recipe(one.recipe)).encode("utf-8"), False)
    files[CHECKSUMS] = (checksums_text(files), False)
    return files
