"""What a Python program calls: ``import aicr`` gives these names, loaded when they are used.

Everything here is a value or a pure function over a ``Catalog``. A catalog may be shared between
threads; nothing is kept in the process. Errors are ``aicr.AicrError`` (``code``, ``message``,
``hint``, ``details``).
"""

from __future__ import annotations

from aicr.artifact.read import open_artifact
from aicr.catalog.open import open_catalog
from aicr.errors import AicrError
from aicr.recipe.criteria import Criteria, make_criteria
from aicr.recipe.document import recipe_values, write_recipe
from aicr.recipe.resolve import resolve as resolve_criteria
from aicr.upgrade.artifact_sides import resolved_again, side_of, side_of_packed
from aicr.upgrade.check import check as check_sides
from aicr.upgrade.formats import plan_text, report_text
from aicr.upgrade.kept_records import KeptRecords
from aicr.upgrade.sides import Side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.bundle.build import Bundle as BuiltBundle
    from aicr.bundle.scheduling import Scheduling
    from aicr.catalog.layers import Catalog as Layers
    from aicr.catalog.model import ComponentRef
    from aicr.documents.nodes import Node
    from aicr.recipe.model import Recipe as RecipeModel
    from aicr.upgrade.check import Report as CheckReport
    from aicr.upgrade.plan import Plan as UpgradePlan
    from aicr.upgrade.rows import Row

__all__ = [
    "AicrError",
    "Bundle",
    "Catalog",
    "Plan",
    "Recipe",
    "Report",
    "bundle",
    "check",
    "plan",
    "resolve",
]

LARGEST_UNPACKED = 16 * 1024 * 1024


class Catalog:
    """Components, overlays, records and the release history.

    ``Catalog()`` is the shipped one; ``data`` lays a folder over it, ``folder`` stands alone.
    Records are read once, when they are first asked for.
    """

    def __init__(self, folder: str | None = None, *, data: str | None = None) -> None:
        self._layers = open_catalog(folder, data)
        self._kept: KeptRecords | None = None

    @classmethod
    def of(cls, layers: Layers) -> Catalog:
        """From a catalog that is open already."""
        catalog = cls.__new__(cls)
        catalog._layers = layers
        catalog._kept = None
        return catalog

    @property
    def layers(self) -> Layers:
        """The catalog as the modules below take it."""
        return self._layers

    @property
    def digest(self) -> str:
        """``sha256:`` over all files."""
        return self._layers.digest

    @property
    def components(self) -> list[str]:
        """The names of the registry, sorted."""
        return sorted(self._layers.registry)

    @property
    def criteria(self) -> dict[str, list[str]]:
        """The valid values of each dimension."""
        from aicr.recipe.criteria import admitted

        return admitted(self._layers)

    @property
    def records(self) -> KeptRecords:
        """The transition records, read once."""
        # Two threads at once read the same files and get equal values; the last one stays.
        if self._kept is None:
            self._kept = KeptRecords(self._layers)
        return self._kept


class Recipe:
    """What a cluster should run: resolved, or read from a recipe or a bundle.

    ``name`` is how messages and reports call it; ``warnings`` are what reading it brought up.
    """

    def __init__(self, side: Side, warnings: Sequence[str] = ()) -> None:
        self._side = side
        self.warnings = tuple(warnings)

    @classmethod
    def open(cls, path: str) -> Recipe:
        """From a recipe file, or from a bundle's folder."""
        warnings: list[str] = []
        return cls(side_of(open_artifact(path, "recipe"), warnings.append), warnings)

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


class Report:
    """The answer of ``check``."""

    def __init__(self, found: CheckReport) -> None:
        self._found = found

    @property
    def model(self) -> CheckReport:
        return self._found

    @property
    def rows(self) -> Sequence[Row]:
        """A row for each component that changed, by name, with ``component``, ``change``,
        ``before``, ``after``, ``verdict``, ``reason``, ``steps``, ``explanation``..."""
        return self._found.rows

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict of each changed component that has one."""
        return {row.component: row.verdict for row in self.rows if row.verdict}

    @property
    def failing(self) -> int:
        """How many rows need attention."""
        return self._found.failing

    @property
    def warnings(self) -> Sequence[str]:
        return self._found.warnings

    def values(self) -> dict[str, object]:
        """The report as native values, with the field names of the JSON report."""
        from aicr.upgrade.report import report_values

        return report_values(self._found)

    def text(self, form: str = "table") -> str:
        """As ``aicr upgrade-check --format`` writes it.

        ``form`` is table, json, yaml, markdown, html or junit.
        """
        return report_text(self._found, form)


class Plan:
    """The answer of ``plan``: stages and hops, and what is held back."""

    def __init__(self, found: UpgradePlan) -> None:
        self._found = found

    @property
    def model(self) -> UpgradePlan:
        return self._found

    @property
    def stages(self) -> list[list[tuple[str, str, str, str]]]:
        """Of each stage its hops: component, from, to, verdict ("" where something comes or
        goes)."""
        return [
            [(hop.row.component, hop.row.before, hop.row.after, hop.row.verdict)
             for hop in stage.hops]
            for stage in self._found.stages
        ]  # fmt: skip

    @property
    def held(self) -> dict[str, str]:
        """The reason of each component that does not get where it is wanted."""
        return {one.change.component: one.stuck.reason for one in self._found.held}

    @property
    def needs_attention(self) -> bool:
        return self._found.needs_attention

    @property
    def warnings(self) -> Sequence[str]:
        return self._found.report.warnings

    def text(self, form: str = "table") -> str:
        """As ``aicr upgrade-plan --format`` writes it: table, json, yaml, markdown, html."""
        return plan_text(self._found, form)


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


def check(
    before: Recipe,
    after: Recipe | None = None,
    *,
    catalog: Catalog,
    deployer: str = "",
    allow_different_criteria: bool = False,
) -> Report:
    """Is the move from ``before`` to ``after`` safe? Without ``after``, the criteria of ``before``
    are resolved again on ``catalog``. ``deployer`` is needed as soon as steps are shown.

    Raises INVALID_REQUEST.
    """
    old, new = _sides(before, after, catalog)
    return Report(_checked(old, new, catalog, deployer, allow_different_criteria))


def plan(
    before: Recipe,
    after: Recipe | None = None,
    *,
    catalog: Catalog,
    deployer: str = "",
    stages: str = "hops",
    include_unplanned: bool = False,
    allow_different_criteria: bool = False,
) -> Plan:
    """By which hops to get there: ``stages`` is ``hops`` or ``releases``. The same rules as
    ``check``, applied to each hop. Raises INVALID_REQUEST."""
    from aicr.upgrade.plan import make_plan

    old, new = _sides(before, after, catalog)
    report = _checked(old, new, catalog, deployer, allow_different_criteria)
    found = make_plan(report, old, new, catalog.layers, mode=stages, unplanned=include_unplanned)
    return Plan(found)


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
    return Bundle(build_bundle(recipe.model, catalog.layers, asked, where=recipe.name, kept=kept))


def _sides(before: Recipe, after: Recipe | None, catalog: Catalog) -> tuple[Side, Side]:
    old = before.side
    return old, after.side if after is not None else resolved_again(old, catalog.layers)


def _checked(old: Side, new: Side, catalog: Catalog, deployer: str, different: bool) -> CheckReport:
    return check_sides(
        old,
        new,
        catalog.layers,
        deployer=deployer,
        allow_different_criteria=different,
        judging=catalog.records.judging(),
    )
