"""What a component's ``upgrades.yaml`` says, or every reason why it does not load.

A record that cannot be read is an error and never "no record": a skipped ``blocked`` could let a
neighbouring ``safe`` answer. All problems of all files asked for come in one error, each with
file, line and field.
"""

from __future__ import annotations

from aicr.artifact.deployers import DEPLOYERS
from aicr.documents.fields import Fields, Problem, Problems
from aicr.documents.nodes import Map, Seq
from aicr.errors import AicrError
from aicr.upgrade.lines import read_lines
from aicr.upgrade.model import (
    SAFE,
    VERDICTS,
    AffectedResource,
    Records,
    Replacement,
    Step,
    StepGroup,
    Transition,
)
from aicr.versions.ranges import Range, RangeError, parse_range

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from aicr.catalog.layers import Catalog
    from aicr.documents.nodes import Node
    from aicr.upgrade.lines import Lines

API_VERSIONS = ("aicr.run/v1beta1", "aicr.run/v1alpha2")
KIND = "ComponentUpgrades"


def load_records(catalog: Catalog, components: Iterable[str]) -> dict[str, Records]:
    """The records of each component that has some.

    Raises INVALID_REQUEST with every problem of every file, also where a registry entry names a
    file that is not there.
    """
    found: dict[str, Records] = {}
    problems = Problems()
    for component in components:
        entry = catalog.registry.get(component)
        if entry is None:
            continue
        path = entry.upgrades_file
        if not path:
            # The registry ignores keys that it does not know, so a misspelt "file" gets here.
            if isinstance(entry.raw.get("upgrades"), Map):
                _report(problems, entry.where, f"{component}.upgrades.file", "is missing")
            continue
        if not catalog.has(path):
            _report(
                problems,
                entry.where,
                f"{component}.upgrades.file",
                f'"{path}" is not in the catalog',
            )
            continue
        try:
            node = catalog.node(path)
        except AicrError as error:
            problems.errors.append(Problem("", 0, "", error.message))
            continue
        records = read_records(node, catalog.where(path), component, problems)
        if records is not None:
            found[component] = records
    problems.raise_any()
    return found


def read_records(node: Node, where: str, component: str, problems: Problems) -> Records | None:
    """The records in one file, which must be those of ``component``.

    Problems are collected; with any of its own the answer is None.
    """
    before = len(problems.errors)
    records = read_what_loads(node, where, component, problems)
    return records if len(problems.errors) == before else None


def read_what_loads(node: Node, where: str, component: str, problems: Problems) -> Records:
    """The transitions of one file whose ranges can be read, whatever else is wrong with them.

    For the linter, which holds the rules against as much as there is; nothing may be judged by
    them unless ``problems`` stayed as they were.
    """
    before = len(problems.errors)
    fields = Fields(node, where, "", problems)
    if len(problems.errors) > before:
        return Records(component, file=where)
    _expect(fields, "apiVersion", API_VERSIONS)
    _expect(fields, "kind", (KIND,))
    _expect(fields, "component", (component,))
    lines = read_lines(fields)
    transitions = [_transition(item, lines) for item in fields.items("transitions")]
    block = fields.mapping("replaces")
    replaces = _replacement(block) if block is not None else None
    if not fields.has("replaces") and not (fields.has("transitions") and transitions):
        fields.problem("expected at least one, or a replaces block", "transitions")
    _done(fields)
    return Records(
        component,
        [t for t in transitions if t is not None],
        replaces,
        file=where,
        lines=lines,
    )


def _report(problems: Problems, place: str, field: str, message: str) -> None:
    file, _, line = place.rpartition(":")
    known = file and line.isdigit()
    problems.errors.append(
        Problem(file if known else place, int(line) if known else 0, field, message)
    )


def _expect(fields: Fields, key: str, allowed: tuple[str, ...]) -> None:
    value = fields.text(key)
    if value not in allowed:
        expected = " or ".join(allowed)
        found = f'"{value}"' if value else "none"
        fields.problem(f"expected {expected}, found {found}", key)


def _done(fields: Fields) -> None:
    if fields.raw("hooks") is not None:
        fields.problem(
            "is reserved: nothing would run it, so a record that counts on it does not load; "
            "write the work as steps",
            "hooks",
        )
    fields.done()


def _transition(fields: Fields, lines: Lines | None) -> Transition | None:
    origin = _range(fields, "from", lines)
    if origin is not None and origin.interval.high is None:
        fields.problem(f'"{origin.text}" has no upper bound; add one such as "<2.0.0"', "from")
    to = _range(fields, "to", lines)
    if to is not None and (to.interval.low is None or to.interval.high is None):
        side = "a lower" if to.interval.low is None else "an upper"
        fields.problem(
            f'"{to.text}" lacks {side} bound; both say what was assessed, '
            'such as ">=2.0.0 <=2.1.3"',
            "to",
        )
        to = None
    verdict, verified_by, summary, groups = _judgement(fields)
    reversible = fields.boolean("reversible")
    notes = fields.text("reversibleNotes")
    if reversible and not notes.strip():
        fields.problem("is missing; reversible: true needs it", "reversibleNotes")
    precondition = fields.text("precondition")
    resources = [_resource(item) for item in fields.items("affectedResources")]
    references = fields.texts("references")
    _done(fields)
    if origin is None or to is None:
        return None
    return Transition(
        origin,
        to,
        verdict,
        summary=summary,
        verified_by=verified_by,
        precondition=precondition,
        reversible=reversible,
        reversible_notes=notes,
        step_groups=groups,
        affected_resources=resources,
        references=references,
        file=fields.where,
        line=fields.line(),
        places=fields.node.lines,
    )


def _replacement(fields: Fields) -> Replacement:
    component = fields.required("component")
    verdict, verified_by, summary, groups = _judgement(fields)
    _done(fields)
    return Replacement(
        component,
        verdict,
        summary=summary,
        verified_by=verified_by,
        step_groups=groups,
        file=fields.where,
        line=fields.line(),
    )


def _judgement(fields: Fields) -> tuple[str, str, str, list[StepGroup]]:
    """The verdict and what it must bring along: who verified it, a summary, steps."""
    verdict = fields.text("verdict")
    if verdict not in VERDICTS:
        found = f'"{verdict}"' if verdict else "none"
        fields.problem(f"expected {', '.join(VERDICTS)}; found {found}", "verdict")
    summary = _prose(fields, "summary")
    verified_by = fields.text("verifiedBy")
    groups = [_group(item) for item in fields.items("stepsByDeployer")]
    if verdict == SAFE:
        if not verified_by.strip():
            fields.problem("is missing; safe must say who or what verified it", "verifiedBy")
        if any(group.steps for group in groups):
            fields.problem("safe has no steps; with steps the verdict is manual", "stepsByDeployer")
    _partition(fields, groups, needed=verdict != SAFE and verdict in VERDICTS)
    return verdict, verified_by, summary, groups


def _partition(fields: Fields, groups: list[StepGroup], *, needed: bool) -> None:
    """Report where the groups do not say, for each deployer, exactly one list of steps."""
    key = "stepsByDeployer"
    named: dict[str, int] = {}
    others = 0
    for index, group in enumerate(groups):
        if group.deployers is None:
            others += 1
            if others == 2:
                fields.problem("two groups without deployers; at most one is for the others", key)
        for deployer in group.deployers or ():
            if deployer in named:
                fields.problem(
                    f'the deployer "{deployer}" is in group {named[deployer]} and in group {index}',
                    key,
                )
            named[deployer] = index
    if not needed:
        return
    if not groups:
        fields.problem("is missing; manual and blocked have steps", key)
        return
    for index, group in enumerate(groups):
        if not group.steps:
            fields.problem("has no steps", f"{key}[{index}]")
    left_out = [deployer for deployer in DEPLOYERS if deployer not in named]
    if left_out and not others:
        fields.problem(
            f"no group is for {', '.join(left_out)}; add one without deployers, or name them", key
        )


def _group(fields: Fields) -> StepGroup:
    deployers: list[str] | None = None
    if fields.raw("deployers") is not None:
        deployers = fields.texts("deployers")
        if not deployers and not isinstance(fields.node["deployers"], Map | str):
            fields.problem("is empty; leave the key out in the group for all others", "deployers")
        for deployer in deployers:
            if deployer not in DEPLOYERS:
                fields.problem(
                    f'"{deployer}" is no deployer; expected {", ".join(DEPLOYERS)}', "deployers"
                )
    steps: list[Step] = []
    ids: set[str] = set()
    for item in fields.items("steps"):
        step = Step(item.required("id"), _prose(item, "description"), item.text("reason"))
        if step.id and step.id in ids:
            item.problem(f'"{step.id}" is there twice in this group', "id")
        ids.add(step.id)
        _done(item)
        steps.append(step)
    _done(fields)
    return StepGroup(deployers, steps)


def _resource(fields: Fields) -> AffectedResource:
    resource = AffectedResource(fields.text("group"), fields.texts("kinds"))
    if not resource.kinds:
        fields.problem("is missing; name at least one kind", "kinds")
    _done(fields)
    return resource


def _prose(fields: Fields, key: str) -> str:
    """Required text that says something."""
    value = fields.required(key)
    if value and not value.strip():
        fields.problem("is blank", key)
    return value


def _range(fields: Fields, key: str, lines: Lines | None) -> Range | None:
    node = fields.raw(key)
    if isinstance(node, Map | Seq):
        fields.text(key)
        return None
    text = fields.required(key)
    if not text:
        return None
    try:
        return parse_range(text) if lines is None else lines.range(text)
    except RangeError as error:
        fields.problem(str(error), key)
        return None
