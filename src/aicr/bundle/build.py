"""A recipe and flags in, the files of a bundle out: names, selection, plan, writer, layout."""

from __future__ import annotations

from aicr.bundle.charts import chart_version, is_whole
from aicr.bundle.effect import check_effect
from aicr.bundle.given import parse_dynamic, parse_files, parse_json
from aicr.bundle.guidance import find_advice
from aicr.bundle.kept import read_kept
from aicr.bundle.landings import landings_of
from aicr.bundle.layout import lay_out
from aicr.bundle.names import check_recipe, check_repository
from aicr.bundle.overrides import ENABLED, parse_set, settle
from aicr.bundle.plan import make_plan
from aicr.bundle.scheduling import Scheduling, wishes_of
from aicr.bundle.selection import select
from aicr.bundle.validations import Notice, validate
from aicr.bundle.writers import APPLICATIONS, GITOPS, NO_REPO, RESERVED, Options, writer
from aicr.documents.fields import Problem, problems_error
from aicr.documents.safe import cell
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.bundle.namespaces import LeftOut
    from aicr.bundle.overrides import Override, Settled
    from aicr.bundle.plan import DeploymentPlan, PlannedRelease
    from aicr.bundle.writers import Files
    from aicr.catalog.layers import Catalog
    from aicr.charts.archive import ChartArchive
    from aicr.charts.source import Charts
    from aicr.recipe.model import Recipe

    Settings = Mapping[str, str | list[str]]

_NAMED = 5
# What a recipe has of the flags: which components are left out.
_TOGGLES = (f"{ENABLED}=false", f"{ENABLED}=true")


class Request:
    """What is asked for besides the recipe: the deployer, and flags as they were given.

    ``set_files`` are arguments of ``--set-file``, each with the text of its file. ``charts`` is
    where upstream charts are looked up: with ``vendor_charts`` all of them, for the bundle; else
    those of a folder, to compare overrides with them.
    """

    __slots__ = (
        "charts",
        "deployer",
        "dynamic",
        "repo",
        "scheduling",
        "set_files",
        "set_json",
        "sets",
        "target_revision",
        "vendor_charts",
    )

    def __init__(
        self,
        deployer: str,
        *,
        sets: Sequence[str] = (),
        set_json: Sequence[str] = (),
        set_files: Sequence[tuple[str, str]] = (),
        dynamic: Sequence[str] = (),
        scheduling: Scheduling | None = None,
        repo: str = "",
        target_revision: str = "",
        charts: Charts | None = None,
        vendor_charts: bool = False,
    ) -> None:
        self.charts = charts
        self.vendor_charts = vendor_charts
        self.deployer = deployer
        self.sets = sets
        self.set_json = set_json
        self.set_files = set_files
        self.dynamic = dynamic
        self.scheduling = scheduling or Scheduling()
        self.repo = repo
        self.target_revision = target_revision

    def overrides(self) -> list[Override]:
        """What is asked for of single components. Raises INVALID_REQUEST."""
        if self.dynamic and self.deployer == "argocd":
            raise invalid(
                f"--dynamic {self.dynamic[0]}: under --deployer argocd all values come from the "
                "repository, and nothing is left to install time",
                hint="--deployer argocd-helm takes values when it is installed",
            )
        return [
            *parse_set(self.sets),
            *parse_json(self.set_json),
            *parse_files(self.set_files),
            *parse_dynamic(self.dynamic),
        ]

    def settings(self) -> dict[str, str | list[str]]:
        """The flags as ``bundle-info.yaml`` records them."""
        given: dict[str, str | list[str]] = {
            "set": list(self.sets),
            "setJson": list(self.set_json),
            "setFile": [argument for argument, _ in self.set_files],
            "dynamic": list(self.dynamic),
            **self.scheduling.settings(),
            "repo": self.repo,
            "targetRevision": self.target_revision,
            "vendorCharts": "true" if self.vendor_charts else "",
        }
        return {key: value for key, value in given.items() if value}


class Bundle:
    """A bundle in memory: its plan, its files, where to begin, and what a person should know."""

    __slots__ = ("entrypoint", "files", "notices", "plan")

    def __init__(
        self, plan: DeploymentPlan, files: Files, entrypoint: str, notices: Sequence[Notice]
    ) -> None:
        self.plan = plan
        self.files = files
        self.entrypoint = entrypoint
        self.notices = notices


def build_bundle(
    recipe: Recipe,
    catalog: Catalog,
    request: Request,
    *,
    where: str,
    kept: Mapping[str, bytes] | None = None,
    made_with: Settings | None = None,
) -> Bundle:
    """The bundle of ``recipe``; same input, same bytes. ``where`` is the recipe's file.

    ``kept`` has the operator's ``cluster-values.yaml`` by release, ``made_with`` what was asked for
    when the bundle was made that the recipe is from. Raises INVALID_REQUEST for
    anything in the recipe that may not reach a bundle, and for overrides without effect.
    """
    write = writer(request.deployer)
    problems = [*check_repository(request.repo, request.target_revision)]
    problems += check_recipe(recipe, where)
    problems += [
        Problem(where, 0, f"componentRefs[{ref.name}].name",
                f"is a name of the bundle's own with the deployer {request.deployer}")
        for ref in recipe.components if ref.name in RESERVED.get(request.deployer, ())
    ]  # fmt: skip
    if problems:
        raise problems_error(problems)
    wishes = wishes_of(request.scheduling)
    settled = settle(request.overrides(), recipe, catalog.registry)
    selected = select(recipe, settled.removed, where)
    landings = landings_of(wishes, selected, catalog)
    built, left_out = _built(selected, catalog)
    plan = make_plan(
        selected,
        catalog,
        overrides=settled.values,
        built=built,
        where=where,
        landings=landings,
        dynamic=settled.dynamic,
    )
    if request.deployer in APPLICATIONS:
        from aicr.bundle.shared_crds import with_foreign_crds

        plan = with_foreign_crds(plan, catalog)
    archives, chart_notices = _charts(plan, request, settled)
    vendored: Files = {}
    if request.vendor_charts:
        from aicr.bundle.vendor import with_archives

        plan, vendored = with_archives(plan, archives, unpacked=request.deployer in GITOPS)
    # Elsewhere nothing reads what an operator wrote; whether it may go is decided later.
    names = {one.name for one in plan.releases} if request.deployer not in GITOPS else ()
    written = read_kept({name: data for name, data in (kept or {}).items() if name in names})
    options = Options(kept=kept or {}, repo=request.repo, revision=request.target_revision)
    notices = [
        *catalog_notice(recipe, catalog),
        *_left_behind(made_with or {}, request.settings(), where),
        *_repository_notices(request, plan),
        *map(_partial_notice, filter(_is_partial, plan.releases)),
        *check_effect(
            plan, catalog, wishes=wishes, landings=landings, settled=settled, kept=written
        ),
        *chart_notices,
        *map(_namespace_notice, left_out),
        *validate(plan, catalog),
    ]
    advice, unreadable = find_advice(plan, catalog, request.deployer)
    if advice:
        named = ", ".join(dict.fromkeys(one.component for one in advice))
        message = "to upgrade a running cluster, read UPGRADING.md first"
        message += ", before anything is pushed" if request.deployer in GITOPS else ""
        message += f": it has steps for {named}"
        notices.append(Notice("warning", message))
    notices += [
        Notice("warning", f"a record cannot be read, so UPGRADING.md lacks it: {why}")
        for why in unreadable
    ]
    files = lay_out(
        plan,
        advice,
        deployer=request.deployer,
        settings=request.settings(),
        version=chart_version(),
        module=write,
        options=options,
        left_out=left_out,
        vendored=vendored,
    )
    if any(b".inf" in data or b".nan" in data for data, _ in files.values()):
        _check_finite(plan)
    return Bundle(plan, files, write.ENTRYPOINT, notices)


def _left_behind(before: Settings, now: Settings, where: str) -> list[Notice]:
    """What a bundle was made with, that its recipe lacks and that is not asked for again."""
    missing: list[str] = []
    for key, given in sorted(before.items()):
        flag = "--" + "".join(f"-{char.lower()}" if char.isupper() else char for char in key)
        again = _listed(now.get(key, ()))
        # Without the value that is set, which may be a secret.
        missing += [
            f"{flag} {one.partition('=')[0] if key.startswith('set') else one}"
            for one in _listed(given)
            if one not in again and one.partition(":")[2] not in _TOGGLES
        ]
    if not missing:
        return []
    more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
    said = f"made with {cell(', '.join(missing[:_NAMED]))}{more}, which its recipe does not have"
    return [Notice("warning", f"{where}: {said}: pass that again where it is to stay")]


def _listed(setting: str | Sequence[str]) -> Sequence[str]:
    return [setting] if isinstance(setting, str) else setting


def _check_finite(plan: DeploymentPlan) -> None:
    """Helm reads values as JSON, which has no infinity and no NaN."""
    from math import isfinite

    for release in plan.releases:
        pending: list[tuple[str, object]] = [("", release.values)]
        while pending:
            at, value = pending.pop()
            if isinstance(value, float) and not isfinite(value):
                raise invalid(f'{release.component}: the value of "{at}" is {value}, no number')
            if isinstance(value, dict):
                pending += [(f"{at}.{key}" if at else str(key), one) for key, one in value.items()]
            elif isinstance(value, list):
                pending += [(f"{at}[{index}]", one) for index, one in enumerate(value)]


def _charts(
    plan: DeploymentPlan, request: Request, settled: Settled
) -> tuple[Mapping[str, ChartArchive], Sequence[Notice]]:
    """The upstream charts that are wanted, by release, and what they say of the overrides."""
    if not request.vendor_charts and request.charts is None:
        return {}, []
    from aicr.bundle.unknown import charts_at_hand, unknown_paths

    given = {name: [*settled.values.get(name, ()), *settled.dynamic.get(name, ())]
             for name in (*settled.values, *settled.dynamic)}  # fmt: skip
    if not request.vendor_charts:
        assert request.charts is not None
        found, notices = charts_at_hand(plan, request.charts, given)
        return found, [*notices, *unknown_paths(plan, found, given)]
    from aicr.bundle.vendor import chart_archives
    from aicr.charts.source import Charts

    archives = chart_archives(plan, request.charts or Charts())
    return archives, unknown_paths(plan, archives, given)


def _built(recipe: Recipe, catalog: Catalog) -> tuple[dict[str, bytes], list[LeftOut]]:
    if all(ref.type != "Kustomize" for ref in recipe.components):
        return {}, []
    from aicr.bundle.kustomize import build_all

    return build_all(recipe, catalog)


def _namespace_notice(one: LeftOut) -> Notice:
    message = f'the Namespace "{one.name}" in the build of "{one.component}" is left out, since '
    message += "the deployer makes it"
    if not one.commands:
        return Notice("info", message)
    return Notice("warning", f"{message}; what it says of the namespace is in the README, to run")


def _is_partial(release: PlannedRelease) -> bool:
    """Whether the version of a chart may stand for several. In a registry it is a tag."""
    chart = release.chart
    return (
        chart is not None
        and not (release.is_in_bundle or chart.is_oci)
        and not is_whole(chart.version)
    )


def _partial_notice(release: PlannedRelease) -> Notice:
    message = f'the version {release.version} of "{release.component}" is not whole: where '
    message += "its repository has no chart of just that version, the newest one that begins with "
    return Notice("warning", f"{message}it is taken. Pin all three numbers")


def catalog_notice(recipe: Recipe, catalog: Catalog) -> list[Notice]:
    """What to say where the recipe was not resolved from the catalog in use."""
    if recipe.catalog_digest == catalog.digest:
        return []
    if recipe.catalog_digest:
        why = "was resolved from another catalog than the one in use"
    else:
        why = "does not say which catalog it was resolved from"
    message = f"the recipe {why}; values files and manifests come from the catalog in use"
    return [Notice("warning", message)]


def _repository_notices(request: Request, plan: DeploymentPlan) -> list[Notice]:
    """What --repo and --target-revision do not reach, or what lacks them."""
    given = [("--repo", request.repo), ("--target-revision", request.target_revision)]
    if request.deployer not in GITOPS:
        return [
            Notice("warning", f"{flag} has no effect on --deployer {request.deployer}")
            for flag, value in given
            if value
        ]
    # A chart of Applications is told when it is installed; Flux needs it for generated charts.
    wanted = request.deployer == "argocd" or (
        request.deployer == "flux" and any(release.is_in_bundle for release in plan.releases)
    )
    if request.repo or not wanted:
        return []
    message = f"no --repo was given, so the bundle names {NO_REPO}, which cannot be: write it "
    message += "again with the repository that will hold it"
    return [Notice("warning", message)]
