"""How a mapping of a schema is read: each field by its kind, every problem found in one pass."""

from __future__ import annotations

from aicr.documents.nodes import Map, Node, Scalar, Seq, kind_of
from aicr.documents.safe import cell
from aicr.documents.scalars import native, plain
from aicr.errors import AicrError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Problem:
    """One thing wrong in a document: where, in which field, and what to write instead."""

    __slots__ = ("field", "file", "line", "message")

    def __init__(self, file: str, line: int, field: str, message: str) -> None:
        self.file = file
        self.line = line
        self.field = field
        self.message = message

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        parts = [part for part in (place, self.field, self.message) if part]
        # One line, whatever the document says: a line of its own could be a command to a CI log.
        return cell(": ".join(parts))


class Problems:
    """What was found wrong so far; with ``allow_unknown`` unknown keys are only warnings."""

    __slots__ = ("allow_unknown", "errors", "warnings")

    def __init__(self, *, allow_unknown: bool = False) -> None:
        self.errors: list[Problem] = []
        self.warnings: list[Problem] = []
        self.allow_unknown = allow_unknown

    def raise_any(self) -> None:
        """Raise one INVALID_REQUEST that lists every error, if there is one."""
        if self.errors:
            raise problems_error(self.errors)


def problems_error(problems: list[Problem]) -> AicrError:
    """One error for all ``problems``; ``details.problems`` has them one by one."""
    lines = [str(problem) for problem in problems]
    message = lines[0] if len(lines) == 1 else f"{len(lines)} problems:\n  " + "\n  ".join(lines)
    found: list[object] = [
        {"file": p.file, "line": p.line, "field": p.field, "message": p.message} for p in problems
    ]
    return invalid(message, details={"problems": found})


class Fields:
    """One mapping of a schema. Ask for each known key, then call ``done``."""

    __slots__ = ("_asked", "at", "node", "problems", "where")

    def __init__(self, node: Node, where: str, at: str, problems: Problems) -> None:
        self.where = where
        self.at = at
        self.problems = problems
        self._asked: set[str] = set()
        if isinstance(node, Map):
            self.node = node
        else:
            self.node = Map()
            if not (isinstance(node, Scalar) and native(node.text) is None):
                self._report(at, 1, f"expected a map, found {kind_of(node)}")

    def has(self, key: str) -> bool:
        """Whether the key is there with something after it."""
        self._asked.add(key)
        node = self.node.get(key)
        if node is None:
            return False
        return type(node) is not Scalar or native(node.text) is not None

    def line(self, key: str = "") -> int:
        """The line of ``key``, or of the map itself."""
        return self.node.lines.get(key, self.node.line)

    def raw(self, key: str) -> Node | None:
        self._asked.add(key)
        return self.node.get(key)

    def text(self, key: str) -> str:
        """The text as written; "" where the key is absent or null."""
        node = self.node.get(key)
        if type(node) is str:  # as it is nearly always
            self._asked.add(key)
            return node
        if node is None or not self.has(key):
            self._asked.add(key)
            return ""
        if isinstance(node, str):
            return node
        if isinstance(node, Scalar):
            return node.text
        self.problem(f"expected text, found {kind_of(node)}", key)
        return ""

    def required(self, key: str) -> str:
        """As ``text``, and a problem where it is absent or empty."""
        value = self.text(key)
        if value == "" and (not self.has(key) or isinstance(self.node[key], str)):
            self.problem("is missing", key)
        return value

    def boolean(self, key: str) -> bool | None:
        if not self.has(key):
            return None
        node = self.node[key]
        value = native(node.text) if isinstance(node, Scalar) else None
        if isinstance(value, bool):
            return value
        found = f'the text "{node}"' if isinstance(node, str) else kind_of(node)
        self.problem(f"expected true or false, found {found}", key)
        return None

    def integer(self, key: str) -> int | None:
        if not self.has(key):
            return None
        node = self.node[key]
        value = native(node.text) if isinstance(node, Scalar) else None
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        found = f'the text "{node}"' if isinstance(node, str) else kind_of(node)
        self.problem(f"expected a whole number, found {found}", key)
        return None

    def texts(self, key: str) -> list[str]:
        """A list of text; [] where the key is absent."""
        if key not in self.node:
            self._asked.add(key)
            return []
        found: list[str] = []
        for index, node in enumerate(self.sequence(key)):
            if isinstance(node, str):
                found.append(node)
            elif isinstance(node, Scalar) and native(node.text) is not None:
                found.append(node.text)
            else:
                self.problem(f"expected text, found {kind_of(node)}", f"{key}[{index}]")
        return found

    def sequence(self, key: str) -> Seq:
        if not self.has(key):
            return Seq()
        node = self.node[key]
        if isinstance(node, Seq):
            return node
        self.problem(f"expected a list, found {kind_of(node)}", key)
        return Seq()

    def mapping(self, key: str) -> Fields | None:
        """The map below ``key``; None where it is absent."""
        if not self.has(key):
            return None
        node = self.node[key]
        if not isinstance(node, Map):
            self.problem(f"expected a map, found {kind_of(node)}", key)
            return None
        return Fields(node, self.where, self._path(key), self.problems)

    def items(self, key: str) -> Iterator[Fields]:
        """The maps of the list below ``key``, one at a time; none where it is absent."""
        if key not in self.node:
            self._asked.add(key)
            return
        sequence = self.sequence(key)
        for index, node in enumerate(sequence):
            at = f"{self._path(key)}[{index}]"
            if isinstance(node, Map):
                yield Fields(node, self.where, at, self.problems)
            else:
                self._report(at, sequence.lines[index], f"expected a map, found {kind_of(node)}")

    def free(self, key: str) -> object:
        """Native values of a free-form field; None where it is absent."""
        return plain(self.node[key]) if self.has(key) else None

    def free_map(self, key: str) -> dict[str, object] | None:
        """As ``free``, and a problem where it is no map."""
        found = self.mapping(key)
        if found is None:
            return None
        return {name: plain(node) for name, node in found.node.items()}

    def problem(self, message: str, key: str = "") -> None:
        """Report something wrong with this map, or with its ``key``."""
        line = self.node.lines.get(key.split("[")[0], self.node.line)
        self._report(self._path(key) if key else self.at, line, message)

    def done(self) -> None:
        """Report every key that nobody asked for."""
        for key in self.node:
            if key not in self._asked:
                self._unknown(key)

    def _unknown(self, key: str) -> None:
        message = f'unknown key "{key}"'
        if not self.problems.allow_unknown:
            from difflib import get_close_matches

            near = get_close_matches(key, sorted(self._asked), 1)
            if near:
                message += f', did you mean "{near[0]}"?'
        problem = Problem(self.where, self.line(key), self.at, message)
        if self.problems.allow_unknown:
            self.problems.warnings.append(problem)
        else:
            self.problems.errors.append(problem)

    def _path(self, key: str) -> str:
        return f"{self.at}.{key}" if self.at else key

    def _report(self, at: str, line: int, message: str) -> None:
        self.problems.errors.append(Problem(self.where, line, at, message))
