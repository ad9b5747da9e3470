"""The recorded ways of a component as a graph, and what share of real moves has a whole walk."""

from __future__ import annotations

import pytest
from hypothesis import given

from aicr.catalog.model import Release
from aicr.upgrade.check import Rules
from aicr.upgrade.graph import component_graph, stack_walk_share, walk_share
from aicr.upgrade.graph_text import graph_dot, graph_mermaid, graph_text, graph_values
from upgrade_oracle import Record, answer, ways
from upgrade_records import records, transition
from upgrade_strategies import built, record_lists

CLIMB = (
    transition(">=1.0.0 <2.0.0", ">=2.0.0 <=2.5.0", "manual"),
    transition(">=2.0.0 <3.0.0", ">=3.0.0 <=3.5.0", "safe"),
)
HISTORY = (
    Release("r1", {"alpha": ["1.0.0"], "beta": ["1"]}),
    Release("r2", {"alpha": ["2.5.0"], "beta": ["1"]}),
    Release("r3", {"alpha": ["3.5.0"]}),
    Release("r4", {"alpha": ["5.0.0"], "beta": ["2"]}),
)


def rules() -> Rules:
    return Rules({"alpha": records(*CLIMB)}, HISTORY)


def test_holes_are_shown() -> None:
    values = graph_values(component_graph("alpha", rules()))
    assert values["summary"] == {"nodes": 6, "edges": 6, "holes": 3}
    assert values["holes"] == [
        {"from": "2.0.0", "to": "2.5.0", "verdict": "unknown", "reason": "no-boundary-crossed"},
        {"from": "3.0.0", "to": "3.5.0", "verdict": "unknown", "reason": "no-boundary-crossed"},
        {"from": "3.5.0", "to": "5.0.0", "verdict": "blocked", "reason": "beyond-record-ceiling",
         "stoppedAt": ">=3.0.0 <=3.5.0"},
    ]  # fmt: skip


def test_in_every_format() -> None:
    graph = component_graph("alpha", rules())
    text = graph_text(graph)
    assert "  1.0.0  release r1\n    manual to 2.0.0, 2.5.0\n" in text
    assert "    HOLE: to 5.0.0: blocked, beyond-record-ceiling at >=3.0.0 <=3.5.0\n" in text
    assert '"1.0.0" -> "2.5.0" [label="manual", color=orange];' in graph_dot(graph)
    mermaid = graph_mermaid(graph)
    assert mermaid.startswith("flowchart LR\n")
    assert '  v0["1.0.0<br/>r1"]\n' in mermaid
    assert "-.->|blocked: beyond-record-ceiling|" in mermaid
    assert "no version is known" in graph_text(component_graph("nobody", Rules({})))


def test_shares() -> None:
    share = walk_share(rules(), "alpha")
    assert (share.walked, share.pairs, share.share) == (3, 6, 0.5)
    assert walk_share(rules(), "beta").walked == 0
    assert walk_share(rules(), "nobody").share is None
    stack = stack_walk_share(rules())
    assert (stack.walked, stack.pairs) == (3, 6)


@given(record_lists())
def test_edges_and_shares_are_those_of_the_rules(some: list[Record]) -> None:
    loaded = built(some)
    versions = ["0.9.5", "1.0.0", "1.0.5", "2.0.0", "3.0.0"]
    history = [Release(f"r{i}", {"alpha": [v]}) for i, v in enumerate(versions)]
    judged = Rules({"alpha": loaded} if loaded else {}, history)
    graph = component_graph("alpha", judged)
    for edge in graph.edges:
        assert answer(some, edge.before.text, edge.after.text)[0] == edge.judgement.verdict
        assert edge.judgement.verdict in ("safe", "manual")
    for hole in graph.holes:
        assert answer(some, hole.before.text, hole.after.text)[0] not in ("safe", "manual")
    pins = [(release.name, list(release.pins["alpha"])) for release in history]
    walked = sum(
        answer(some, a, b)[0] in ("safe", "manual") or bool(ways(some, pins, a, b)[0])
        for i, a in enumerate(versions)
        for b in versions[i + 1 :]
    )
    assert walk_share(judged, "alpha").walked == walked


@pytest.mark.parametrize("text", ['"];x', "a\nb", "\x1b[1m", "-->|x|", "#34;"])
def test_texts_are_only_texts(text: str) -> None:
    graph = component_graph(text, Rules({}, [Release(text, {text: ["1.0.0"]})]))
    dot, mermaid = graph_dot(graph), graph_mermaid(graph)
    assert len(dot.splitlines()) == 5
    assert len(mermaid.splitlines()) == 2
    assert "\x1b" not in dot + mermaid + graph_text(graph)


def test_coverage_tells_the_shares() -> None:
    from aicr.upgrade.coverage_report import _walk_values
    from aicr.upgrade.graph import WalkShare

    assert _walk_values(WalkShare(1, 3)) == {"pairs": 3, "walked": 1, "percentage": 33.3}
    assert _walk_values(WalkShare(0, 0)) == {"pairs": 0, "walked": 0, "percentage": None}
