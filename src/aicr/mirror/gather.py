"""Which images rendered objects and values name, and which objects hide what they run.

Images are looked for in every container of a pod spec, in ``image`` fields, in maps of registry,
repository and tag, in variables whose name says image, and in YAML inside of ConfigMaps. What
stands below ``enabled: false`` is not deployed and does not count.
"""

from __future__ import annotations

import re

from aicr.charts.loose import read_loosely
from aicr.errors import AicrError
from aicr.mirror.names import in_full, is_pinned, of_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_CONTAINERS = frozenset(("containers", "initContainers", "ephemeralContainers"))
_TEST_HOOKS = frozenset(("test", "test-success", "test-failure"))
# Objects that install further things, from where they say.
_INSTALLERS = frozenset(
    (
        ("operators.coreos.com", "Subscription"),
        ("olm.operatorframework.io", "ClusterExtension"),
        ("helm.toolkit.fluxcd.io", "HelmRelease"),
        ("argoproj.io", "Application"),
    )
)
# Groups of other projects whose objects run nothing.
_INERT_GROUPS = frozenset(("monitoring.coreos.com", "cert-manager.io"))
_LARGEST_EMBEDDED = 1024 * 1024


class Found:
    """``images`` in full; ``untagged`` are repositories that were named without a tag or digest;
    ``unreadable`` is what containers name that is no reference. ``hidden`` are the kinds of objects
    that may run what cannot be seen here, ``installers`` those that surely do."""

    __slots__ = ("hidden", "images", "installers", "unreadable", "untagged")

    def __init__(self) -> None:
        self.images: set[str] = set()
        self.untagged: set[str] = set()
        self.unreadable: set[str] = set()
        self.hidden: set[str] = set()
        self.installers: set[str] = set()

    def add(self, text: str, *, container: bool = False) -> None:
        """Note a reference; one without a tag means ``latest`` in a container alone."""
        full = in_full(text)
        if full is None:
            if container:
                self.unreadable.add(text)
            return
        if container or is_pinned(text):
            self.images.add(full)
        elif "/" in text:
            self.untagged.add(text)


def from_objects(documents: Iterable[object]) -> Found:
    """What rendered objects name. Definitions of kinds, and hooks that only tests run, do not
    count."""
    found = Found()
    for document in _objects(documents):
        kind = str(document.get("kind"))
        if kind == "CustomResourceDefinition" or _is_test(document):
            continue
        _walk(document, found)
        if kind == "ConfigMap":
            _look_inside(document.get("data"), found)
        group, slash, _ = str(document.get("apiVersion") or "").partition("/")
        group = group if slash else ""
        if (group, kind) in _INSTALLERS:
            found.installers.add(f"{kind} ({group})")
        elif "." in group and not group.endswith(".k8s.io") and group not in _INERT_GROUPS:
            found.hidden.add(f"{kind} ({group})")
    return found


def from_values(values: Mapping[str, object]) -> Found:
    """What the values of a chart name."""
    found = Found()
    shared = values.get("global")
    registry = shared.get("imageRegistry") if isinstance(shared, dict) else None
    _walk(values, found, registry if isinstance(registry, str) else "")
    return found


def tags_in(text: str, repositories: Iterable[str]) -> set[str]:
    """The references of these ``repositories`` that stand somewhere in ``text``, with their tag
    or digest: in the argument of a command, for instance."""
    found: set[str] = set()
    for repository in repositories:
        pattern = (
            rf"(?<![\w./-]){re.escape(repository)}(?::[\w][\w.-]{{0,127}})?(?:@sha256:\w{{64}})?"
        )
        for match in re.finditer(pattern, text, re.ASCII):
            full = in_full(match.group())
            if full is not None and is_pinned(match.group()):
                found.add(full)
    return found


def _objects(documents: Iterable[object]) -> Iterator[Mapping[str, object]]:
    for document in documents:
        if isinstance(document, dict):
            items = document.get("items")
            if str(document.get("kind", "")).endswith("List") and isinstance(items, list):
                yield from (item for item in items if isinstance(item, dict))
            else:
                yield document


def _is_test(document: Mapping[str, object]) -> bool:
    metadata = document.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    hook = annotations.get("helm.sh/hook") if isinstance(annotations, dict) else None
    return isinstance(hook, str) and {one.strip() for one in hook.split(",")} <= _TEST_HOOKS


def _walk(root: object, found: Found, registry: str = "") -> None:
    seen: set[int] = set()
    pending: list[tuple[str, object]] = [("", root)]
    while pending:
        key, node = pending.pop()
        if not isinstance(node, dict | list) or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, list):
            pending += [(key, item) for item in node]
            continue
        if str(node.get("enabled")).lower() == "false":
            continue
        _of_map(key, node, found, registry)
        pending += node.items()


def _of_map(key: str, node: Mapping[str, object], found: Found, registry: str) -> None:
    image = node.get("image")
    if key in _CONTAINERS and isinstance(image, str):
        found.add(image, container=True)
    elif (text := of_map(node, registry)) != "":
        found.add(text)
    elif key == "image" and isinstance(node.get("reference"), str):
        found.add(str(node["reference"]), container=True)  # an image as a volume
    name, value = node.get("name"), node.get("value")
    if not isinstance(name, str) or not isinstance(value, str):
        return
    if "image" in name.lower() and "/" in value and is_pinned(value):
        found.add(value)


def _look_inside(data: object, found: Found) -> None:
    for name, text in data.items() if isinstance(data, dict) else ():
        if (
            isinstance(text, str)
            and name.endswith((".yaml", ".yml", ".json"))
            and "image" in text
            and len(text) <= _LARGEST_EMBEDDED
        ):
            try:
                documents = read_loosely(text.encode("utf-8"), name)
            except AicrError:
                continue  # a template of its own
            inside = Found()
            for document in documents:
                _walk(document, inside)
            found.images |= inside.images
            found.untagged |= inside.untagged
