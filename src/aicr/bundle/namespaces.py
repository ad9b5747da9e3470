"""Which Namespace objects a Kustomize build makes that the deployer makes too.

Every deployer makes the namespace of a release before it installs it, and Helm refuses a chart
that has an object which is there already and is not its own. So such a Namespace is left out of
the chart, and what it said of the namespace (labels, annotations) is for a person to apply.
"""

from __future__ import annotations

import re

from aicr.bundle.writers.local import quoted
from aicr.documents.nodes import Map
from aicr.documents.reader import read_documents
from aicr.documents.scalars import plain
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

# There in every cluster.
ALWAYS_THERE = ("default", "kube-node-lease", "kube-public", "kube-system")

_OWN_LABEL = "kubernetes.io/metadata.name"


class LeftOut:
    """A Namespace that was left out of the chart of a component, and what it said."""

    __slots__ = ("annotations", "component", "labels", "name")

    def __init__(
        self,
        name: str,
        *,
        component: str,
        labels: Mapping[str, str],
        annotations: Mapping[str, str],
    ) -> None:
        self.name = name
        self.component = component
        self.labels = labels
        self.annotations = annotations

    @property
    def commands(self) -> list[str]:
        """What gives the namespace that the deployer makes what this one said."""
        return [
            f"kubectl {verb} namespace {self.name} --overwrite "
            + " ".join(quoted(f"{key}={value}") for key, value in sorted(said.items()))
            for verb, said in (("label", self.labels), ("annotate", self.annotations))
            if said
        ]


def without_namespaces(
    data: bytes, component: str, made: Collection[str]
) -> tuple[bytes, list[LeftOut]]:
    """The build without the Namespaces that are ``made`` without it.

    Raises INVALID_REQUEST where nothing else is in the build.
    """
    where = f'the build of "{component}"'
    documents = read_documents(data, where)
    if not any(_is_namespace(node, made) for node in documents):
        return data, []
    kept: list[bytes] = []
    left_out: list[LeftOut] = []
    # kustomize writes a line of three dashes between objects, and indents all text in them.
    for part in re.split(rb"(?m)^---[ \t]*\n", data):
        nodes = read_documents(part, where)
        if len(nodes) == 1 and _is_namespace(nodes[0], made):
            left_out.append(_left_out(nodes[0], component))
        elif nodes:
            kept.append(part if part.endswith(b"\n") else part + b"\n")
    if not kept:
        raise invalid(
            f'the build of "{component}" makes the namespace {left_out[0].name} and nothing else, '
            "and the deployer makes that one itself",
            hint=f"leave the component out: --set {component}:enabled=false",
        )
    return b"---\n".join(kept), left_out


def _is_namespace(node: object, made: Collection[str]) -> bool:
    if not isinstance(node, Map) or node.get("kind") != "Namespace":
        return False
    metadata = node.get("metadata")
    return isinstance(metadata, Map) and plain(metadata.get("name", "")) in made


def _left_out(node: object, component: str) -> LeftOut:
    values = plain(node) if isinstance(node, Map) else None
    assert isinstance(values, dict)
    metadata = values["metadata"]
    labels = _texts(metadata.get("labels"))
    labels.pop(_OWN_LABEL, None)
    return LeftOut(
        str(metadata["name"]),
        component=component,
        labels=labels,
        annotations=_texts(metadata.get("annotations")),
    )


def _texts(values: object) -> dict[str, str]:
    if not isinstance(values, dict):
        return {}
    return {str(key): str(value) for key, value in values.items()}
