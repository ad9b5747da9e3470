"""How a verb's arguments are declared and parsed, and the flags that several verbs share."""

from __future__ import annotations

import argparse
import os

from aicr.cli.output import write
from aicr.errors import AicrError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import NoReturn

    from aicr.artifact.config_map import ClusterRef
    from aicr.catalog.layers import Catalog
    from aicr.documents.fields import Problem


class Parser(argparse.ArgumentParser):
    """A parser whose errors are the project's own, so that one place prints them."""

    def error(self, message: str) -> NoReturn:
        raise invalid(message, hint=f"{self.prog} --help explains the arguments")

    def print_help(self, file: object = None) -> None:
        write(self.format_help())


class BoolFlag(argparse.Action):
    """A flag that is given as ``--flag``, ``--flag=true`` or ``--flag=false``."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        word = str(values).lower()
        if word not in ("true", "false"):
            parser.error(f'{option_string}: expected true or false, found "{values}"')
        setattr(namespace, self.dest, word == "true")


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Shows the environment variable of each flag."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        variable = next(iter(variables_of(action)), "")
        return f"{action.help} [env: {variable}]" if variable and action.help else action.help


def variables_of(action: argparse.Action) -> list[str]:
    """The environment variables that stand in for a flag, the first one first."""
    if action.dest in ("help", "debug"):
        return []
    return [
        "AICR_" + name[2:].upper().replace("-", "_")
        for name in action.option_strings
        if name.startswith("--")
    ]


def add_bool(
    parser: argparse._ActionsContainer, name: str, *, default: bool | None = False, help: str
) -> None:
    """Declare a boolean flag (``BoolFlag``)."""
    parser.add_argument(
        name, action=BoolFlag, nargs="?", default=default, metavar="=BOOL", help=help
    )


def is_on(arguments: list[str], name: str) -> bool:
    """Whether a boolean flag that is off by default was given, also where parsing failed."""
    given = [word.partition("=")[2] or "true" for word in arguments if word.split("=")[0] == name]
    variable = "AICR_" + name[2:].upper().replace("-", "_")
    value = given[-1] if given else os.environ.get(variable, "")
    return value.lower() not in ("", "false")


def _formatter(prog: str) -> argparse.HelpFormatter:
    """A formatter that knows its width: to find it out, argparse would import shutil each time."""
    try:
        width = int(os.environ.get("COLUMNS", "")) or 80
    except ValueError:
        try:
            width = os.get_terminal_size(1).columns or 80
        except OSError:
            width = 80
    return HelpFormatter(prog, width=min(width, 100) - 2)


def make_parser(
    verb: str, purpose: str, configure: Callable[[argparse.ArgumentParser], None]
) -> Parser:
    """The parser of a verb, with the flags that all have."""
    parser = Parser(
        prog=f"aicr {verb}",
        description=purpose[0].upper() + purpose[1:] + ("" if purpose.endswith("?") else "."),
        formatter_class=_formatter,
        allow_abbrev=False,
    )
    configure(parser)
    parser.add_argument("--debug", action="store_true", help="show where an error came from")
    return parser


def parse(
    verb: str,
    purpose: str,
    configure: Callable[[argparse.ArgumentParser], None],
    arguments: list[str],
) -> argparse.Namespace:
    """The parsed arguments of a verb. Raises INVALID_REQUEST; ``--help`` ends the process."""
    parser = make_parser(verb, purpose, configure)
    options = parser._option_string_actions
    named = [
        options[name]
        for word in arguments
        if (name := word.partition("=")[0] if word.startswith("--") else word[:2]) in options
    ]
    given = {action.dest for action in named}
    for action in named:
        if type(action) is argparse._StoreAction and named.count(action) > 1:
            parser.error(
                f"{'/'.join(action.option_strings)} is given more than once, and takes one value"
            )
    sources: dict[str, str] = {}
    words: list[str] = []
    for action in () if "help" in given else parser._actions:
        if action.dest in given or action.dest in sources:
            continue
        for variable in variables_of(action):
            value = os.environ.get(variable)
            if value:
                words += words_for(action, value)
                sources[action.dest] = variable
                break
    if "--config" in options and "help" not in given:
        words += _configured(verb, parser, [*words, *arguments], given, sources)
    try:
        args = parser.parse_args([*words, *(_whole(word, options) for word in arguments)])
    except AicrError as error:
        raise _attributed(error, parser, sources) from None
    args.sources = sources
    return args


def words_for(action: argparse.Action, value: str) -> list[str]:
    """The words of a command line that give a flag a value; one a line where it can be repeated."""
    name = next(name for name in action.option_strings if name.startswith("--"))
    values = [value]
    if isinstance(action, argparse._AppendAction):
        values = [line for line in value.splitlines() if line.strip()]
    return [f"{name}={one}" for one in values]


def _whole(word: str, options: Mapping[str, argparse.Action]) -> str:
    return f"{word}=true" if isinstance(options.get(word), BoolFlag) else word


def _configured(
    verb: str,
    parser: argparse.ArgumentParser,
    arguments: list[str],
    given: set[str],
    sources: dict[str, str],
) -> list[str]:
    """What the file of ``--config`` says about flags that were not given otherwise."""
    path = None
    for index, word in enumerate(arguments):
        name, separator, value = word.partition("=")
        if name == "--config":
            path = value if separator else " ".join(arguments[index + 1 : index + 2])
    if path is None:
        return []
    if not path:
        raise invalid("--config: is empty; a file was expected")
    from aicr.cli.config import configured_words

    return configured_words(path, verb, parser, given, sources)


def _attributed(
    error: AicrError, parser: argparse.ArgumentParser, sources: Mapping[str, str]
) -> AicrError:
    """The error, with where the value came from if it was not on the command line."""
    for action in parser._actions:
        if action.dest in sources and f"{'/'.join(action.option_strings)}:" in error.message:
            error.message += f" (from {sources[action.dest]})"
    return error


def add_catalog_flags(parser: argparse.ArgumentParser) -> None:
    """``--data``, ``--catalog`` and ``--allow-unknown-fields``."""
    group = parser.add_argument_group("catalog")
    group.add_argument(
        "--data", metavar="DIR", help="lay this catalog folder over the shipped catalog"
    )
    group.add_argument(
        "--catalog", metavar="DIR", help="use this catalog folder alone, nothing shipped below it"
    )
    add_bool(
        group,
        "--allow-unknown-fields",
        help="warn about keys that this version does not know in a catalog, instead of failing",
    )


def add_cluster_flags(parser: argparse.ArgumentParser) -> None:
    """``--kubeconfig`` and ``--context``, for what reads or writes ``cm://`` or a cluster."""
    group = parser.add_argument_group("cluster")
    group.add_argument(
        "-k",
        "--kubeconfig",
        metavar="FILE",
        help="default: KUBECONFIG, ~/.kube/config, then the pod's own account",
    )
    group.add_argument("--context", metavar="NAME", help="default: the current context")


def cluster_for(args: argparse.Namespace, location: str) -> ClusterRef | None:
    """Where a ``cm://`` is looked up; None, and nothing loaded, for anything else."""
    if not location.startswith("cm://"):
        return None
    from aicr.cli.connect import cluster_of

    return cluster_of(args)


def whole(least: int, most: int) -> Callable[[str], int]:
    """What reads a number of these bounds, in ASCII digits and nothing else."""

    def read(text: str) -> int:
        if text.isascii() and text.isdigit() and len(text) < 12 and least <= int(text) <= most:
            return int(text)
        raise argparse.ArgumentTypeError(
            f"expected a number from {least} to {most}, found {text!a}"
        )

    return read


def open_catalog_of(args: argparse.Namespace) -> Catalog:
    """The catalog that the flags of ``add_catalog_flags`` name; warnings go to stderr."""
    from aicr.catalog.open import open_catalog
    from aicr.cli.output import warn

    def on_warning(problem: Problem) -> None:
        warn(str(problem))

    catalog, data = args.catalog, args.data
    if catalog is not None and data is not None:
        # The two exclude each other; one from the command line wins over one from elsewhere.
        if "data" in args.sources and "catalog" not in args.sources:
            data = None
        elif "catalog" in args.sources and "data" not in args.sources:
            catalog = None
    return open_catalog(
        catalog, data, allow_unknown=args.allow_unknown_fields, on_warning=on_warning
    )


def add_config_flag(parser: argparse.ArgumentParser) -> None:
    """``--config``; what the file says is taken for flags before they are parsed."""
    parser.add_argument(
        "--config", metavar="FILE", help="an AICRConfig file; flags win over what it says"
    )


def add_criteria_flags(
    parser: argparse.ArgumentParser, *, platform: str | type[argparse.Action] = "store"
) -> None:
    """The five dimensions; ``platform`` is what happens at ``--platform``."""
    group = parser.add_argument_group("criteria (state at least one; any leaves it open)")
    group.add_argument("--service", metavar="NAME", help="Kubernetes service, such as eks or gke")
    group.add_argument("--accelerator", "--gpu", metavar="NAME", help="GPU, such as h100 or gb200")
    group.add_argument("--intent", metavar="NAME", help="training or inference")
    group.add_argument("--os", metavar="NAME", help="operating system of the GPU nodes")
    group.add_argument(
        "--platform", metavar="NAME", action=platform, help="platform, such as kubeflow or dynamo"
    )


def stated_criteria(args: argparse.Namespace) -> dict[str, str]:
    """What the flags of ``add_criteria_flags`` state."""
    from aicr.catalog.model import DIMENSIONS

    return {
        dimension: value
        for dimension in DIMENSIONS
        if (value := getattr(args, dimension)) is not None
    }
