"""``aicr records graph``: the recorded ways between the versions of a component."""

from __future__ import annotations

from aicr.cli.flags import add_catalog_flags, open_catalog_of
from aicr.cli.output import write
from aicr.errors import not_found

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

FORMATS = ("text", "dot", "mermaid", "json")

_EPILOG = """\
Examples:
  aicr records graph gpu-operator
  aicr records graph gpu-operator --format mermaid -o gpu-operator.mmd
  aicr records graph gpu-operator --format dot -o gpu-operator.dot
      for Graphviz: dot -Tsvg gpu-operator.dot

Versions are those that a release pinned or a record names; an edge is a jump that can be made in
one go, with its verdict; a hole is a jump to the next version that no record lets through.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("component", metavar="COMPONENT", help="a component of the registry")
    parser.add_argument("--format", choices=FORMATS, default="text", help="default: text")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file")
    add_catalog_flags(parser)


def run(args: argparse.Namespace) -> int:
    from aicr.upgrade.check import Rules
    from aicr.upgrade.graph import component_graph
    from aicr.upgrade.graph_text import graph_dot, graph_mermaid, graph_text, graph_values
    from aicr.upgrade.records import load_records

    catalog = open_catalog_of(args)
    name = args.component
    if name not in catalog.registry and not any(name in one.pins for one in catalog.releases):
        from difflib import get_close_matches

        near = get_close_matches(name, list(catalog.registry), 1)
        raise not_found(
            f'"{name}" is no component of this catalog',
            hint=f"did you mean {near[0]}?" if near else "aicr query --selector . lists a recipe's",
        )
    graph = component_graph(name, Rules(load_records(catalog, [name]), catalog.releases))
    if args.format == "json":
        from aicr.documents.emit import json_text

        text = json_text(graph_values(graph))
    else:
        text = {"text": graph_text, "dot": graph_dot, "mermaid": graph_mermaid}[args.format](graph)
    write(text, args.output)
    return 0
