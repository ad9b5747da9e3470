"""A stack with every kind of release, and bundles of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from aicr.bundle.build import Bundle, Request, build_bundle
from aicr.catalog.layers import Catalog
from aicr.catalog.model import ComponentRef
from aicr.recipe.criteria import Criteria
from aicr.recipe.model import Recipe
from aicr.recipe.resolve import resolve
from small_catalog import SmallCatalog, helm

CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {name}
  namespace: {{{{ .Release.Namespace }}}}
data:
  size: {{{{ index .Values "{component}" "size" | default "none" | quote }}}}
"""


def config_map(name: str, component: str) -> str:
    return CONFIG_MAP.format(name=name, component=component)


def stack() -> SmallCatalog:
    """``chart`` (with manifests before and after), ``oci``, ``plain`` (manifests only)."""
    catalog = SmallCatalog()
    catalog.registry(
        helm("chart", "v1.2.3", valueOverrideKeys=["thechart"], ownsCRDs=True),
        {
            "name": "oci",
            "valueOverrideKeys": ["ociregistry"],
            "helm": {
                "defaultRepository": "oci://registry.example/charts",
                "defaultChart": "oci-chart",
                "defaultVersion": "26.10",
                "defaultNamespace": "oci-system",
            },
        },
        {"name": "plain", "helm": {"defaultNamespace": "plain-system"}},
    )
    for name, component in (("before", "chart"), ("after", "chart"), ("only", "plain")):
        path = f"components/{component}/manifests/{name}.yaml"
        catalog.add(path, config_map(f"{component}-{name}", component))
    catalog.add("components/chart/values.yaml", {"size": 3, "names": ["on", "1:30"], "x": None})
    catalog.overlay(
        "base",
        componentRefs=[
            {
                "name": "chart",
                "valuesFile": "components/chart/values.yaml",
                "preManifestFiles": ["components/chart/manifests/before.yaml"],
                "manifestFiles": ["components/chart/manifests/after.yaml"],
                "dependencyRefs": ["oci"],
            },
            {"name": "oci", "overrides": {"replicas": 2}},
            {
                "name": "plain",
                "manifestFiles": ["components/plain/manifests/only.yaml"],
                "dependencyRefs": ["chart"],
                "overrides": {"size": "large"},
            },
        ],
    )
    return catalog.overlay("eks", base="base", criteria={"service": "eks"})


# The releases of ``stack``, in order.
STACK_RELEASES = ["oci", "chart-pre", "chart", "chart-post", "plain"]


def stack_recipe(catalog: Catalog) -> Recipe:
    return resolve(catalog, Criteria(service="eks"))


def recipe_of(*components: ComponentRef, order: Iterable[str] = ()) -> Recipe:
    """A recipe as somebody could have written it by hand."""
    return Recipe(
        api_version="",
        version="",
        catalog_digest="",
        criteria=Criteria(),
        components=sorted(components, key=lambda ref: ref.name),
        deployment_order=list(order),
    )


def build(
    recipe: Recipe,
    catalog: Catalog,
    deployer: str = "helm",
    *,
    sets: Iterable[str] = (),
    dynamic: Iterable[str] = (),
    kept: Mapping[str, bytes] | None = None,
) -> Bundle:
    request = Request(deployer, sets=list(sets), dynamic=list(dynamic))
    return build_bundle(recipe, catalog, request, where="recipe.yaml", kept=kept)


def write_out(bundle: Bundle, root: Path) -> Path:
    """The files on disk, by other code than the project's."""
    for path, (data, executable) in bundle.files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        file.chmod(0o755 if executable else 0o644)
    return root


def parsed(data: bytes) -> object:
    """One YAML document, read by another reader than the project's."""
    return yaml.safe_load(data)
