"""Writes ``examples/``: what past releases deployed, from today's catalog and their real pins.

For each stack the current recipe is resolved, then every version is set to what that release
pinned, and components that the release did not ship are left out.
"""

from __future__ import annotations

import os
import sys

from aicr.catalog.open import open_catalog
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


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "examples")
