"""Which form of an answer a client wants: its Accept header against what there is."""

from __future__ import annotations

from aicr.errors import invalid
from aicr.server.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# Media type -> the form it stands for. The first one of a form is what the answer is labelled as.
JSON = {"application/json": "json"}
YAML = {"application/yaml": "yaml", "application/x-yaml": "yaml", "text/yaml": "yaml",
        "text/x-yaml": "yaml"}  # fmt: skip
DOCUMENT = {**JSON, **YAML}
RECIPE = {**DOCUMENT, "text/html": "html"}
VALUE = {**DOCUMENT, "text/plain": "text"}
REPORT = {**DOCUMENT, "text/markdown": "markdown", "text/html": "html", "text/plain": "table",
          "application/xml": "junit", "text/xml": "junit"}  # fmt: skip
ARCHIVE = {"application/zip": "zip", "application/gzip": "tar.gz", "application/x-gzip": "tar.gz",
           "application/x-tar+gzip": "tar.gz", "application/tar+gzip": "tar.gz"}  # fmt: skip
PLAN = {**DOCUMENT, "text/markdown": "markdown", "text/html": "html", "text/plain": "table",
        **ARCHIVE}  # fmt: skip
MIRROR = {**DOCUMENT}

_LONGEST = 1024


def media_type(form: str, offered: Mapping[str, str]) -> str:
    """How an answer of a form is labelled."""
    name = next(name for name, one in offered.items() if one == form)
    return name if name.startswith("application/") else f"{name}; charset=utf-8"


def wanted(accept: str, offered: Mapping[str, str]) -> str:
    """The form that ``accept`` prefers; the first one offered where it has no say.

    Raises INVALID_REQUEST with status 406 where nothing fits.
    """
    if not accept or accept == "*/*":
        return next(iter(offered.values()))
    if len(accept) > _LONGEST:
        raise Refusal(406, invalid(f"Accept: longer than {_LONGEST} characters"))
    best, best_weight = "", (0.0, -1)
    ranges = [_range(part) for part in accept.split(",")]
    for name, form in offered.items():
        fitting = [(rank, weight) for known, rank, weight in ranges if _fits(known, name)]
        if not fitting:
            continue
        rank, weight = max(fitting)  # the most specific range that fits has the say
        if weight > 0 and (weight, rank) > best_weight:
            best, best_weight = form, (weight, rank)
    if not best:
        choice = ", ".join(dict.fromkeys(offered))
        raise Refusal(406, invalid("Accept: nothing of it is offered here", hint=f"use {choice}"))
    return best


def _range(part: str) -> tuple[str, int, float]:
    """A media range: its name, how specific it is, its weight."""
    name, *parameters = (one.strip().lower() for one in part.split(";"))
    weight = 1.0
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip() == "q":
            try:
                weight = min(1.0, max(0.0, float(value)))
            except ValueError:
                weight = 0.0
    rank = 0 if name == "*/*" else 1 if name.endswith("/*") else 2
    return name, rank, weight


def _fits(known: str, name: str) -> bool:
    return known in ("*/*", name) or (known.endswith("/*") and name.startswith(known[:-1]))
