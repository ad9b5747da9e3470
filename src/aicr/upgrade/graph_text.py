"""A graph of recorded ways as text, Graphviz, Mermaid, or JSON-ready values."""

from __future__ import annotations

from aicr.documents.safe import cell
from aicr.upgrade.model import MANUAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.upgrade.graph import Edge, Graph
    from aicr.upgrade.path import Stop


def graph_values(graph: Graph) -> dict[str, object]:
    """The graph for machines."""
    return {
        "component": graph.component,
        "nodes": [
            {"version": stop.text, **({"release": stop.release} if stop.release else {})}
            for stop in graph.nodes
        ],
        "edges": [_edge_values(edge) for edge in graph.edges],
        "holes": [_edge_values(hole) for hole in graph.holes],
        "summary": {
            "nodes": len(graph.nodes), "edges": len(graph.edges), "holes": len(graph.holes),
        },
    }  # fmt: skip


def _edge_values(edge: Edge) -> dict[str, object]:
    values: dict[str, object] = {
        "from": edge.before.text,
        "to": edge.after.text,
        "verdict": edge.judgement.verdict,
        "reason": edge.judgement.reason,
    }
    if edge.judgement.stopped_at:
        values["stoppedAt"] = edge.judgement.stopped_at
    return values


def graph_text(graph: Graph) -> str:
    """The graph for people: each version, where it leads in one go, and where nothing does."""
    lines = [cell(f"RECORDED WAYS OF {graph.component}")]
    if not graph.nodes:
        return lines[0] + "\n\n  no version is known: no release pins it and no record names one\n"
    width = max(len(cell(stop.text)) for stop in graph.nodes)
    holes = {id(hole.before): hole for hole in graph.holes}
    for stop in graph.nodes:
        pinned = f"release {stop.release}" if stop.release else "named by a record"
        lines += ["", f"  {cell(stop.text):<{width}}  {cell(pinned)}"]
        for verdict in ("safe", MANUAL):
            to = [
                edge.after.text
                for edge in graph.edges
                if edge.before is stop and edge.judgement.verdict == verdict
            ]
            if to:
                lines.append(f"    {verdict} to {cell(', '.join(to))}")
        hole = holes.get(id(stop))
        if hole is not None:
            lines.append(f"    HOLE: {cell(_said(hole))}")
    edges, holed = len(graph.edges), len(graph.holes)
    lines += ["", f"{len(graph.nodes)} versions, {edges} jumps that can be walked, {holed} holes"]
    return "\n".join(lines) + "\n"


def _said(edge: Edge) -> str:
    found = edge.judgement
    at = f" at {found.stopped_at}" if found.stopped_at else ""
    return f"to {edge.after.text}: {found.verdict}, {found.reason}{at}"


def graph_dot(graph: Graph) -> str:
    """For Graphviz; holes are dashed."""
    lines = [f"digraph {_quoted(graph.component)} {{", "  rankdir=LR;", "  node [shape=box];"]
    lines += [f"  {_quoted(stop.text)} [label={_quoted(_label(stop))}];" for stop in graph.nodes]
    for edge in graph.edges:
        colour = "orange" if edge.judgement.verdict == MANUAL else "darkgreen"
        lines.append(f"  {_arrow(edge)} [label={_quoted(edge.judgement.verdict)}, color={colour}];")
    for hole in graph.holes:
        said = f"{hole.judgement.verdict}: {hole.judgement.reason}"
        lines.append(f"  {_arrow(hole)} [label={_quoted(said)}, color=red, style=dashed];")
    return "\n".join([*lines, "}"]) + "\n"


def _label(stop: Stop) -> str:
    return f"{stop.text}\n{stop.release}" if stop.release else stop.text


def _arrow(edge: Edge) -> str:
    return f"{_quoted(edge.before.text)} -> {_quoted(edge.after.text)}"


def _quoted(text: str) -> str:
    shown = "\\n".join(cell(line) for line in text.split("\n"))
    return '"' + shown.replace('"', "'") + '"'


def graph_mermaid(graph: Graph) -> str:
    """For Mermaid, which Markdown pages draw; holes are dashed."""
    names = {id(stop): f"v{index}" for index, stop in enumerate(graph.nodes)}
    lines = ["flowchart LR"]
    for stop in graph.nodes:
        lines.append(f'  {names[id(stop)]}["{_plain(_label(stop))}"]')
    for edge in graph.edges:
        arrow = "==>" if edge.judgement.verdict == MANUAL else "-->"
        said = _plain(edge.judgement.verdict)
        lines.append(f"  {names[id(edge.before)]} {arrow}|{said}| {names[id(edge.after)]}")
    for hole in graph.holes:
        said = _plain(f"{hole.judgement.verdict}: {hole.judgement.reason}")
        lines.append(f"  {names[id(hole.before)]} -.->|{said}| {names[id(hole.after)]}")
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Text that Mermaid takes for nothing else: all but the usual letters as their numbers."""
    return "".join(
        char
        if char.isalnum() or char in " .-+_:"
        else "<br/>"
        if char == "\n"
        else f"#{ord(char)};"
        for char in text
    )
