"""What a catalog is made of: registry entries, overlays, mixins, releases.

Plain slotted values, never changed once built. Empty text and empty lists stand for "not stated".
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DIMENSIONS = ("service", "accelerator", "intent", "os", "platform")


class Constraint:
    """A requirement on the cluster, such as ``K8s.server.version`` ``>= 1.32``."""

    __slots__ = ("name", "remediation", "severity", "unit", "value")

    def __init__(
        self, name: str, value: str, *, severity: str = "", remediation: str = "", unit: str = ""
    ) -> None:
        self.name = name
        self.value = value
        self.severity = severity
        self.remediation = remediation
        self.unit = unit


class ComponentRef:
    """A component as an overlay or a recipe names it.

    ``type`` is ``Helm`` or ``Kustomize``; ``overrides`` are native values, None where not stated;
    ``install`` and ``cleanup`` are None where not stated.
    """

    __slots__ = (
        "chart",
        "cleanup",
        "dependency_refs",
        "expected_resources",
        "health_check_asserts",
        "install",
        "manifest_files",
        "name",
        "namespace",
        "overrides",
        "patches",
        "path",
        "pre_manifest_files",
        "source",
        "tag",
        "type",
        "values_file",
        "version",
    )

    def __init__(
        self,
        name: str,
        *,
        namespace: str = "",
        chart: str = "",
        type: str = "",
        source: str = "",
        version: str = "",
        tag: str = "",
        path: str = "",
        patches: Sequence[str] = (),
        values_file: str = "",
        overrides: Mapping[str, object] | None = None,
        manifest_files: Sequence[str] = (),
        pre_manifest_files: Sequence[str] = (),
        dependency_refs: Sequence[str] = (),
        expected_resources: Sequence[Mapping[str, str]] = (),
        health_check_asserts: str = "",
        cleanup: bool | None = None,
        install: bool | None = None,
    ) -> None:
        self.name = name
        self.namespace = namespace
        self.chart = chart
        self.type = type
        self.source = source
        self.version = version
        self.tag = tag
        self.path = path
        self.patches = patches
        self.values_file = values_file
        self.overrides = overrides
        self.manifest_files = manifest_files
        self.pre_manifest_files = pre_manifest_files
        self.dependency_refs = dependency_refs
        self.expected_resources = expected_resources
        self.health_check_asserts = health_check_asserts
        self.cleanup = cleanup
        self.install = install

    @property
    def pin(self) -> str:
        """The version, else the tag, as written."""
        return self.version or self.tag

    @property
    def enabled(self) -> bool:
        """False where the recipe says that this component is not deployed."""
        if self.install is False:
            return False
        return not (self.overrides and self.overrides.get("enabled") is False)

    def replace(self, **fields: object) -> ComponentRef:
        """A copy in which the named fields have other values."""
        copy = ComponentRef.__new__(ComponentRef)
        for slot in ComponentRef.__slots__:
            if slot not in fields:
                setattr(copy, slot, getattr(self, slot))
        for slot, value in fields.items():
            setattr(copy, slot, value)
        return copy


class Overlay:
    """A file of ``overlays/``: what it applies to and what it changes.

    ``criteria`` is None where the key is absent (it then never matches by itself); in it only
    what is stated and not ``any``, in normal form, ``nodes`` as its digits.
    """

    __slots__ = (
        "base",
        "components",
        "constraints",
        "criteria",
        "mixins",
        "name",
        "validation",
        "where",
    )

    def __init__(
        self,
        name: str,
        *,
        where: str,
        base: str,
        criteria: Mapping[str, str] | None,
        mixins: Sequence[str],
        constraints: Sequence[Constraint],
        components: Sequence[ComponentRef],
        validation: Mapping[str, object],
    ) -> None:
        self.name = name
        self.where = where
        self.base = base
        self.criteria = criteria
        self.mixins = mixins
        self.constraints = constraints
        self.components = components
        self.validation = validation


class Mixin:
    """A file of ``mixins/``: constraints and components that an overlay brings in by name."""

    __slots__ = ("components", "constraints", "name", "where")

    def __init__(
        self,
        name: str,
        *,
        where: str,
        constraints: Sequence[Constraint],
        components: Sequence[ComponentRef],
    ) -> None:
        self.name = name
        self.where = where
        self.constraints = constraints
        self.components = components


class RegistryEntry:
    """A component that the catalog knows, with its defaults; ``raw`` is the entry as written."""

    __slots__ = (
        "chart",
        "display_name",
        "is_kustomize",
        "manifest_files",
        "name",
        "namespace",
        "override_keys",
        "owns_crds",
        "path",
        "raw",
        "repository",
        "source",
        "tag",
        "upgrades_file",
        "version",
        "where",
    )

    def __init__(
        self,
        name: str,
        *,
        where: str,
        raw: Mapping[str, object],
        display_name: str = "",
        override_keys: Sequence[str] = (),
        repository: str = "",
        chart: str = "",
        version: str = "",
        namespace: str = "",
        source: str = "",
        path: str = "",
        tag: str = "",
        manifest_files: Sequence[str] = (),
        upgrades_file: str = "",
        owns_crds: bool = False,
    ) -> None:
        self.name = name
        self.where = where
        self.raw = raw
        self.display_name = display_name
        self.override_keys = override_keys
        self.repository = repository
        self.chart = chart
        self.version = version
        self.namespace = namespace
        self.source = source
        self.path = path
        self.tag = tag
        self.manifest_files = manifest_files
        self.upgrades_file = upgrades_file
        self.owns_crds = owns_crds
        self.is_kustomize = source != ""


class Release:
    """A release of the stack and the versions that it pinned, as written."""

    __slots__ = ("name", "pins")

    def __init__(self, name: str, pins: Mapping[str, Sequence[str]]) -> None:
        self.name = name
        self.pins = pins
