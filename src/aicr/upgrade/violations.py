"""What the linter calls wrong: one violation with its place, its rule and what to write instead."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from aicr.documents.fields import Problem

# Every rule by name, and what it asks for.
RULES = {
    "document": "The file is one YAML document that can be read.",
    "header": "apiVersion, kind and component are those of the registry entry's records.",
    "file": "A registry entry names a record file that is there; no record file is unused.",
    "field": "Only known keys, each of its kind; at least one transition or a replaces block.",
    "hooks": "hooks is reserved: nothing would run it.",
    "range": "from has an upper bound, to has both, in the grammar of ranges.",
    "lines": "Lines are two or more, oldest first, and share no version.",
    "verdict": "The verdict is safe, manual or blocked; safe says what verified it.",
    "steps": "manual and blocked have steps for every deployer exactly once; safe has none.",
    "prose": "A summary is there, and every step has an id of its own and a description.",
    "reversible": "reversible: true says how in reversibleNotes.",
    "resources": "affectedResources names at least one kind a group.",
    "ceiling": "A safe record ends no later than the highest version that the catalog pins.",
    "hole": "From one boundary to the next, every version is inside a from of the next.",
    "forward-only": "A from lies wholly before its own boundary.",
    "same-floor": "Records of one boundary have from ranges that do not overlap.",
    "unsatisfiable": "Every range holds a version.",
    "replaces": "replaces names another component that the catalog knows or a release shipped.",
    "coverage": "Every pinned version is inside a to, or the allowlist says why not.",
    "allowlist": "An allowlist entry names a component, versions and a reason, and is needed.",
    "moved-pin": "A pin that moved is inside a to.",
    "vanished-record": "A record stays as long as its component does.",
}

_BY_FIELD = {
    "apiVersion": "header",
    "kind": "header",
    "component": "header",
    "hooks": "hooks",
    "from": "range",
    "to": "range",
    "verdict": "verdict",
    "verifiedBy": "verdict",
    "stepsByDeployer": "steps",
    "deployers": "steps",
    "summary": "prose",
    "id": "prose",
    "description": "prose",
    "reversible": "reversible",
    "reversibleNotes": "reversible",
    "affectedResources": "resources",
    "kinds": "resources",
    "file": "file",
}


class Violation:
    """One thing wrong: where, by which rule, what it is, and what to write instead."""

    __slots__ = ("file", "instead", "line", "message", "rule")

    def __init__(self, file: str, line: int, rule: str, message: str, instead: str = "") -> None:
        self.file = file
        self.line = line
        self.rule = rule
        self.message = message
        self.instead = instead

    @property
    def text(self) -> str:
        """What is wrong and what to write instead, in one sentence."""
        return f"{self.message}; {self.instead}" if self.instead else self.message

    @property
    def order(self) -> tuple[str, int, str, str]:
        return self.file, self.line, self.rule, self.message

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.rule}: {self.text}"


def of_problems(problems: Iterable[Problem]) -> list[Violation]:
    """What kept a record file from loading, each by the rule that its field belongs to."""
    return [
        Violation(
            problem.file,
            problem.line,
            rule_of(problem.field, problem.message),
            f"{problem.field}: {problem.message}" if problem.field else problem.message,
        )
        for problem in problems
    ]


def rule_of(field: str, message: str) -> str:
    """The rule that a problem with this field of a record file breaks."""
    if message.startswith("unknown key"):
        return "field"
    first, _, last = field.partition("[")[0], *field.rpartition(".")[1:]
    if first == "lines":
        return "lines"
    return _BY_FIELD.get(last.partition("[")[0], "field")
