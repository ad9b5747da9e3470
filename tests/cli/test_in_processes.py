"""Files that are read in processes of their own: the same answers, none lost to another."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from aicr.cli import fleet_reading
from aicr.cli.in_processes import in_processes
from aicr.cli.main import main
from aicr.errors import INTERNAL, INVALID_REQUEST, TIMEOUT, invalid

THREE_HOPS = Path(__file__).parents[2] / "examples" / "three-hops"


def read(item: str) -> str:
    if item == "hangs":
        time.sleep(60)
    if item == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if item == "bad":
        raise invalid("it is bad", hint="mend it", details={"a": [1]})
    return item * 100_000


def test_each_item_is_answered_for() -> None:
    items = ["a", "hangs", "b", "dies", "bad", "c", "dies", "hangs", "d"]
    found = sorted(in_processes(items, read, at_once=3, seconds=0.5), key=lambda one: one[0])
    assert [index for index, _, _ in found] == list(range(9))
    codes = [error.code if error is not None else "" for _, _, error in found]
    assert codes == ["", TIMEOUT, "", INTERNAL, INVALID_REQUEST, "", INTERNAL, TIMEOUT, ""]
    bad = found[4][2]
    assert bad is not None
    assert (bad.message, bad.hint, bad.details) == ("it is bad", "mend it", {"a": [1]})
    assert [result for _, result, _ in found if result] == [x * 100_000 for x in "abcd"]


def test_a_fleet_reads_the_same_either_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (THREE_HOPS / "old-recipe.yaml").read_text()
    for n in range(12):
        (tmp_path / f"{n}.yaml").write_text(text.replace("1.0.0\n", f"1.{n}.0\n", 1))
    (tmp_path / "torn.yaml").write_text("[")
    run = ["fleet", "check", str(tmp_path), "--catalog", str(THREE_HOPS / "catalog"),
           "--deployer", "helm", "--format", "json"]  # fmt: skip
    assert main(run) == 2
    alone = json.loads(capsys.readouterr().out)
    monkeypatch.setattr(fleet_reading, "WORTH_IT", 1)
    monkeypatch.setattr(fleet_reading, "processes", lambda: 3)
    assert main(run) == 2
    assert json.loads(capsys.readouterr().out) == alone
    assert alone["summary"] == {"clusters": 13, "failing": 12, "unreadable": 1}
