"""What a deployer applies: ``aicr.bundle`` and its ``aicr.Bundle``."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.bundle.build import Bundle as BuiltBundle
    from aicr.bundle.scheduling import Scheduling
    from aicr.library.catalogs import Catalog
    from aicr.library.recipes import Recipe


class Bundle:
    """What a deployer applies, in memory."""

    def __init__(self, found: BuiltBundle) -> None:
        self._found = found

    @property
    def files(self) -> dict[str, bytes]:
        """Every file by its path."""
        return {path: data for path, (data, _) in self._found.files.items()}

    @property
    def entrypoint(self) -> str:
        """The file that applying it begins with."""
        return self._found.entrypoint

    @property
    def notices(self) -> list[tuple[str, str]]:
        """What a person should know: severity (``info`` or ``warning``) and message."""
        return [(one.severity, one.message) for one in self._found.notices]

    def archive(self, form: str = "zip") -> bytes:
        """All files as one ``zip`` or ``tar.gz``; same bundle, same bytes."""
        from aicr.bundle.archived import archived

        return archived(self._found.files, form)

    def write(self, folder: str, *, overwrite: bool = False) -> None:
        """Write it to ``folder``, as ``aicr bundle -o`` does: whole, or not at all."""
        from aicr.artifact.atomic import replace_directory
        from aicr.bundle.layout import SIGN

        replace_directory(folder, self._found.files, sign=SIGN, overwrite=overwrite)


def bundle(
    recipe: Recipe,
    *,
    catalog: Catalog,
    deployer: str,
    sets: Sequence[str] = (),
    set_json: Sequence[str] = (),
    dynamic: Sequence[str] = (),
    scheduling: Scheduling | None = None,
    repo: str = "",
    target_revision: str = "",
    kept: Mapping[str, bytes] | None = None,
) -> Bundle:
    """What ``deployer`` applies for ``recipe``. Same input, same bytes.

    ``sets`` are ``component:path=value``, ``set_json`` the same with JSON, ``dynamic`` are
    ``component:path`` that are left to install time, ``scheduling`` (``aicr.bundle.scheduling``)
    is for the whole cluster, ``kept`` the operator's ``cluster-values.yaml`` by release.

    Raises INVALID_REQUEST for anything in the recipe that may not reach a bundle.
    """
    from aicr.bundle.build import Request, build_bundle

    asked = Request(
        deployer,
        sets=sets,
        set_json=set_json,
        dynamic=dynamic,
        scheduling=scheduling,
        repo=repo,
        target_revision=target_revision,
    )
    return Bundle(
        build_bundle(
            recipe.model,
            catalog.layers,
            asked,
            where=recipe.name,
            kept=kept,
            made_with=recipe.side.settings,
        )
    )
