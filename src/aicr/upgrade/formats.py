"""A report or a plan in every format that it has, by the format's name."""

from __future__ import annotations

from aicr.errors import invalid, not_found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.upgrade.check import Report
    from aicr.upgrade.plan import Plan
    from aicr.upgrade.plan_page import Commands
    from aicr.upgrade.stage_recipes import StageRecipe

REPORT_FORMATS = ("table", "json", "yaml", "markdown", "html", "junit")
WHY_FORMATS = ("table", "json", "yaml")
PLAN_FORMATS = ("table", "json", "yaml", "markdown", "html")


def report_text(report: Report, form: str) -> str:
    """The report in one of ``REPORT_FORMATS``. Raises INVALID_REQUEST for another one."""
    _check(form, REPORT_FORMATS)
    if form == "table":
        from aicr.upgrade.table import table_text

        return table_text(report)
    if form == "markdown":
        from aicr.upgrade.markdown import markdown_text

        return markdown_text(report)
    if form == "html":
        from aicr.upgrade.check_html import report_html

        return report_html(report)
    if form == "junit":
        from aicr.upgrade.junit import report_junit

        return report_junit(report)
    from aicr.upgrade.report import report_values

    return document_text(report_values(report), form)


def _check(form: str, known: Sequence[str]) -> None:
    if form not in known:
        raise invalid(f'there is no format "{form}" of it, expected {", ".join(known)}')


def why_report(report: Report, component: str, form: str) -> str:
    """Why the component of one row got its verdict, in one of ``WHY_FORMATS``.

    Raises INVALID_REQUEST for another format, NOT_FOUND where nothing changed in it.
    """
    if form not in WHY_FORMATS:
        raise invalid(f"--why is shown as {', '.join(WHY_FORMATS)}, not as {form}")
    from aicr.upgrade.why import why, why_text, why_values

    for row in report.rows:
        if row.component == component:
            found = why(row, report.records.get(component))
            return why_text(found) if form == "table" else document_text(why_values(found), form)
    changed = ", ".join(row.component for row in report.rows) or "none"
    raise not_found(
        f"--why {component}: nothing changed in a component of that name",
        hint=f"components that changed: {changed}",
    )


def plan_text(
    plan: Plan,
    form: str,
    recipes: Sequence[StageRecipe] = (),
    commands: Mapping[int, Commands] | None = None,
    notes: Sequence[str] = (),
) -> str:
    """The plan in one of ``PLAN_FORMATS``; ``recipes`` are those of its stages, ``commands`` those
    of each stage, ``notes`` what to know before, besides what the plan says of itself."""
    _check(form, PLAN_FORMATS)
    notes = [*notes, *plan.cautions]
    if form == "table":
        from aicr.upgrade.plan_table import plan_table

        return plan_table(plan, notes)
    if form == "markdown":
        from aicr.upgrade.plan_page import plan_page

        return plan_page(plan, commands, notes)
    if form == "html":
        from aicr.upgrade.plan_html import plan_html

        return plan_html(plan, commands, notes)
    from aicr.upgrade.plan_report import plan_values

    return document_text(plan_values(plan, {one.n: one.file for one in recipes}), form)


def document_text(values: Mapping[str, object], form: str) -> str:
    """Values as JSON or YAML."""
    from aicr.documents.emit import json_text, yaml_text

    return json_text(values) if form == "json" else yaml_text(values)
