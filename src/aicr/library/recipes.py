"""What a cluster should run: ``aicr.Recipe``, and ``aicr.resolve``, which makes one."""

from __future__ import annotations

from os import fspath

from aicr.artifact.read import open_artifact
from aicr.recipe.criteria import make_criteria
from aicr.recipe.document import recipe_values, write_recipe
from aicr.recipe.resolve import resolve as resolve_criteria
from aicr.upgrade.artifact_sides import resolved_again, side_of, side_of_packed
from aicr.upgrade.sides import Side

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from aicr.catalog.model import ComponentRef
    from aicr.documents.nodes import Node
    from aicr.library.catalogs import Catalog
    from aicr.recipe.criteria import Criteria
    from aicr.recipe.model import Recipe as RecipeModel

LARGEST_UNPACKED = 16 * 1024 * 1024


class Recipe:
    """What a cluster should run: resolved, or read from a recipe or a bundle.

    ``name`` is how messages and reports call it; ``path`` where it was opened, "" for one that is
    in no file; ``warnings`` are what reading it brought up.
    """

    def __init__(self, side: Side, warnings: Sequence[str] = (), *, path: str = "") -> None:
        self._side = side
        self.path = path
        self.warnings = tuple(warnings)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Recipe:
        """From a recipe file, or from a bundle's folder."""
        path = fspath(path)
        warnings: list[str] = []
        return cls(side_of(open_artifact(path, "recipe"), warnings.append), warnings, path=path)

    @classmethod
    def read(cls, document: str | bytes, name: str = "recipe") -> Recipe:
        """From the text of a recipe, YAML or JSON, or from the bytes of a bundle's archive
        (``.zip`` or ``.tar.gz``), which is read in memory."""
        from aicr.artifact.packed import is_archive, open_packed
        from aicr.documents.reader import read_yaml

        if isinstance(document, bytes) and is_archive(document):
            packed = open_packed(document, name, largest=LARGEST_UNPACKED)
            warnings: list[str] = []
            return cls(side_of_packed(packed, warnings.append), warnings)
        return cls.of(read_yaml(document, name), name)

    @classmethod
    def of(cls, node: Node, name: str = "recipe") -> Recipe:
        """From a parsed document (``aicr.documents``)."""
        from aicr.recipe.document import recipe_from

        warnings: list[str] = []
        recipe = recipe_from(node, name, on_warning=lambda problem: warnings.append(str(problem)))
        return cls(Side(name, recipe), warnings)

    @property
    def name(self) -> str:
        return self._side.label

    @property
    def side(self) -> Side:
        """The recipe as the modules below take it."""
        return self._side

    @property
    def model(self) -> RecipeModel:
        return self._side.recipe

    @property
    def criteria(self) -> dict[str, object]:
        """What was asked for, ``nodes`` included where stated."""
        return self.model.criteria.values()

    @property
    def components(self) -> Sequence[ComponentRef]:
        """The components by name, each with ``name``, ``pin``, ``namespace``, ``enabled``..."""
        return self.model.components

    @property
    def order(self) -> Sequence[str]:
        """The names of what is deployed, in deployment order."""
        return self.model.deployment_order

    def query(self, selector: str, catalog: Catalog) -> object:
        """What ``selector`` finds in the recipe, with the values of its components computed."""
        from aicr.recipe.query import query

        return query(catalog.layers, self.model, selector)

    def yaml(self) -> str:
        """As ``aicr recipe`` writes it."""
        return write_recipe(self.model)

    def json(self) -> str:
        """As ``aicr recipe --format json`` writes it."""
        from aicr.documents.emit import json_text

        return json_text(recipe_values(self.model))


def resolve(
    catalog: Catalog,
    *,
    service: str = "",
    accelerator: str = "",
    intent: str = "",
    os: str = "",
    platform: str = "",
    nodes: int = 0,
    strict: bool = False,
) -> Recipe:
    """The recipe for these criteria; at least one must be stated. ``strict`` admits only the
    values that this version ships. Raises INVALID_REQUEST."""
    stated = {
        "service": service,
        "accelerator": accelerator,
        "intent": intent,
        "os": os,
        "platform": platform,
    }
    given = {name: value for name, value in stated.items() if value}
    return resolved(catalog, make_criteria(given, catalog.layers, nodes=nodes, strict=strict))


def again(recipe: Recipe, catalog: Catalog) -> Recipe:
    """The recipe that the criteria of ``recipe`` resolve to on ``catalog``.

    Raises INVALID_REQUEST where it states none, or where they no longer resolve.
    """
    return Recipe(resolved_again(recipe.side, catalog.layers))


def resolved(catalog: Catalog, criteria: Criteria) -> Recipe:
    """The recipe for criteria in normal form."""
    label = f"the current catalog ({criteria})"
    return Recipe(Side(label, resolve_criteria(catalog.layers, criteria)))
