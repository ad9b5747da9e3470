"""``aicr nvcf task-images``: which images the workers of tasks, or of functions, are."""

from __future__ import annotations

import sys

from aicr.cli.flags import add_bool
from aicr.cli.nvcf_flags import add_format_flag, answer
from aicr.cli.output import note, warn, write
from aicr.nvcf.outcome import failure_code as failure_code
from aicr.nvcf.to_copy import to_copy

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from aicr.artifact.image_ref import ImageRef
    from aicr.nvcf.outcome import Outcome
    from aicr.nvcf.render import Rendered

AGREES, DIFFERS, UNRESOLVED = "agrees", "inventory-differs", "unresolved"


_EPILOG = """\
Examples:
  aicr nvcf task-images --render out
  aicr nvcf task-images --render out --inventory nvcf-self-managed-stack-inventory.json
  aicr nvcf task-images --render out --function-images
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    add_render_flag(parser)
    add_inventory_flag(parser)
    add_bool(parser, "--include-ess-agent", help="the third image too, of tasks with secrets")
    add_bool(parser, "--function-images", help="the workers of functions instead, as key<TAB>image")
    add_format_flag(parser, default="")


def add_render_flag(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    parser.add_argument(
        "--render", metavar="DIR", required=required,
        help="the target render's helm-nvcf-nvct-api/templates, or a folder above it",
    )  # fmt: skip


def add_inventory_flag(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    parser.add_argument(
        "--inventory", metavar="FILE|URL", required=required,
        help="the target release's nvcf-self-managed-stack-inventory.json",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    from aicr.nvcf.inventory import Comparison, compare, read_inventory
    from aicr.nvcf.render import FUNCTIONS, TASKS, NoGo, read_render
    from aicr.nvcf.task_images import function_images, task_images

    service = FUNCTIONS if args.function_images else TASKS
    try:
        rendered = read_render(args.render, service)
        for one in rendered.notes:
            note(one)
        if args.function_images:
            named = function_images(rendered)
        else:
            found = task_images(rendered, with_ess_agent=args.include_ess_agent)
            chosen = found.chosen(with_ess_agent=args.include_ess_agent)
            named = dict(zip(("init", "worker", "ess-agent"), chosen, strict=False))
            if found.ess_agent is not None and not args.include_ess_agent:
                warn(
                    f"tasks with secrets pull {found.ess_agent.text} too: --include-ess-agent "
                    "checks it"
                )
    except NoGo as error:
        if args.format:
            return answer(_outcome(args, {}, UNRESOLVED, [str(error)]), args)
        sys.stderr.write(f"aicr: error: {error}\n")
        return 2
    compared: list[Comparison] = []
    if args.inventory is not None:
        inventory = read_inventory(args.inventory)
        for one in inventory.warnings:
            note(f"{args.inventory}: {one}")
        compared = [compare(image, inventory, service.name) for image in named.values()]
    bad = [one.why for one in compared if not one.agrees]
    for comparison in compared:
        for one in comparison.notes:
            note(one)
    if args.format:
        word = DIFFERS if bad else AGREES
        return answer(_outcome(args, named, word, bad, rendered), args)
    write("".join(f"{key}\t{image.text}\n" if args.function_images else f"{image.text}\n"
                  for key, image in named.items()))  # fmt: skip
    for why in bad:
        sys.stderr.write(f"aicr: no-go: {why}\n")
    return 2 if bad else 0


def _outcome(
    args: argparse.Namespace,
    named: Mapping[str, ImageRef],
    word: str,
    reasons: Sequence[str],
    rendered: Rendered | None = None,
) -> Outcome:
    from aicr.nvcf.outcome import Fact, Outcome, Table

    actions = {
        AGREES: "mirror the images (aicr nvcf mirror-plan), then aicr nvcf mirror-check",
        DIFFERS: "render the target release, or pass the inventory of that release",
        UNRESOLVED: "correct the registry settings of the render, and render again",
    }
    source = rendered.where if rendered is not None else args.render
    return Outcome(
        command="task-images",
        answer=word,
        go=word == AGREES,
        next_action=actions[word],
        next_command=to_copy("mirror-check", *(i.text for i in named.values()))
        if word == AGREES
        else to_copy("task-images", "--render", args.render),
        do_not=["Do not take an image or an inventory for the stack's package."],
        tables=[Table("", ["image", "reference"], [[k, i.text] for k, i in named.items()])],
        notes=reasons,
        facts=[Fact(key, image.text, source) for key, image in named.items()],
    )
