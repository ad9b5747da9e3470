"""What an operator wrote into a bundle's ``cluster-values.yaml`` files, kept for the next one."""

from __future__ import annotations

import os

from aicr.bundle.writers.local import CLUSTER_VALUES, is_written_to
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


def kept_values(target: str) -> dict[str, bytes]:
    """Each release in the bundle at ``target`` whose ``cluster-values.yaml`` has values -> these.

    {} where there is no bundle. Links are not followed.
    """
    found: dict[str, bytes] = {}
    try:
        folders = sorted(os.listdir(target))
    except OSError:
        return {}
    for folder in folders:
        number, dash, release = folder.partition("-")
        path = os.path.join(target, folder, CLUSTER_VALUES)
        if dash and number.isdigit() and os.path.isfile(path) and not os.path.islink(path):
            with open(path, "rb") as file:
                data = file.read()
            if is_written_to(data):
                found[release] = data
    return found


def check_kept(
    target: str, kept: Mapping[str, bytes], releases: Collection[str], *, overwrite: bool
) -> list[str]:
    """The releases whose values have no place in the new bundle.

    Raises INVALID_REQUEST for them, unless ``overwrite`` lets them go.
    """
    homeless = sorted(set(kept) - set(releases))
    if homeless and not overwrite:
        raise invalid(
            f"{target}: {CLUSTER_VALUES} has values for releases that the new bundle does not "
            f"have: {', '.join(homeless)}",
            hint="nothing was changed; write to another folder, or drop them with --overwrite",
        )
    return homeless
