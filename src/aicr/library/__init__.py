"""What a Python program calls: ``import aicr`` gives these names, loaded when they are used.

Everything here is a value or a pure function over a ``Catalog``. A catalog may be shared between
threads; nothing is kept in the process. Errors are ``aicr.AicrError`` (``code``, ``message``,
``hint``, ``details``).
"""

from __future__ import annotations

from aicr.errors import AicrError
from aicr.library.bundles import Bundle, bundle
from aicr.library.catalogs import Catalog
from aicr.library.checks import Report, check
from aicr.library.plans import Plan, plan
from aicr.library.recipes import Recipe, again, resolve, resolved

__all__ = [
    "AicrError",
    "Bundle",
    "Catalog",
    "Plan",
    "Recipe",
    "Report",
    "again",
    "bundle",
    "check",
    "plan",
    "resolve",
    "resolved",
]
