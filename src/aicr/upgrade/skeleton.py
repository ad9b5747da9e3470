"""What to answer before a move can be judged: the skeleton of a record, incomplete on purpose.

It has the questions as comments and no verdict, so that it neither lints nor loads until somebody
has answered them.
"""

from __future__ import annotations

from aicr.documents.emit import yaml_text
from aicr.documents.nodes import Map, Seq
from aicr.errors import invalid
from aicr.versions.semver import parse, without_v

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.documents.nodes import Node
    from aicr.upgrade.model import Records
    from aicr.versions.semver import Version

_QUESTIONS = """\
# Read the release notes and the diff of the two charts, then answer; take the comments out at last.
#
# CRDs         Is one added, removed or renamed? A served or stored version dropped? Does the chart
#              carry them in crds/ (Helm leaves those alone on upgrade) or in templates/?
# defaults     Which values changed their default, their name or their meaning? Which are refused?
# API groups   Does an object that operators wrote move to another group, version or kind?
# immutable    Do selectors of Deployments, DaemonSets or StatefulSets change, or volume claims,
#              Job templates, the names of objects?
# RBAC         Which rights are new, which are gone? Does a ServiceAccount change its name?
# images       Which image, registry or architecture changes? Is there one that a mirror lacks?
#
# from    Every version that you know this move from, with an upper bound below the boundary.
# to      The floor is where the change came in, the ceiling the last version that you read about;
#         a safe one ends no later than the catalog's pin.
# verdict safe: nothing to do, and verifiedBy names the evidence. manual: steps. blocked: not in one
#         go; its steps say how instead. If your sources do not settle it, write no record.
"""

_ITEM = """\
- from: {origin}
  to: {to}
  verdict:            # safe | manual | blocked
  verifiedBy:         # for safe: who or what showed it; else take this line out
  summary:            # what happens to a running cluster, and by which mechanism
  precondition:       # what must hold before, with the command that checks it
  reversible:         # true | false
  reversibleNotes:    # how, where true
  stepsByDeployer:    # not for safe; one group without deployers is for all that are not named
    - deployers: [helm, helmfile]
      steps:
        - id:           # such as apply-crds
          description:  # what to do, with the command
          reason:       # what would happen otherwise
    - steps:
        - id:
          description:
          reason:
  affectedResources:  # kinds that the move can damage; a cluster scan lists such objects
    - group:
      kinds: []
  references: []      # pages that you really read
"""


def skeleton(component: str, records: Records | None, before: str, after: str) -> str:
    """A record of the move as an item of ``transitions``.

    Raises INVALID_REQUEST where the two are not a move forward.
    """
    source, target = _version(records, before), _version(records, after)
    if source is None or target is None:
        odd = before if source is None else after
        lines = records.lines if records is not None else None
        if parse(odd) is not None and lines is not None:
            raise invalid(f"{component} {odd}: in none of the lines of its records: {lines}")
        raise invalid(
            f'"{odd}" is not a version that can be compared', hint="expected one such as 1.2.3"
        )
    if not source < target:
        raise invalid(
            f"{before} -> {after} does not go forward: a record is about the way up, and no record "
            "can judge the way back"
        )
    low, high = _bound(source), _bound(target)
    origin, to = f">={low} <{high}", f">={high} <={high}"
    return _ITEM.format(origin=_quoted(origin), to=_quoted(to))


def new_file(component: str, item: str) -> str:
    """A whole record file with the skeleton as its only record."""
    head = yaml_text(
        {
            "apiVersion": "aicr.run/v1beta1",
            "kind": "ComponentUpgrades",
            "component": component,
        }
    )
    return f"{head}transitions:\n{_indented(_QUESTIONS + item, '  ')}"


def added_to(text: str, node: Node, item: str) -> str | None:
    """The text of a record file with the skeleton behind its last record; None where the file is
    written in a way that leaves no place for one."""
    transitions = node.get("transitions") if isinstance(node, Map) else None
    if not isinstance(transitions, Seq) or not transitions or not isinstance(node, Map):
        return None
    lines = text.splitlines(keepends=True)
    first = lines[transitions.lines[0] - 1]
    indent = first[: len(first) - len(first.lstrip(" "))]
    if not first.startswith(f"{indent}- "):
        return None
    later = [line for line in node.lines.values() if line > transitions.lines[-1]]
    end = min(later) - 1 if later else len(lines)
    # Comments above the next key belong to it.
    while later and end > transitions.lines[-1] and lines[end - 1].lstrip().startswith("#"):
        end -= 1
    head = "".join(lines[:end])
    head = head if head.endswith("\n") else head + "\n"
    return head + _indented(_QUESTIONS + item, indent) + "".join(lines[end:])


def _version(records: Records | None, text: str) -> Version | None:
    return records.version(text) if records is not None else parse(text)


def _bound(version: Version) -> str:
    """As a range wants it: three parts, no build metadata, the v kept where there is one."""
    core, dash, tail = without_v(version.text).partition("+")[0].partition("-")
    v = "v" if version.text[:1] == "v" else ""
    return v + core + ".0" * (2 - core.count(".")) + dash + tail


def _quoted(text: str) -> str:
    return f'"{text}"'


def _indented(text: str, indent: str) -> str:
    return "".join(indent + line for line in text.splitlines(keepends=True))
