from __future__ import annotations

import argparse

import pytest

from aicr.cli.flags import add_bool, is_on, make_parser, parse, variables_of
from aicr.cli.main import VERBS, _load, main
from aicr.errors import AicrError


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--accelerator", "--gpu")
    parser.add_argument("-n", "--nodes", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], dest="sets")
    parser.add_argument("-t", "--format", choices=("yaml", "json"), default="yaml")
    parser.add_argument("--needed", required=True)
    add_bool(parser, "--strict", help="be strict")


def parsed(monkeypatch: pytest.MonkeyPatch, *words: str, **env: str) -> argparse.Namespace:
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    return parse("verb", "purpose", configure, list(words))


def test_a_variable_stands_in_for_a_flag(monkeypatch: pytest.MonkeyPatch) -> None:
    args = parsed(
        monkeypatch, AICR_ACCELERATOR="h100", AICR_NODES="4", AICR_NEEDED="x", AICR_STRICT="true",
        AICR_SET="a:b=1\n\nc:d=--x y\n",
    )  # fmt: skip
    assert (args.accelerator, args.nodes, args.needed, args.strict) == ("h100", 4, "x", True)
    assert args.sets == ["a:b=1", "c:d=--x y"]
    assert args.sources["accelerator"] == "AICR_ACCELERATOR"


def test_an_alias_has_its_own_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parsed(monkeypatch, "--needed=x", AICR_GPU="a100").accelerator == "a100"


@pytest.mark.parametrize("words", [["--nodes", "2"], ["--nodes=2"], ["-n", "2"], ["-n2"]])
def test_the_command_line_wins(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    args = parsed(monkeypatch, "--needed=x", *words, AICR_NODES="7", AICR_STRICT="true")
    assert args.nodes == 2
    assert "nodes" not in args.sources
    args = parsed(monkeypatch, "--needed=x", "--strict=false", "--set", "e", AICR_SET="f")
    assert args.strict is False
    assert args.sets == ["e"]


@pytest.mark.parametrize(
    ("words", "flag"),
    [
        (["--needed=x", "--needed", "y"], "--needed"),
        (["--needed=x", "--nodes=1", "-n2"], "-n/--nodes"),
        (["--needed=x", "--accelerator=a", "--gpu=b"], "--accelerator/--gpu"),
    ],
)
def test_of_two_values_none_is_dropped(
    monkeypatch: pytest.MonkeyPatch, words: list[str], flag: str
) -> None:
    with pytest.raises(AicrError) as caught:
        parsed(monkeypatch, *words)
    assert caught.value.message == f"{flag} is given more than once, and takes one value"


@pytest.mark.parametrize(
    ("words", "value", "on"),
    [
        ([], "", False),
        ([], "true", True),
        ([], "false", False),
        (["--strict"], "false", True),
        (["--strict=False"], "true", False),
        (["--strict=false", "--strict"], "", True),
        (["--stricter"], "", False),
    ],
)
def test_whether_a_flag_is_on_is_known_without_parsing(
    monkeypatch: pytest.MonkeyPatch, words: list[str], value: str, on: bool
) -> None:
    monkeypatch.setenv("AICR_STRICT", value)
    assert is_on(words, "--strict") is on


def test_empty_is_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parsed(monkeypatch, "--needed=x", AICR_NODES="").nodes == 0


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("AICR_NODES", "many", "invalid int value: 'many' (from AICR_NODES)"),
        ("AICR_FORMAT", "xml", "invalid choice: 'xml'"),
        ("AICR_FORMAT", "xml", "(from AICR_FORMAT)"),
        ("AICR_STRICT", "maybe", "--strict: expected true or false"),
    ],
)
def test_a_bad_value_names_its_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    with pytest.raises(AicrError) as caught:
        parsed(monkeypatch, "--needed=x", **{name: value})
    assert said in caught.value.message


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_help_shows_the_variable_of_every_flag(
    verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("AICR_NODES", "not a number")
    assert main([*verb.split(), "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    parser = make_parser(verb, VERBS[verb][1], _load(verb).configure)
    for action in parser._actions:
        for variable in variables_of(action)[:1]:
            assert f"[env: {variable}]" in text
