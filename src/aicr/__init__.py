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

# Each name, and the module of the library that it is in.
_HOMES = {
    "AicrError": "aicr.errors",
    "Bundle": "aicr.library.bundles",
    "Catalog": "aicr.library.catalogs",
    "Plan": "aicr.library.plans",
    "Recipe": "aicr.library.recipes",
    "Report": "aicr.library.checks",
    "bundle": "aicr.bundle",  # the package of that name, which can be called
    "check": "aicr.library.checks",
    "plan": "aicr.library.plans",
    "resolve": "aicr.library.recipes",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'aicr' has no attribute '{name}'")
    from importlib import import_module

    found = import_module(home)
    return found if name == "bundle" else getattr(found, name)


def __dir__() -> list[str]:
    return sorted((*globals(), *_HOMES))
