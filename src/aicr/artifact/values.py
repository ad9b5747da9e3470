"""Which values a bundle on disk gives each component: what was really deployed, overrides included."""

from __future__ import annotations

import os

from aicr.artifact.read import inside, read_path
from aicr.documents.nodes import Map
from aicr.documents.scalars import plain
from aicr.errors import AicrError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.artifact.bundle_info import BundleRelease
    from aicr.artifact.read import Artifact

_FLAG = "bundle"


def bundle_values(artifact: Artifact) -> tuple[dict[str, object] | None, str]:
    """The values of each component by its name; else None and why they are not known.

    A component's upstream release counts, else the one that was generated for its manifests.
    """
    info = artifact.info
    if info is None:
        return None, f"{artifact.location} has no bundle-info.yaml, which says where values are"
    found: dict[str, object] = {}
    try:
        for release in sorted(info.releases, key=lambda one: one.manifest):
            if release.component not in found:
                found[release.component] = _release_values(artifact.root, info.deployer, release)
    except AicrError as error:
        return None, f"the values in {artifact.location} could not be read: {error.message}"
    return found, ""


def _release_values(root: str, deployer: str, release: BundleRelease) -> object:
    if deployer == "flux":
        document = _document(root, f"{release.path}/helmrelease.yaml")
        values = _below(_below(document, "spec"), "values")
    elif deployer == "argocd-helm":
        values = _below(_document(root, "values.yaml"), release.name)
    else:
        values = _document(root, f"{release.path}/values.yaml")
    return _below(values, release.component) if release.manifest else values


def _document(root: str, path: str) -> object:
    from aicr.documents.reader import read_yaml

    full = inside(root, path)
    if not os.path.isfile(full):
        raise invalid(f"{full} is not there")
    return plain(read_yaml(read_path(full, _FLAG), full, empty=Map()))


def _below(value: object, key: str) -> object:
    found = value.get(key) if isinstance(value, dict) else None
    return {} if found is None else found
