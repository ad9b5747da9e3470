"""Prose of a record on a page: paragraphs and code, and nothing that the author wrote is lost."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aicr.upgrade.page import paragraphs


class Parts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert attrs == []

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("run `kubectl get x` now", "<p>run <code>kubectl get x</code> now</p>"),
        ("`a\nb` c `d`", "<p><code>a b</code> c <code>d</code></p>"),
        ("one ` alone", "<p>one ` alone</p>"),
        ("`a` and ` alone", "<p><code>a</code> and ` alone</p>"),
        ("`` and `x`", "<p>`` and <code>x</code></p>"),
        ('`<b>` & `"`', "<p><code>&lt;b&gt;</code> &amp; <code>&quot;</code></p>"),
        ("a `b\n\nc` d", "<p>a `b</p>\n<p>c` d</p>"),
        ("  helm ls `x`", "<pre>  helm ls `x`</pre>"),
    ],
)
def test_code(written: str, shown: str) -> None:
    assert paragraphs(written) == shown + "\n"


@given(st.text(alphabet='a`<>& "\n', max_size=40))
def test_nothing_is_lost(written: str) -> None:
    parts = Parts()
    parts.feed(paragraphs(written))
    assert set(parts.tags) <= {"p", "pre", "code"}
    ignored = "` \n"
    kept = [char for char in written if char not in ignored]
    assert [char for char in parts.text if char not in ignored] == kept
