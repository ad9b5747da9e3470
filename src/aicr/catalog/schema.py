"""How the files of a catalog are read: registry, overlays, mixins, release history.

The same component reference and constraint readers serve recipes, which carry both.
"""

from __future__ import annotations

from aicr.catalog.model import (
    DIMENSIONS,
    ComponentRef,
    Constraint,
    Mixin,
    Overlay,
    RegistryEntry,
    Release,
)
from aicr.documents.fields import Fields, Problems
from aicr.documents.nodes import Map, Node, Scalar, Seq, kind_of
from aicr.documents.scalars import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

API_VERSIONS = (
    "aicr.nvidia.com/v1alpha1",
    "aicr.run/v1alpha2",
    "aicr.run/v1alpha3",
    "aicr.run/v1beta1",
    "aicr.run/v1beta2",
    "aicr.run/v1",
)
WRITTEN_API_VERSION = "aicr.run/v1beta1"

_ALIASES = {
    "os": {"al2": "amazonlinux", "al2023": "amazonlinux"},
    "service": {"self-managed": "any", "self": "any", "vanilla": "any"},
}
PHASES = ("readiness", "deployment", "performance", "conformance")


def normal_criterion(dimension: str, value: str) -> str:
    """The normal form of a criterion's value: lower case, aliases resolved; "" for ``any``."""
    word = value.strip().lower()
    word = _ALIASES.get(dimension, {}).get(word, word)
    return "" if word == "any" else word


def open_document(node: Node, where: str, kinds: tuple[str, ...], problems: Problems) -> Fields:
    """The root of a document whose ``kind`` and ``apiVersion`` are right, or a problem."""
    fields = Fields(node, where, "", problems)
    if not isinstance(node, Map):
        return fields
    kind = fields.text("kind")
    if kind not in kinds:
        expected = " or ".join(kinds)
        found = f'"{kind}"' if kind else "none"
        fields.problem(f"expected {expected}, found {found}", "kind")
    version = fields.text("apiVersion")
    if version and version not in API_VERSIONS:
        known = ", ".join(API_VERSIONS)
        fields.problem(f'"{version}" is not read by this version (it reads {known})', "apiVersion")
    return fields


def read_component(fields: Fields) -> ComponentRef:
    """A ``componentRef``. Problems are collected in ``fields.problems``."""
    if isinstance(fields.node, Map):
        ref = _sound_component(fields.node)
        if ref is not None:
            return ref
    kind = fields.text("type")
    if kind and kind.lower() not in ("helm", "kustomize"):
        fields.problem(f'expected Helm or Kustomize, found "{kind}"', "type")
    overrides = fields.free_map("overrides")
    if overrides is not None and "enabled" in overrides:
        enabled = overrides["enabled"]
        if enabled is not None and not isinstance(enabled, bool):
            node = fields.node["overrides"]
            found = node["enabled"] if isinstance(node, Map) else ""
            shown = f'the text "{found}"' if isinstance(found, str) else kind_of(found)
            fields.problem(f"enabled: expected true or false, found {shown}", "overrides")
    ref = ComponentRef(
        fields.required("name"),
        namespace=fields.text("namespace"),
        chart=fields.text("chart"),
        type=_TYPES.get(kind.lower(), kind),
        source=fields.text("source"),
        version=fields.text("version"),
        tag=fields.text("tag"),
        path=fields.text("path"),
        patches=fields.texts("patches"),
        values_file=fields.text("valuesFile"),
        overrides=overrides,
        manifest_files=_unique(fields.texts("manifestFiles")),
        pre_manifest_files=_unique(fields.texts("preManifestFiles")),
        dependency_refs=fields.texts("dependencyRefs"),
        expected_resources=[_resource(item) for item in fields.items("expectedResources")],
        health_check_asserts=fields.text("healthCheckAsserts"),
        cleanup=fields.boolean("cleanup"),
        install=fields.boolean("install"),
    )
    fields.done()
    return ref


_TYPES = {"helm": "Helm", "kustomize": "Kustomize"}
_TEXTS = {
    "name": "name", "namespace": "namespace", "chart": "chart", "type": "type", "source": "source",
    "version": "version", "tag": "tag", "path": "path", "valuesFile": "values_file",
    "healthCheckAsserts": "health_check_asserts",
}  # fmt: skip
_LISTS = {
    "patches": "patches",
    "manifestFiles": "manifest_files",
    "preManifestFiles": "pre_manifest_files",
    "dependencyRefs": "dependency_refs",
}


def _sound_component(node: Map) -> ComponentRef | None:
    """The component, where nothing about it can be a problem; None to read it field by field.

    Nearly all are sound, and a third of the time of reading a recipe went into asking each of them
    for every field that it does not have.
    """
    given: dict[str, Any] = {name: [] for name in _LISTS.values()}
    given["expected_resources"] = []
    for key, item in node.items():
        if type(item) is str and key in _TEXTS:
            given[_TEXTS[key]] = item
        elif type(item) is Seq and key in _LISTS and all(type(one) is str for one in item):
            items = list(dict.fromkeys(item)) if key.endswith("Files") else list(item)
            given[_LISTS[key]] = items
        elif type(item) is Map and key == "overrides" and "enabled" not in item:
            given["overrides"] = {name: plain(one) for name, one in item.items()}
        else:
            return None
    kind = given.get("type", "")
    if not given.get("name") or kind.lower() not in ("", *_TYPES):
        return None
    given["type"] = _TYPES.get(kind.lower(), kind)
    return ComponentRef(**given)


def read_components(fields: Fields, key: str = "componentRefs") -> list[ComponentRef]:
    """The component references below ``key``; the same name twice is a problem."""
    found: list[ComponentRef] = []
    lines: dict[str, int] = {}
    for item in fields.items(key):
        ref = read_component(item)
        if ref.name and ref.name in lines:
            item.problem(
                f'the component "{ref.name}" is there twice (first on line {lines[ref.name]})',
                "name",
            )
        lines[ref.name] = item.line("name")
        found.append(ref)
    return found


def read_constraints(fields: Fields, key: str = "constraints") -> list[Constraint]:
    """The constraints below ``key``; the same name twice is a problem."""
    found: list[Constraint] = []
    names: set[str] = set()
    for item in fields.items(key):
        constraint = Constraint(
            item.required("name"),
            item.required("value"),
            severity=item.text("severity"),
            remediation=item.text("remediation"),
            unit=item.text("unit"),
        )
        item.done()
        if constraint.name and constraint.name in names:
            item.problem(f'the constraint "{constraint.name}" is there twice', "name")
        names.add(constraint.name)
        found.append(constraint)
    return found


def constraint_values(constraint: Constraint) -> dict[str, object]:
    """A constraint as it is written."""
    values: dict[str, object] = {"name": constraint.name, "value": constraint.value}
    for key in ("severity", "remediation", "unit"):
        if getattr(constraint, key):
            values[key] = getattr(constraint, key)
    return values


def read_validation(fields: Fields, key: str = "validation") -> dict[str, object]:
    """The validation phases below ``key`` as native values, text as written."""
    validation = fields.mapping(key)
    if validation is None:
        return {}
    phases: dict[str, object] = {}
    for name in PHASES:
        phase = validation.mapping(name)
        if phase is None:
            continue
        values: dict[str, object] = {}
        for field in ("timeout", "infrastructure"):
            if phase.text(field):
                values[field] = phase.text(field)
        constraints = read_constraints(phase)
        if constraints:
            values["constraints"] = [constraint_values(item) for item in constraints]
        checks = phase.texts("checks")
        if checks:
            values["checks"] = checks
        selection = phase.free_map("nodeSelection")
        if selection:
            values["nodeSelection"] = selection
        phase.done()
        if values:
            phases[name] = values
    validation.done()
    return phases


def read_overlay_criteria(spec: Fields) -> dict[str, str] | None:
    """What an overlay's ``criteria`` states, in normal form; None where the key is absent."""
    if not spec.has("criteria"):
        return None
    fields = spec.mapping("criteria")
    if fields is None:
        return None
    criteria: dict[str, str] = {}
    for dimension in DIMENSIONS:
        key = "gpu" if dimension == "accelerator" and fields.has("gpu") else dimension
        if key == "gpu" and fields.has("accelerator"):
            fields.problem("accelerator and its alias gpu are both stated", "gpu")
        value = normal_criterion(dimension, fields.text(key))
        if value:
            criteria[dimension] = value
    nodes = fields.integer("nodes")
    if nodes is not None and nodes < 0:
        fields.problem(f"expected 0 or more, found {nodes}", "nodes")
    elif nodes:
        criteria["nodes"] = str(nodes)
    fields.done()
    return criteria


def read_overlay(node: Node, where: str, problems: Problems) -> Overlay:
    """A file of ``overlays/``. Problems are collected."""
    fields = open_document(node, where, ("RecipeMetadata",), problems)
    name = _metadata_name(fields)
    spec = fields.mapping("spec")
    fields.done()
    if spec is None:
        fields.problem("is missing", "spec")
        spec = Fields(Map(), where, "spec", problems)
    if spec.has("profile"):
        spec.problem("profiles are of a newer edition than this version reads", "profile")
    overlay = Overlay(
        name,
        where=where,
        base=spec.text("base"),
        criteria=read_overlay_criteria(spec),
        mixins=_distinct_mixins(spec),
        constraints=read_constraints(spec),
        components=read_components(spec),
        validation=read_validation(spec),
    )
    spec.done()
    return overlay


def read_mixin(node: Node, where: str, problems: Problems) -> Mixin:
    """A file of ``mixins/``. Problems are collected."""
    fields = open_document(node, where, ("RecipeMixin",), problems)
    name = _metadata_name(fields)
    spec = fields.mapping("spec")
    fields.done()
    if spec is None:
        fields.problem("is missing", "spec")
        spec = Fields(Map(), where, "spec", problems)
    mixin = Mixin(
        name, where=where, constraints=read_constraints(spec), components=read_components(spec)
    )
    spec.done()
    return mixin


def read_registry(node: Node, where: str, problems: Problems) -> list[RegistryEntry]:
    """The entries of ``registry.yaml``; keys that this version does not know stay in ``raw``."""
    fields = open_document(node, where, ("ComponentRegistry",), problems)
    entries: list[RegistryEntry] = []
    names: set[str] = set()
    for item in fields.items("components"):
        name = item.required("name")
        if name and name in names:
            item.problem(f'the component "{name}" is there twice', "name")
        names.add(name)
        helm = item.mapping("helm")
        kustomize = item.mapping("kustomize")
        upgrades = item.mapping("upgrades")
        empty = Fields(Map(), where, "", problems)
        helm, kustomize = helm or empty, kustomize or empty
        is_chart = helm.text("defaultRepository") or helm.text("defaultChart")
        if is_chart and kustomize.text("defaultSource"):
            item.problem("helm and kustomize are both stated; a component is one of them")
        entries.append(
            RegistryEntry(
                name,
                where=f"{where}:{item.line('name')}",
                raw=item.node,
                display_name=item.text("displayName"),
                override_keys=item.texts("valueOverrideKeys"),
                repository=helm.text("defaultRepository"),
                chart=helm.text("defaultChart"),
                version=helm.text("defaultVersion"),
                namespace=helm.text("defaultNamespace"),
                source=kustomize.text("defaultSource"),
                path=kustomize.text("defaultPath"),
                tag=kustomize.text("defaultTag"),
                manifest_files=_unique(item.texts("manifestFiles")),
                upgrades_file=upgrades.text("file") if upgrades is not None else "",
                owns_crds=item.boolean("ownsCRDs") is True,
            )
        )
    return entries


def read_releases(node: Node, where: str, problems: Problems) -> list[Release]:
    """The releases of ``releases.yaml``, oldest first, versions as written."""
    fields = open_document(node, where, ("ReleaseHistory",), problems)
    releases: list[Release] = []
    names: set[str] = set()
    for item in fields.items("releases"):
        name = item.required("name")
        if name and name in names:
            item.problem(f'the release "{name}" is there twice', "name")
        names.add(name)
        pins = item.mapping("pins")
        versions: dict[str, list[str]] = {}
        if pins is not None:
            for component, value in pins.node.items():
                if isinstance(value, Seq):
                    versions[component] = pins.texts(component)
                else:
                    versions[component] = [pins.required(component)]
        item.done()
        releases.append(Release(name, versions))
    fields.done()
    return releases


def _metadata_name(fields: Fields) -> str:
    metadata = fields.mapping("metadata")
    if metadata is None:
        fields.problem("is missing", "metadata")
        return ""
    for key in metadata.node:
        metadata.raw(key)
    return metadata.required("name")


def _distinct_mixins(spec: Fields) -> list[str]:
    mixins = spec.texts("mixins")
    for name in sorted({name for name in mixins if mixins.count(name) > 1}):
        spec.problem(f'the mixin "{name}" is there twice', "mixins")
    return mixins


def _resource(fields: Fields) -> Mapping[str, str]:
    resource = {"kind": fields.required("kind"), "name": fields.required("name")}
    if fields.text("namespace"):
        resource["namespace"] = fields.text("namespace")
    fields.done()
    return resource


def _unique(items: list[str]) -> list[str]:
    return list(dict.fromkeys(items))


def registry_values(entry: RegistryEntry) -> object:
    """The entry as native values, unknown keys included."""
    raw = entry.raw
    return plain(raw) if isinstance(raw, Map | Seq | Scalar) else dict(raw)
