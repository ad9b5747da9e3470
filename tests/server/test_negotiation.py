"""Which form an Accept header asks for."""

from __future__ import annotations

import pytest

from aicr.server.negotiation import ARCHIVE, REPORT, media_type, wanted
from aicr.server.refusal import Refusal


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", "json"),
        ("*/*", "json"),
        ("application/yaml", "yaml"),
        ("text/yaml, application/json;q=0.5", "yaml"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "html"),
        ("text/*", "yaml"),
        ("application/json;q=0, */*", "yaml"),
        ("TEXT/MARKDOWN", "markdown"),
        ("application/json;q=nonsense, text/plain", "table"),
    ],
)
def test_reports(accept: str, form: str) -> None:
    assert wanted(accept, REPORT) == form


@pytest.mark.parametrize("accept", ["image/png", "application/json;q=0", ",", "x" * 2000])
def test_nothing_fits(accept: str) -> None:
    with pytest.raises(Refusal) as caught:
        wanted(accept, REPORT)
    assert caught.value.status == 406


def test_labels() -> None:
    assert media_type("html", REPORT) == "text/html; charset=utf-8"
    assert media_type("tar.gz", ARCHIVE) == "application/gzip"
