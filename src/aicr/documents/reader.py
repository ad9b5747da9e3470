"""What a YAML or JSON document says, read within limits, refusing what is ambiguous.

libyaml's event stream, composed here: the text of scalars stays, duplicate keys are an error,
merge keys are applied, and nesting, size and what aliases expand to are bounded.
"""

from __future__ import annotations

from aicr.documents.libyaml import (
    AliasEvent,
    CParser,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    MarkedYAMLError,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    YAMLError,
)
from aicr.documents.nodes import Map, Node, Scalar, Seq
from aicr.documents.scalars import is_text
from aicr.errors import AicrError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MAX_BYTES = 10 * 1024 * 1024
MAX_DEPTH = 64
MAX_ALIASED_NODES = 100_000
MAX_DIRECTIVES = 16

_CORE = "tag:yaml.org,2002:"
_SCALAR_TAGS = (_CORE + "int", _CORE + "float", _CORE + "bool", _CORE + "null")


def read_yaml(data: bytes | str, where: str, *, empty: Node | None = None) -> Node:
    """The one document in ``data``; ``where`` names it in messages.

    ``empty`` is what a file without a document stands for; without it that is an error.
    Raises AicrError INVALID_REQUEST, with the line.
    """
    documents = read_documents(data, where)
    if not documents:
        if empty is not None:
            return empty
        raise invalid(f"{where}: the file is empty", hint="a YAML or JSON document was expected")
    if len(documents) > 1:
        raise invalid(f"{where}: {len(documents)} YAML documents in one file, expected one")
    return documents[0]


def read_documents(data: bytes | str, where: str) -> list[Node]:
    """Every document in ``data``, in order. Raises AicrError INVALID_REQUEST, with the line."""
    text = _decode(data, where)
    try:
        return _Composer(CParser(text), where).documents()
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark is not None else ""
        problem = error.problem or "not valid YAML"
        hint = ""
        if ("start any token" in problem or "tab" in problem) and mark and _tab_at(text, mark.line):
            problem = "a tab is used for indentation, which YAML does not allow"
            hint = "indent with spaces"
        raise invalid(f"{where}{line}: {problem}", hint=hint) from None
    except YAMLError as error:
        raise invalid(f"{where}: not valid YAML: {str(error).splitlines()[0]}") from None


def _decode(data: bytes | str, where: str) -> str:
    size = len(data)
    if size > MAX_BYTES:
        raise invalid(f"{where}: {size} bytes, more than the {MAX_BYTES} allowed for a document")
    if isinstance(data, bytes):
        try:
            data = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            raise invalid(f"{where}:{line}: not UTF-8 text (is this a binary file?)") from None
    if "\0" in data:
        line = data.count("\n", 0, data.index("\0")) + 1
        raise invalid(f"{where}:{line}: a NUL byte (is this a binary file?)")
    # Each costs libyaml a look at all before it; a line may end in more ways than one.
    if data.count("%TAG") > MAX_DIRECTIVES:
        raise invalid(f"{where}: more than {MAX_DIRECTIVES} %TAG directives")
    return data


def _tab_at(text: str, line: int) -> bool:
    lines = text.split("\n", line + 1)
    return line < len(lines) and "\t" in lines[line][: len(lines[line]) - len(lines[line].lstrip())]


class _Composer:
    """Turns the events of one stream into nodes, without recursion."""

    def __init__(self, parser: CParser, where: str) -> None:
        # The stubs know of no event's own fields.
        self._next: Callable[[], Any] = parser.get_event
        self._where = where
        self._count = 0
        self._aliased = 0
        # Of each anchor: what it names, of how many nodes that is, and how deeply they nest.
        self._anchors: dict[str, tuple[Node, int, int]] = {}
        self._open: set[str] = set()
        self._keys: dict[str, str] = {}

    def documents(self) -> list[Node]:
        found: list[Node] = []
        while True:
            event = self._next()
            kind = type(event)
            if kind is StreamEndEvent:
                return found
            if kind is DocumentStartEvent:
                self._anchors = {}
                self._open = set()
                node = self._document()
                if node is not None:
                    found.append(node)

    def _document(self) -> Node | None:
        event = self._next()
        kind = type(event)
        if kind is ScalarEvent and event.value == "" and event.implicit[0] and event.tag is None:
            return None
        if kind is AliasEvent:
            raise self._error(event, f'the alias "*{event.anchor}" has no anchor')
        if kind is ScalarEvent:
            return self._scalar(event)
        root = self._start(event)
        self._fill(root, event)
        return root

    def _fill(self, root: Map | Seq, opening: Any) -> None:
        # The state of the innermost open collection is in locals; the stack has the outer ones.
        container: Map | Seq = root
        key: str | None = None
        key_line = 0
        anchor = self._anchor(opening, root)
        start = self._count
        height = 0
        merges: list[tuple[int, Node]] = []
        stack: list[
            tuple[Map | Seq, str | None, int, str | None, int, int, list[tuple[int, Node]]]
        ] = []
        following = self._next
        while True:
            event = following()
            kind = type(event)
            node: Node
            if kind is ScalarEvent:
                self._count += 1
                line = event.start_mark.line + 1
                if key is None and type(container) is Map:
                    key = self._key(event, container, merges)
                    key_line = line
                    continue
                node = self._scalar(event)
                if event.anchor is not None:
                    self._anchors[event.anchor] = (node, 1, 0)
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                if merges and type(container) is Map:
                    self._merge(container, merges)
                if anchor is not None:
                    self._anchors[anchor] = (container, self._count - start + 1, height + 1)
                    self._open.discard(anchor)
                if not stack:
                    return
                node = container
                line = container.line
                below = height + 1
                container, key, key_line, anchor, start, height, merges = stack.pop()
                if below > height:
                    height = below
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if key is None and type(container) is Map:
                    raise self._error(event, "a map or list as a key; keys must be text")
                if len(stack) + 2 > MAX_DEPTH:
                    raise self._error(event, f"nested deeper than {MAX_DEPTH} levels")
                self._count += 1
                stack.append((container, key, key_line, anchor, start, height, merges))
                container = self._start(event)
                anchor = self._anchor(event, container)
                key, key_line, start, height, merges = None, 0, self._count, 0, []
                continue
            else:  # an alias
                if key is None and type(container) is Map:
                    raise self._error(event, "an alias as a key; keys must be text")
                line = event.start_mark.line + 1
                node, below = self._alias(event, len(stack) + 1)
                height = max(height, below)
            if type(container) is Map:
                assert key is not None
                if key == "<<" and merges and merges[-1][1] is _PENDING:
                    merges[-1] = (key_line, node)
                else:
                    container[key] = node
                    container.lines[key] = key_line
                key = None
            else:
                assert isinstance(container, Seq)
                container.append(node)
                container.lines.append(line)

    def _start(self, event: Any) -> Map | Seq:
        tag = event.tag
        line = event.start_mark.line + 1
        is_map = type(event) is MappingStartEvent
        if tag not in (None, "!", _CORE + ("map" if is_map else "seq")):
            raise self._error(event, f"the tag {tag} is not supported")
        return Map(line) if is_map else Seq(line)

    def _anchor(self, event: Any, node: Node) -> str | None:
        anchor: str | None = event.anchor
        if anchor is not None:
            self._open.add(anchor)
            self._anchors.pop(anchor, None)
        return anchor

    def _scalar(self, event: Any) -> Node:
        tag = event.tag
        text: str = event.value
        if tag is None:
            return text if not event.implicit[0] or is_text(text) else Scalar(text)
        if tag in ("!", _CORE + "str"):
            return text
        if tag in _SCALAR_TAGS and not is_text(text):
            return Scalar(text)
        raise self._error(event, f"the tag {tag} is not supported here")

    def _key(self, event: Any, container: Map, merges: list[tuple[int, Node]]) -> str:
        key: str = event.value
        if event.anchor is not None:
            self._anchors[event.anchor] = (key, 1, 0)
        if key == "<<" and event.implicit[0]:
            if merges:
                first = merges[0][0]
                raise self._error(event, f'the key "<<" is there twice (first on line {first})')
            merges.append((event.start_mark.line + 1, _PENDING))
            return key
        if key == "" and event.implicit[0]:
            raise self._error(event, "an empty key")
        if key in container:
            first = container.lines[key]
            raise self._error(event, f'the key "{key}" is there twice (first on line {first})')
        return self._keys.setdefault(key, key)  # a large document repeats a few keys

    def _alias(self, event: Any, depth: int) -> tuple[Node, int]:
        """What an alias inside ``depth`` collections stands for, and how deeply that nests."""
        name: str = event.anchor
        if name in self._open:
            raise self._error(event, f'the alias "*{name}" stands inside what it names')
        if name not in self._anchors:
            raise self._error(event, f'the alias "*{name}" has no anchor')
        node, size, height = self._anchors[name]
        self._aliased += size
        self._count += size
        if self._aliased > MAX_ALIASED_NODES:
            raise self._error(event, f"aliases expand to more than {MAX_ALIASED_NODES} nodes")
        if depth + height > MAX_DEPTH:
            raise self._error(event, f"nested deeper than {MAX_DEPTH} levels")
        return node, height

    def _merge(self, container: Map, merges: list[tuple[int, Node]]) -> None:
        for line, node in merges:
            sources = node if isinstance(node, Seq) else [node]
            for source in sources:
                if not isinstance(source, Map):
                    raise invalid(f"{self._where}:{line}: a merge key (<<) needs a map")
                for key, value in source.items():
                    if key not in container:
                        container[key] = value
                        container.lines[key] = source.lines[key]

    def _error(self, event: Any, message: str) -> AicrError:
        line = event.start_mark.line + 1
        return invalid(f"{self._where}:{line}: {message}")


_PENDING: Node = Scalar("<<")
