"""Which words name a deployer."""

from __future__ import annotations

from aicr.errors import invalid
from aicr.upgrade.model import DEPLOYERS


def check_deployer(given: str) -> None:
    """Raise INVALID_REQUEST for a word that names none; "" is none."""
    if given and given not in DEPLOYERS:
        raise invalid(f'--deployer "{given}": expected {", ".join(DEPLOYERS)}')
