"""Checks as JUnit XML: a suite for each cluster, a test for each component that changed."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from aicr.documents.safe import cell, prose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aicr.upgrade.check import Report
    from aicr.upgrade.fleet import Fleet
    from aicr.upgrade.rows import Row


def report_junit(report: Report) -> str:
    """One check."""
    name = f"upgrade-check {report.before} -> {report.after}"
    return _document([_suite(name, report.rows, _failures(report), "")])


def fleet_junit(fleet: Fleet) -> str:
    """A fleet; a cluster that could not be read is a suite with an error."""
    return _document(
        _suite(
            one.name,
            one.rows,
            _failures(one.report) if one.report is not None else (),
            one.error.message if one.error is not None else "",
        )
        for one in fleet.shown
    )


def _failures(report: Report) -> Sequence[str]:
    return report.source.failures if report.source is not None else ()


def _document(suites: Iterable[str]) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n{"".join(suites)}</testsuites>\n'


def _suite(name: str, rows: Sequence[Row], failures: Sequence[str], error: str) -> str:
    tests = [_test(name, row) for row in rows]
    tests += [
        _case(name, "reading the cluster", f"    <failure{_attr('message', one)}/>\n")
        for one in failures
    ]
    if error:
        tests.append(_case(name, "reading", f"    <error{_attr('message', error)}/>\n"))
    failing = sum(row.fails_run for row in rows) + len(failures)
    counts = f' tests="{len(tests)}" failures="{failing}" errors="{int(bool(error))}"'
    return f"  <testsuite{_attr('name', name)}{counts}>\n{''.join(tests)}  </testsuite>\n"


def _test(suite: str, row: Row) -> str:
    if not row.fails_run:
        return _case(suite, row.component, "")
    said = f"{row.before or '-'} -> {row.after or '-'}: {row.verdict} ({row.reason}), {row.notes}"
    body = "".join(f"\n     {escape(_legal(line))}" for line in prose(row.explanation).split("\n"))
    kind = _attr("type", row.verdict)
    return _case(
        suite, row.component, f"    <failure{_attr('message', said)}{kind}>{body}</failure>\n"
    )


def _case(suite: str, name: str, inside: str) -> str:
    head = f"   <testcase{_attr('classname', suite)}{_attr('name', name)}"
    return f"{head}>\n{inside}   </testcase>\n" if inside else f"{head}/>\n"


def _attr(name: str, text: str) -> str:
    return f" {name}={quoteattr(_legal(cell(text)))}"


def _legal(text: str) -> str:
    """The text without what XML has no word for."""
    return "".join(c if c in "\n\t" or " " <= c <= "\ufffd" or c > "\uffff" else "?" for c in text)
