"""Which verb was asked for; and the one place that turns an exception into output."""

from __future__ import annotations

import os
import sys

from aicr.cli.output import prepare, write
from aicr.errors import EXIT_CODES, INTERNAL, INVALID_REQUEST, AicrError, invalid
from aicr.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import NoReturn

# Verb: the module that answers it, and what it is for. Longer names are looked up first.
VERBS = {
    "recipe": ("recipe", "resolve what a cluster should run"),
    "recipe list": ("recipe_list", "the criteria that resolve"),
    "recipe explain": ("recipe_explain", "where a field of a recipe comes from"),
    "query": ("query", "print one value of a recipe"),
    "diff": ("diff", "what differs between two recipes or bundles"),
    "upgrade-check": ("upgrade_check", "is the move from what is deployed safe?"),
    "upgrade-plan": ("upgrade_plan", "by which hops to get from what is deployed to a target"),
    "fleet check": ("fleet_check", "is the move safe, for many clusters at once?"),
    "bundle": ("bundle", "write what the deployer applies"),
    "verify": ("verify", "is a bundle what was written?"),
    "mirror list": ("mirror_list", "the images and charts that a recipe needs"),
    "serve": ("serve", "the REST API and its page"),
    "inventory": ("inventory", "what is installed in a cluster"),
    "drift": ("drift", "where a cluster differs from its recipe"),
    "snapshot": ("snapshot", "what the API tells of a cluster"),
    "records lint": ("records_lint", "are the transition records well-formed and complete?"),
    "records coverage": ("records_coverage", "which moves between releases have a verdict"),
    "records show": ("records_show", "the records of a component, as an operator reads them"),
    "records graph": ("records_graph", "the recorded ways of a component"),
    "records new": ("records_new", "a skeleton for the record of a move"),
    "nvcf init": ("nvcf_init", "write a fleet file to fill in"),
    "nvcf status": ("nvcf_status", "what is behind each entry of the fleet file"),
    "nvcf task-images": ("nvcf_task_images", "the images that a render's workers pull"),
    "nvcf mirror-plan": ("nvcf_mirror_plan", "what to copy to the mirror"),
    "nvcf mirror-check": ("nvcf_mirror_check", "does the registry have the images?"),
    "nvcf pull-check": ("nvcf_pull_check", "can every node pull the images?"),
    "nvcf agents": ("nvcf_agents", "which agent runs in each compute cluster"),
    "nvcf nats-roll": ("nvcf_nats_roll", "may NATS restart?"),
    "nvcf drain": ("nvcf_drain", "are all queues drained, on every server?"),
    "nvcf recover": ("nvcf_recover", "capture what is retained, and say what became of it"),
    "nvcf analyze": ("nvcf_analyze", "the same from a folder alone"),
    "nvcf preflight": ("nvcf_preflight", "what has to be ready before maintenance, on one page"),
    "nvcf gate": ("nvcf_gate", "the one command that can say resume"),
    "nvcf verify": ("nvcf_verify", "does what ran before the upgrade still run?"),
    "nvcf evidence": ("nvcf_evidence", "is a record what was written, and what is in it?"),
    "completion": ("completion", "shell completion for bash, zsh or fish"),
}

_HELP = ("--help", "-h", "help")


def run() -> NoReturn:
    """The command ``aicr``: ``main``, and then out at once.

    Everything is written and closed by then; to take the interpreter apart module by module
    would cost a cold command a fifth of its time. Documents are trees, so cycles are looked for
    seldom: at the usual rate that is a tenth of ``bundle``.
    """
    import gc

    gc.set_threshold(100_000, 20, 20)
    code = main()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = code or 141
    os._exit(code)


def main(argv: list[str] | None = None) -> int:
    """Run one command and give its exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    debug = "--debug" in arguments
    module: ModuleType | None = None
    prepare()
    try:
        if arguments[:1] and arguments[0] in _HELP:
            arguments = [*arguments[1:], "--help"]
        group = _group(arguments)
        if group is not None:
            from aicr.cli.usage import usage

            write(usage(group, VERBS))
            asked = any(word in _HELP for word in arguments)
            return 0 if asked else _bad_invocation(arguments)
        if arguments[0] in ("--version", "version"):
            write(f"aicr {__version__}\n")
            return 0
        verb = _find(arguments)
        module = _load(verb)
        return _run(verb, module, arguments[len(verb.split()) :])
    except BrokenPipeError:
        return 141  # the reader went away (``| head``): no message, the exit code of SIGPIPE
    except SystemExit as end:  # --help
        return int(end.code or 0)
    except KeyboardInterrupt:
        sys.stderr.write("\naicr: interrupted\n")
        return 130
    except AicrError as error:
        if debug:
            _traceback()
        return _fail(error, module, arguments)
    except Exception as error:  # the last net: a fault of the tool itself
        if debug:
            _traceback()
        kind = type(error).__name__
        fault = AicrError(
            INTERNAL,
            f"a fault of aicr itself: {kind}: {error}",
            hint="run again with --debug and report what it prints",
        )
        return _fail(fault, module, arguments)


def _group(arguments: list[str]) -> str | None:
    """Whose commands are to be listed: "" is all; None where a command is named."""
    words = [word for word in arguments if word not in _HELP]
    if not words:
        return ""
    return words[0] if words == arguments[:1] and _is_group(words[0]) else None


def _is_group(word: str) -> bool:
    return word not in VERBS and any(verb.startswith(f"{word} ") for verb in VERBS)


def _bad_invocation(arguments: list[str]) -> int:
    """Under nvcf 2 means no-go."""
    return 1 if arguments[:1] == ["nvcf"] else 2


def _find(arguments: list[str]) -> str:
    for words in (2, 1):
        verb = " ".join(arguments[:words])
        if verb in VERBS:
            return verb
    from difflib import get_close_matches

    group = f"{arguments[0]} " if _is_group(arguments[0]) else ""
    word = arguments[1 if group else 0]
    below = [verb.removeprefix(group) for verb in VERBS if verb.startswith(group)]
    near = get_close_matches(word, below, 1)
    raise invalid(
        f'"{group}{word}" is no command of aicr',
        hint=f"did you mean aicr {group}{near[0]}?"
        if near
        else f"aicr {group}--help lists the commands",
    )


def _load(verb: str) -> ModuleType:
    name = f"aicr.cli.{VERBS[verb][0]}"
    __import__(name)
    return sys.modules[name]


def _run(verb: str, module: ModuleType, arguments: list[str]) -> int:
    from aicr.cli.flags import parse

    args = parse(verb, VERBS[verb][1], module.configure, arguments)
    code: int = module.run(args)
    return code


def _fail(error: AicrError, module: ModuleType | None, arguments: list[str]) -> int:
    from aicr.documents.safe import prose

    sys.stderr.write(f"aicr: error: {prose(error.message)}\n")
    if error.hint:
        sys.stderr.write(f"  hint: {prose(error.hint)}\n")
    code = EXIT_CODES[error.code]
    failure_code = getattr(module, "failure_code", None)
    if failure_code is not None:
        code = failure_code(arguments, code)
    elif module is None and error.code == INVALID_REQUEST:
        code = _bad_invocation(arguments)
    return code


def _traceback() -> None:
    import traceback

    traceback.print_exc()
