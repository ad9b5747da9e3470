"""``aicr drift``: what a recipe says against what is installed."""

from __future__ import annotations

from aicr.cli.connect import add_exclude_flag, cluster_of, connect
from aicr.cli.flags import add_bool, add_catalog_flags, add_cluster_flags, open_catalog_of
from aicr.cli.output import columns, warn, write
from aicr.cli.verdict_flags import add_verdict_flags
from aicr.cli.verdict_flags import failure_code as failure_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from aicr.upgrade.cluster_side import Installed
    from aicr.upgrade.drift import Finding

_EPILOG = """\
Examples:
  aicr drift --recipe recipe.yaml --deployer helm
  aicr drift --recipe ./bundles --context prod-west
      a bundle names its own deployer
  aicr drift --recipe recipe.yaml --deployer argocd --format json -o drift.json

Findings: missing, extra, version, namespace, state (failed or pending), unknown-version.
Reads only: list and get of Helm's records, list of Argo CD's Applications. Nothing is changed.

Exit codes: 0 no drift; 2 there is some, or a bad invocation; 4 not allowed to read; 5 too slow; 6
not reachable. With --detailed-exit-code: 0 none, 1 the comparison could not run, 2 drift.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument(
        "-r",
        "--recipe",
        required=True,
        metavar="ARTIFACT",
        help="a recipe file, a bundle, or cm://",
    )
    parser.add_argument(
        "--deployer",
        metavar="NAME",
        default="",
        help="helm, helmfile, argocd, argocd-helm or flux; needed unless a bundle names it",
    )
    add_exclude_flag(parser)
    add_bool(parser, "--allow-empty", help="a cluster without any component is no other fault")
    parser.add_argument(
        "--format", choices=("table", "json"), default="table", help="default: table"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file, or to cm://")
    add_verdict_flags(
        parser, attention="where there is drift", failed="the comparison could not run"
    )
    add_cluster_flags(parser)
    add_catalog_flags(parser)


def run(args: argparse.Namespace) -> int:
    from aicr.artifact.deployers import DEPLOYERS, check_deployer
    from aicr.artifact.read import open_artifact
    from aicr.errors import invalid
    from aicr.recipe.document import recipe_from
    from aicr.upgrade.cluster_side import read_installed
    from aicr.upgrade.drift import drift
    from aicr.upgrade.installed import known_components

    check_deployer(args.deployer)
    artifact = open_artifact(args.recipe, "--recipe", cluster_of(args))
    if args.deployer and artifact.deployer and args.deployer != artifact.deployer:
        raise invalid(
            f"--deployer {args.deployer} contradicts the bundle {args.recipe}, which was built "
            f"for {artifact.deployer}"
        )
    deployer = args.deployer or artifact.deployer
    if not deployer:
        raise invalid(
            "--deployer is required: each deployer keeps its own record of what it installed",
            hint=f"one of {', '.join(DEPLOYERS)}",
        )
    recipe = recipe_from(artifact.document, artifact.where, on_warning=lambda one: warn(str(one)))
    known = known_components(open_catalog_of(args), recipe.components)
    connection = connect(args, "drift")
    installed = read_installed(connection, deployer, known, excluded=args.exclude)
    for message in installed.notes:
        warn(message)
    findings = drift(recipe, installed, known)
    failures = installed.failures(allow_empty=args.allow_empty)
    if args.format == "json":
        from aicr.documents.emit import json_text

        text, name = json_text(_values(args.recipe, installed, findings, failures)), "drift.json"
    else:
        text, name = _table(args.recipe, installed, findings, failures), "drift.txt"
    write(text, args.output, name=name, cluster=cluster_of(args))
    return 2 if (findings or failures) and args.fail_on_error else 0


def _values(
    recipe: str, installed: Installed, findings: Sequence[Finding], failures: Sequence[str]
) -> dict[str, object]:
    from aicr.upgrade.source import SourceBlock, source_values

    return {
        "recipe": recipe,
        "source": source_values(SourceBlock(installed, failures)),
        "findings": [_finding_values(one) for one in findings],
        "summary": {"findings": len(findings)},
    }


def _finding_values(one: Finding) -> dict[str, object]:
    values: dict[str, object] = {
        "component": one.component,
        "finding": one.kind,
        "release": one.release,
        "recipe": one.wanted,
        "installed": one.found,
        "note": one.note,
    }
    return {name: value for name, value in values.items() if value != ""}


def _table(
    recipe: str, installed: Installed, findings: Sequence[Finding], failures: Sequence[str]
) -> str:
    from aicr.documents.safe import cell
    from aicr.upgrade.source import SourceBlock, source_lines

    lines = ["DRIFT\n", f"  {'recipe':<12}{cell(recipe)}\n"]
    about = [("deployer", installed.deployer), *source_lines(SourceBlock(installed, failures))]
    for name, value in about:
        lines.append(f"  {name:<12}{cell(value)}\n")
    lines += [f"  ! {cell(failure)}\n" for failure in failures]
    lines.append("\n")
    if findings:
        rows = [["COMPONENT", "FINDING", "RELEASE", "RECIPE", "INSTALLED", "NOTES"]]
        for one in findings:
            texts = [one.component, one.kind, one.release, one.wanted, one.found, one.note]
            rows.append([cell(text) or "-" for text in texts])
        lines += [columns(rows), "\n"]
    many = f"{len(findings)} difference{'' if len(findings) == 1 else 's'}"
    lines.append(many if findings else "no drift")
    return "".join(lines) + "\n"
