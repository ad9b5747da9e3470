"""Where a command's output goes: its result to stdout or whole to a file, all else to stderr."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper

from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.artifact.config_map import ClusterRef


def prepare() -> None:
    """Streams that can be written to: UTF-8 everywhere, and a sink where the caller closed one."""
    if not sys.stdout:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if not sys.stderr:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper):
        # A name of a file may be other than UTF-8, and is shown with its bytes as escapes.
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")


def write(
    text: str, output: str | None = None, *, name: str = "", cluster: ClusterRef | None = None
) -> None:
    """Write a command's result: to the file ``output``, whole or not at all; else to stdout.

    ``cm://`` writes it as the document ``name`` of a ConfigMap of ``cluster``. Raises
    INVALID_REQUEST where it cannot be written, BrokenPipeError where the reader went away.
    """
    if output is None:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except OSError as error:
            discard()
            if isinstance(error, BrokenPipeError):
                raise
            raise invalid(f"standard output cannot be written: {error.strerror}") from None
        return
    if not output:
        raise invalid("--output: expected the path of a file, found an empty one")
    if output.startswith("cm://"):
        if not name:
            raise invalid(f"--output {output}: this command writes to files, not to ConfigMaps")
        from aicr.artifact.config_map import write_config_map

        write_config_map(text, output, "--output", cluster, name=name)
        return
    from aicr.artifact.atomic import write_file

    write_file(output, text.encode("utf-8", "backslashreplace"))


def discard() -> None:
    """Give what stdout still holds somewhere to go: Python flushes it once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def warn(message: str) -> None:
    """A warning on stderr."""
    _say("warning: ", message)


def note(message: str) -> None:
    """Something worth knowing, on stderr."""
    _say("", message)


def _say(kind: str, message: str) -> None:
    from aicr.documents.safe import prose

    sys.stderr.write(f"aicr: {kind}{prose(message)}\n")


def columns(rows: list[list[str]]) -> str:
    """Rows as aligned columns, two blanks apart; the first row is the head."""
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    head, *body = rows
    lines = [head, ["-" * len(cell) for cell in head], *body]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        + "\n"
        for line in lines
    )
