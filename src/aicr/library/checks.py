"""Is a move safe: ``aicr.check`` and its ``aicr.Report``."""

from __future__ import annotations

from aicr.upgrade.artifact_sides import resolved_again
from aicr.upgrade.check import check as check_sides
from aicr.upgrade.formats import report_text, why_report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.library.catalogs import Catalog
    from aicr.library.recipes import Recipe
    from aicr.upgrade.check import Report as CheckReport
    from aicr.upgrade.rows import Row
    from aicr.upgrade.sides import Side


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

    def why(self, component: str, form: str = "table") -> str:
        """Why a component that changed got its verdict: the rule that decided and the records that
        were weighed, as ``aicr upgrade-check --why`` writes it; ``form`` is table, json or yaml.
        Raises NOT_FOUND where nothing changed in it."""
        return why_report(self._found, component, form)


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
    old, new = sides(before, after, catalog)
    return Report(checked(old, new, catalog, deployer, allow_different_criteria))


def sides(before: Recipe, after: Recipe | None, catalog: Catalog) -> tuple[Side, Side]:
    old = before.side
    return old, after.side if after is not None else resolved_again(old, catalog.layers)


def checked(old: Side, new: Side, catalog: Catalog, deployer: str, different: bool) -> CheckReport:
    return check_sides(
        old,
        new,
        catalog.layers,
        deployer=deployer,
        allow_different_criteria=different,
        judging=catalog.records.judging(),
    )
