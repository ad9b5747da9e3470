"""Upgrade safety for GPU clusters: recipes, upgrade checks, bundles.

The names of ``aicr.library`` are loaded when they are first used: ``import aicr`` costs nothing.
"""

from __future__ import annotations

from aicr.version import __version__ as __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.library import (
        AicrError as AicrError,
    )
    from aicr.library import (
        Bundle as Bundle,
    )
    from aicr.library import (
        Catalog as Catalog,
    )
    from aicr.library import (
        Plan as Plan,
    )
    from aicr.library import (
        Recipe as Recipe,
    )
    from aicr.library import (
        Report as Report,
    )
    from aicr.library import (
        bundle as bundle,
    )
    from aicr.library import (
        check as check,
    )
    from aicr.library import (
        plan as plan,
    )
    from aicr.library import (
        resolve as resolve,
    )

_NAMES = ("AicrError", "Bundle", "Catalog", "Plan", "Recipe", "Report", "bundle", "check", "plan",
          "resolve")  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _NAMES:
        raise AttributeError(f"module 'aicr' has no attribute '{name}'")
    from aicr import library

    if name == "bundle":  # the package of that name, which can be called
        import aicr.bundle as package

        return package
    return getattr(library, name)


def __dir__() -> list[str]:
    return sorted((*globals(), *_NAMES))
