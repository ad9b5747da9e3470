"""How a component's records read for an operator: every field, every deployer's steps."""

from __future__ import annotations

from aicr.artifact.deployers import DEPLOYERS
from aicr.documents.safe import cell
from aicr.upgrade.step_lines import step_lines
from aicr.upgrade.wrap import wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.upgrade.model import Records, Replacement, StepGroup, Transition


def records_text(
    records: Records,
    transitions: Sequence[Transition],
    *,
    replaces: bool = True,
    deployer: str = "",
) -> str:
    """These transitions of the component; with ``deployer`` only its steps."""
    count = len(transitions)
    lines = [cell(f"{records.component}: {count} record{'' if count == 1 else 's'}")]
    if records.file:
        lines[0] += f" in {cell(records.file)}"
    if records.lines is not None:
        lines += ["", *wrapped(f"Lines, oldest first: {records.lines}", "  ")]
    for transition in transitions:
        lines += ["", *_transition(transition, deployer)]
    if replaces and records.replaces is not None:
        lines += ["", *_replacement(records.component, records.replaces, deployer)]
    return "\n".join(lines) + "\n"


def records_values(records: Records, transitions: Sequence[Transition]) -> dict[str, object]:
    """JSON-ready values, named as in the file."""
    values: dict[str, object] = {"component": records.component, "file": records.file}
    if records.lines is not None:
        values["lines"] = [
            {"name": line.name, "versions": line.versions.text} for line in records.lines.lines
        ]
    values["transitions"] = [
        {
            "line": t.line,
            "from": t.origin.text,
            "to": t.to.text,
            "verdict": t.verdict,
            "verifiedBy": t.verified_by,
            "summary": t.summary,
            "precondition": t.precondition,
            "reversible": t.reversible,
            "reversibleNotes": t.reversible_notes,
            "stepsByDeployer": _groups_values(t.step_groups),
            "affectedResources": [
                {"group": r.group, "kinds": list(r.kinds)} for r in t.affected_resources
            ],
            "references": list(t.references),
        }
        for t in transitions
    ]
    block = records.replaces
    if block is not None:
        values["replaces"] = {
            "line": block.line,
            "component": block.component,
            "verdict": block.verdict,
            "verifiedBy": block.verified_by,
            "summary": block.summary,
            "stepsByDeployer": _groups_values(block.step_groups),
        }
    return values


def _transition(t: Transition, deployer: str) -> list[str]:
    lines = [cell(f"from {t.origin}  to {t.to}  ({t.verdict})  {t.place}")]
    lines += wrapped(t.summary, "  ")
    if t.verified_by:
        lines += _block("VERIFIED BY", t.verified_by)
    if t.precondition:
        lines += _block("PRECONDITION", t.precondition)
    lines += _steps(t.step_groups, deployer)
    if t.affected_resources:
        kinds = [f"{', '.join(r.kinds)} ({r.group or 'core'})" for r in t.affected_resources]
        lines += _block("AFFECTED", "\n".join(kinds))
    if t.reversible is not None:
        said = "yes" if t.reversible else "no"
        lines += _block("REVERSIBLE", f"{said}: {t.reversible_notes}".rstrip(": \n"))
    if t.references:
        lines += ["", "  REFERENCES", *(f"    {cell(ref)}" for ref in t.references)]
    return lines


def _replacement(component: str, block: Replacement, deployer: str) -> list[str]:
    lines = [cell(f"{component} replaces {block.component}  ({block.verdict})  {block.place}")]
    lines += wrapped(block.summary, "  ")
    if block.verified_by:
        lines += _block("VERIFIED BY", block.verified_by)
    return lines + _steps(block.step_groups, deployer)


def _block(title: str, text: str) -> list[str]:
    return ["", f"  {title}", *wrapped(text, "    ")]


def _steps(groups: Sequence[StepGroup], deployer: str) -> list[str]:
    named = {name for group in groups for name in group.deployers or ()}
    lines: list[str] = []
    for group in groups:
        those = group.deployers
        if those is None:
            those = [name for name in DEPLOYERS if name not in named]
        if not group.steps or (deployer and deployer not in those):
            continue
        lines += ["", *step_lines(group.steps, ", ".join(those))]
    return lines


def _groups_values(groups: Sequence[StepGroup]) -> list[object]:
    return [
        {
            "deployers": None if group.deployers is None else list(group.deployers),
            "steps": [
                {"id": step.id, "description": step.description, "reason": step.reason}
                for step in group.steps
            ],
        }
        for group in groups
    ]
