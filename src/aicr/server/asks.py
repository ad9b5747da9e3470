"""What a request asks for: its query and its body as the fields of one mapping, checked."""

from __future__ import annotations

from urllib.parse import parse_qsl

from aicr.artifact.packed import is_archive
from aicr.documents.fields import Fields, Problems
from aicr.documents.nodes import Map, Node, Scalar, Seq
from aicr.errors import AicrError, invalid
from aicr.library import Recipe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from aicr.recipe.criteria import Criteria
    from aicr.server.service import Service

CRITERIA = ("service", "accelerator", "gpu", "intent", "os", "platform", "nodes")
NUMBERS_AND_BOOLEANS = ("nodes", "criteriaStrict", "allowDifferentCriteria", "includeUnplanned",
                        "allowIncomplete")  # fmt: skip
LISTS = ("set", "setJson", "dynamic", "platforms", "systemNodeSelector", "systemNodeToleration",
         "acceleratedNodeSelector", "acceleratedNodeToleration", "workloadSelector")  # fmt: skip
LARGEST_QUERY = 8 * 1024
LARGEST_NAME = 200
MOST_NODES = 999_999_999
_MOST_NAMED = 20
_NAMED_DOCUMENTS = ("from", "to", "recipe")

_CRITERIA_DOCUMENT = frozenset(("apiVersion", "kind", "metadata", "spec"))
# Names of flags that name a path, a cluster or an address on the machine of the command line.
_LOCAL = frozenset(
    ("inheritfrom", "snapshot", "data", "catalog", "config", "setfile", "output", "kubeconfig",
     "context", "chartsdir", "fromcatalog", "plainhttp", "overwrite", "scancluster", "clusters")
)  # fmt: skip


class Ask:
    """A request: ``query`` as it came, ``body`` whole and unpacked, ``kind`` of the body (json,
    yaml, archive, "" where there is none) and the form of the answer that is wanted."""

    __slots__ = ("body", "form", "kind", "query")

    def __init__(self, query: str, form: str, body: bytes = b"", kind: str = "") -> None:
        self.query = query
        self.form = form
        self.body = body
        self.kind = kind


class Asked:
    """The fields of a request. ``whole`` is a document that is the body itself, and has no fields
    around it."""

    def __init__(self, ask: Ask, allowed: Collection[str], *, main: str = "") -> None:
        self.whole: Node | bytes | None = None
        node = self._body(ask, main)
        for key in node:
            _check_local(key)
        for key, value in _query(ask.query):
            _check_local(key)
            if key in LISTS:
                items = node.setdefault(key, Seq())
                if not isinstance(items, Seq):
                    raise invalid(f"{key}: is in the query and in the body")
                items.append(value)
                items.lines.append(0)
            elif key in node:
                raise invalid(f"{key}: is there twice")
            elif key == "nodes":
                node[key] = _whole_number(value)
            else:
                native = key in NUMBERS_AND_BOOLEANS and value.lower() in ("true", "false")
                node[key] = Scalar(value) if native else value
        unknown = sorted(key for key in node if key not in allowed)
        if unknown:
            more = len(unknown) - _MOST_NAMED
            raise invalid(
                f"{', '.join(unknown[:_MOST_NAMED])}{f' and {more} more' if more > 0 else ''}: not "
                "known here",
                hint=f"there are: {', '.join(allowed)}" if allowed else "nothing is asked for here",
                details={"unknown": unknown[:_MOST_NAMED]},
            )
        _check_together(node, main if self.whole is not None else "", bool(main))
        self._problems = Problems()
        self.fields = Fields(node, "request", "", self._problems)

    def _body(self, ask: Ask, main: str) -> Map:
        if not ask.kind:
            return Map()
        if ask.kind == "archive":
            if not main:
                raise invalid("the body is an archive, and none is asked for here")
            if not is_archive(ask.body):
                raise invalid("the body is no .zip or .tar.gz with files in it")
            self.whole = ask.body
            return Map()
        if ask.kind == "json":
            from aicr.server.json_nodes import read_json

            node = read_json(ask.body, "body")
        else:
            from aicr.documents.reader import read_yaml

            node = read_yaml(ask.body, "body")
        if not isinstance(node, Map):
            raise invalid("body: expected a map of fields")
        if main and node.get("kind") == "RecipeResult":
            self.whole = node
            return Map()
        return node if main else _spec_of(node)

    def text(self, key: str) -> str:
        found = self.fields.text(key)
        self._problems.raise_any()
        return found

    def required(self, key: str) -> str:
        found = self.text(key)
        if not found:
            raise invalid(f"{key}: is missing")
        return found

    def texts(self, key: str) -> list[str]:
        found = self.fields.texts(key)
        self._problems.raise_any()
        return found

    def boolean(self, key: str) -> bool:
        found = self.fields.boolean(key)
        self._problems.raise_any()
        return bool(found)

    def has(self, key: str) -> bool:
        return self.fields.has(key)

    def criteria(self, service: Service) -> Criteria:
        """The criteria in the fields themselves, or below ``criteria``. Raises INVALID_REQUEST."""
        from aicr.catalog.model import DIMENSIONS
        from aicr.recipe.criteria import make_criteria

        strict = self.boolean("criteriaStrict")
        fields = self.fields.mapping("criteria") or self.fields
        if fields is not self.fields:
            node = self.fields.raw("criteria")
            for key in node if isinstance(node, Map) else ():
                _check_local(key)
            given = [name for name in CRITERIA if self.has(name)]
            if given:
                raise invalid(f"{given[0]}: stands beside criteria, and belongs into it")
        stated = {name: fields.text(name) for name in DIMENSIONS}
        if fields.has("gpu"):
            if stated["accelerator"]:
                raise invalid("accelerator and gpu: two names of one field, both given")
            stated["accelerator"] = fields.text("gpu")
        nodes = fields.integer("nodes") or 0
        if fields is not self.fields:
            fields.done()
        self._problems.raise_any()
        if nodes > MOST_NODES:
            raise invalid(f"nodes: expected no more than {MOST_NODES}, found {nodes}")
        given_words = {name: word for name, word in stated.items() if word}
        try:
            return make_criteria(given_words, service.catalog.layers, nodes=nodes, strict=strict)
        except AicrError as error:
            if error.message == "no criteria were given":
                error.hint = f"state at least one of {', '.join(DIMENSIONS)}"
            raise

    def recipe(self, key: str) -> Recipe | None:
        """The document in a field: a map, its text, or ``{archive: base64}``; None where it is
        absent. ``<key>Name`` is how the answer calls it, and the file that the client has it in."""
        given = self.text(f"{key}Name")
        found = self._recipe(key, given or key)
        return found and Recipe(found.side, found.warnings, path=given)

    def _recipe(self, key: str, name: str) -> Recipe | None:
        if len(name) > LARGEST_NAME:
            raise invalid(f"{key}Name: longer than {LARGEST_NAME} characters")
        if self.whole is not None:
            whole, self.whole = self.whole, None
            if self.has(key):
                raise invalid(f"{key}: the body is that document already")
            return Recipe.read(whole, name) if isinstance(whole, bytes) else Recipe.of(whole, name)
        node = self.fields.raw(key)
        if node is None or not self.has(key):
            return None
        if isinstance(node, str):
            return Recipe.read(node, name)
        if isinstance(node, Map) and set(node) == {"archive"}:
            return Recipe.read(_decoded(node["archive"], key), name)
        return Recipe.of(node, name)


def _check_together(node: Map, body: str, documents: bool) -> None:
    """What says something of a field that is not there, or nothing where a document belongs:
    the answer would be to another question. ``body`` is the field that the whole body is."""
    for key in (*_NAMED_DOCUMENTS, "criteria"):
        if node.get(key) == Scalar("null"):
            raise invalid(f"{key}: is null", hint=f"send a document, or leave {key} out")
    for key in _NAMED_DOCUMENTS:
        if f"{key}Name" in node and key not in node and key != body:
            raise invalid(f"{key}Name: there is no {key} that it could name")
    if documents and "criteriaStrict" in node and "criteria" not in node:
        raise invalid("criteriaStrict: is for criteria, and there are none")


def _whole_number(value: str) -> Scalar:
    """A number of the query, as the command line takes it: plain digits, decimal."""
    if not (value.isascii() and value.isdigit() and len(value) <= 12):
        raise invalid(f'nodes: expected a whole number, found "{value[:40]}"')
    return Scalar(str(int(value)))


def _spec_of(node: Map) -> Map:
    """The fields of criteria that are a document of their own; other fields as they are."""
    spec = node.get("spec")
    if "kind" not in node or not isinstance(spec, Map):
        return node
    for key in node:
        _check_local(key)
    unknown = sorted(set(node) - _CRITERIA_DOCUMENT)
    if unknown:
        raise invalid(f"{', '.join(unknown)}: not known in a document of criteria")
    return spec


def _query(query: str) -> list[tuple[str, str]]:
    if len(query) > LARGEST_QUERY:
        raise invalid(f"the query is longer than {LARGEST_QUERY} characters")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError as error:
        raise invalid(f"the query cannot be read: {error}") from None
    for key, value in pairs:
        if "\0" in key or "\0" in value:
            raise invalid("the query has a NUL character in it")
    return pairs


def _check_local(name: str) -> None:
    word = "".join(char for char in name.lower() if char.isalpha())
    if word in _LOCAL:
        raise invalid(
            f"{name}: names something on the machine that runs the command line, and is not "
            "taken over HTTP",
            hint="use the command aicr there",
            details={"field": name},
        )


def _decoded(node: Node, key: str) -> bytes:
    import binascii
    from base64 import b64decode

    try:
        data = b64decode(node, validate=True) if isinstance(node, str) else b""
    except (binascii.Error, ValueError):
        data = b""
    if not is_archive(data):
        raise invalid(f"{key}.archive: expected a .zip or .tar.gz in base64")
    return data
