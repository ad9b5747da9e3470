"""Writes ``examples/``: what past releases deployed, from today's catalog and their real pins.

For each stack the current recipe is resolved, then every version is set to what that release
pinned, and components that the release did not ship are left out. Beside single recipes there are
a fleet of twelve with its list of clusters, and what the made-up stack in ``three-hops`` runs.
"""

from __future__ import annotations

import os
import sys

from aicr.catalog.open import open_catalog
from aicr.documents.emit import yaml_text
from aicr.recipe.criteria import make_criteria
from aicr.recipe.document import write_recipe
from aicr.recipe.order import deployment_order
from aicr.recipe.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.catalog.layers import Catalog
    from aicr.recipe.model import Recipe

EXAMPLES = (
    ("eks-h100-training", "v0.20.0", {"service": "eks", "accelerator": "h100",
                                      "intent": "training"}),
    ("eks-h100-training", "v0.21.1", {"service": "eks", "accelerator": "h100",
                                      "intent": "training"}),
    ("gke-h100-inference-dynamo", "v0.18.0", {"service": "gke", "accelerator": "h100",
                                              "intent": "inference", "os": "cos",
                                              "platform": "dynamo"}),
    ("aks-h100-training-kubeflow", "v0.16.0", {"service": "aks", "accelerator": "h100",
                                               "intent": "training", "os": "ubuntu",
                                               "platform": "kubeflow"}),
)  # fmt: skip

_HERE = os.path.dirname(os.path.abspath(__file__))
_THREE_HOPS = "examples/three-hops"

# Twelve clusters over four past releases: name, release, region, deployer, criteria.
_TRAINING = {"service": "eks", "accelerator": "h100", "intent": "training"}
_KUBEFLOW = {"service": "aks", "accelerator": "h100", "intent": "training", "os": "ubuntu",
             "platform": "kubeflow"}  # fmt: skip
_DYNAMO = {"service": "gke", "accelerator": "h100", "intent": "inference", "os": "cos",
           "platform": "dynamo"}  # fmt: skip
FLEET = (
    ("train-us-1", "v0.21.1", "us", "helm", _TRAINING),
    ("train-us-2", "v0.21.1", "us", "helm", _TRAINING),
    ("train-us-3", "v0.20.0", "us", "helm", _TRAINING),
    ("train-us-4", "v0.18.0", "us", "helm", _TRAINING),
    ("train-eu-1", "v0.20.0", "eu", "argocd", _TRAINING),
    ("train-eu-2", "v0.16.0", "eu", "argocd", _TRAINING),
    ("kubeflow-eu-1", "v0.20.0", "eu", "flux", _KUBEFLOW),
    ("kubeflow-eu-2", "v0.18.0", "eu", "flux", _KUBEFLOW),
    ("kubeflow-eu-3", "v0.16.0", "eu", "flux", _KUBEFLOW),
    ("infer-ap-1", "v0.21.1", "ap", "helm", _DYNAMO),
    ("infer-ap-2", "v0.20.0", "ap", "helm", _DYNAMO),
    ("infer-ap-3", "v0.18.0", "ap", "helm", _DYNAMO),
)


def past_recipe(catalog: Catalog, release: str, stated: dict[str, str]) -> Recipe:
    """What ``release`` deployed for these criteria."""
    pins = next(one.pins for one in catalog.releases if one.name == release)
    ever = {name for one in catalog.releases for name in one.pins}
    recipe = resolve(catalog, make_criteria(stated, catalog))
    kept = [ref for ref in recipe.components if ref.name in pins or ref.name not in ever]
    names = {ref.name for ref in kept}
    components = [
        ref.replace(
            version=pins[ref.name][0] if ref.name in pins else ref.version,
            dependency_refs=[name for name in ref.dependency_refs if name in names],
        )
        for ref in kept
    ]
    return recipe.replace(
        version=release,
        catalog_digest="",
        components=components,
        deployment_order=deployment_order(components),
    )


def main(folder: str) -> None:
    catalog = open_catalog()
    os.makedirs(folder, exist_ok=True)
    for name, release, stated in EXAMPLES:
        path = os.path.join(folder, f"{name}-{release}.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(write_recipe(past_recipe(catalog, release, stated)))
    _write_fleet(catalog, folder)
    _write_three_hops(os.path.join(folder, "three-hops"))


def _write_fleet(catalog: Catalog, folder: str) -> None:
    os.makedirs(os.path.join(folder, "fleet"), exist_ok=True)
    clusters = []
    for name, release, region, deployer, stated in FLEET:
        with open(os.path.join(folder, "fleet", f"{name}.yaml"), "w", encoding="utf-8") as file:
            file.write(write_recipe(past_recipe(catalog, release, stated)))
        clusters.append(
            {
                "name": name,
                "from": f"fleet/{name}.yaml",
                "deployer": deployer,
                "labels": {"region": region, "release": release},
            }
        )
    with open(os.path.join(folder, "fleet.yaml"), "w", encoding="utf-8") as file:
        file.write(yaml_text({"clusters": clusters}))


def _write_three_hops(folder: str) -> None:
    """What the made-up stack runs: its old catalog, resolved. The catalogs are written by hand."""
    os.makedirs(folder, exist_ok=True)
    catalog = open_catalog(catalog=os.path.join(_HERE, "..", _THREE_HOPS, "old-catalog"))
    recipe = resolve(catalog, make_criteria({"service": "eks", "intent": "training"}, catalog))
    with open(os.path.join(folder, "old-recipe.yaml"), "w", encoding="utf-8") as file:
        file.write(write_recipe(recipe))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "examples")
