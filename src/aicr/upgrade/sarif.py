"""The linter's violations as SARIF 2.1.0, the format in which code hosts take up findings."""

from __future__ import annotations

from aicr.documents.safe import cell
from aicr.upgrade.violations import RULES
from aicr.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.upgrade.violations import Violation

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "SRCROOT"


def sarif(violations: Sequence[Violation]) -> dict[str, object]:
    """The log of one run, JSON-ready."""
    names = list(RULES)
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "aicr records lint",
                        "version": __version__,
                        "rules": [
                            {
                                "id": name,
                                "shortDescription": {"text": RULES[name]},
                                "defaultConfiguration": {"level": "error"},
                            }
                            for name in names
                        ],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(violation, names) for violation in violations],
            }
        ],
    }


def _result(violation: Violation, names: list[str]) -> dict[str, object]:
    location: dict[str, object] = {"artifactLocation": _artifact(violation.file)}
    if violation.line:
        location["region"] = {"startLine": violation.line}
    return {
        "ruleId": violation.rule,
        "ruleIndex": names.index(violation.rule),
        "level": "error",
        "message": {"text": cell(violation.text)},
        "locations": [{"physicalLocation": location}],
    }


def _artifact(file: str) -> dict[str, object]:
    from urllib.parse import quote

    uri = quote(file.encode("utf-8", "surrogateescape"))
    if file.startswith("/"):
        return {"uri": f"file://{uri}"}
    return {"uri": uri, "uriBaseId": _ROOT}
