"""Which paths of values a chart knows, by its ``values.yaml`` and its ``values.schema.json``.

Below a default that is an empty map, a list or nothing the chart takes what it is given, so every
path is known there. Subcharts count, and so do the paths that switch them on or off.
"""

from __future__ import annotations

from aicr.charts.values import VALUES_FILE, Subchart, default_values, subcharts
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from aicr.charts.archive import ChartArchive

    Path = Sequence[str | int]

SCHEMA_FILE = "values.schema.json"
_MOST_PATHS = 20_000
_DEEPEST = 32
# Helm's own: shared with all subcharts, and the switches of their groups.
_EVERYWHERE = frozenset(("global", "tags"))


class KnownPaths:
    """The paths of one chart."""

    def __init__(self, chart: ChartArchive) -> None:
        self._chart = chart
        self._values = default_values(chart.files, chart.file_name)
        self._schema = _schema(chart.files, chart.file_name)
        self._subcharts = subcharts(chart)

    @property
    def is_silent(self) -> bool:
        """Whether the chart says nothing of its values, so that no path can be judged."""
        return not self._values and not self._schema

    def knows(self, path: Path) -> bool:
        """Whether values at ``path`` can reach something in the chart."""
        if not path or path[0] in _EVERYWHERE or self.is_silent:
            return True
        dotted = ".".join(str(step) for step in path)
        if any(dotted in one.conditions for one in self._subcharts):
            return True
        if _in_values(self._values, path) or _in_schema(self._schema, self._schema, path):
            return True
        return any(one.key == path[0] and self._below(one, path[1:]) for one in self._subcharts)

    def nearest(self, path: Path) -> str:
        """The known path that is most like ``path``; "" where none is."""
        from difflib import get_close_matches

        wanted = ".".join(str(step) for step in path if isinstance(step, str))
        near = get_close_matches(wanted, self._all(), 1, 0.6)
        return near[0] if near else ""

    def _below(self, one: Subchart, path: Path) -> bool:
        if not path or not one.files or path[0] in _EVERYWHERE:
            return True
        where = f"{self._chart.file_name}: {one.name}"
        values, schema = default_values(one.files, where), _schema(one.files, where)
        if not values and not schema:
            return True
        if any(path[0] == below.key for below in subcharts(self._chart, one.files)):
            return True  # a chart three levels down is not opened
        return _in_values(values, path) or _in_schema(schema, schema, path)

    def _all(self) -> list[str]:
        found = dict.fromkeys(_paths_of(self._values, ""))
        found |= dict.fromkeys(_schema_paths(self._schema, self._schema, "", 0))
        for one in self._subcharts:
            found[one.key] = None
            where = f"{self._chart.file_name}: {one.name}"
            found |= dict.fromkeys(_paths_of(default_values(one.files, where), f"{one.key}."))
        return list(found)[:_MOST_PATHS]


def _schema(files: Mapping[str, bytes], where: str) -> Mapping[str, object]:
    import json

    data = files.get(SCHEMA_FILE)
    if data is None:
        return {}
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise invalid(f"{where}: {SCHEMA_FILE}: is no JSON, next to {VALUES_FILE}") from None
    return found if isinstance(found, dict) else {}


def _in_values(node: object, path: Path) -> bool:
    for step in path:
        if node in ("", "null", "~", None) or isinstance(node, list) or node == {}:
            return True
        if not isinstance(node, dict) or step not in node:
            return False
        node = node[step]
    return True


def _in_schema(schema: object, root: Mapping[str, object], path: Path, depth: int = 0) -> bool:
    """Whether a schema names ``path``; what is merely not forbidden is not known."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return False
    if not path:
        return True
    target = _target(schema, root)
    if target is not None and _in_schema(target, root, path, depth + 1):
        return True
    for key in ("allOf", "anyOf", "oneOf"):
        parts = schema.get(key)
        for part in parts if isinstance(parts, list) else ():
            if _in_schema(part, root, path, depth + 1):
                return True
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        return _in_schema(schema.get("items", {}), root, rest, depth + 1)
    below = schema.get("properties")
    if isinstance(below, dict) and step in below:
        return not rest or _is_open(below[step]) or _in_schema(below[step], root, rest, depth + 1)
    patterns = schema.get("patternProperties")
    if isinstance(patterns, dict) and patterns:
        return True
    further = schema.get("additionalProperties")
    return further is True or (isinstance(further, dict) and bool(further))


def _is_open(schema: object) -> bool:
    """Whether a schema leaves open what is below it."""
    if not isinstance(schema, dict):
        return schema is True
    return not any(
        key in schema for key in ("$ref", "properties", "items", "allOf", "anyOf", "oneOf")
    ) and schema.get("type") in (None, "object", "array")


def _target(schema: Mapping[str, object], root: Mapping[str, object]) -> object:
    """What a ``$ref`` inside the same schema leads to."""
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    node: object = root
    for part in reference[2:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        node = node.get(key) if isinstance(node, dict) else None
    return node


def _paths_of(node: object, at: str) -> Iterator[str]:
    pending: list[tuple[str, object]] = [(at, node)]
    count = 0
    while pending and count < _MOST_PATHS:
        prefix, value = pending.pop()
        if isinstance(value, dict):
            for key, item in value.items():
                count += 1
                yield f"{prefix}{key}"
                pending.append((f"{prefix}{key}.", item))


def _schema_paths(schema: object, root: Mapping[str, object], at: str, depth: int) -> Iterator[str]:
    if not isinstance(schema, dict) or depth > 8:
        return
    target = _target(schema, root)
    if target is not None:
        yield from _schema_paths(target, root, at, depth + 1)
    below = schema.get("properties")
    for key, value in below.items() if isinstance(below, dict) else ():
        yield f"{at}{key}"
        yield from _schema_paths(value, root, f"{at}{key}.", depth + 1)
