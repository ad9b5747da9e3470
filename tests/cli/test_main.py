"""The command as a whole: help, versions, exit codes, and what happens when something is wrong."""

from __future__ import annotations

import os
import resource
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

from aicr import __version__
from aicr.cli import recipe as recipe_verb
from aicr.cli.flags import parse
from aicr.cli.main import VERBS, _find, _load, main
from aicr.cli.usage import GROUPS
from aicr.errors import EXIT_CODES, HTTP_STATUSES, AicrError
from command import COMMAND, assert_fails, run_aicr
from small_catalog import simple

EKS = ("recipe", "--service", "eks")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    catalog = simple({"name": "a", "overrides": {"text": "naïve \x1b[31m"}}, {"name": "b"})
    return catalog.write(tmp_path_factory.mktemp("small") / "catalog")


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_has_help_with_examples(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*verb.split(), "--help"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert f"usage: aicr {verb} " in shown.out
    assert "Examples:" in shown.out
    assert f"  aicr {verb}" in shown.out or f"(aicr {verb}" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 110


@pytest.mark.parametrize("verb", [*sorted(GROUPS), *sorted(VERBS)])
def test_every_example_can_be_parsed(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    main([*verb.split(), "--help"])
    text = capsys.readouterr().out.split("Examples:\n")[1]
    examples = [
        shlex.split(line.split(" > ")[0].split(" | ")[0])[1:]
        for line in text.replace("\\\n", " ").split("\n\n")[0].splitlines()
        if line.startswith("  aicr ")
    ]
    assert examples
    for arguments in examples:
        if "--config" in arguments:  # parsing reads that file
            at = arguments.index("--config")
            del arguments[at : at + 2]
        found = _find(arguments)
        assert found == verb or (verb in GROUPS and found.startswith(verb))
        parse(found, "purpose", _load(found).configure, arguments[len(found.split()) :])


def test_help_of_the_whole_names_every_verb() -> None:
    done = run_aicr("--help")
    assert (done.returncode, done.stderr) == (0, "")
    for verb, (_, purpose) in VERBS.items():
        assert f"  {verb} " in done.stdout
        assert purpose in done.stdout
    assert run_aicr("help").stdout == done.stdout
    bare = run_aicr()
    assert (bare.returncode, bare.stdout) == (2, done.stdout)


@pytest.mark.parametrize("group", [name for name in GROUPS if name])
def test_help_of_a_group(group: str) -> None:
    asked = [run_aicr(*words) for words in ((group, "-h"), (group, "--help"), ("help", group))]
    assert {(done.returncode, done.stderr) for done in asked} == {(0, "")}
    (said,) = {done.stdout for done in asked}
    listed = {verb for verb in VERBS if f"  {verb} " in said}
    assert listed == {verb for verb in VERBS if verb.split()[0] == group}
    bare = run_aicr(group)
    assert (bare.returncode, bare.stdout) == (1 if group == "nvcf" else 2, said)


def test_every_first_word_is_a_command_or_has_help() -> None:
    assert {verb.split()[0] for verb in VERBS} <= {*VERBS, *GROUPS}


@pytest.mark.parametrize("verb", ["recipe", "recipe list", "nvcf drain"])
def test_help_of_a_command_by_the_word_help(verb: str) -> None:
    done = run_aicr("help", *verb.split())
    assert (done.returncode, done.stdout) == (0, run_aicr(*verb.split(), "--help").stdout)


def test_version() -> None:
    for word in ("--version", "version"):
        done = run_aicr(word)
        assert (done.returncode, done.stdout, done.stderr) == (0, f"aicr {__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["recpe"], '"recpe" is no command of aicr\n  hint: did you mean aicr recipe?'),
        (["zzz"], '"zzz" is no command of aicr\n  hint: aicr --help lists the commands'),
        (["records", "shwo"], "hint: did you mean aicr records show?"),
        (["fleet", "--to"], '"fleet --to" is no command of aicr\n  hint: aicr fleet --help'),
        (["records", "zzz"], "hint: aicr records --help lists the commands"),
        (["help", "zzz"], "hint: aicr --help lists the commands"),
        (["\x1b[31m\u202e"], '"\\x1b[31m\\u202e" is no command'),
        (["recipe", "--servise", "eks"], "unrecognized arguments: --servise eks"),
        (["recipe", "extra"], "unrecognized arguments: extra"),
        (["recipe", "--nodes", "many"], "argument --nodes: expected a number from 0 to 9"),
        (["recipe", "--format", "xml"], "argument -t/--format: invalid choice: 'xml'"),
        (["recipe", "--serv", "eks"], "unrecognized arguments: --serv eks"),
        (["recipe", "--service"], "argument --service: expected one argument"),
        (["recipe", "--criteria-strict=maybe"], 'expected true or false, found "maybe"'),
        (["completion"], "the following arguments are required: shell"),
        (["completion", "tcsh"], "invalid choice: 'tcsh'"),
    ],
)
def test_a_wrong_invocation(arguments: list[str], part: str) -> None:
    assert_fails(run_aicr(*arguments), 2, part)


@pytest.mark.parametrize("word", ["--criteria-strict", "--criteria-strict=TRUE"])
def test_a_boolean_flag_takes_no_word_after_it(word: str) -> None:
    assert_fails(run_aicr("recipe", word, "false"), 2, "unrecognized arguments: false")


@pytest.mark.parametrize(("code", "exit_code"), sorted(EXIT_CODES.items()))
def test_each_error_has_its_exit_code(
    code: str, exit_code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> int:
        raise AicrError(code, "it is wrong\nin two lines", hint="mend it")

    monkeypatch.setattr(recipe_verb, "run", fail)
    assert main(["recipe"]) == exit_code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "aicr: error: it is wrong\nin two lines\n  hint: mend it\n"
    assert AicrError(code, "").http_status == HTTP_STATUSES[code]
    assert AicrError(code, "").exit_code == exit_code


def test_a_fault_of_the_tool_itself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> int:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(recipe_verb, "run", fail)
    assert main(["recipe"]) == 8
    shown = capsys.readouterr().err
    assert shown.startswith("aicr: error: a fault of aicr itself: ZeroDivisionError: oops\n")
    assert "--debug" in shown
    assert "Traceback" not in shown
    assert main(["recipe", "--debug"]) == 8
    assert "Traceback" in capsys.readouterr().err


def test_debug_shows_where_an_error_came_from() -> None:
    done = run_aicr("recipe", "--debug")
    assert done.returncode == 2
    assert "Traceback" in done.stderr
    assert done.stderr.endswith("--os, --platform\n") or "no criteria were given" in done.stderr


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*"))


@pytest.mark.parametrize(
    ("output", "part"),
    [
        (".", "it is a folder"),
        ("", "expected the path of a file, found an empty one"),
        ("missing/x.yaml", "its folder does not exist"),
        ("file/x.yaml", "a part of the path is a file"),
        ("n" * 300, "the name is too long"),
    ],
)
def test_an_output_path_that_cannot_be(tmp_path: Path, small: Path, output: str, part: str) -> None:
    (tmp_path / "file").write_text("kept")
    done = run_aicr(*EKS, "--catalog", small, "-o", output, cwd=tmp_path)
    assert_fails(done, 2, part)
    assert left(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to a read-only folder")
def test_an_output_folder_that_is_read_only(tmp_path: Path, small: Path) -> None:
    tmp_path.chmod(0o500)
    done = run_aicr(*EKS, "--catalog", small, "-o", tmp_path / "x.yaml")
    assert_fails(done, 2, "no permission to write there")
    assert left(tmp_path) == []


def test_output_that_does_not_fit_leaves_what_was_there(tmp_path: Path, small: Path) -> None:
    target = tmp_path / "out.yaml"
    target.write_text("before")

    def little_space() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    done = subprocess.run(
        [*COMMAND, *EKS, "--catalog", small, "-o", target],
        capture_output=True, encoding="utf-8", preexec_fn=little_space,
    )  # fmt: skip
    assert_fails(done, 2, f"{target}: cannot be written")
    assert left(tmp_path) == ["out.yaml"]
    assert target.read_text() == "before"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["recipe", "--help"], ["recipe", "list"], [*EKS],
     ["completion", "bash"]],
    ids=lambda words: " ".join(words),
)  # fmt: skip
def test_a_full_device(arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, encoding="utf-8"
        )
    assert done.returncode == 2
    assert done.stderr == (
        "aicr: error: standard output cannot be written: No space left on device\n"
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_device_as_the_output_file(small: Path) -> None:
    done = run_aicr(*EKS, "--catalog", small, "-o", "/dev/full")
    assert_fails(done, 2, "/dev/full: cannot be written: no space left on the device")


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["recipe", "--help"], ["recipe", "list"], [*EKS],
     ["completion", "bash"]],
    ids=lambda words: " ".join(words),
)  # fmt: skip
def test_a_reader_that_goes_away(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as gone:
        done = subprocess.run(
            [*COMMAND, *arguments], stdout=gone, stderr=subprocess.PIPE, encoding="utf-8"
        )
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


def test_head_gets_its_line(small: Path) -> None:
    command = shlex.join([*COMMAND, *EKS, "--catalog", str(small)])
    done = subprocess.run(
        ["sh", "-c", f"{command} | head -n 1"], capture_output=True, encoding="utf-8"
    )
    assert (done.stdout, done.stderr) == ("kind: RecipeResult\n", "")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-"])
def test_streams_that_the_caller_closed(tmp_path: Path, small: Path, closed: str) -> None:
    target = tmp_path / "out.yaml"
    command = shlex.join([*COMMAND, *EKS, "--catalog", str(small)])
    done = subprocess.run(
        ["sh", "-c", f"{command} -o {target} {closed}; echo $?; {command} {closed} >&1; echo $?"],
        capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert done.stdout.startswith("0\n")
    assert done.stdout.endswith("0\n")
    assert target.read_text("utf-8").startswith("kind: RecipeResult\n")
    assert "Traceback" not in done.stderr


def test_an_error_with_stderr_closed_keeps_its_exit_code() -> None:
    done = subprocess.run(
        ["sh", "-c", f"{shlex.join([*COMMAND, 'zzz'])} 2>&-; echo $?"],
        capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("2\n", "")


def test_interrupted_by_a_person(tmp_path: Path, small: Path) -> None:
    """A pipe that nobody reads holds the command at its last step."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for patience in (1, 4, 10):
        running = subprocess.Popen(
            [*COMMAND, *EKS, "--catalog", small, "-o", pipe],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
        )  # fmt: skip
        time.sleep(patience)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=30)
        if running.returncode != -signal.SIGINT:  # that was before the command's first line
            break
    assert (running.returncode, out, err) == (130, "", "\naicr: interrupted\n")
    assert left(tmp_path) == ["pipe"]


def test_a_link_as_output_stays_a_link(tmp_path: Path, small: Path) -> None:
    (tmp_path / "real.yaml").write_text("before")
    (tmp_path / "link.yaml").symlink_to("real.yaml")
    done = run_aicr(*EKS, "--catalog", small, "-o", tmp_path / "link.yaml")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "link.yaml").is_symlink()
    assert (tmp_path / "real.yaml").read_text("utf-8").startswith("kind: RecipeResult\n")
