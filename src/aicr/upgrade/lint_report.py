"""How the linter's violations are written: for people, as JSON, as notes on a pull request."""

from __future__ import annotations

import os

from aicr.documents.safe import cell
from aicr.upgrade.violations import Violation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def shown_from(
    violations: Sequence[Violation], disk_paths: Mapping[str, str], folder: str
) -> list[Violation]:
    """The violations with each file as seen from ``folder``, where it lies below it.

    Only such a path means something to an editor or a code review.
    """
    root = os.path.realpath(folder)
    return [
        Violation(_seen(v.file, disk_paths, root), v.line, v.rule, v.message, v.instead)
        for v in violations
    ]


def _seen(file: str, disk_paths: Mapping[str, str], root: str) -> str:
    full = os.path.realpath(disk_paths.get(file, file))
    inside = full.startswith(root.rstrip(os.sep) + os.sep)
    return os.path.relpath(full, root) if inside else file


def lint_text(violations: Sequence[Violation]) -> str:
    """A line each, and a line that counts them."""
    lines = [cell(str(violation)) for violation in violations]
    if not violations:
        return "records: no violation\n"
    files = len({violation.file for violation in violations})
    lines.append(f"records: {_count(len(violations), 'violation')} in {_count(files, 'file')}")
    return "\n".join(lines) + "\n"


def lint_values(violations: Sequence[Violation]) -> dict[str, object]:
    """JSON-ready values with stable names."""
    rules: dict[str, int] = {}
    for violation in violations:
        rules[violation.rule] = rules.get(violation.rule, 0) + 1
    return {
        "violations": [
            {
                "file": v.file,
                "line": v.line,
                "rule": v.rule,
                "message": v.message,
                "instead": v.instead,
            }
            for v in violations
        ],
        "summary": {"violations": len(violations), "rules": dict(sorted(rules.items()))},
    }


def lint_annotations(violations: Sequence[Violation]) -> str:
    """Workflow commands, which show each violation at its line of the pull request."""
    return "".join(
        f"::error file={_property(v.file)},line={max(v.line, 1)},"
        f"title={_property('records: ' + v.rule)}::{_message(v.text)}\n"
        for v in violations
    )


def _message(text: str) -> str:
    return cell(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
