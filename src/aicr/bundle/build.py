"""A recipe and flags in, the files of a bundle out: names, selection, plan, writer, layout."""

from __future__ import annotations

from aicr.bundle.charts import chart_version
from aicr.bundle.guidance import find_advice
from aicr.bundle.layout import lay_out
from aicr.bundle.names import check_recipe, check_repository
from aicr.bundle.overrides import parse_set, settle
from aicr.bundle.plan import make_plan
from aicr.bundle.selection import select
from aicr.bundle.validations import Notice, validate
from aicr.bundle.writers import GITOPS, NO_REPO, Options, writer
from aicr.documents.fields import problems_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.bundle.plan import DeploymentPlan
    from aicr.bundle.writers import Files
    from aicr.catalog.layers import Catalog
    from aicr.recipe.model import Recipe


class Request:
    """What is asked for besides the recipe: the deployer, and flags as they were given."""

    __slots__ = ("deployer", "repo", "sets", "target_revision")

    def __init__(
        self,
        deployer: str,
        *,
        sets: Sequence[str] = (),
        repo: str = "",
        target_revision: str = "",
    ) -> None:
        self.deployer = deployer
        self.sets = sets
        self.repo = repo
        self.target_revision = target_revision

    def settings(self) -> dict[str, str | list[str]]:
        """The flags as ``bundle-info.yaml`` records them."""
        given: dict[str, str | list[str]] = {
            "set": list(self.sets),
            "repo": self.repo,
            "targetRevision": self.target_revision,
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
) -> Bundle:
    """The bundle of ``recipe``; same input, same bytes. ``where`` is the recipe's file.

    ``kept`` has the operator's ``cluster-values.yaml`` by release. Raises INVALID_REQUEST for
    anything in the recipe that may not reach a bundle, and for overrides without effect.
    """
    write = writer(request.deployer)
    problems = [*check_repository(request.repo, request.target_revision)]
    problems += check_recipe(recipe, where)
    if problems:
        raise problems_error(problems)
    settled = settle(parse_set(request.sets), recipe, catalog.registry)
    selected = select(recipe, settled.removed, where)
    plan = make_plan(
        selected,
        catalog,
        overrides=settled.values,
        built=_built(selected, catalog),
        where=where,
    )
    options = Options(kept=kept or {}, repo=request.repo, revision=request.target_revision)
    notices = [
        *_catalog_notice(recipe, catalog),
        *_repository_notices(request, plan),
        *validate(plan, catalog),
    ]
    advice, unreadable = find_advice(plan, catalog, request.deployer)
    if advice:
        pinned = dict.fromkeys(f"{one.component} {one.version}" for one in advice)
        message = f"upgrading a cluster needs work by hand for {', '.join(pinned)}: UPGRADING.md"
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
    )
    return Bundle(plan, files, write.ENTRYPOINT, notices)


def _built(recipe: Recipe, catalog: Catalog) -> dict[str, bytes]:
    if all(ref.type != "Kustomize" for ref in recipe.components):
        return {}
    from aicr.bundle.kustomize import build_all

    return build_all(recipe, catalog)


def _catalog_notice(recipe: Recipe, catalog: Catalog) -> list[Notice]:
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
        request.deployer == "flux" and any(release.chart is None for release in plan.releases)
    )
    if request.repo or not wanted:
        return []
    message = f"no --repo was given: replace {NO_REPO} by the repository that holds the bundle"
    return [Notice("warning", message)]
