"""Which images and charts a recipe needs: its plan, every release rendered, images gathered."""

from __future__ import annotations

from aicr.artifact.image_ref import parse_image
from aicr.bundle.charts import chart_files, literal
from aicr.bundle.names import check_recipe
from aicr.bundle.overrides import parse_set, settle
from aicr.bundle.plan import make_plan
from aicr.bundle.selection import select
from aicr.charts.engine import helm
from aicr.charts.loose import read_loosely
from aicr.charts.values import effective_values
from aicr.documents.fields import problems_error
from aicr.documents.safe import cell
from aicr.errors import AicrError, invalid
from aicr.mirror.gather import from_objects, from_values, tags_in
from aicr.mirror.names import in_full

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from aicr.bundle.plan import DeploymentPlan, PlannedRelease
    from aicr.catalog.layers import Catalog
    from aicr.charts.engine import HelmBinary, HelmLibrary
    from aicr.charts.source import Charts
    from aicr.recipe.model import Recipe


_LONGEST = 200


class MirroredChart:
    """A chart to mirror; ``component`` is whose it is."""

    __slots__ = ("chart", "component", "namespace", "repository", "version")

    def __init__(
        self, *, component: str, repository: str, chart: str, version: str, namespace: str
    ) -> None:
        self.component = component
        self.repository = repository
        self.chart = chart
        self.version = version
        self.namespace = namespace


class ComponentImages:
    """The images of a component, sorted. ``missing`` says why there may be more of them;
    ``notes`` are what a person may want to know besides."""

    __slots__ = ("component", "images", "missing", "notes", "type")

    def __init__(
        self,
        component: str,
        *,
        type: str,
        images: Sequence[str],
        missing: Sequence[str] = (),
        notes: Sequence[str] = (),
    ) -> None:
        self.component = component
        self.type = type
        self.images = images
        self.missing = missing
        self.notes = notes


class MirrorList:
    """What a recipe needs, by component."""

    __slots__ = ("charts", "components", "criteria", "recipe_version")

    def __init__(
        self,
        recipe: Recipe,
        *,
        charts: Sequence[MirroredChart],
        components: Sequence[ComponentImages],
    ) -> None:
        self.recipe_version = recipe.version
        self.criteria = recipe.criteria.stated()
        self.charts = charts
        self.components = components

    @property
    def images(self) -> list[str]:
        """All images, each once."""
        return sorted({image for one in self.components for image in one.images})

    @property
    def incomplete(self) -> list[ComponentImages]:
        return [one for one in self.components if one.missing]

    @property
    def reasons(self) -> list[str]:
        """Why there may be more images than are listed, each with its component."""
        return [f"{one.component}: {why}" for one in self.incomplete for why in one.missing]

    @property
    def notes(self) -> list[str]:
        return [f"{one.component}: {text}" for one in self.components for text in one.notes]

    def check_complete(self, *, hint: str) -> None:
        """Raise INVALID_REQUEST where there may be more images; ``hint`` says how to get these."""
        if not self.incomplete:
            return
        names = [one.component for one in self.incomplete]
        raise invalid(
            f"the images of {', '.join(names)} could not all be found:\n  "
            + "\n  ".join(self.reasons),
            hint=hint,
            details={"incomplete": names},
        )


def collect(
    recipe: Recipe,
    catalog: Catalog,
    charts: Charts,
    *,
    sets: Sequence[str] = (),
    where: str,
) -> MirrorList:
    """The images and charts of ``recipe``; same input, same list.

    Raises INVALID_REQUEST for a recipe, an override or a catalog that is at fault, and where there
    is no Helm. What stands in the way of one component's images is in the list, not raised.
    """
    engine = helm("to find the images of charts, rendering them")
    return _collected(
        recipe, catalog, sets, where,
        lambda name, kind, plan: _component(name, kind, plan, charts, engine),
    )  # fmt: skip


def unrendered(
    recipe: Recipe, catalog: Catalog, *, sets: Sequence[str] = (), where: str, why: str
) -> MirrorList:
    """As ``collect``, where there are no charts to render: all charts, of the images those that the
    recipe's values name, and of every component ``why`` there may be more."""

    def component(name: str, kind: str, plan: DeploymentPlan) -> ComponentImages:
        images: set[str] = set()
        for release in plan.releases:
            if release.component == name:
                images |= from_values(release.values).images
        return ComponentImages(name, type=kind, images=sorted(images), missing=[why])

    return _collected(recipe, catalog, sets, where, component)


def _collected(
    recipe: Recipe,
    catalog: Catalog,
    sets: Sequence[str],
    where: str,
    images: Callable[[str, str, DeploymentPlan], ComponentImages],
) -> MirrorList:
    problems = check_recipe(recipe, where)
    if problems:
        raise problems_error(problems)
    settled = settle(parse_set(sets), recipe, catalog.registry)
    selected = select(recipe, settled.removed, where)
    built, failed = _built(selected, catalog)
    plan = None
    if len(failed) < len(selected.components):
        remaining = select(recipe, settled.removed | set(failed), where)
        overrides = {name: own for name, own in settled.values.items() if name not in failed}
        plan = make_plan(remaining, catalog, overrides=overrides, built=built, where=where)
    components: list[ComponentImages] = []
    for ref in sorted(selected.components, key=lambda one: one.name):
        kind = ref.type.lower() or "helm"
        if plan is None or ref.name in failed:
            components.append(
                ComponentImages(ref.name, type=kind, images=(), missing=[failed[ref.name]])
            )
        else:
            components.append(images(ref.name, kind, plan))
    return MirrorList(recipe, charts=_charts(plan), components=components)


def _built(recipe: Recipe, catalog: Catalog) -> tuple[dict[str, bytes], dict[str, str]]:
    """What kustomize built of each Kustomize component, and why it could not build others."""
    built: dict[str, bytes] = {}
    failed: dict[str, str] = {}
    for ref in recipe.components:
        if ref.type == "Kustomize" and ref.source:
            from aicr.bundle.kustomize import build

            try:
                built[ref.name] = literal(build(ref, catalog))
            except AicrError as error:
                failed[ref.name] = error.message
    return built, failed


def _charts(plan: DeploymentPlan | None) -> list[MirroredChart]:
    found = [
        MirroredChart(
            component=release.component,
            repository=release.chart.repository,
            chart=release.chart.name,
            version=release.chart.version,
            namespace=release.namespace,
        )
        for release in (plan.releases if plan is not None else ())
        if release.chart is not None
    ]
    return sorted(found, key=lambda one: one.component)


def _component(
    name: str,
    kind: str,
    plan: DeploymentPlan,
    charts: Charts,
    engine: HelmBinary | HelmLibrary,
) -> ComponentImages:
    images: set[str] = set()
    missing: list[str] = []
    hidden: set[str] = set()
    untagged: set[str] = set()
    for release in plan.releases:
        if release.component != name:
            continue
        try:
            values, rendered = _rendered(release, charts, engine)
            where = f"the rendered release {release.name}"
            objects = from_objects(read_loosely(rendered, where))
        except AicrError as error:
            missing.append(f"{release.name}: {error.message}")
            continue
        stated = from_values(values)
        images |= objects.images | stated.images
        hidden |= objects.hidden
        missing += [
            f'{release.name}: a container\'s image is no reference: "{cell(one[:_LONGEST])}"'
            for one in sorted(objects.unreadable)
        ]
        loose = objects.untagged | stated.untagged
        images |= tags_in(rendered.decode("utf-8", "replace"), loose)
        untagged |= loose
        missing += [
            f"{release.name}: installs what cannot be seen here: {one}"
            for one in sorted(objects.installers)
        ]
    if not images and not missing and hidden:
        missing.append(
            f"no image was found, and {', '.join(sorted(hidden))} may make a controller run some"
        )
    unused = sorted(one for one in untagged if _repository(one) not in map(_repository, images))
    notes: list[str] = []
    if unused:
        notes.append(f"named without a tag, and used by nothing rendered: {', '.join(unused)}")
    return ComponentImages(name, type=kind, images=sorted(images), missing=missing, notes=notes)


def _repository(text: str) -> str:
    """Registry and repository of a reference, without its tag and its digest."""
    ref = parse_image(in_full(text) or "")
    return "" if ref is None else ref.repository


def _rendered(
    release: PlannedRelease, charts: Charts, engine: HelmBinary | HelmLibrary
) -> tuple[Mapping[str, object], bytes]:
    """The values that the release's templates see, and what they render to."""
    import os
    import tempfile

    with tempfile.TemporaryDirectory(prefix="aicr-mirror-") as folder:
        if release.chart is not None:
            chart = release.chart
            archive = charts.get(chart.repository, chart.name, chart.version)
            values: Mapping[str, object] = effective_values(archive, release.values)
            path = os.path.join(folder, archive.file_name)
            with open(path, "wb") as file:
                file.write(archive.data)
            given = release.values
        else:
            path = os.path.join(folder, release.name)
            values, given = release.values, {}  # they are in the chart
            for name, data in chart_files(release).items():
                full = os.path.join(path, *name.split("/"))
                os.makedirs(os.path.dirname(full), exist_ok=True)
                with open(full, "wb") as file:
                    file.write(data)
        return values, engine.render(path, release.name, release.namespace, given)
