"""A recipe with script in every field gets nothing into a page but text."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest

from hostile import HOSTILE, hostile
from live_server import LiveServer

ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "dl", "dt", "dd", "div",
    "p", "span", "details", "summary", "strong", "main", "ol", "ul", "li", "a", "table", "thead",
    "tbody", "tr", "th", "td", "pre", "svg", "g", "rect", "text", "path", "figure", "figcaption",
    "script", "section", "label", "input", "br", "code",
}  # fmt: skip


class Tags(HTMLParser):
    """Every element and attribute of a page; what is inside script and style."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in ("script", "style"):
            self.scripts.append(data)


def assert_harmless(page: str) -> None:
    tags = Tags()
    tags.feed(page)
    assert {tag for tag, _ in tags.tags} <= ALLOWED
    scripts = [tag for tag, _ in tags.tags if tag == "script"]
    assert len(scripts) <= 1
    assert not [data for data in tags.scripts if "alert(" in data]
    for tag, attributes in tags.tags:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        address = attributes.get("href") or ""
        assert address.startswith(("#", "https://", "http://", "data:application/json;base64,",
                                   "data:text/markdown;base64,")) or not address  # fmt: skip
        assert tag != "img"


@pytest.mark.parametrize("verb", ["upgrade-check", "upgrade-plan"])
def test_in_every_field(server: LiveServer, verb: str) -> None:
    body = {"from": hostile("1"), "fromName": HOSTILE, "to": hostile("2"), "toName": HOSTILE,
            "deployer": "helm", "allowDifferentCriteria": True}  # fmt: skip
    answer = server.post(f"/v1/{verb}", body, accept="text/html")
    assert answer.status == 200, answer.text
    assert "&lt;script&gt;alert(1)" in answer.text
    assert_harmless(answer.text)
    assert "sandbox" in answer.headers["content-security-policy"]
    warned = answer.headers.get("aicr-warnings", "[]")
    assert warned.isascii()
    json.loads(warned)


def test_in_a_refusal(server: LiveServer) -> None:
    body = {"from": hostile("1"), "fromName": HOSTILE, "to": {"kind": HOSTILE}}
    answer = server.post("/v1/upgrade-check", body, accept="text/html")
    assert answer.status == 400
    assert answer.headers["content-type"] == "application/json"
    deployer = {"criteria": {"service": "eks"}, "deployer": f"helm\r\nX-Evil: 1{HOSTILE}"}
    answer = server.post("/v1/bundle", deployer)
    assert answer.status == 400
    assert "x-evil" not in answer.headers


def test_the_page_itself(server: LiveServer) -> None:
    answer = server.get("/")
    assert "script-src 'sha256-" in answer.headers["content-security-policy"]
    assert "unsafe-inline" not in answer.headers["content-security-policy"]
    assert "http://" not in answer.text
    assert "https://" not in answer.text
