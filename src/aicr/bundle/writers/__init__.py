"""One writer a deployer. A writer turns a plan into files and decides nothing.

Each module has ``ENTRYPOINT``, ``release_path(release)``, ``write(plan, options)`` and, for the
bundle's README, ``usage(plan, options)``, for ``UPGRADING.md``, ``stepwise(plan, options)``. Those
of deployers that take values at install time have ``install_values(release)``: where they are said.
"""

from __future__ import annotations

from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    # Path in the bundle (with "/") -> content, and whether it is a program.
    Files = dict[str, tuple[bytes, bool]]

WRITERS = {
    "helm": "helm",
    "helmfile": "helmfile",
    "argocd": "argocd",
    "argocd-helm": "argocd_helm",
    "flux": "flux",
}
# Those whose objects name the repository that the bundle is committed to.
GITOPS = ("argocd", "argocd-helm", "flux")
# Those of Argo CD.
APPLICATIONS = ("argocd", "argocd-helm")

# What a component cannot be called: an object or a folder of the bundle's own has that name.
RESERVED = {
    "argocd": ("aicr-bundle",),
    "argocd-helm": ("aicr-bundle",),
    "flux": ("aicr-bundle", "sources", "vendor"),
}

# Where no repository was named: a host that can never exist, so nothing is applied by accident.
NO_REPO = "https://git.example.invalid/replace-me.git"
DEFAULT_REVISION = "main"


class Options:
    """What a writer is told besides the plan.

    ``kept`` has the operator's own ``cluster-values.yaml`` of each release; ``repo`` and
    ``revision`` are the Git repository that will hold the bundle, ``has_repo`` whether it was
    named.
    """

    __slots__ = ("has_repo", "kept", "repo", "revision")

    def __init__(self, *, kept: Mapping[str, bytes], repo: str = "", revision: str = "") -> None:
        self.kept = kept
        self.has_repo = repo != ""
        self.repo = repo or NO_REPO
        self.revision = revision or DEFAULT_REVISION


def writer(deployer: str) -> ModuleType:
    """The writer of a deployer. Raises INVALID_REQUEST where there is none."""
    if deployer not in WRITERS:
        raise invalid(f'there is no deployer "{deployer}", expected {", ".join(WRITERS)}')
    from importlib import import_module

    return import_module(f"aicr.bundle.writers.{WRITERS[deployer]}")
