"""Which values a chart works with: its own defaults, those of its subcharts, and what is given."""

from __future__ import annotations

from aicr.charts.archive import CHART_FILE
from aicr.charts.loose import read_loosely
from aicr.recipe.values import merge_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from aicr.charts.archive import ChartArchive

VALUES_FILE = "values.yaml"


class Subchart:
    """A chart inside a chart. ``key`` is where its values stand, ``conditions`` are the paths of
    values that switch it on or off."""

    __slots__ = ("conditions", "files", "key", "name")

    def __init__(
        self, name: str, key: str, conditions: list[str], files: Mapping[str, bytes]
    ) -> None:
        self.name = name
        self.key = key
        self.conditions = conditions
        self.files = files


def default_values(files: Mapping[str, bytes], where: str) -> dict[str, object]:
    """The chart's own ``values.yaml``, every scalar as text. Raises INVALID_REQUEST."""
    documents = read_loosely(files.get(VALUES_FILE, b""), f"{where}: {VALUES_FILE}")
    return documents[0] if documents and isinstance(documents[0], dict) else {}


def subcharts(chart: ChartArchive, files: Mapping[str, bytes] | None = None) -> list[Subchart]:
    """The subcharts that ``Chart.yaml`` (or ``requirements.yaml``) names and that are there."""
    own = chart.files if files is None else files
    found: list[Subchart] = []
    for name in (CHART_FILE, "requirements.yaml"):
        documents = read_loosely(own.get(name, b""), f"{chart.file_name}: {name}")
        head = documents[0] if documents else None
        listed = head.get("dependencies") if isinstance(head, dict) else None
        for one in listed if isinstance(listed, list) else ():
            if not isinstance(one, dict) or not isinstance(one.get("name"), str):
                continue
            below = chart.below(one["name"]) if files is None else {}
            conditions = [text.strip() for text in str(one.get("condition") or "").split(",")]
            key = str(one.get("alias") or one["name"])
            found.append(Subchart(one["name"], key, [c for c in conditions if c], below))
    return found


def effective_values(chart: ChartArchive, given: Mapping[str, object]) -> dict[str, object]:
    """What the templates see: the defaults with ``given`` over them, also in subcharts; a
    subchart that is switched off has ``enabled: false``."""
    values = merge_values(default_values(chart.files, chart.file_name), given)
    for one in subcharts(chart):
        below = values.get(one.key)
        own = merge_values(
            default_values(one.files, f"{chart.file_name}: {one.name}"),
            below if isinstance(below, dict) else {},
        )
        if _is_off(one, values):
            own["enabled"] = False
        values[one.key] = own
    return values


def _is_off(one: Subchart, values: Mapping[str, object]) -> bool:
    """As Helm decides: the first condition that the values have an answer for."""
    for path in one.conditions:
        node: object = values
        for key in path.split("."):
            node = node.get(key) if isinstance(node, dict) else None
        if str(node).lower() in ("true", "false"):
            return str(node).lower() == "false"
    return False
