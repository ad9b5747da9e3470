"""Small random catalogs and queries: few names and words, so that they meet often."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from resolution_oracle import Described, Values
from small_catalog import SmallCatalog, registry_file

COMPONENTS = ["a", "b", "c", "d"]
KNOWN = ["a", "b", "c"]  # d is not in the registry
WORDS = {
    "service": ["eks", "gke"],
    "accelerator": ["h100", "b200"],
    "intent": ["training"],
    "os": ["ubuntu", "rhel"],
}

free = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(0, 3), st.sampled_from(["", "t", "on"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("xyz"), inner, max_size=3)
    ),
    max_leaves=6,
)
maps = st.dictionaries(st.sampled_from("xyz"), free, max_size=3)


def optional(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), strategy)


@st.composite
def some(draw: st.DrawFn, fields: dict[str, st.SearchStrategy[Any]]) -> Values:
    """A map with some of the fields."""
    chosen = draw(st.lists(st.sampled_from(sorted(fields)), unique=True, max_size=4))
    return {key: draw(fields[key]) for key in chosen}


criteria = some({
    **{key: st.sampled_from([*words, "any"]) for key, words in WORDS.items()},
    "nodes": st.integers(0, 2),
})  # fmt: skip
queries = some({key: st.sampled_from(words) for key, words in WORDS.items()}).filter(bool)


@st.composite
def component_refs(draw: st.DrawFn, name: str) -> Values:
    ref = draw(some({
        "namespace": st.sampled_from(["", "ns1", "ns2"]),
        "chart": st.sampled_from(["", "x/chart"]),
        "source": st.sampled_from(["", "oci://s"]),
        "version": st.sampled_from(["", "1.20", "v2"]),
        "tag": st.sampled_from(["", "t1"]),
        "path": st.just("p"),
        "valuesFile": st.sampled_from([f"components/{name}/values.yaml",
                                       f"components/{name}/values-x.yaml"]),
        "manifestFiles": st.lists(st.sampled_from(["m1", "m2", "m3"]), max_size=2, unique=True),
        "preManifestFiles": st.lists(st.sampled_from(["m1", "m2"]), max_size=2, unique=True),
        "patches": st.lists(st.sampled_from(["p1", "p2"]), max_size=2),
        "dependencyRefs": st.lists(st.sampled_from(COMPONENTS), max_size=2, unique=True),
        "cleanup": st.booleans(),
        "healthCheckAsserts": st.sampled_from(["", "check"]),
        "overrides": maps,
    }))  # fmt: skip
    if draw(st.integers(0, 5)) == 0:
        ref["overrides"] = {**ref.get("overrides", {}), "enabled": draw(st.booleans())}
    if name not in KNOWN and draw(st.integers(0, 3)):
        ref |= {"type": "Helm", "source": "oci://own", "version": "1"}
    return {"name": name, **ref}


@st.composite
def parts(draw: st.DrawFn, names: list[str], most: int) -> Values:
    """Constraints and components, each name once."""
    refs = [draw(component_refs(name)) for name in
            draw(st.lists(st.sampled_from(names), unique=True, max_size=most))]  # fmt: skip
    constraints = draw(st.lists(
        st.fixed_dictionaries({"name": st.sampled_from(["k1", "k2", "k3"]),
                               "value": st.sampled_from([">= 1.30", "1.20"])}),
        unique_by=lambda one: str(one["name"]), max_size=2,
    ))  # fmt: skip
    return {"componentRefs": refs, "constraints": constraints}


@st.composite
def catalogs(draw: st.DrawFn) -> Described:
    registry: Values = {}
    for name in KNOWN:
        entry: Values = {"name": name}
        if draw(st.integers(0, 3)):
            entry["helm"] = draw(some({
                "defaultRepository": st.just(f"https://{name}"),
                "defaultChart": st.sampled_from([name, f"r/{name}", f"r/s/{name}"]),
                "defaultNamespace": st.just(f"{name}-system"),
            })) | {"defaultVersion": "1.10"}  # fmt: skip
        else:
            entry["kustomize"] = {"defaultSource": f"https://{name}", "defaultTag": "010"}
        if draw(st.booleans()):
            entry["manifestFiles"] = ["m9"]
        registry[name] = entry
    overlays: Values = {"base": draw(parts(COMPONENTS, 3))}
    for name in ["o1", "o2", "o3", "o4", "o5"][: draw(st.integers(0, 5))]:
        spec: Values = draw(parts(COMPONENTS, 2))
        spec["criteria"] = draw(optional(criteria))
        base = draw(st.sampled_from(["", *overlays]))
        if base:
            spec["base"] = base
        if not draw(st.integers(0, 2)):
            spec["mixins"] = draw(st.lists(st.sampled_from(["m1", "m2"]), unique=True, max_size=2))
        if not draw(st.integers(0, 2)):
            spec["validation"] = draw(st.dictionaries(
                st.sampled_from(["readiness", "deployment"]),
                st.sampled_from([{"timeout": "5m"}, {"checks": ["c1"]}]), max_size=2,
            ))  # fmt: skip
        overlays[name] = spec
    mixins: Values = {"m1": draw(parts(["c", "d"], 1)), "m2": draw(parts(["d"], 1))}
    files = {
        f"components/{name}/{file}": draw(maps)
        for name in COMPONENTS
        for file in ("values.yaml", "values-x.yaml")
        if draw(st.integers(0, 2))
    }
    return Described(registry, overlays, mixins, files)


def written(described: Described) -> SmallCatalog:
    """The files that say what ``described`` says."""
    catalog = SmallCatalog({"registry.yaml": registry_file(*described.registry.values())})
    for name, spec in described.overlays.items():
        catalog.overlay(name, **spec)
    for name, spec in described.mixins.items():
        catalog.mixin(name, **spec)
    for path, values in described.files.items():
        catalog.add(path, values)
    return catalog
