"""``aicr verify``: is a bundle what was written, and if not, what differs?"""

from __future__ import annotations

from aicr.cli.flags import add_bool
from aicr.cli.output import write

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from aicr.bundle.verify import Verification

_EPILOG = """\
Examples:
  aicr verify ./bundles
  aicr verify bundle.tar.gz
  aicr verify oci://registry.example:5000/gpu/bundle:v1
  aicr verify ./bundles --format json

Compared are every file with checksums.txt, the recipe with its digest in bundle-info.yaml, the
layout with what bundle-info.yaml and the recipe say, and vendored charts with provenance.yaml.
A cluster-values.yaml that was written to differs too: it is the operator's own.

Exit codes: 0 it is what was written; 2 it is not, or it is no bundle; 3 the registry has nothing of
that name; 4 not allowed to read; 5 too slow; 6 not reachable.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("bundle", metavar="DIR", help="a bundle: folder, .tar.gz file, or oci://")
    add_bool(parser, "--plain-http", help="speak to the registry of oci:// without TLS")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file")
    parser.add_argument(
        "-t", "--format", choices=("text", "json"), default="text", help="default: text"
    )


def run(args: argparse.Namespace) -> int:
    from aicr.bundle.contents import open_contents
    from aicr.bundle.verify import verify

    found = verify(open_contents(args.bundle, plain_http=args.plain_http))
    render = _json if args.format == "json" else _text
    write(render(args.bundle, found), args.output)
    return 0 if found.intact else 2


def _json(location: str, found: Verification) -> str:
    from aicr.documents.emit import json_text

    return json_text(
        {
            "bundle": location,
            "intact": found.intact,
            "files": found.count,
            "deployer": found.deployer,
            "recipeDigest": found.recipe_digest,
            "changed": [
                {"path": one.path, "expected": one.expected, "found": one.found}
                for one in found.changed
            ],
            "missing": list(found.missing),
            "extra": list(found.extra),
            "problems": list(found.problems),
        }
    )


def _text(location: str, found: Verification) -> str:
    from aicr.bundle.writers.local import CLUSTER_VALUES
    from aicr.documents.safe import cell

    where = cell(location)
    if found.intact:
        return f"{where}: intact, {found.count} files, recipe {found.recipe_digest}\n"
    lines = [f"{where}: NOT what was written\n"]
    for one in found.changed:
        own = " (values of this cluster)" if one.path.endswith(f"/{CLUSTER_VALUES}") else ""
        lines.append(f"  changed  {cell(one.path)}{own}\n")
        lines.append(f"             was {one.expected}\n             is  {one.found}\n")
    lines += [f"  missing  {cell(path)}\n" for path in found.missing]
    lines += [f"  extra    {cell(path)}\n" for path in found.extra]
    lines += [f"  wrong    {cell(problem)}\n" for problem in found.problems]
    return "".join(lines)
