"""What ``--set-json``, ``--set-file`` and ``--dynamic`` say, argument by argument.

None of them decides whether a component is there: that is ``--set component:enabled=false``.
"""

from __future__ import annotations

from aicr.bundle.overrides import ENABLED, Override, is_utf8, raise_any, split_component
from aicr.bundle.setpath import DEEPEST, PathError, parse_path, spell, split_assignment
from aicr.documents.nodes import first_twice, is_deeper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aicr.bundle.setpath import Path

_LONGEST = 120
_TOO_DEEP = f"nested too deeply: values nest to no more than {DEEPEST} levels"


def parse_json(texts: Iterable[str]) -> list[Override]:
    """The overrides in arguments of ``--set-json``: one for each leaf, a list being one.

    Raises INVALID_REQUEST with all that are wrong.
    """
    found: list[Override] = []
    problems: list[str] = []
    for text in texts:
        given = f"--set-json {_short(text)}"
        try:
            component, path, word = _assignment(text, "component:path=<json>")
            found += [
                Override(component, at, value, given=given)
                for at, value in _leaves(path, _json_value(word, len(path)))
            ]
        except PathError as error:
            problems.append(f"{given}: {error}")
    raise_any(problems)
    return found


def parse_files(contents: Iterable[tuple[str, str]]) -> list[Override]:
    """The overrides in arguments of ``--set-file``, each with the text of its file.

    Raises INVALID_REQUEST with all that are wrong.
    """
    found: list[Override] = []
    problems: list[str] = []
    for text, content in contents:
        given = f"--set-file {text}"
        try:
            component, path, _ = _assignment(text, "component:path=<file>")
            found.append(Override(component, path, content, given=given))
        except PathError as error:
            problems.append(f"{given}: {error}")
    raise_any(problems)
    return found


def read_files(texts: Iterable[str]) -> list[tuple[str, str]]:
    """Arguments of ``--set-file``, each with the text of the file that it names.

    Raises INVALID_REQUEST for one that cannot be read, is too large or is no UTF-8.
    """
    from aicr.artifact.read import read_path
    from aicr.documents.reader import MAX_BYTES
    from aicr.errors import invalid

    found: list[tuple[str, str]] = []
    for text in texts:
        flag = f"--set-file {text}"
        try:
            _, _, name = _assignment(text, "component:path=<file>")
        except PathError as error:
            raise invalid(f"{flag}: {error}") from None
        data = read_path(name, "--set-file")
        if len(data) > MAX_BYTES:
            raise invalid(f"{flag}: {name} has more than {MAX_BYTES} bytes")
        try:
            found.append((text, data.decode("utf-8")))
        except UnicodeDecodeError as error:
            raise invalid(
                f"{flag}: {name} is not UTF-8 (byte {error.start}), and values are text"
            ) from None
    return found


def parse_dynamic(texts: Iterable[str]) -> list[Override]:
    """The paths in arguments of ``--dynamic``. Raises INVALID_REQUEST with all that are wrong."""
    found: list[Override] = []
    problems: list[str] = []
    for text in texts:
        given = f"--dynamic {text}"
        try:
            component, rest = split_component(text, "component:path")
            if "=" in rest.replace("\\=", ""):
                raise PathError("a path alone is expected, without =value")
            path = parse_path(rest)
            if path[0] == ENABLED:
                raise PathError("whether a component is there is decided when a bundle is written")
            for at, step in enumerate(path):
                if isinstance(step, int):
                    raise PathError(
                        f'a list is left open as a whole: write "{spell(path[:at])}" '
                        f"without [{step}]"
                    )
                if not step.isprintable():
                    raise PathError("a key has characters that cannot be printed")
            found.append(Override(component, path, given=given, dynamic=True))
        except PathError as error:
            problems.append(f"{given}: {error}")
    raise_any(problems)
    return found


def _assignment(text: str, form: str) -> tuple[str, Path, str]:
    component, rest = split_component(text, form)
    path, word = split_assignment(rest)
    if path[0] == ENABLED:
        raise PathError(
            f"enabled is no value of the chart; leave the component out with "
            f"--set {component}:enabled=false"
        )
    return component, path, word


def _leaves(path: Path, value: object) -> Iterator[tuple[Path, object]]:
    """What is really set: keys of a map that are not named stay as they are."""
    if not isinstance(value, dict) or not value:
        yield path, value
        return
    for key, item in value.items():
        if not key:
            raise PathError(f'a key is empty after "{spell(path)}"')
        yield from _leaves((*path, key), item)


def _json_value(text: str, above: int) -> object:
    """``above`` is how many steps lead to it."""
    import json

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(items)
        if len(found) < len(items):
            twice = first_twice(key for key, _ in items)
            raise PathError(f'the key "{twice}" is there twice')
        return found

    def refused(word: str) -> object:
        raise PathError(f"{word} is no JSON")

    def number(word: str) -> float:
        value = float(word)
        if value in (float("inf"), float("-inf")):
            raise PathError(f"the number {word} is too large")
        return value

    try:
        value = json.loads(
            text, object_pairs_hook=pairs, parse_constant=refused, parse_float=number
        )
    except json.JSONDecodeError as error:
        hint = ' (text stands in double quotes, as in path="text")' if error.pos == 0 else ""
        raise PathError(f"not JSON: {error.msg} at character {error.pos + 1}{hint}") from None
    except PathError:
        raise
    except ValueError:
        raise PathError("a number has too many digits") from None
    except RecursionError:
        raise PathError(_TOO_DEEP) from None
    if is_deeper(value, DEEPEST - above):
        raise PathError(_TOO_DEEP)
    if not is_utf8(json.dumps(value, ensure_ascii=False)):
        raise PathError("half of a surrogate pair is no text")
    return value


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
