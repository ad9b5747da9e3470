"""What the command line changes in a recipe's values, and which components it leaves out.

``--set component:path=value`` names a component by its name or by one of its
``valueOverrideKeys``. An override that cannot take effect is an error; all are reported at once.
(``aicr.bundle.given`` reads the flags beside ``--set``.)
"""

from __future__ import annotations

from aicr.bundle.names import shown
from aicr.bundle.setpath import PathError, lookup, parse_assignments, place, spell
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aicr.bundle.setpath import Path
    from aicr.catalog.model import ComponentRef, RegistryEntry
    from aicr.recipe.model import Recipe

ENABLED = "enabled"
# Each is compared with each: a thousand take a third of a second.
MOST = 1000


class Override:
    """One value of one path of a component; ``given`` is the argument that said so.

    ``toggles`` where it decides whether the component is there at all, ``dynamic`` where it leaves
    the path to install time and has no value.
    """

    __slots__ = ("component", "dynamic", "given", "path", "toggles", "value")

    def __init__(
        self,
        component: str,
        path: Path,
        value: object = None,
        *,
        given: str,
        toggles: bool = False,
        dynamic: bool = False,
    ) -> None:
        self.component = component
        self.path = path
        self.value = value
        self.given = given
        self.toggles = toggles
        self.dynamic = dynamic


class Settled:
    """Overrides by component name, the paths that are left to install time, and the components
    that are left out."""

    __slots__ = ("dynamic", "removed", "values")

    def __init__(
        self,
        removed: frozenset[str],
        values: Mapping[str, Sequence[Override]],
        dynamic: Mapping[str, Sequence[Override]],
    ) -> None:
        self.removed = removed
        self.values = values
        self.dynamic = dynamic


def parse_set(texts: Iterable[str]) -> list[Override]:
    """The overrides in arguments of ``--set``. Raises INVALID_REQUEST with all that are wrong."""
    found: list[Override] = []
    problems: list[str] = []
    for text in texts:
        given = f"--set {text}"
        try:
            component, rest = split_component(text, "component:path=value")
            pairs = parse_assignments(rest)
        except PathError as error:
            problems.append(f"{given}: {error}")
            continue
        for path, value in pairs:
            toggles = path[0] == ENABLED
            if toggles and (len(path) > 1 or not isinstance(value, bool)):
                problems.append(f"{given}: enabled is true or false")
                continue
            found.append(Override(component, path, value, given=given, toggles=toggles))
    raise_any(problems)
    return found


def split_component(text: str, form: str) -> tuple[str, str]:
    """What stands before the first ":" and what behind it. Raises PathError."""
    if not is_utf8(text):
        raise PathError("not UTF-8 text")
    component, colon, rest = text.partition(":")
    if not colon or not component or "=" in component:
        raise PathError(f"expected {form}")
    return component, rest


def settle(
    overrides: Sequence[Override], recipe: Recipe, registry: Mapping[str, RegistryEntry]
) -> Settled:
    """The overrides by component. Raises INVALID_REQUEST for those without effect."""
    if len(overrides) > MOST:
        raise invalid(
            f"{len(overrides)} overrides, more than the {MOST} allowed",
            hint="values that are so many belong in a values file of the catalog, or of --data",
        )
    problems: list[str] = []
    names = _names(recipe, registry)
    chosen: dict[str, list[Override]] = {}
    for one in overrides:
        owners = names.get(one.component, [])
        if len(owners) == 1:
            chosen.setdefault(owners[0], []).append(one)
            stray = _stray(one, names)
            if stray:
                problems.append(stray)
        else:
            problems.append(_unknown(one, owners, names, registry))
    removed: set[str] = set()
    values: dict[str, list[Override]] = {}
    dynamic: dict[str, list[Override]] = {}
    for name, group in chosen.items():
        problems += _contradictions(name, group)
        ref = recipe.component(name)
        disabled = ref is not None and not ref.enabled
        off = [one for one in group if one.toggles and one.value is False]
        if disabled:
            problems += [
                f'{one.given}: the recipe disables "{name}", which no override brings back'
                for one in group if one not in off
            ]  # fmt: skip
        elif off:
            removed.add(name)
            problems += [
                f'{one.given}: "{name}" is left out by {off[0].given}'
                for one in group if not one.toggles
            ]  # fmt: skip
        if ref is not None and not reads_values(ref):
            problems += [
                f'{one.given}: "{name}" is built with Kustomize, and nothing in it reads values'
                for one in group if not one.toggles
            ]  # fmt: skip
        kept = [one for one in group if not one.toggles and not one.dynamic]
        if kept:
            values[name] = kept
        left_open = [one for one in group if one.dynamic]
        if left_open:
            dynamic[name] = _outermost(left_open)
    raise_any(problems)
    return Settled(frozenset(removed), values, dynamic)


def reads_values(ref: ComponentRef) -> bool:
    """Whether anything in the component reads values: what kustomize built does not."""
    return ref.type != "Kustomize" or bool(ref.manifest_files or ref.pre_manifest_files)


def apply(
    name: str, values: dict[str, object], overrides: Sequence[Override]
) -> tuple[dict[str, object], list[str]]:
    """The values with the overrides in them, and why some could not take effect.

    A null removes from a map that was there before; in one that the overrides bring it stays.
    """
    problems: list[str] = []
    before = values
    # Paths that do not contradict give the same in any order; lists must grow from the front.
    for one in sorted(overrides, key=lambda each: [(str(type(p)), p) for p in each.path]):
        removes = isinstance(lookup(before, one.path[:-1]), dict)
        try:
            if one.value == {} and isinstance(lookup(before, one.path), dict):
                raise PathError(
                    f'"{spell(one.path)}" is a map, which an empty one leaves as it is; set its '
                    "keys to null"
                )
            values = place(values, one.path, one.value, removes=removes)
        except PathError as error:
            problems.append(f'{one.given}: in the values of "{name}" {error}')
    return values, problems


def _names(recipe: Recipe, registry: Mapping[str, RegistryEntry]) -> dict[str, list[str]]:
    """Every name and override key -> the components that it stands for; a name wins over keys."""
    names: dict[str, list[str]] = {}
    own = {ref.name for ref in recipe.components}
    for ref in recipe.components:
        entry = registry.get(ref.name)
        for key in entry.override_keys if entry is not None else ():
            if key not in own and ref.name not in names.get(key, ()):
                names.setdefault(key, []).append(ref.name)
    for name in own:
        names[name] = [name]
    return names


def _unknown(
    one: Override,
    owners: Sequence[str],
    names: Mapping[str, Sequence[str]],
    registry: Mapping[str, RegistryEntry],
) -> str:
    if owners:
        return (
            f"{one.given}: {shown(one.component)} stands for {' and '.join(sorted(owners))}; "
            "write the component's name"
        )
    if one.component in registry:
        return f"{one.given}: the component {shown(one.component)} is not in the recipe"
    from difflib import get_close_matches

    near = get_close_matches(one.component, list(names), 1)
    message = f"{one.given}: there is no component {shown(one.component)}"
    return f'{message}, did you mean "{near[0]}"?' if near else message


def _stray(one: Override, names: Mapping[str, Sequence[str]]) -> str:
    """A second ``component:`` behind a comma would become a key of the first one's values."""
    first = one.path[0]
    other = first.partition(":")[0] if isinstance(first, str) and ":" in first else ""
    if other in names:
        return f"{one.given}: one --set is for one component; give another --set for {other}"
    return ""


def _contradictions(name: str, group: Sequence[Override]) -> list[str]:
    return [
        f'{one.given} and {other.given} contradict each other on "{name}" '
        f"({spell(one.path)}, {spell(other.path)})"
        for number, other in enumerate(group)
        for one in group[:number]
        if _contradict(one, other)
    ]


def _contradict(one: Override, other: Override) -> bool:
    if one.dynamic and other.dynamic:
        return False
    for step, another in zip(one.path, other.path, strict=False):
        if type(step) is not type(another):
            return True  # the same thing as a map and as a list
        if step != another:
            return False
    if len(one.path) == len(other.path):
        return one.dynamic is not other.dynamic or not _equal(one.value, other.value)
    above = one if len(one.path) < len(other.path) else other
    return above.value != {}  # an empty map says nothing about its keys


def _outermost(group: Sequence[Override]) -> list[Override]:
    """Those that are not inside another, each path once, by path."""
    found: dict[Path, Override] = {}
    for one in sorted(group, key=lambda each: len(each.path)):
        if not any(one.path[:end] in found for end in range(1, len(one.path) + 1)):
            found[one.path] = one
    return sorted(found.values(), key=lambda each: spell(each.path))


def _equal(one: object, other: object) -> bool:
    """Whether both are the same value of the same type; to Python 1, 1.0 and true are equal."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    return type(one) is type(other) and one == other


def is_utf8(text: str) -> bool:
    """Bytes of an argument that are no UTF-8 come as lone surrogates."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


def unreachable(name: str, values: Mapping[str, object], dynamic: Sequence[Override]) -> list[str]:
    """Why paths that are left to install time cannot be set then."""
    problems: list[str] = []
    for one in dynamic:
        for end in range(1, len(one.path)):
            node = lookup(values, one.path[:end])
            if isinstance(node, list):
                problems.append(
                    f'{one.given}: in the values of "{name}" "{spell(one.path[:end])}" is a list, '
                    "which is left open as a whole"
                )
                break
    return problems


def raise_any(problems: Sequence[str]) -> None:
    """Raise INVALID_REQUEST with all problems of overrides, if there are any."""
    if problems:
        distinct = list(dict.fromkeys(problems))
        message = distinct[0]
        if len(distinct) > 1:
            message = f"{len(distinct)} overrides are wrong:\n  " + "\n  ".join(distinct)
        raise invalid(message, details={"problems": list(distinct)})
