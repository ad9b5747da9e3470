"""How a mirror list is written: YAML, JSON, or the input of Hauler and of Zarf.

Keys are sorted, and there is no time stamp: same list, same bytes.
"""

from __future__ import annotations

from aicr.documents.emit import json_text, yaml_text
from aicr.documents.safe import cell
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aicr.mirror.collect import MirroredChart, MirrorList

FORMATS = ("yaml", "json", "hauler", "zarf")
API_VERSION = "aicr.run/v1"
KIND = "MirrorList"
_NAME = "aicr-mirror"
_PLATFORM = r"[a-z0-9]+/[a-z0-9]+(?:/[a-z0-9.]+)?"


def checked_platforms(given: Iterable[str], where: str) -> list[str]:
    """Platforms such as ``linux/amd64``, each once; ``where`` is where they were given.

    Raises INVALID_REQUEST for what is none.
    """
    import re

    found = list(dict.fromkeys(given))
    for one in found:
        if not re.fullmatch(_PLATFORM, one):
            raise invalid(f'{where}: "{one}" is no platform, such as linux/amd64')
    return found


def written(found: MirrorList, form: str, platforms: Sequence[str] = ()) -> str:
    """The list in one of ``FORMATS``; ``platforms`` are the only ones that are wanted."""
    if form == "hauler":
        return _hauler(found, platforms)
    if form == "zarf":
        return _zarf(found, platforms)
    document = _sorted(_document(found, platforms))
    return json_text(document) if form == "json" else yaml_text(document)


def _document(found: MirrorList, platforms: Sequence[str]) -> dict[str, object]:
    metadata: dict[str, object] = {"criteria": found.criteria, "complete": not found.incomplete}
    if found.recipe_version:
        metadata["recipeVersion"] = found.recipe_version
    document: dict[str, object] = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": metadata,
        "images": found.images,
        "charts": [
            {
                "name": one.component,
                "repository": one.repository,
                "chart": one.chart,
                "version": one.version,
                "namespace": one.namespace,
            }
            for one in found.charts
        ],
        "components": [
            {
                "component": one.component,
                "type": one.type,
                "images": list(one.images),
                **({"warnings": list(one.missing)} if one.missing else {}),
            }
            for one in found.components
        ],
    }
    if platforms:
        document["platforms"] = list(platforms)
    return document


def _hauler(found: MirrorList, platforms: Sequence[str]) -> str:
    """Hauler takes one platform for an image, or all of them: a second entry of the same image
    replaces the first one in its store."""
    one = {"platform": platforms[0]} if len(platforms) == 1 else {}
    comments = _incomplete(found)
    if len(platforms) > 1:
        comments.append(
            f"Wanted are {', '.join(platforms)}; without a platform hauler takes all of an image."
        )
    images = {"images": [{"name": name, **one} for name in found.images]}
    charts = {"charts": [_hauler_chart(chart) for chart in found.charts]}
    documents: list[tuple[str, dict[str, object]]] = [("Images", dict(images))]
    if found.charts:
        documents.append(("Charts", dict(charts)))
    return _commented(comments) + "---\n".join(
        yaml_text(
            _sorted(
                {
                    "apiVersion": "content.hauler.cattle.io/v1",
                    "kind": kind,
                    "metadata": {"name": f"{_NAME}-{kind.lower()}"},
                    "spec": spec,
                }
            )
        )
        for kind, spec in documents
    )


def _hauler_chart(chart: MirroredChart) -> dict[str, str]:
    return {"name": chart.chart, "repoURL": chart.repository, "version": chart.version}


def _zarf(found: MirrorList, platforms: Sequence[str]) -> str:
    comments = _incomplete(found)
    architectures = [one.partition("/")[2].partition("/")[0] for one in platforms]
    metadata: dict[str, object] = {"name": _NAME}
    if len(architectures) == 1:
        metadata["architecture"] = architectures[0]
    elif architectures:
        comments.append("A Zarf package is for one architecture; make one for each of them:")
        comments += [f"  zarf package create --architecture {one}" for one in architectures]
    charts = {one.component: one for one in found.charts}
    components: list[object] = []
    for one in found.components:
        component: dict[str, object] = {"name": one.component, "required": True}
        if one.images:
            component["images"] = list(one.images)
        if one.component in charts:
            component["charts"] = [_zarf_chart(charts[one.component])]
        components.append(component)
    document = {
        "apiVersion": "zarf.dev/v1alpha1",
        "kind": "ZarfPackageConfig",
        "metadata": metadata,
        "components": components,
    }
    return _commented(comments) + yaml_text(_sorted(document))


def _zarf_chart(chart: MirroredChart) -> dict[str, str]:
    entry = {"name": chart.component, "namespace": chart.namespace, "version": chart.version}
    if chart.repository.startswith("oci://"):
        return {**entry, "url": f"{chart.repository}/{chart.chart}"}
    named = {} if chart.chart == chart.component else {"repoName": chart.chart}
    return {**entry, **named, "url": chart.repository}


def _incomplete(found: MirrorList) -> list[str]:
    if not found.incomplete:
        return []
    lines = ["INCOMPLETE: there may be more images than are listed here."]
    return lines + [
        f"  {one.component}: {reason}" for one in found.incomplete for reason in one.missing
    ]


def _commented(lines: Sequence[str]) -> str:
    return "".join(f"# {cell(line)}\n" for line in lines)


def _sorted(value: object) -> object:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_sorted(item) for item in value]
    return value
