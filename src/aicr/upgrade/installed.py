"""Which component each release or Application belongs to, and which one is meant of several.

What is attributed to no component is kept apart, never dropped.
"""

from __future__ import annotations

from aicr.errors import CONFLICT, AicrError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aicr.catalog.layers import Catalog
    from aicr.catalog.model import ComponentRef

# The releases of a component beside its own: manifests before and after it.
MAIN = ""
PRE = "pre"
POST = "post"

APPLICATION = "Application"
_DIGEST = frozenset("0123456789abcdef")
# Flux shortens what Helm would refuse.
_LONGEST_RELEASE = 53
_FLUX_HASH = 12


class Known:
    """A component that releases may belong to, as a recipe or the registry states it."""

    __slots__ = ("chart", "name", "namespace", "source")

    def __init__(
        self, name: str, *, namespace: str = "", chart: str = "", source: str = ""
    ) -> None:
        self.name = name
        self.namespace = namespace
        self.chart = chart
        self.source = source


class Install:
    """A release or an Application.

    ``component`` is whose it is ("" for nobody's that is known), ``part`` which of its releases.
    ``version`` is what is established, ``recorded`` what the record names, ``note`` why they
    differ. ``settled`` is whether nothing is pending or failed; ``stamped`` whether this tool
    generated the chart.
    """

    __slots__ = (
        "chart",
        "component",
        "namespace",
        "note",
        "part",
        "recorded",
        "release",
        "revision",
        "settled",
        "since",
        "source",
        "stamped",
        "state",
        "storage",
        "stored_in",
        "version",
    )

    def __init__(
        self,
        release: str,
        *,
        namespace: str,
        storage: str,
        stored_in: str,
        revision: str,
        state: str,
        settled: bool,
        version: str,
        recorded: str = "",
        since: str = "",
        chart: str = "",
        source: str = "",
        stamped: bool = False,
        note: str = "",
        component: str = "",
        part: str = MAIN,
    ) -> None:
        self.release = release
        self.namespace = namespace
        self.storage = storage
        self.stored_in = stored_in
        self.revision = revision
        self.state = state
        self.settled = settled
        self.version = version
        self.recorded = recorded
        self.since = since
        self.chart = chart
        self.source = source
        self.stamped = stamped
        self.note = note
        self.component = component
        self.part = part

    @property
    def place(self) -> str:
        """What to name it by: for an Application where that is, for a release where it runs."""
        return f"{self.stored_in if self.storage == APPLICATION else self.namespace}/{self.release}"

    def __str__(self) -> str:
        return f"{self.storage} {self.stored_in}/{self.release}"

    def of(self, component: str, part: str) -> Install:
        """The same, attributed."""
        copy = Install.__new__(Install)
        for slot in Install.__slots__:
            setattr(copy, slot, getattr(self, slot))
        copy.component = component
        copy.part = part
        return copy


def known_components(
    catalog: Catalog | None, refs: Iterable[ComponentRef] = ()
) -> dict[str, Known]:
    """The components that releases may belong to: those of a recipe, then the registry's."""
    found: dict[str, Known] = {}
    if catalog is not None:
        for name, entry in catalog.registry.items():
            found[name] = Known(
                name,
                namespace=entry.namespace,
                chart=chart_name(entry.chart or name) if not entry.is_kustomize else "",
                source=entry.repository or entry.source,
            )
    for ref in refs:
        chart = chart_name(ref.chart or ref.name) if ref.source and ref.type == "Helm" else ""
        found[ref.name] = Known(ref.name, namespace=ref.namespace, chart=chart, source=ref.source)
    return found


def attribute(
    installs: Iterable[Install],
    known: Mapping[str, Known],
    deployer: str,
    *,
    excluded: Iterable[str] = (),
) -> tuple[list[Install], list[Install]]:
    """Those that belong to a component, by its name, and the others.

    ``excluded`` are left out, named as ``namespace/name``. Without a deployer, names are taken as
    any of them composes them.
    """
    left_out = set(excluded)
    found: list[Install] = []
    others: list[Install] = []
    for one in installs:
        if one.place in left_out:
            continue
        named = _component_of(one, known, deployer)
        if named is None:
            others.append(one)
        else:
            component, part = named
            found.append(_refined(one.of(component, part), known[component], deployer))
    found.sort(key=lambda one: (one.component, one.part, one.namespace, one.release))
    others.sort(key=lambda one: (one.namespace, one.release))
    return found, others


def lookalikes(others: Iterable[Install], known: Mapping[str, Known]) -> list[str]:
    """What is of a component's chart and has another name: no bundle would ever upgrade it."""
    by_chart = {about.chart: about.name for about in known.values() if about.chart}
    return [
        f"{one} has the chart of {by_chart[one.chart]}, but not its name: it was not taken for it"
        for one in others
        if one.chart in by_chart
    ]


def choose(installs: Sequence[Install], known: Mapping[str, Known]) -> list[Install]:
    """One install of each release of a component: of several, the one where it belongs.

    Raises CONFLICT, naming them, where they cannot be told apart.
    """
    chosen: list[Install] = []
    groups: dict[tuple[str, str], list[Install]] = {}
    for one in installs:
        groups.setdefault((one.component, one.part), []).append(one)
    for (component, _), group in groups.items():
        about = known[component]
        for fits in (
            [one for one in group if about.namespace and one.namespace == about.namespace],
            [one for one in group if about.chart and one.chart == about.chart],
        ):
            if len(fits) == 1:
                group = fits
                break
        if len(group) > 1:
            raise AicrError(
                CONFLICT,
                f"{component} is installed {len(group)} times and nothing tells which one is "
                f"meant: {' and '.join(map(str, group))}",
                hint=f"leave one out: --exclude {group[-1].place}",
            )
        chosen += group
    return chosen


def _component_of(
    one: Install, known: Mapping[str, Known], deployer: str
) -> tuple[str, str] | None:
    prefix = f"{one.namespace}-"
    by_flux = one.release.removeprefix(prefix) if one.release.startswith(prefix) else ""
    is_release = one.storage != APPLICATION
    names = [by_flux] if deployer == "flux" else [one.release]
    if not deployer and is_release and by_flux:
        names.append(by_flux)
    for name in filter(None, names):
        if name in known:
            return name, MAIN
        for part in (PRE, POST):
            base = name.removesuffix(f"-{part}")
            if base != name and base in known:
                return base, part
    if is_release and deployer in ("flux", "") and len(one.release) == _LONGEST_RELEASE:
        for component in known:
            for part in (MAIN, PRE, POST):
                whole = prefix + component + (f"-{part}" if part else "")
                if _flux_name(whole) == one.release:
                    return component, part
    return None


def _flux_name(name: str) -> str:
    if len(name) <= _LONGEST_RELEASE:
        return name
    from hashlib import sha256

    digest = sha256(name.encode()).hexdigest()[:_FLUX_HASH]
    return f"{name[: _LONGEST_RELEASE - _FLUX_HASH - 1]}-{digest}"


def _refined(one: Install, about: Known, deployer: str) -> Install:
    """What can be said only now that the component is known."""
    if deployer == "flux":
        one.version, one.recorded = _without_digest(one.version), _without_digest(one.recorded)
    if one.source:
        if _same_source(one.source, about.source):
            one.source = about.source
        elif not one.chart:
            # A path of some repository: its revision is of that repository, not of the component.
            one.source = ""
            if about.source and one.version:
                one.version = ""
                one.note = one.note or "its source is a path in Git that states no version of it"
    return one


def _without_digest(version: str) -> str:
    """Without the digest that Flux appends to the version of an OCI chart."""
    base, plus, build = version.partition("+")
    is_digest = plus and len(build) == _FLUX_HASH and _DIGEST.issuperset(build)
    return base if is_digest else version


def chart_name(chart: str) -> str:
    return chart.rpartition("/")[2]


def _same_source(one: str, other: str) -> bool:
    def normal(url: str) -> str:
        return url.removeprefix("oci://").rstrip("/").removesuffix(".git").lower()

    return bool(one) and normal(one) == normal(other)
