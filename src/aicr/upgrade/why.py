"""Why one component got its verdict: the rule that decided, the records it weighed and where they
stand, and why no other rule applied."""

from __future__ import annotations

from aicr.documents.safe import cell
from aicr.upgrade.match import chain_gap, highest_ceiling
from aicr.upgrade.model import BLOCKED, SAFE
from aicr.upgrade.wrap import wrapped
from aicr.versions.semver import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.upgrade.match import Judgement
    from aicr.upgrade.model import Records, Transition
    from aicr.upgrade.rows import Row
    from aicr.versions.semver import Version

RULES = {
    1: "a version that cannot be compared",
    2: "which boundaries the move crosses",
    3: "no boundary crossed",
    4: "one boundary crossed, by its record's own starting points",
    5: "a crossed record that blocks",
    6: "several boundaries crossed",
    7: "one boundary crossed, by a starting point that its record does not know",
}


class Why:
    """The explanation of one row: what decided, and what was said of each rule and record."""

    __slots__ = ("decided", "records", "row", "rules")

    def __init__(
        self,
        row: Row,
        decided: str,
        rules: Sequence[tuple[int, bool, str]],
        records: Sequence[tuple[Transition, str]],
    ) -> None:
        self.row = row
        self.decided = decided
        self.rules = rules
        self.records = records


def why(row: Row, records: Records | None) -> Why:
    """The explanation of a row, given the component's records."""
    judgement = row.judgement
    if row.change == "replaced":
        block = records.replaces if records is not None else None
        place = f" at {block.place}" if block is not None else ""
        return Why(row, f"the replaces block{place} says {row.verdict}", (), ())
    if judgement is None:
        return Why(row, _CHANGES[row.change], (), ())
    source, target = _version(row.before, records), _version(row.after, records)
    if source is None or target is None:
        said = _not_comparable(row, records)
        return Why(row, f"rule 1: {said}", [(1, True, said)], ())
    transitions = records.transitions if records is not None else ()
    rules = [
        (number, number == judgement.rule, _said(number, judgement, transitions, source, target))
        for number in range(1, 8)
    ]
    decided = f"rule {judgement.rule}: {rules[judgement.rule - 1][2]}"
    if row.identity_changes:
        moved = ", ".join(change.field for change in row.identity_changes)
        decided += f"; then identity: {moved} moved, " + (
            f"so {judgement.verdict} became {row.verdict}"
            if judgement.verdict != row.verdict
            else "and the verdict stands, since only safe is withdrawn"
        )
    return Why(
        row, decided, rules, [(t, _weighed(t, judgement, source, target)) for t in transitions]
    )


def _version(text: str, records: Records | None) -> Version | None:
    return records.version(text) if records is not None else parse(text)


def _not_comparable(row: Row, records: Records | None) -> str:
    odd = [f'"{v}"' for v in (row.before, row.after) if parse(v) is None]
    if odd or records is None:
        return f"not SemVer: {', '.join(odd)}"
    apart = [f'"{v}"' for v in (row.before, row.after) if records.version(v) is None]
    return f"in none of the lines {records.lines}: {', '.join(apart)}"


_CHANGES = {
    "added": "only the new side has the component, so there is nothing to judge",
    "removed": "only the old side has the component; it stays installed",
    "identity": "the version is the same on both sides and the identity moved",
}


def _said(
    number: int,
    judgement: Judgement,
    transitions: Sequence[Transition],
    source: Version,
    target: Version,
) -> str:
    """What a rule found in this move."""
    crossed = judgement.crossed
    count = len(crossed)
    if number == 1:
        return f"{source} and {target} are both SemVer"
    if number == 2:
        listed = ", ".join(f"{t.to} ({t.place})" for t in crossed) or "none"
        return f"crossed: {listed}"
    if number == 3:
        return _nothing_crossed(count, transitions, source, target)
    if number == 4:
        return _one_crossed(crossed, source, target)
    if number == 5:
        if judgement.rule < 5:
            return "not reached"
        blocking = [t for t in crossed if t.verdict == BLOCKED]
        if not blocking:
            return "no crossed record is authored blocked"
        return f"{blocking[0].place} is authored blocked, the lowest such boundary"
    if judgement.rule < number:
        return "not reached"
    if number == 6:
        return _several_crossed(crossed, source, target)
    first = crossed[0]
    where = "below" if first.origin.interval.is_above(source) else "outside"
    return f"{source} is {where} the from {first.origin} of {first.place}"


def _nothing_crossed(
    count: int, transitions: Sequence[Transition], source: Version, target: Version
) -> str:
    if count:
        return f"{count} crossed"
    if target < source:
        return f"nothing crossed, and {target} is below {source}"
    if not transitions:
        return "the component has no record of a version move"
    top = highest_ceiling(transitions)
    side = "within" if top.reaches(target) else "above"
    return f"nothing crossed, and {target} is {side} the highest ceiling, {top.to} ({top.place})"


def _one_crossed(crossed: Sequence[Transition], source: Version, target: Version) -> str:
    if len(crossed) != 1:
        return f"{len(crossed)} crossed, not exactly one"
    only = crossed[0]
    if not only.origin.contains(source):
        return f"{source} is outside the from {only.origin} of {only.place}"
    if not only.reaches(target):
        return f"{target} is above the ceiling of {only.to} ({only.place})"
    return f"{only.place} is for this move and says {only.verdict}"


def _several_crossed(crossed: Sequence[Transition], source: Version, target: Version) -> str:
    if len(crossed) == 1:
        return "one crossed, not several"
    unsafe = [t for t in crossed if t.verdict != SAFE]
    if not unsafe:
        gap = chain_gap(crossed, source, target)
        return f"all are safe, but {gap}" if gap else "all are safe, and each leads to the next"
    if len(unsafe) > 1:
        return f"{len(unsafe)} of {len(crossed)} are not safe"
    only = unsafe[0]
    if not only.origin.contains(source):
        return f"{only.place} alone is not safe, but {source} is outside its from {only.origin}"
    if not only.reaches(target):
        return f"{only.place} alone is not safe, but {target} is above its ceiling {only.to}"
    return f"{only.place} alone is not safe, is for this start, and says {only.verdict}"


def _weighed(t: Transition, judgement: Judgement, source: Version, target: Version) -> str:
    """What became of one record."""
    if t in judgement.displaced:
        return f"displaced: a record of the same floor is for {source}, this one is not"
    if t in judgement.crossed:
        inside = "inside" if t.origin.contains(source) else "outside"
        reach = "reaches" if t.reaches(target) else "does not reach"
        decides = ", gave the answer" if t is judgement.record else ""
        return f"crossed; {source} is {inside} its from, its ceiling {reach} {target}{decides}"
    if t is judgement.record:
        return "not crossed; its ceiling is the highest, and gave the answer"
    floor = t.floor.key
    if target.key < floor or (target.key == floor and not t.floor_inclusive):
        return f"not crossed: {target} is below its floor"
    return f"not crossed: {source} is past its floor already"


def why_text(found: Why) -> str:
    """The explanation for people."""
    row = found.row
    verdict = row.verdict or "no verdict"
    reason = f", reason {row.reason}" if row.reason else ""
    move = f"{row.before or '-'} -> {row.after or '-'}"
    lines = [cell(f"WHY {row.component} {move}"), ""]
    lines += wrapped(f"{verdict}{reason}", "  verdict   ")
    lines += wrapped(found.decided, "            ", first="  decided   ")
    for title, said in (
        ("stops at", row.stopped_at),
        ("start at", row.start_at),
        ("land on", row.ways.land_at),
        ("furthest", row.ways.furthest),
    ):
        if said:
            lines.append(f"  {title:<10}{cell(said)}")
    if found.records:
        lines += ["", "RECORDS"]
        for t, said in found.records:
            lines.append("  " + cell(f"{t.place}  {t.verdict}  from {t.origin}  to {t.to}"))
            lines += wrapped(said, "      ")
    if found.rules:
        lines += ["", "RULES"]
        for number, applied, said in found.rules:
            mark = "*" if applied else " "
            lines += wrapped(f"{RULES[number]}: {said}", "      ", first=f"  {mark} {number} ")
    if row.explanation:
        lines += ["", *wrapped(row.explanation, "  ")]
    return "\n".join(lines) + "\n"


def why_values(found: Why) -> dict[str, object]:
    """The explanation as JSON-ready values."""
    row = found.row
    values: dict[str, object] = {
        "component": row.component,
        "change": row.change,
        "from": row.before,
        "to": row.after,
        "verdict": row.verdict,
        "reason": row.reason,
        "decided": found.decided,
        "stoppedAt": row.stopped_at,
        "startAt": row.start_at,
        "landAt": row.ways.land_at,
        "furthest": row.ways.furthest,
        "records": [
            {
                "file": t.file,
                "line": t.line,
                "verdict": t.verdict,
                "from": t.origin.text,
                "to": t.to.text,
                "said": said,
            }
            for t, said in found.records
        ],
        "rules": [
            {"rule": number, "about": RULES[number], "decided": applied, "said": said}
            for number, applied, said in found.rules
        ],
        "explanation": row.explanation,
    }
    return {name: value for name, value in values.items() if value not in ("", [])}
