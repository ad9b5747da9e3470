"""The folder of a plan: its files, and the commands of its page."""

from __future__ import annotations

import os

from aicr.artifact.atomic import replace_directory
from aicr.artifact.checksums import CHECKSUMS, checksums_text
from aicr.recipe.document import write_recipe
from aicr.upgrade.plan_page import SIGN, Commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.upgrade.plan import Plan
    from aicr.upgrade.stage_recipes import StageRecipe

_NAMES = {"markdown": "plan.md", "json": "plan.json", "html": "plan.html"}


class Places:
    """What the commands of the page name: the folder, the artifacts, the deployer, catalogs."""

    __slots__ = ("after", "before", "catalog", "deployer", "folder", "from_catalog")

    def __init__(
        self,
        folder: str,
        *,
        before: str,
        after: str,
        deployer: str,
        catalog: Sequence[str],
        from_catalog: str,
    ) -> None:
        self.folder = folder
        self.before = before
        self.after = after
        self.deployer = deployer
        self.catalog = catalog
        self.from_catalog = from_catalog


def commands_of(plan: Plan, recipes: Sequence[StageRecipe], places: Places) -> dict[int, Commands]:
    """The commands around each stage, to be run where the plan was made."""
    from shlex import join

    deployer = places.deployer or "DEPLOYER"
    catalog = list(places.catalog)
    bundles = places.folder.rstrip("/") + "-bundles"
    by_stage = {one.n: one for one in recipes}
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
            before.append(["aicr", "drift", "-r", runs, "--deployer", deployer, *catalog])
        check = ["aicr", "upgrade-check", "--from", runs]
        if artifact:
            check += ["--to", artifact]
        before.append([*check, "--deployer", deployer, *catalog])
        target = f"{bundles}/stage-{stage.n}"
        apply: list[list[str]] = []
        if artifact:
            own = ["--catalog", places.from_catalog] if one and one.from_catalog else catalog
            apply.append(
                ["aicr", "bundle", "-r", artifact, "--deployer", deployer, *own, "-o", target]
            )
        after = [["aicr", "drift", "-r", target, "--deployer", deployer, *catalog]]
        found[stage.n] = Commands(
            [join(words) for words in before],
            [join(words) for words in apply],
            [join(words) for words in after] if apply else [],
        )
        runs = artifact or places.before
    return found


def write_folder(
    folder: str, pages: Mapping[str, str], recipes: Sequence[StageRecipe], *, overwrite: bool
) -> None:
    """Write all files of the plan, or none; as a bundle, an intact plan is replaced."""
    files = {_NAMES[form]: (text.encode("utf-8"), False) for form, text in pages.items()}
    for one in recipes:
        head = "".join(f"# {line}\n" for line in one.head)
        files[one.file] = ((head + write_recipe(one.recipe)).encode("utf-8"), False)
    files[CHECKSUMS] = (checksums_text(files), False)
    replace_directory(folder, files, sign=("plan.md", SIGN.encode("utf-8")), overwrite=overwrite)
