"""What is said of a record folder: whether it verifies, and what is in it."""

from __future__ import annotations

from aicr.documents.emit import json_text
from aicr.documents.safe import cell
from aicr.nvcf.to_copy import to_copy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.nvcf.evidence_chain import Verdict
    from aicr.nvcf.evidence_pack import Packed

_SHOWN = 20


def verify_text(path: str, verdict: Verdict, form: str) -> str:
    """The result of a verification."""
    files = sum(entry.kind == "file" for entry in verdict.entries)
    if form == "json":
        return json_text(
            {
                "record": path,
                "outcome": "verified" if verdict.intact else "changed",
                "exit": 0 if verdict.intact else 2,
                "controlPlane": verdict.control_plane or None,
                "files": files,
                "closed": verdict.closed,
                "tornBytes": verdict.torn,
                "problems": list(verdict.problems),
                "unlisted": list(verdict.unlisted),
                "last": verdict.last or None,
            }
        )
    lines = [f"{cell(path)}: {'verified' if verdict.intact else 'CHANGED'}"]
    lines.append(f"control plane: {cell(verdict.control_plane or 'not stated')}")
    lines.append(f"files: {files}")
    lines.append(f"last line: sha256 {verdict.last or '-'}")
    if not verdict.closed:
        lines.append(
            "not closed: the last command is still writing, was killed, or lines are missing at "
            "the end"
        )
    if verdict.torn:
        lines.append(
            f"the last {verdict.torn} bytes are no whole line (written as it was killed, or just "
            "now); they count for nothing"
        )
    lines += [f"problem: {cell(one)}" for one in verdict.problems]
    lines += [f"not in the manifest, counts for nothing: {cell(one)}"
              for one in verdict.unlisted[:_SHOWN]]  # fmt: skip
    if len(verdict.unlisted) > _SHOWN:
        lines.append(f"and {len(verdict.unlisted) - _SHOWN} more")
    return "\n".join(lines) + "\n"


def packed_json(path: str, output: str, packed: Packed, *, redacted: bool) -> str:
    """What went into a pack, for scripts."""
    return json_text(
        {
            "record": path,
            "intact": packed.verdict.intact,
            "output": output,
            "redacted": redacted,
            "files": packed.files,
            "leftOut": packed.left_out,
            "problems": list(packed.verdict.problems),
        }
    )


def show_text(path: str, verdict: Verdict, form: str) -> str:
    """The lines of the manifest, without any file's content."""
    if form == "json":
        return json_text(
            {"record": path, "intact": verdict.intact,
             "entries": [entry.said for entry in verdict.entries]}
        )  # fmt: skip
    lines = []
    for entry in verdict.entries:
        said = entry.said
        if entry.kind == "file":
            text = f"{entry.file}  {entry.source}  {said.get('command', '')}"
        elif entry.kind == "event":
            details = said.get("details")
            pairs = details.items() if isinstance(details, dict) else ()
            text = f"{said.get('event')}  " + "  ".join(f"{k}={v}" for k, v in pairs)
        else:
            text = "(closed)" if entry.kind == "close" else f"(record by {said.get('tool')})"
        lines.append(f"{entry.time}  {cell(text)}\n")
    if not verdict.intact:
        lines.append(f"CHANGED: {cell(to_copy('evidence', 'verify', path))} says how\n")
    return "".join(lines)
