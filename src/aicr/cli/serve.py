"""``aicr serve``: the REST API and its page."""

from __future__ import annotations

from aicr.cli.flags import add_bool, add_catalog_flags, open_catalog_of
from aicr.errors import install, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

_EPILOG = """\
Examples:
  aicr serve
      then open http://127.0.0.1:8080/ in a browser
  aicr serve --host 0.0.0.0 --port 8080
  aicr serve --data ./my-catalog --charts-dir ./charts
  curl -s --data-binary @old-recipe.yaml -H 'Content-Type: application/yaml' \\
    'http://127.0.0.1:8080/v1/upgrade-check?deployer=helm'

It has no access to clusters, fetches nothing, and writes no files: what names a path (inheritFrom,
snapshot, data) is not taken over HTTP. It has no users and no TLS: bind it to other addresses only
behind something that has.

Needs the extra serve: pip install '.[serve]' in the folder of aicr's source

Exit codes: 2 the address cannot be had, or the catalog is at fault; 130 and 143 on signals, after
what is under way has been answered.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("--host", metavar="ADDRESS", default="127.0.0.1", help="default: 127.0.0.1")
    parser.add_argument(
        "--port", metavar="N", type=int, default=8080, help="default: 8080; 0 is any that is free"
    )
    parser.add_argument(
        "--charts-dir", metavar="DIR", default="",
        help="charts on disk, for mirror lists; without them there are none",
    )  # fmt: skip
    add_bool(parser, "--request-log", default=True, help="a JSON line on stdout for each request")
    add_catalog_flags(parser)


def run(args: argparse.Namespace) -> int:
    import os

    try:
        from aicr.server.run import serve
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.partition(".")[0] == "aicr":
            raise
        raise invalid(
            f"aicr serve needs {error.name}, which is not installed",
            hint=install("serve"),
        ) from None
    from aicr.library import Catalog

    if not 0 <= args.port <= 65535:
        raise invalid(f"--port {args.port}: expected 0 to 65535")
    if args.charts_dir and not os.path.isdir(args.charts_dir):
        raise invalid(f"--charts-dir {args.charts_dir}: there is no such folder")
    serve(
        Catalog.of(open_catalog_of(args)),
        host=args.host,
        port=args.port,
        charts_dir=args.charts_dir,
        log=args.request_log,
    )
    return 0
