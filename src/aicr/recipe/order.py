"""In which order components deploy: every dependency before what needs it."""

from __future__ import annotations

from bisect import insort

from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.catalog.model import ComponentRef


def deployment_order(components: Sequence[ComponentRef]) -> list[str]:
    """Kahn's order over the enabled components, the smallest ready name first.

    An edge to a disabled component counts as satisfied. Raises INVALID_REQUEST for a dependency
    that does not exist, and for a cycle, which it shows.
    """
    enabled = {ref.name: ref for ref in components if ref.enabled}
    names = {ref.name for ref in components}
    waiting: dict[str, int] = {}
    needed_by: dict[str, list[str]] = {}
    missing: list[str] = []
    for ref in components:
        for dependency in ref.dependency_refs:
            if dependency not in names:
                missing.append(f'"{ref.name}" depends on "{dependency}", which is not there')
    if missing:
        raise invalid("; ".join(missing), hint="add the component, or drop the dependencyRefs item")
    for name, ref in enabled.items():
        dependencies = {one for one in ref.dependency_refs if one in enabled}
        waiting[name] = len(dependencies)
        for dependency in dependencies:
            needed_by.setdefault(dependency, []).append(name)
    ready = sorted(name for name, count in waiting.items() if count == 0)
    order: list[str] = []
    while ready:
        name = ready.pop(0)
        order.append(name)
        for dependent in needed_by.get(name, ()):
            waiting[dependent] -= 1
            if waiting[dependent] == 0:
                insort(ready, dependent)
    if len(order) < len(enabled):
        raise invalid(f"components that wait for each other: {_cycle(enabled, set(order))}")
    return order


def _cycle(enabled: dict[str, ComponentRef], done: set[str]) -> str:
    name = min(name for name in enabled if name not in done)
    path: list[str] = []
    while name not in path:
        path.append(name)
        name = min(
            one for one in enabled[name].dependency_refs if one in enabled and one not in done
        )
    return " -> ".join([*path[path.index(name) :], name])
