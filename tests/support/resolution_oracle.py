"""What a recipe must be, said a second time: naively, over plain dicts, from the written rules.

It shares no code with the project. Rules: "Resolving a recipe", sections 3, 5 and 7.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

Values = dict[str, Any]

DIMENSIONS = ("service", "accelerator", "intent", "os", "platform")


class RefusedError(Exception):
    """The rules refuse this catalog for this query."""


class Described:
    """A catalog as plain dicts: registry entries, specs of overlays and mixins, values files."""

    def __init__(self, registry: Values, overlays: Values, mixins: Values, files: Values) -> None:
        self.registry = registry
        self.overlays = overlays
        self.mixins = mixins
        self.files = files

    def __repr__(self) -> str:
        parts = (self.registry, self.overlays, self.mixins, self.files)
        return "Described(" + ",\n  ".join(map(repr, parts)) + ")"


def stated(criteria: Mapping[str, Any]) -> Values:
    return {key: criteria[key] for key in DIMENSIONS if criteria.get(key, "any") != "any"}


def chain(catalog: Described, name: str) -> list[str]:
    """Root to leaf, the common root first."""
    found = [name]
    while catalog.overlays[found[0]].get("base"):
        found.insert(0, catalog.overlays[found[0]]["base"])
    if found[0] != "base":
        found.insert(0, "base")
    return found


def applied(catalog: Described, query: Values) -> list[str]:
    wanted = stated(query)
    matches = [
        name
        for name, spec in catalog.overlays.items()
        if spec.get("criteria") is not None
        and all(wanted.get(key) == value for key, value in stated(spec["criteria"]).items())
    ]
    leaves = [
        name
        for name in matches
        if not any(name in chain(catalog, other)[:-1] for other in matches if other != name)
    ]

    def specificity(name: str) -> int:
        criteria = catalog.overlays[name]["criteria"]
        return len(stated(criteria)) + (1 if criteria.get("nodes", 0) > 0 else 0)

    order = ["base"]
    for leaf in sorted(leaves, key=lambda name: (specificity(name), name)):
        order += [name for name in chain(catalog, leaf) if name not in order]
    return order


def is_covered(catalog: Described, query: Values) -> bool:
    carried = [stated(catalog.overlays[name].get("criteria") or {}) for name in
               applied(catalog, query)]  # fmt: skip
    return all(
        any(one.get(key) == value for one in carried) for key, value in stated(query).items()
    )


def merge_deep(lower: Values, upper: Values) -> Values:
    out = copy.deepcopy(lower)
    for key, value in upper.items():
        if isinstance(value, dict) and isinstance(out.get(key), dict):
            out[key] = merge_deep(out[key], value)
        else:
            out[key] = copy.deepcopy(value)
    return out


def merge_component(lower: Values, upper: Values) -> Values:
    out = copy.deepcopy(lower)
    for key, value in upper.items():
        if value is None or value in ("", [], {}) or value is False:
            continue
        if key == "overrides":
            out[key] = merge_deep(out.get(key) or {}, value)
        elif key in ("manifestFiles", "preManifestFiles"):
            out[key] = list(dict.fromkeys((out.get(key) or []) + value))
        else:
            out[key] = copy.deepcopy(value)
    return out


def resolve(catalog: Described, query: Values) -> Values:
    """The parts of a recipe that the rules speak of. Raises RefusedError."""
    if not is_covered(catalog, query):
        raise RefusedError("coverage")
    components: Values = {}
    constraints: Values = {}
    validation: Values = {}
    mixins: list[str] = []
    order = applied(catalog, query)
    for name in order:
        spec = catalog.overlays[name]
        for constraint in spec.get("constraints", []):
            constraints[constraint["name"]] = constraint
        for ref in spec.get("componentRefs", []):
            components[ref["name"]] = merge_component(components.get(ref["name"], {}), ref)
        validation.update(copy.deepcopy(spec.get("validation", {})))
        mixins += [one for one in spec.get("mixins", []) if one not in mixins]
    for name in mixins:
        if name not in catalog.mixins:
            raise RefusedError("mixin")
        for constraint in catalog.mixins[name].get("constraints", []):
            if constraint["name"] in constraints:
                raise RefusedError("conflict")
            constraints[constraint["name"]] = constraint
        for ref in catalog.mixins[name].get("componentRefs", []):
            if ref["name"] in components:
                raise RefusedError("conflict")
            components[ref["name"]] = merge_component({}, ref)
    full = [with_defaults(catalog, components[name]) for name in sorted(components)]
    return {
        "appliedOverlays": order,
        "constraints": [constraints[name] for name in sorted(constraints)],
        "componentRefs": full,
        "deploymentOrder": deployment_order(full),
        "validation": validation,
    }


def with_defaults(catalog: Described, ref: Values) -> Values:
    out = {key: value for key, value in ref.items() if value}
    entry = catalog.registry.get(ref["name"])
    if entry is None:
        pin = "tag" if ref.get("type") == "Kustomize" else "version"
        if not all(ref.get(key) for key in ("type", "source", pin)):
            raise RefusedError("unknown component")
        entry = {}
    helm, kustomize = entry.get("helm", {}), entry.get("kustomize", {})
    out.setdefault("type", "Kustomize" if kustomize.get("defaultSource") else "Helm")
    if out["type"] == "Helm":
        defaults = {
            "source": helm.get("defaultRepository"),
            "chart": (helm.get("defaultChart") or "").split("/")[-1],
            "version": helm.get("defaultVersion"),
            "namespace": helm.get("defaultNamespace"),
        }
    else:
        defaults = {
            "source": kustomize.get("defaultSource"),
            "path": kustomize.get("defaultPath"),
            "tag": kustomize.get("defaultTag"),
        }
    defaults["manifestFiles"] = entry.get("manifestFiles")
    for key, value in defaults.items():
        if value and key not in out:
            out[key] = value
    if out["type"] == "Helm" and out.get("source") and not out.get("version"):
        raise RefusedError("no version")
    return out


def deployment_order(refs: list[Values]) -> list[str]:
    """Again and again the smallest name all of whose enabled dependencies are placed."""
    enabled = {
        ref["name"]: ref for ref in refs if (ref.get("overrides") or {}).get("enabled") is not False
    }
    names = {ref["name"] for ref in refs}
    if any(one not in names for ref in refs for one in ref.get("dependencyRefs", [])):
        raise RefusedError("missing dependency")
    order: list[str] = []
    while len(order) < len(enabled):
        ready = [
            name
            for name, ref in enabled.items()
            if name not in order
            and all(one in order or one not in enabled for one in ref.get("dependencyRefs", []))
        ]
        if not ready:
            raise RefusedError("cycle")
        order.append(min(ready))
    return order


def component_values(catalog: Described, ref: Values) -> Values:
    """``values.yaml``, the values file, the overrides: each over what is there."""
    out: Values = {}
    file = ref.get("valuesFile")
    if file:
        default = f"components/{ref['name']}/values.yaml"
        if file not in catalog.files:
            raise RefusedError("values file")
        out = copy.deepcopy(catalog.files[file])
        if file != default and default in catalog.files:
            out = merge_values(catalog.files[default], out)
    overrides = {key: value for key, value in (ref.get("overrides") or {}).items()
                 if key != "enabled"}  # fmt: skip
    return merge_values(out, overrides)


def merge_values(lower: Values, upper: Values) -> Values:
    out = copy.deepcopy(lower)
    for key, value in upper.items():
        if value is None:
            out.pop(key, None)
        elif isinstance(value, dict) and isinstance(out.get(key), dict):
            out[key] = merge_values(out[key], value)
        else:
            out[key] = copy.deepcopy(value)
    return out
