"""Small random catalogs with a query: few names and words, so that they meet often.

Drawn by a seed: a catalog has hundreds of choices, which are slow to draw one by one.
"""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

from resolution_oracle import Described, Values, chain, stated
from small_catalog import SmallCatalog, registry_file

KNOWN = ["a", "b", "c"]
COMPONENTS = [*KNOWN, "d"]  # d is not in the registry
WORDS = {
    "service": ["eks", "gke"],
    "accelerator": ["h100", "b200"],
    "intent": ["training"],
    "os": ["ubuntu", "rhel"],
}


class Maker:
    """Draws the parts of one catalog."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def often(self, share: float) -> bool:
        return self.random.random() < share

    def some(self, items: list[str], most: int) -> list[str]:
        return self.random.sample(items, self.random.randint(0, min(most, len(items))))

    def free(self, depth: int = 2) -> object:
        if depth and self.often(0.4):
            return self.free_map(depth - 1)
        if depth and self.often(0.2):
            return [self.free(depth - 1) for _ in range(self.random.randint(0, 2))]
        return self.random.choice([None, None, True, False, 0, 1, 2.5, "", "t", "on"])

    def free_map(self, depth: int = 2) -> Values:
        return {key: self.free(depth) for key in self.some(["x", "y", "z"], 3)}

    def criteria(self) -> Values:
        found: Values = {}
        for dimension in self.some(list(WORDS), 3):
            found[dimension] = self.random.choice([*WORDS[dimension], "any"])
        if self.often(0.2):
            found["nodes"] = self.random.randint(0, 2)
        return found

    def component(self, name: str) -> Values:
        choice = self.random.choice
        fields = {
            "namespace": choice(["", "ns1", "ns2"]),
            "chart": choice(["", "x/chart"]),
            "source": choice(["", "oci://s"]),
            "version": choice(["", "1.20", "v2"]),
            "tag": choice(["", "t1"]),
            "path": "p",
            "valuesFile": f"components/{name}/{choice(['values', 'values-x'])}.yaml",
            "manifestFiles": self.some(["m1", "m2", "m3"], 2),
            "preManifestFiles": self.some(["m1", "m2"], 2),
            "patches": self.some(["p1", "p2"], 2),
            "dependencyRefs": self.some(KNOWN[: max(COMPONENTS.index(name), 1)], 2),
            "cleanup": choice([True, False]),
            "healthCheckAsserts": choice(["", "check"]),
            "overrides": self.free_map(),
        }
        if self.often(0.05):
            fields["dependencyRefs"] = self.some(COMPONENTS, 2)
        ref = {"name": name, **{key: fields[key] for key in self.some(list(fields), 6)}}
        if self.often(0.1):
            ref["overrides"] = {**self.free_map(), "enabled": choice([True, False])}
        if name not in KNOWN and self.often(0.9):
            ref |= {"type": "Helm", "source": "oci://own", "version": "1"}
        return ref

    def parts(self, components: list[str]) -> Values:
        return {
            "componentRefs": [self.component(name) for name in components],
            "constraints": [
                {"name": name, "value": self.random.choice([">= 1.30", "1.20"])}
                for name in self.some(["k1", "k2", "k3"], 1)
            ],
        }

    def registry_entry(self, name: str) -> Values:
        entry: Values = {"name": name}
        if self.often(0.75):
            helm = {
                "defaultRepository": f"https://{name}",
                "defaultChart": self.random.choice([name, f"r/{name}", f"r/s/{name}"]),
                "defaultNamespace": f"{name}-system",
            }
            entry["helm"] = {key: helm[key] for key in self.some(list(helm), 3)}
            if self.often(0.95):
                entry["helm"]["defaultVersion"] = "1.10"
        else:
            entry["kustomize"] = {"defaultSource": f"https://{name}", "defaultTag": "010"}
        if self.often(0.3):
            entry["manifestFiles"] = ["m9"]
        return entry

    def overlay(self, overlays: Values) -> Values:
        spec = self.parts(self.some(COMPONENTS, 2))
        base = self.random.choice(["", *overlays])
        if base:
            spec["base"] = base
        if self.often(0.85):
            spec["criteria"] = self.criteria()
            if base and self.often(0.7):
                spec["criteria"] |= overlays[base].get("criteria") or {}
        elif self.often(0.5):
            spec["criteria"] = None
        if self.often(0.3):
            spec["mixins"] = self.some(["m1", "m2"], 2)
        if self.often(0.3):
            phases = {"readiness": {"timeout": "5m"}, "deployment": {"checks": ["c1"]}}
            spec["validation"] = {key: phases[key] for key in self.some(list(phases), 2)}
        return spec

    def catalog(self) -> Described:
        registry = {name: self.registry_entry(name) for name in KNOWN}
        overlays: Values = {"base": self.parts(["a", *self.some(["b"], 1)])}
        for name in ["o3", "o1", "o5", "o2", "o4"][: self.random.randint(1, 5)]:
            overlays[name] = self.overlay(overlays)
        mixins = {"m1": self.parts(self.some(["c", "d"], 1)), "m2": self.parts(["d"])}
        files = {
            f"components/{name}/{file}.yaml": self.free_map()
            for name in COMPONENTS
            for file in ("values", "values-x")
            if self.often(0.9)
        }
        return Described(registry, overlays, mixins, files)

    def query(self, catalog: Described) -> Values:
        """Mostly what some overlays state together, so that it can be honoured."""
        found: Values = {}
        matchable = [name for name, spec in catalog.overlays.items() if spec.get("criteria")]
        for name in self.random.sample(matchable, min(len(matchable), 1 + self.often(0.2))):
            for part in chain(catalog, name):
                found |= stated(catalog.overlays[part].get("criteria") or {})
        if not found or self.often(0.05):
            dimension = self.random.choice(list(WORDS))
            found[dimension] = self.random.choice(WORDS[dimension])
        return found


seeds = st.integers(0, 2**32)


@st.composite
def asked(draw: st.DrawFn) -> tuple[Described, Values]:
    """A catalog and a query."""
    maker = Maker(draw(seeds))
    catalog = maker.catalog()
    return catalog, maker.query(catalog)


@st.composite
def asked_often(draw: st.DrawFn) -> tuple[Described, list[Values]]:
    """A catalog and several queries."""
    maker = Maker(draw(seeds))
    catalog = maker.catalog()
    return catalog, [maker.query(catalog) for _ in range(3)]


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
