"""By which hops to get there: ``aicr.plan`` and its ``aicr.Plan``."""

from __future__ import annotations

from aicr.library.checks import checked, sides
from aicr.library.recipes import Recipe
from aicr.upgrade.formats import plan_text
from aicr.upgrade.sides import Side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aicr.library.catalogs import Catalog
    from aicr.upgrade.plan import Plan as UpgradePlan
    from aicr.upgrade.plan_files import StagedPlan

    Files = dict[str, tuple[bytes, bool]]


class Plan:
    """The answer of ``plan``: stages and hops, and what is held back."""

    def __init__(
        self,
        found: UpgradePlan,
        before: Recipe,
        after: Recipe | None,
        catalogs: tuple[Catalog, Catalog | None],
        staged: Callable[[], StagedPlan],
        *,
        different: bool,
    ) -> None:
        self._found = found
        self._before = before
        self._after = after
        self._catalogs = catalogs
        self._make = staged
        self._different = different
        self._staged: StagedPlan | None = None

    @property
    def model(self) -> UpgradePlan:
        return self._found

    @property
    def stages(self) -> list[list[tuple[str, str, str, str]]]:
        """Of each stage its hops: component, from, to, verdict ("" where something comes or
        goes)."""
        return [
            [(hop.row.component, hop.row.before, hop.row.after, hop.row.verdict)
             for hop in stage.hops]
            for stage in self._found.stages
        ]  # fmt: skip

    @property
    def held(self) -> dict[str, str]:
        """The reason of each component that does not get where it is wanted."""
        return {one.change.component: one.stuck.reason for one in self._found.held}

    @property
    def needs_attention(self) -> bool:
        return self._found.needs_attention

    @property
    def warnings(self) -> Sequence[str]:
        return self._found.report.warnings

    @property
    def recipes(self) -> list[Recipe]:
        """The recipe of each stage, for ``bundle``; [] where ``notes`` say why there are none."""
        return [Recipe(Side(one.file, one.recipe)) for one in self._with_recipes().recipes]

    @property
    def notes(self) -> Sequence[str]:
        """What to know before the recipes are used, or why there are none: the values of a stage
        before the last one are known of a bundle, or with the catalog of that time alone."""
        return self._with_recipes().notes

    def text(self, form: str = "table") -> str:
        """As ``aicr upgrade-plan --format`` writes it: table, json, yaml, markdown, html."""
        return plan_text(self._found, form)

    def files(self, folder: str = "plan") -> dict[str, bytes]:
        """What ``aicr upgrade-plan -o FOLDER`` writes, by path: ``plan.md`` with the commands of
        each stage, ``plan.json``, and ``stage-N/recipe.yaml`` where they can be written."""
        return {path: data for path, (data, _) in self._files(folder).items()}

    def archive(self, form: str = "zip", folder: str = "plan") -> bytes:
        """These files as one ``zip`` or ``tar.gz``; same plan, same bytes. ``folder`` is where it
        will be unpacked."""
        from aicr.bundle.archived import archived

        return archived(self._files(folder), form)

    def write(self, folder: str, *, overwrite: bool = False) -> None:
        """Write them to ``folder``: all, or none."""
        from aicr.artifact.atomic import replace_directory
        from aicr.upgrade.plan_page import SIGN

        sign = ("plan.md", SIGN.encode("utf-8"))
        replace_directory(folder, self._files(folder), sign=sign, overwrite=overwrite)

    def _with_recipes(self) -> StagedPlan:
        if self._staged is None:
            self._staged = self._make()
        return self._staged

    def _files(self, folder: str) -> Files:
        from aicr.upgrade.plan_files import Places, plan_files

        # The commands name files: what is in none becomes one of the folder.
        own: Files = {}
        names = ["", ""]
        for at, (recipe, file) in enumerate(
            ((self._before, "from.yaml"), (self._after, "target.yaml"))
        ):
            if recipe is not None:
                names[at] = recipe.path or f"{folder.rstrip('/')}/{file}"
                if not recipe.path:
                    own[file] = (recipe.yaml().encode("utf-8"), False)
        catalog, from_catalog = self._catalogs
        flags = (("--data", catalog.data), ("--catalog", catalog.folder))
        places = Places(
            folder,
            before=names[0],
            after=names[1],
            deployer=self._found.report.deployer,
            catalog=[word for flag, value in flags if value for word in (flag, value)],
            from_catalog=from_catalog.folder if from_catalog is not None else "",
            different=self._different,
        )
        return plan_files(self._with_recipes(), places, more=own)


def plan(
    before: Recipe,
    after: Recipe | None = None,
    *,
    catalog: Catalog,
    deployer: str = "",
    stages: str = "hops",
    include_unplanned: bool = False,
    allow_different_criteria: bool = False,
    from_catalog: Catalog | None = None,
) -> Plan:
    """By which hops to get there: ``stages`` is ``hops`` or ``releases``. The same rules as
    ``check``, applied to each hop. ``from_catalog`` is the one that ``before`` came from, for the
    values of earlier stages. Raises INVALID_REQUEST."""
    from aicr.upgrade.plan import make_plan

    old, new = sides(before, after, catalog)
    report = checked(old, new, catalog, deployer, allow_different_criteria)
    mode, layers = stages, catalog.layers

    def staged() -> StagedPlan:
        from aicr.upgrade.plan_files import staged_plan

        return staged_plan(
            report, old, new, layers, mode=mode, unplanned=include_unplanned,
            from_catalog=from_catalog.layers if from_catalog is not None else None,
        )  # fmt: skip

    found = make_plan(report, old, new, layers, mode=mode, unplanned=include_unplanned)
    catalogs = (catalog, from_catalog)
    return Plan(found, before, after, catalogs, staged, different=allow_different_criteria)
