"""What the command line changes in a recipe's values, and which components it leaves out.

``--set component:path=value`` names a component by its name or by one of its
``valueOverrideKeys``. An override that cannot take effect is an error; all are reported at once.
"""

from __future__ import annotations

from aicr.bundle.names import shown
from aicr.bundle.setpath import PathError, parse_assignments, place, spell
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aicr.bundle.setpath import Path
    from aicr.catalog.model import RegistryEntry
    from aicr.recipe.model import Recipe

ENABLED = "enabled"


class Override:
    """One value of one path of a component; ``given`` is the argument that said so."""

    __slots__ = ("component", "given", "path", "toggles", "value")

    def __init__(
        self, component: str, path: Path, value: object, *, given: str, toggles: bool = False
    ) -> None:
        self.component = component
        self.path = path
        self.value = value
        self.given = given
        self.toggles = toggles


class Settled:
    """Overrides by component name, and the components that are left out."""

    __slots__ = ("removed", "values")

    def __init__(self, removed: frozenset[str], values: Mapping[str, Sequence[Override]]) -> None:
        self.removed = removed
        self.values = values


def parse_set(texts: Iterable[str]) -> list[Override]:
    """The overrides in arguments of ``--set``. Raises INVALID_REQUEST with all that are wrong."""
    found: list[Override] = []
    problems: list[str] = []
    for text in texts:
        given = f"--set {text}"
        if not _is_utf8(text):
            problems.append(f"{given}: not UTF-8 text")
            continue
        component, colon, rest = text.partition(":")
        if not colon or not component or "=" in component:
            problems.append(f"{given}: expected component:path=value")
            continue
        try:
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
    _raise_any(problems)
    return found


def settle(
    overrides: Sequence[Override], recipe: Recipe, registry: Mapping[str, RegistryEntry]
) -> Settled:
    """The overrides by component. Raises INVALID_REQUEST for those without effect."""
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
        kept = [one for one in group if not one.toggles]
        if kept:
            values[name] = kept
    _raise_any(problems)
    return Settled(frozenset(removed), values)


def apply(
    name: str, values: dict[str, object], overrides: Sequence[Override]
) -> tuple[dict[str, object], list[str]]:
    """The values with the overrides in them, and why some could not take effect."""
    problems: list[str] = []
    # Paths that do not contradict give the same in any order; lists must grow from the front.
    for one in sorted(overrides, key=lambda each: [(str(type(p)), p) for p in each.path]):
        try:
            values = place(values, one.path, one.value)
        except PathError as error:
            problems.append(f'{one.given}: in the values of "{name}" {error}')
    return values, problems


def raise_without_effect(problems: Sequence[str]) -> None:
    """Raise INVALID_REQUEST for overrides without effect, if there are any."""
    _raise_any(problems)


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
    problems: list[str] = []
    seen: dict[Path, Override] = {}
    kinds: dict[Path, tuple[type, Override]] = {}
    for one in group:
        for end in range(len(one.path)):
            at, kind = one.path[:end], type(one.path[end])
            first = kinds.setdefault(at, (kind, one))
            above = seen.get(at)
            if above is not None:
                problems.append(_two(name, above, one))
            elif first[0] is not kind:
                problems.append(_two(name, first[1], one))
        same = seen.get(one.path)
        if same is not None:
            if type(same.value) is not type(one.value) or same.value != one.value:
                problems.append(_two(name, same, one))
        elif one.path in kinds:
            problems.append(_two(name, kinds[one.path][1], one))
        seen.setdefault(one.path, one)
    return problems


def _two(name: str, one: Override, other: Override) -> str:
    return (
        f'{one.given} and {other.given} contradict each other on "{name}" '
        f"({spell(one.path)}, {spell(other.path)})"
    )


def _is_utf8(text: str) -> bool:
    """Bytes of an argument that are no UTF-8 come as lone surrogates."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _raise_any(problems: Sequence[str]) -> None:
    if problems:
        distinct = list(dict.fromkeys(problems))
        message = distinct[0]
        if len(distinct) > 1:
            message = f"{len(distinct)} overrides are wrong:\n  " + "\n  ".join(distinct)
        raise invalid(message, details={"problems": list(distinct)})
