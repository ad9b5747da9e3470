"""How a place in a recipe is named: ``components.gpu-operator.values.driver.version``.

    selector = ["."] [ step *( "." step | index ) ]
    step     = word | quoted
    word     = 1*( any character but "." "[" and a quote at its beginning )
    quoted   = '"' *( any character but '"' ) '"'  |  "'" *( any character but "'" ) "'"
    index    = "[" ( digits | quoted ) "]"

A number, as a step of its own or in brackets, indexes a list; in a map it is a key.
"""

from __future__ import annotations

from aicr.errors import invalid, not_found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.errors import AicrError


def parse_selector(text: str) -> list[str]:
    """The steps of a selector; [] is the whole. Raises INVALID_REQUEST for a malformed one."""
    if not text:
        raise _malformed(text, "it is empty; . is all of it")
    steps: list[str] = []
    at = 1 if text.startswith(".") else 0
    end = len(text)
    while at < end:
        if text[at] == "[":
            step, at = _bracketed(text, at)
        else:
            step, at = _step(text, at)
        steps.append(step)
        if at < end and text[at] == ".":
            at += 1
            if at == end:
                raise _malformed(text, "it ends with a dot")
        elif at < end and text[at] != "[":
            raise _malformed(text, f"a dot or a bracket was expected at {text[at:]}")
    return steps


def select(tree: object, steps: Sequence[str], selector: str) -> object:
    """What is at ``steps`` in ``tree``.

    Raises NOT_FOUND with the keys at the deepest level that is there.
    """
    found = tree
    for depth, step in enumerate(steps):
        if isinstance(found, dict) and step in found:
            found = found[step]
        elif isinstance(found, list) and _is_index(step) and int(step) < len(found):
            found = found[int(step)]
        else:
            raise _missing(found, steps, depth, selector)
    return found


def spelled(steps: Sequence[str]) -> str:
    """The selector that names ``steps``."""
    return ".".join(_quoted(step) for step in steps) or "."


def _step(text: str, at: int) -> tuple[str, int]:
    if text[at] in "\"'":
        return _quoted_step(text, at)
    end = at
    while end < len(text) and text[end] not in ".[":
        end += 1
    if end == at:
        raise _malformed(text, "there is nothing between two dots")
    return text[at:end], end


def _quoted_step(text: str, at: int) -> tuple[str, int]:
    end = text.find(text[at], at + 1)
    if end < 0:
        raise _malformed(text, f"the quote at {text[at:]} is not closed")
    return text[at + 1 : end], end + 1


def _bracketed(text: str, at: int) -> tuple[str, int]:
    start = at + 1
    if start < len(text) and text[start] in "\"'":
        step, end = _quoted_step(text, start)
    else:
        end = text.find("]", start)
        step = text[start:end] if end >= 0 else ""
        if not _is_index(step):
            raise _malformed(text, f"a number or a quoted key was expected at {text[at:]}")
    if text[end : end + 1] != "]":
        raise _malformed(text, f"the bracket at {text[at:]} is not closed")
    return step, end + 1


def _is_index(step: str) -> bool:
    return step.isascii() and step.isdigit() and len(step) < 10


def _quoted(step: str) -> str:
    if step and not any(char in step for char in ".[]\"'"):
        return step
    return f"'{step}'" if '"' in step else f'"{step}"'


def _malformed(text: str, problem: str) -> AicrError:
    return invalid(
        f'the selector "{text}" cannot be read: {problem}',
        hint='steps are parted by dots; a key that contains dots is quoted: a."b.c".d',
    )


def _missing(found: object, steps: Sequence[str], depth: int, selector: str) -> AicrError:
    place = spelled(steps[:depth]) if depth else "the recipe"
    step = steps[depth]
    if isinstance(found, dict):
        keys = sorted(str(key) for key in found)
        what = f"available keys: {', '.join(keys) or 'none'}"
        near = _near(step, keys)
        hint = f'did you mean "{near}"?' if near else ""
        if any(key.startswith(step + ".") for key in keys):
            hint = 'a key that contains dots is quoted: a."b.c".d'
    elif isinstance(found, list):
        keys = [str(index) for index in range(len(found))]
        what = f"it is a list of {len(found)}"
        if keys:
            what += f" (0 to {len(found) - 1})"
        hint = ""
    else:
        keys = []
        what = "it is a single value and has no keys"
        hint = ""
    return not_found(
        f'the selector "{selector}" finds nothing: {place} has no "{step}"; {what}',
        hint=hint,
        details={"selector": selector, "at": spelled(steps[:depth]), "available": list(keys)},
    )


def _near(word: str, keys: list[str]) -> str:
    from difflib import get_close_matches

    found = get_close_matches(word, keys, 1)
    return found[0] if found else ""
