"""Which deployers a bundle can be written for."""

from __future__ import annotations

from aicr.errors import invalid

DEPLOYERS = ("helm", "helmfile", "argocd", "argocd-helm", "flux")


def check_deployer(given: str) -> None:
    """Raise INVALID_REQUEST for a word that names none; "" is none."""
    if given and given not in DEPLOYERS:
        raise invalid(f'--deployer "{given}": expected {", ".join(DEPLOYERS)}')
