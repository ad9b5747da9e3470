"""What is deployed, in which order, with which values: the one plan that all writers write.

Order, names, values and enablement are decided here and nowhere else.
"""

from __future__ import annotations

from aicr.bundle.charts import Manifest, is_no_template, manifest_names
from aicr.bundle.landings import land
from aicr.bundle.names import check_releases
from aicr.bundle.overrides import apply, raise_any, unreachable
from aicr.documents.fields import Problem, problems_error
from aicr.recipe.values import component_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.bundle.landings import Landing
    from aicr.bundle.overrides import Override
    from aicr.bundle.setpath import Path
    from aicr.catalog.layers import Catalog
    from aicr.catalog.model import ComponentRef
    from aicr.recipe.model import Recipe

PRE = "pre"
MAIN = "main"
POST = "post"

# Helm's own default; written out so that no context's namespace is taken instead.
DEFAULT_NAMESPACE = "default"


class Chart:
    """Where an upstream chart comes from; ``repository`` is a Helm repository or an OCI path.

    ``archive`` and ``unpacked`` are where the bundle has it: the archive, and the folder with its
    files; "" where it does not.
    """

    __slots__ = ("archive", "name", "repository", "unpacked", "version")

    def __init__(
        self, repository: str, name: str, version: str, *, archive: str = "", unpacked: str = ""
    ) -> None:
        self.repository = repository.rstrip("/")
        self.name = name
        self.version = version
        self.archive = archive
        self.unpacked = unpacked

    @property
    def is_oci(self) -> bool:
        return self.repository.startswith("oci://")


class PlannedRelease:
    """One Helm release. ``chart`` is None where the chart is generated, from ``manifests``.

    ``values`` are complete as written; a generated chart has them under the component's name.
    ``dynamic`` are the paths in them that are left to install time: what stands there is the value
    until somebody says otherwise. ``version`` is the payload's ("" without a pin). ``needs`` are
    the releases that it waits for, ``level`` is how many components deep those of its component's
    dependencies go. ``foreign_crds`` are CRDs in its chart that another component owns,
    for deployers to which that matters (``aicr.bundle.shared_crds``).
    """

    __slots__ = (
        "chart",
        "component",
        "dynamic",
        "foreign_crds",
        "index",
        "kind",
        "level",
        "manifests",
        "name",
        "namespace",
        "needs",
        "owns_crds",
        "values",
        "version",
    )

    def __init__(
        self,
        name: str,
        *,
        index: int,
        component: str,
        kind: str,
        namespace: str,
        version: str,
        chart: Chart | None,
        manifests: Sequence[Manifest],
        values: Mapping[str, object],
        needs: Sequence[str],
        level: int,
        owns_crds: bool,
        dynamic: Sequence[Path] = (),
    ) -> None:
        self.name = name
        self.index = index
        self.component = component
        self.kind = kind
        self.namespace = namespace
        self.version = version
        self.chart = chart
        self.manifests = manifests
        self.values = values
        self.needs = needs
        self.level = level
        self.owns_crds = owns_crds
        self.dynamic = dynamic
        self.foreign_crds: Sequence[str] = ()

    @property
    def is_in_bundle(self) -> bool:
        """Whether the bundle has its chart, generated or put there."""
        return self.chart is None or self.chart.archive != ""

    @property
    def folder(self) -> str:
        """The folder of the release where releases are numbered."""
        return f"{self.index:03d}-{self.name}"


class DeploymentPlan:
    """The releases in their order, and the recipe (filtered) that they come from."""

    __slots__ = ("recipe", "releases")

    def __init__(self, recipe: Recipe, releases: Sequence[PlannedRelease]) -> None:
        self.recipe = recipe
        self.releases = releases

    @property
    def components(self) -> list[str]:
        """The components, in the order of their first release."""
        return list(dict.fromkeys(release.component for release in self.releases))

    def values(self, component: str) -> Mapping[str, object]:
        """The component's values, as its chart or its manifests get them."""
        for release in self.releases:
            if release.component == component:
                own = release.values if release.chart else release.values[component]
                return own if isinstance(own, dict) else {}
        return {}


def make_plan(
    recipe: Recipe,
    catalog: Catalog,
    *,
    overrides: Mapping[str, Sequence[Override]],
    built: Mapping[str, bytes],
    where: str,
    landings: Mapping[str, Sequence[Landing]] | None = None,
    dynamic: Mapping[str, Sequence[Override]] | None = None,
) -> DeploymentPlan:
    """The plan for ``recipe``, which holds nothing but what is deployed.

    ``landings`` are what flags for the whole cluster put into a component's values, below its own
    ``overrides``; ``dynamic`` is what is left to install time. ``built`` has what kustomize made of
    each Kustomize component. Raises INVALID_REQUEST for a
    file that the catalog lacks, a component with nothing to deploy, names that collide and
    overrides without effect.
    """
    refs = {ref.name: ref for ref in recipe.components}
    problems: list[Problem] = []
    without_effect: list[str] = []
    drafts: list[tuple[ComponentRef, str, Sequence[Manifest], Mapping[str, object]]] = []
    for name in recipe.deployment_order:
        ref = refs[name]
        values = component_values(catalog, ref)
        values, wrong = land(name, values, (landings or {}).get(name, ()))
        without_effect += wrong
        values, wrong = apply(name, values, overrides.get(name, ()))
        without_effect += wrong + unreachable(name, values, (dynamic or {}).get(name, ()))
        parts = _parts(ref, catalog, built, where, problems)
        drafts += [(ref, kind, manifests, values) for kind, manifests in parts]
    raise_any(without_effect)
    problems += check_releases(
        [(_release_name(ref.name, kind), ref.name) for ref, kind, _, _ in drafts], where
    )
    if problems:
        raise problems_error(problems)
    return DeploymentPlan(recipe, _releases(drafts, catalog, dynamic or {}))


def _releases(
    drafts: Sequence[tuple[ComponentRef, str, Sequence[Manifest], Mapping[str, object]]],
    catalog: Catalog,
    dynamic: Mapping[str, Sequence[Override]],
) -> list[PlannedRelease]:
    releases: list[PlannedRelease] = []
    last: dict[str, PlannedRelease] = {}
    for index, (ref, kind, manifests, values) in enumerate(drafts, start=1):
        chart = _chart(ref) if kind == MAIN and not manifests else None
        before = last.get(ref.name)
        waits_for = (
            [before]
            if before is not None
            else [last[name] for name in sorted(set(ref.dependency_refs)) if name in last]
        )
        entry = catalog.registry.get(ref.name)
        left_open = [one.path for one in dynamic.get(ref.name, ())]
        release = PlannedRelease(
            _release_name(ref.name, kind),
            index=index,
            component=ref.name,
            kind=kind,
            namespace=ref.namespace or DEFAULT_NAMESPACE,
            version=ref.pin,
            chart=chart,
            manifests=manifests,
            values=values if chart is not None else {ref.name: values},
            needs=[one.name for one in waits_for],
            level=(
                before.level
                if before is not None
                else max((one.level + 1 for one in waits_for), default=0)
            ),
            owns_crds=chart is not None and entry is not None and entry.owns_crds,
            dynamic=left_open if chart is not None else [(ref.name, *path) for path in left_open],
        )
        last[ref.name] = release
        releases.append(release)
    return releases


def _parts(
    ref: ComponentRef,
    catalog: Catalog,
    built: Mapping[str, bytes],
    where: str,
    problems: list[Problem],
) -> list[tuple[str, Sequence[Manifest]]]:
    """The releases of a component: their kinds, and the manifests of those that are generated."""
    pre = _manifests(ref, "preManifestFiles", ref.pre_manifest_files, catalog, where, problems)
    post = _manifests(ref, "manifestFiles", ref.manifest_files, catalog, where, problems)
    parts: list[tuple[str, Sequence[Manifest]]] = []
    if ref.pre_manifest_files:
        parts.append((PRE, pre))
    if ref.name in built:
        parts.append((MAIN, [Manifest("kustomize.yaml", built[ref.name])]))
    elif ref.source:
        if not ref.pin:
            message = "has a source and no version, and would install whatever is latest"
            problems.append(Problem(where, 0, f"componentRefs[{ref.name}]", message))
        parts.append((MAIN, ()))
    elif ref.manifest_files:
        return [*parts, (MAIN, post)]
    elif not parts:
        message = "has no chart, no kustomization and no manifests: there is nothing to deploy"
        problems.append(Problem(where, 0, f"componentRefs[{ref.name}]", message))
    if ref.manifest_files:
        parts.append((POST, post))
    return parts


def _manifests(
    ref: ComponentRef,
    field: str,
    paths: Sequence[str],
    catalog: Catalog,
    where: str,
    problems: list[Problem],
) -> list[Manifest]:
    found: list[Manifest] = []
    for path, name in zip(paths, manifest_names(paths), strict=True):
        if catalog.has(path):
            found.append(Manifest(name, catalog.file(path)))
        else:
            at = f"componentRefs[{ref.name}].{field}"
            message = f'"{path}" is not in the catalog (--data or --catalog names another one)'
            problems.append(Problem(where, 0, at, message))
    if found and all(is_no_template(one.name) for one in found):
        message = f"Helm renders nothing of {', '.join(one.name for one in found)}"
        problems.append(Problem(where, 0, f"componentRefs[{ref.name}].{field}", message))
    return found


def _chart(ref: ComponentRef) -> Chart:
    name = ref.chart or ref.name
    # In a Helm repository a chart has no folder; what stands before "/" is the name that somebody
    # gave the repository. In an OCI registry it is part of the path.
    if not ref.source.startswith("oci://"):
        name = name.rpartition("/")[2]
    return Chart(ref.source, name, ref.version or ref.tag)


def _release_name(component: str, kind: str) -> str:
    return component if kind == MAIN else f"{component}-{kind}"
