"""What a deployer applies: the plan, and the files of each deployer.

``aicr.bundle(...)`` is the library's function; calling this package calls it.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from aicr.library import Bundle


class _Callable(type(sys)):  # type: ignore[misc]
    """A package that is a function as well: the two share a name."""

    def __call__(self, *arguments: Any, **named: Any) -> Bundle:
        from aicr.library import bundle

        return bundle(*arguments, **named)


sys.modules[__name__].__class__ = _Callable
