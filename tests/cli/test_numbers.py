"""Numbers on the command line are plain digits within bounds, whatever Python would read."""

from __future__ import annotations

import pytest

from aicr.cli.main import main
from command import assert_fails, run_aicr


@pytest.mark.parametrize("text", ["1_000", " 5", "+5", "\u0663", "-3", "1e3", "9" * 12])
def test_nodes_that_are_no_number(text: str) -> None:
    found = run_aicr("recipe", "--service", "eks", f"--nodes={text}")
    assert_fails(found, 2, "argument --nodes: expected a number from 0 to 999999999")


@pytest.mark.parametrize("text", ["0", "7", "007", "999999999"])
def test_nodes_that_are(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recipe", "--service", "eks", f"--nodes={text}"]) == 0
    assert (f"  nodes: {int(text)}\n" in capsys.readouterr().out) == (int(text) > 0)


def test_an_empty_selector_is_no_selector() -> None:
    found = run_aicr("query", "--service", "eks", "--selector", "")
    assert_fails(found, 2, "it is empty; . is all of it")
