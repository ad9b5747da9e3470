"""``aicr nvcf mirror-check``: does the registry have the images, before any pod asks for them?"""

from __future__ import annotations

from aicr.cli.flags import add_bool
from aicr.cli.nvcf_flags import add_format_flag, add_registry_flags, answer, planned, registry_of
from aicr.cli.nvcf_mirror_plan import architectures_of
from aicr.cli.nvcf_task_images import add_inventory_flag
from aicr.cli.output import write
from aicr.errors import invalid
from aicr.nvcf.outcome import failure_code as failure_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from aicr.artifact.image_ref import ImageRef


_EPILOG = """\
Examples:
  aicr nvcf mirror-check mirror.example.com/nvcf/nvcf-worker-task-oss:1.1.6 --fleet fleet.yaml
  aicr nvcf mirror-check localhost:5000/team/init:1 --plain-http localhost:5000 --arch arm64
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("image", nargs="+", metavar="IMAGE", help="an image reference")
    add_inventory_flag(parser)
    parser.add_argument(
        "--arch", action="append", default=[], metavar="ARCH",
        help="a required architecture; may be repeated (default: those of --fleet, else amd64)",
    )  # fmt: skip
    parser.add_argument("--fleet", metavar="FILE", help="take the architectures from this fleet")
    add_bool(parser, "--plan", help="print what would be read, and read nothing")
    add_format_flag(parser)
    add_registry_flags(parser)


def run(args: argparse.Namespace) -> int:
    from aicr.nvcf.inventory import compare, read_inventory
    from aicr.nvcf.mirror_check import MirrorAnswer, mirror_check
    from aicr.nvcf.mirror_report import mirror_outcome

    images = parsed(args.image)
    architectures = architectures_of(args)
    if planned(args):
        write("".join(
            f"GET {image.registry}: manifests and configurations of {image.path} "
            f"({', '.join(architectures)}), at most {args.timeout_registry:g} s each\n"
            for image in images
        ))  # fmt: skip
        return 0
    inventory = read_inventory(args.inventory) if args.inventory is not None else None
    registry = registry_of(args)
    answers = []
    notes: list[str] = []
    for image in images:
        digests: list[str] = []
        if inventory is not None:
            compared = compare(image, inventory)
            notes += compared.notes
            if not compared.agrees:
                answers.append(MirrorAnswer(image, "digest-differs", compared.why, None))
                continue
            digests = list(compared.digests)
        answers.append(mirror_check(registry, image, architectures=architectures, digests=digests))
    return answer(mirror_outcome(answers, architectures, notes), args)


def parsed(texts: list[str]) -> list[ImageRef]:
    """The references; INVALID_REQUEST names every text that is none."""
    from aicr.artifact.image_ref import parse_image

    found = [(text, parse_image(text)) for text in dict.fromkeys(texts)]
    bad = [text for text, ref in found if ref is None]
    if bad:
        raise invalid(
            f"no image reference: {', '.join(repr(text) for text in bad)}",
            hint="expected [registry/]repository[:tag][@digest]",
        )
    return [ref for _, ref in found if ref is not None]
