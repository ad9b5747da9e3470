"""What one side of a comparison deploys: component name -> version and identity.

Empty text is a field that the side did not state. The two file sets are None where the side
states none at all (a cluster), which is not the same as an empty set. ``names`` are the object
names in the values, by their path; None where the values are not known.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aicr.catalog.model import ComponentRef


class Identity:
    """A component as one side has it."""

    __slots__ = (
        "chart",
        "manifest_files",
        "names",
        "namespace",
        "path",
        "pre_manifest_files",
        "source",
        "type",
        "version",
    )

    def __init__(
        self,
        version: str,
        *,
        namespace: str = "",
        chart: str = "",
        source: str = "",
        path: str = "",
        type: str = "",
        manifest_files: frozenset[str] | None = None,
        pre_manifest_files: frozenset[str] | None = None,
        names: Mapping[str, str] | None = None,
    ) -> None:
        self.version = version
        self.namespace = namespace
        self.chart = chart
        self.source = source
        self.path = path
        self.type = type
        self.manifest_files = manifest_files
        self.pre_manifest_files = pre_manifest_files
        self.names = names

    def without_version(self) -> Identity:
        """The same, of a version that does not count."""
        return Identity(
            "",
            namespace=self.namespace,
            chart=self.chart,
            source=self.source,
            path=self.path,
            type=self.type,
            manifest_files=self.manifest_files,
            pre_manifest_files=self.pre_manifest_files,
            names=self.names,
        )


class IdentityChange:
    """One field that moved. None is a name that is not there on that side."""

    __slots__ = ("after", "before", "field")

    def __init__(self, field: str, before: str | None, after: str | None) -> None:
        self.field = field
        self.before = before
        self.after = after


def inventory_of(
    components: Iterable[ComponentRef],
    values: Mapping[str, object] | None = None,
    *,
    file_sets: bool = True,
) -> dict[str, Identity]:
    """The table of a recipe's components that are deployed.

    ``values`` are the values of the components of which they are known; without ``file_sets`` the
    recipe states none (what was read of a cluster).
    """
    known = values or {}
    return {
        ref.name: Identity(
            ref.pin,
            namespace=ref.namespace,
            chart=ref.chart,
            source=ref.source,
            path=ref.path,
            type=ref.type,
            manifest_files=frozenset(ref.manifest_files) if file_sets else None,
            pre_manifest_files=frozenset(ref.pre_manifest_files) if file_sets else None,
            names=names_in(known[ref.name]) if ref.name in known else None,
        )
        for ref in components
        if ref.enabled
    }


def names_in(values: object) -> dict[str, str]:
    """The object names in the values as text, by the path that a person would write."""
    from aicr.recipe.object_names import object_names, shown

    return {shown(path): _spelled(item) for path, item in object_names(values).items()}


def identity_changes(
    before: Identity, after: Identity, *, with_names: bool
) -> list[IdentityChange]:
    """What moved between two sides of one component, by the rules for each field."""
    changes: list[IdentityChange] = []
    for field, old, new in (
        ("namespace", before.namespace, after.namespace),
        ("chart", before.chart, after.chart),
        ("source", before.source, after.source),
        ("path", before.path, after.path),
        ("type", before.type, after.type),
    ):
        if old == new or not old or not new:
            continue
        if field != "type" or old.lower() != new.lower():
            changes.append(IdentityChange(field, old, new))
    for field, old_set, new_set in (
        ("manifestFiles", before.manifest_files, after.manifest_files),
        ("preManifestFiles", before.pre_manifest_files, after.pre_manifest_files),
    ):
        if old_set is not None and new_set is not None and old_set != new_set:
            changes.append(
                IdentityChange(field, ", ".join(sorted(old_set)), ", ".join(sorted(new_set)))
            )
    if with_names and before.names is not None and after.names is not None:
        for path in sorted(before.names.keys() | after.names.keys()):
            was, now = before.names.get(path), after.names.get(path)
            if was != now:
                changes.append(IdentityChange(path, was, now))
    return changes


def _spelled(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return '"null"' if value == "null" else str(value)
