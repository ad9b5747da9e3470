"""Which paths of values a chart knows."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from aicr.bundle.setpath import parse_path
from aicr.charts.archive import read_archive
from aicr.charts.known import KnownPaths
from small_charts import chart, chart_files, packed

SCHEMA = {
    "$defs": {"probe": {"type": "object", "properties": {"delay": {"type": "integer"}}}},
    "properties": {
        "logLevel": {"type": "string"},
        "probe": {"$ref": "#/$defs/probe"},
        "labels": {"additionalProperties": {"type": "string"}},
        "list": {"items": {"properties": {"name": {}}}},
        "either": {"oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]},
        "closed": {"type": "object", "properties": {"x": {}}},
    },
}


def known(**files: object) -> KnownPaths:
    data = chart("app", files={"values.schema.json": SCHEMA, **files})
    return KnownPaths(read_archive(data, "app.tgz", origin=""))


@pytest.mark.parametrize(
    "path",
    [
        "image.tag", "replicas", "nodeSelector.disk", "tolerations[0].key", "exporter", "logLevel",
        "probe.delay", "labels.any", "list[3].name", "either.b", "closed.x", "global.anything",
        "tags.front",
    ],
)  # fmt: skip
def test_known(path: str) -> None:
    assert known().knows(parse_path(path))


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("image.tga", "image.tag"),
        ("imagee.tag", "image.tag"),
        ("replica", "replicas"),
        ("replicas.count", "replicas"),
        ("exporter.enable", "exporter.enabled"),
        ("loglevel", "logLevel"),
        ("probe.dely", "probe.delay"),
        ("list[3].nam", "list.name"),
        ("closed.y", "closed.x"),
        ("qqqqqqqqqq", ""),
    ],
)
def test_unknown(path: str, near: str) -> None:
    paths = known()
    assert not paths.knows(parse_path(path))
    if near != "list.name":
        assert paths.nearest(parse_path(path)) == near


@pytest.mark.parametrize("form", ["folder", "archive"])
def test_subcharts(form: str) -> None:
    below = chart_files("db", files={"values.yaml": {"port": 1}, "values.schema.json": {}})
    inside: Mapping[str, object] = (
        {f"charts/db/{path}": data for path, data in below.items()}
        if form == "folder"
        else {"charts/db-1.0.0.tgz": packed("db", below)}
    )
    metadata = {
        "apiVersion": "v2", "name": "app", "version": "1.0.0",
        "dependencies": [
            {"name": "db", "version": "1.0.0", "alias": "store", "condition": "store.on,all.off"},
            {"name": "absent", "version": "1.0.0"},
        ],
    }  # fmt: skip
    paths = known(**{"Chart.yaml": metadata, **inside})
    for path in ("store.port", "store.on", "all.off", "store.global.x", "absent.what"):
        assert paths.knows(parse_path(path)), path
    assert not paths.knows(parse_path("store.prot"))
    assert paths.nearest(parse_path("store.prot")) == "store.port"
    assert not paths.knows(parse_path("db.port"))


def test_a_chart_that_says_nothing_judges_nothing() -> None:
    assert known(**{"values.yaml": "", "values.schema.json": {}}).knows(parse_path("any.thing"))
