"""Which values a bundle on disk gives each component: what was really deployed, overrides included.

What the bundle leaves to install time counts where it is in the bundle: what an operator wrote
into ``cluster-values.yaml``, else what the recipe says. Values that are kept elsewhere (a ConfigMap
of the cluster, a file of whoever installs) are not seen.
"""

from __future__ import annotations

import os

from aicr.artifact.read import inside, read_path
from aicr.documents.nodes import Map
from aicr.documents.scalars import plain
from aicr.errors import AicrError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from aicr.artifact.bundle_info import BundleInfo, BundleRelease
    from aicr.artifact.read import Artifact

    # A path inside the bundle -> what the file holds (None: it is not there), and how messages
    # name it.
    Read = Callable[[str], tuple[bytes | None, str]]

_FLAG = "bundle"


def bundle_values(artifact: Artifact) -> tuple[dict[str, object], str]:
    """The values of each component by its name, and why those of others are not known, "" where
    there are no others."""

    def read(path: str) -> tuple[bytes | None, str]:
        full = inside(artifact.root, path)
        return read_path(full, _FLAG) if os.path.lexists(full) else None, full

    return values_in(artifact.location, artifact.info, read)


def values_in(location: str, info: BundleInfo | None, read: Read) -> tuple[dict[str, object], str]:
    """As ``bundle_values``, of a bundle whose files ``read`` gives.

    A component's upstream release counts, else the one that was generated for its manifests.
    """
    if info is None:
        return {}, f"{location} has no bundle-info.yaml, which says where values are"
    found: dict[str, object] = {}
    failed: dict[str, str] = {}
    for release in sorted(info.releases, key=lambda one: one.manifest):
        if release.component not in found and release.component not in failed:
            try:
                found[release.component] = _release_values(read, info.deployer, release)
            except AicrError as error:
                failed[release.component] = error.message
    if not failed:
        return found, ""
    return found, f"the values in {location} could not be read: {'; '.join(failed.values())}"


def _release_values(read: Read, deployer: str, release: BundleRelease) -> object:
    if deployer == "flux":
        document = _document(read, f"{release.path}/helmrelease.yaml")
        fixed = _below(_below(document, "spec"), "values")
        defaults = _document(read, f"{release.path}/defaults.yaml", there=False)
        text = _below(_below(defaults, "data"), "values.yaml")
        values = _over(_parsed(text, release.path) if isinstance(text, str) else {}, fixed)
    elif deployer == "argocd-helm":
        values = _below(_document(read, "values.yaml"), release.name)
    else:
        values = _document(read, f"{release.path}/values.yaml")
        if deployer != "argocd":
            own = _document(read, f"{release.path}/cluster-values.yaml", there=False)
            values = _over(values, own)
    return _below(values, release.component) if release.manifest else values


def _document(read: Read, path: str, *, there: bool = True) -> object:
    """A document of the bundle; {} where it is not there and need not be (``there``)."""
    data, where = read(path)
    if data is None and there:
        raise invalid(f"{where} is not there")
    return _parsed(data or b"", where)


def _parsed(data: bytes | str, where: str) -> object:
    from aicr.documents.reader import read_yaml

    return plain(read_yaml(data, where, empty=Map()))


def _over(lower: object, upper: object) -> object:
    """Values over others, as Helm takes them: a null takes away what is below, and stays where
    nothing is, for the chart's own."""
    if not isinstance(lower, dict) or not isinstance(upper, dict):
        return upper
    merged = dict(lower)
    for key, value in upper.items():
        if value is None and key in lower:
            del merged[key]
        else:
            merged[key] = _over(lower.get(key), value)
    return merged


def _below(value: object, key: str) -> object:
    found = value.get(key) if isinstance(value, dict) else None
    return {} if found is None else found
