"""One writer a deployer. A writer turns a plan into files and decides nothing.

Each module has ``ENTRYPOINT``, ``USAGE`` (for the bundle's README), ``release_path(release)`` and
``write(plan, options)``.
"""

from __future__ import annotations

from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    # Path in the bundle (with "/") -> content, and whether it is a program.
    Files = dict[str, tuple[bytes, bool]]

WRITERS = {"helm": "helm"}


class Options:
    """What a writer is told besides the plan: ``kept`` has the operator's own
    ``cluster-values.yaml`` of each release."""

    __slots__ = ("kept",)

    def __init__(self, *, kept: Mapping[str, bytes]) -> None:
        self.kept = kept


def writer(deployer: str) -> ModuleType:
    """The writer of a deployer. Raises INVALID_REQUEST where there is none."""
    if deployer not in WRITERS:
        known = ", ".join(WRITERS)
        raise invalid(
            f"--deployer {deployer}: this version writes bundles for {known} only",
            hint="deploy with --deployer helm",
        )
    from importlib import import_module

    return import_module(f"aicr.bundle.writers.{WRITERS[deployer]}")
