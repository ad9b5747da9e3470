"""A report or a plan in every format that it has, by the format's name."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.upgrade.check import Report
    from aicr.upgrade.plan import Plan
    from aicr.upgrade.plan_page import Commands
    from aicr.upgrade.stage_recipes import StageRecipe

REPORT_FORMATS = ("table", "json", "yaml", "markdown", "html", "junit")
PLAN_FORMATS = ("table", "json", "yaml", "markdown", "html")


def report_text(report: Report, form: str) -> str:
    """The report in one of ``REPORT_FORMATS``."""
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


def plan_text(
    plan: Plan,
    form: str,
    recipes: Sequence[StageRecipe] = (),
    commands: Mapping[int, Commands] | None = None,
    notes: Sequence[str] = (),
) -> str:
    """The plan in one of ``PLAN_FORMATS``; ``recipes`` are those of its stages, ``commands`` those
    of each stage, ``notes`` what to know before."""
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
