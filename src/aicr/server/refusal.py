"""How an error is answered: its JSON, its status, and whether to come again."""

from __future__ import annotations

import re

from aicr.documents.safe import cell, prose
from aicr.errors import RATE_LIMITED, TIMEOUT, UNAVAILABLE, AicrError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

RETRYABLE = (TIMEOUT, UNAVAILABLE, RATE_LIMITED)
RETRY_SECONDS = 2
_LONGEST_MESSAGE = 16_000

# What the functions below call a flag is a field of the request here.
FIELDS = {
    "--from": "from",
    "--to": "to",
    "--recipe": "recipe",
    "--deployer": "deployer",
    "--selector": "selector",
    "--set": "set",
    "--set-json": "setJson",
    "--dynamic": "dynamic",
    "--system-node-selector": "systemNodeSelector",
    "--system-node-toleration": "systemNodeToleration",
    "--accelerated-node-selector": "acceleratedNodeSelector",
    "--accelerated-node-toleration": "acceleratedNodeToleration",
    "--workload-selector": "workloadSelector",
    "--workload-gate": "workloadGate",
    "--storage-class": "storageClass",
    "--repo": "repo",
    "--target-revision": "targetRevision",
    "--allow-different-criteria": "allowDifferentCriteria",
    "--allow-incomplete": "allowIncomplete",
    "--why": "why",
    "--service": "service",
    "--accelerator": "accelerator",
    "--intent": "intent",
    "--os": "os",
    "--platform": "platform",
    "--nodes": "nodes",
}
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*(?![\w-])")


class Refusal(Exception):
    """An error of HTTP itself, with the status that HTTP has for it."""

    def __init__(
        self, status: int, error: AicrError, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(error.message)
        self.status = status
        self.error = error
        self.headers = dict(headers or {})


def problem_values(error: AicrError, request_id: str, timestamp: str) -> dict[str, object]:
    """The body of an error."""
    details = dict(error.details)
    if error.hint:
        details.setdefault("hint", _said(error.hint))
    return {
        "code": error.code,
        "message": _said(error.message),
        "details": details,
        "requestId": request_id,
        "timestamp": timestamp,
        "retryable": error.code in RETRYABLE,
    }


def retry_headers(error: AicrError) -> dict[str, str]:
    return {"retry-after": str(RETRY_SECONDS)} if error.code in RETRYABLE else {}


def warnings_header(warnings: list[str]) -> str:
    """Warnings as one JSON list in ASCII; those that no header has room for are counted."""
    import json

    found: list[str] = []
    room = 4000
    for index, warning in enumerate(warnings):
        text = cell(_said(warning))[:500]
        room -= len(json.dumps(text)) + 2
        if room < 0:
            found.append(f"and {len(warnings) - index} more")
            break
        found.append(text)
    return json.dumps(found)


def _said(text: str) -> str:
    shown = prose(_FLAG.sub(lambda match: FIELDS.get(match.group(), match.group()), text))
    if len(shown) > _LONGEST_MESSAGE:
        shown = shown[:_LONGEST_MESSAGE] + " ..."
    return shown
