"""What the double says that it serves: versions, groups and resources, for clients that ask."""

from __future__ import annotations

from kube_double_kinds import Kind, Object
from kube_double_store import Store

VERSION = {
    "major": "1",
    "minor": "36",
    "emulationMajor": "1",
    "emulationMinor": "36",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "35",
    "gitVersion": "v1.36.2",
    "gitCommit": "0000000000000000000000000000000000000000",
    "gitTreeState": "clean",
    "buildDate": "2026-11-01T00:00:00Z",
    "goVersion": "go1.27.0",
    "compiler": "gc",
    "platform": "linux/amd64",
}
_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]


def discovery(store: Store, path: str) -> Object | None:
    """The answer to a discovery request; None where there is nothing at ``path``."""
    if path == "/version":
        return dict(VERSION)
    kinds = list(store.kinds.values())
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"]}
    if path == "/apis":
        groups = sorted({kind.group for kind in kinds if kind.group})
        return {
            "kind": "APIGroupList",
            "apiVersion": "v1",
            "groups": [_group(kinds, group) for group in groups],
        }
    served = [kind for kind in kinds if path == _path(kind)]
    if served:
        return {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": served[0].api_version,
            "resources": [_resource(kind) for kind in served],
        }
    for group in {kind.group for kind in kinds if kind.group}:
        if path == f"/apis/{group}":
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(kinds, group)}
    return None


def _path(kind: Kind) -> str:
    return f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"


def _group(kinds: list[Kind], group: str) -> Object:
    versions = sorted({kind.version for kind in kinds if kind.group == group}, reverse=True)
    listed = [{"groupVersion": f"{group}/{one}", "version": one} for one in versions]
    return {"name": group, "versions": listed, "preferredVersion": listed[0]}


def _resource(kind: Kind) -> Object:
    return {
        "name": kind.plural,
        "singularName": kind.kind.lower(),
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": list(_VERBS),
    }
