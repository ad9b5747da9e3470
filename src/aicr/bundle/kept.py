"""What an operator wrote into a bundle's ``cluster-values.yaml`` files, kept for the next one."""

from __future__ import annotations

import os

from aicr.bundle.writers.local import CLUSTER_VALUES, is_written_to
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from aicr.bundle.build import Bundle


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
            try:
                with open(path, "rb") as file:
                    data = file.read()
            except OSError as error:
                raise invalid(f"{path}: cannot be read: {error.strerror}") from None
            if is_written_to(data):
                found[release] = data
    return found


def read_kept(kept: Mapping[str, bytes]) -> dict[str, dict[str, object]]:
    """The values that the operator wrote, by release. Raises INVALID_REQUEST for a file of them
    that cannot be read."""
    from aicr.documents.nodes import Map, kind_of
    from aicr.documents.reader import read_yaml
    from aicr.documents.scalars import plain

    found: dict[str, dict[str, object]] = {}
    for release, data in kept.items():
        where = f"{CLUSTER_VALUES} of {release}"
        node = read_yaml(data, where, empty=Map())
        if not isinstance(node, Map):
            raise invalid(f"{where}: expected a map of values, found {kind_of(node)}")
        found[release] = {key: plain(value) for key, value in node.items()}
    return found


def check_kept(
    target: str, kept: Mapping[str, bytes], bundle: Bundle, *, overwrite: bool
) -> list[str]:
    """The releases whose values have no place in the new bundle: they are gone, or their deployer
    reads no ``cluster-values.yaml``.

    Raises INVALID_REQUEST for them, unless ``overwrite`` lets them go.
    """
    places = {
        release.name
        for release in bundle.plan.releases
        if f"{release.folder}/{CLUSTER_VALUES}" in bundle.files
    }
    homeless = sorted(set(kept) - places)
    if homeless and not overwrite:
        raise invalid(
            f"{target}: {CLUSTER_VALUES} has values that the new bundle has no place for, of "
            f"{', '.join(homeless)}",
            hint="nothing was changed; write to another folder, or drop them with --overwrite",
        )
    return homeless
