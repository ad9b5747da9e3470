"""Which clusters a fleet has: artifacts, globs, folders of artifacts, and a file of clusters."""

from __future__ import annotations

import os

from aicr.cli.output import warn
from aicr.errors import invalid
from aicr.upgrade.fleet import Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_ENDINGS = (".yaml", ".yml", ".json")
_MAGIC = frozenset("*?[")
RECIPE_FILE = "recipe.yaml"
CLUSTER = "cluster"


def entries(locations: Sequence[str], file: str | None) -> list[Entry]:
    """The clusters in the order given, each input once.

    Raises INVALID_REQUEST for no clusters, a glob that matches nothing, two of one name, and a
    file of clusters that cannot be read.
    """
    found = [Entry(path, path) for location in locations for path in _expanded(location)]
    if file is not None:
        found += _listed(file)
    if not found:
        raise invalid(
            "no clusters: nothing to check",
            hint="name recipes, bundles, folders of them, or --clusters FILE",
        )
    once: dict[tuple[str, ...], Entry] = {}
    for entry in found:
        key = (*_place(entry), entry.after, entry.deployer)
        if key in once:
            first = once[key].name
            same = f" as {first}" if first != entry.name else ""
            warn(f"{entry.name}: the same input{same} was given before, and counts once")
        else:
            once[key] = entry
    _distinct(once.values())
    return list(once.values())


def _distinct(found: Iterable[Entry]) -> None:
    names: set[str] = set()
    twice: list[str] = []
    for entry in found:
        if entry.name in names:
            twice.append(entry.name)
        names.add(entry.name)
    if twice:
        raise invalid(
            f"two clusters have one name: {', '.join(dict.fromkeys(twice))}",
            hint="give each its own name in --clusters FILE",
        )


def _place(entry: Entry) -> tuple[str, ...]:
    """What says that two inputs are one."""
    if entry.before == CLUSTER or entry.before.startswith("cm://"):
        return entry.before, entry.kubeconfig, entry.context
    path = os.path.realpath(entry.before)
    if os.path.isdir(path):
        path = os.path.join(path, RECIPE_FILE)
    return (os.path.realpath(path),)


def _expanded(location: str) -> list[str]:
    if location.startswith("cm://"):
        return [location]
    if location == CLUSTER:
        raise invalid(
            "a cluster itself is named in --clusters FILE, with its context",
            hint='a folder of the name "cluster" is ./cluster',
        )
    if not os.path.lexists(location) and not _MAGIC.isdisjoint(location):
        from glob import glob

        matches = sorted(glob(location, recursive=True))
        if not matches:
            raise invalid(f"{location}: matches nothing")
        return [path for match in matches for path in _children(match)]
    return _children(location)


def _children(location: str) -> list[str]:
    """The artifacts that a path stands for: itself, or what is directly in such a folder."""
    if not os.path.isdir(location) or os.path.exists(os.path.join(location, RECIPE_FILE)):
        return [location]
    try:
        names = sorted(os.listdir(location))
    except OSError as error:
        raise invalid(f"{location}: cannot be read: {error.strerror}") from None
    found = [
        path
        for name in names
        for path in (os.path.join(location, name),)
        if not name.startswith(".") and (os.path.isdir(path) or name.endswith(_ENDINGS))
    ]
    if not found:
        raise invalid(f"{location}: a folder without recipes (*.yaml, *.yml, *.json) or bundles")
    return found


def _listed(file: str) -> list[Entry]:
    """The clusters that a file lists; relative paths are relative to the file."""
    from aicr.artifact.read import read_path
    from aicr.documents.fields import Fields, Problems
    from aicr.documents.reader import read_yaml

    problems = Problems()
    fields = Fields(read_yaml(read_path(file, "--clusters"), file), file, "", problems)
    folder = os.path.dirname(file)

    def beside(path: str) -> str:
        if not path or path == CLUSTER or path.startswith("cm://"):
            return path
        return os.path.join(folder, os.path.expanduser(path))

    found: list[Entry] = []
    for item in fields.items("clusters"):
        before = item.required("from")
        labels = item.free_map("labels") or {}
        for key, value in labels.items():
            if not isinstance(value, str):
                item.problem(f'the label "{key}" has no text; quote it', "labels")
        found.append(
            Entry(
                item.text("name") or before,
                beside(before),
                after=beside(item.text("to")),
                deployer=item.text("deployer"),
                kubeconfig=beside(item.text("kubeconfig")),
                context=item.text("context"),
                labels={key: str(value) for key, value in labels.items()},
            )
        )
        item.done()
    fields.done()
    problems.raise_any()
    return found
