"""The command that comes next, as a shell and the commands themselves take it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from aicr.cli.main import main
from aicr.nvcf.to_copy import to_copy, with_fleet
from nvcf_cli_double import NvcfCli
from nvcf_world import World, creation, subject_of

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1)
ODD = "it's a $(touch pwned); & <record>"


def words_of(command: str) -> list[str]:
    """What a shell makes of it."""
    script = f"for word in {command}; do printf '%s\\0' \"$word\"; done"
    done = subprocess.run(["sh", "-c", script], capture_output=True, check=True)
    return done.stdout.decode().split("\0")[:-1]


@given(WORDS, WORDS)
def test_a_shell_gives_back_what_went_in(record: str, fleet: str) -> None:
    command = to_copy("drain", "--record", record)
    assert words_of(command) == ["aicr", "nvcf", "drain", "--record", record]
    assert words_of(with_fleet(command, fleet)) == [
        "aicr", "nvcf", "drain", "--fleet", fleet, "--record", record,
    ]  # fmt: skip


def test_what_has_no_fleet_file_gets_none() -> None:
    for command in ("", to_copy("evidence", "pack", "r"), to_copy("mirror-check", "r/i:1")):
        assert with_fleet(command, "f.yaml") == command


def test_each_answer_leads_to_the_next(
    small_world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the first drain on, only what the answer before said is run."""
    folder = small_world.folder / ODD
    folder.mkdir()
    cli = NvcfCli(small_world.folder)
    fleet = shutil.move(small_world.fleet(accounts=[cli.entry()]), folder / "my fleet.yaml")
    record = folder / "the record"

    def run(*words: str) -> dict[str, Any]:
        main(["nvcf", *words, "--format", "json"])
        said: dict[str, Any] = json.loads(capsys.readouterr().out)
        return said

    def follow(said: dict[str, Any], *more: str) -> dict[str, Any]:
        filled = said["nextCommand"].replace("<REF>", "CHG-1")
        aicr, nvcf, *words = words_of(filled)
        assert (aicr, nvcf) == ("aicr", "nvcf")
        return run(*words, *more)

    quick = ("--settle", "0.05", "--timeout-nats", "30")
    said = run("drain", "--fleet", str(fleet), "--record", str(record), *quick)
    assert said["outcome"] == "drained"
    said = follow(said, *quick)
    assert (said["command"], said["outcome"]) == ("gate", "resume")
    small_world.servers.publish(subject_of(), creation("one")[1])
    said = follow(said, *quick)
    assert (said["command"], said["outcome"]) == ("gate", "hold")
    said = follow(said, *quick)
    assert (said["command"], said["outcome"]) == ("drain", "not-drained")
    said = follow(said)
    assert (said["command"], said["outcome"]) == ("recover", "stop")
    assert said["record"] == str(record)
    assert follow(said)["files"] > 3
    assert (folder / "the record.redacted.tar.gz").is_file()


def test_where_nothing_was_recorded(small_world: World, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = small_world.fleet()
    said = yaml.safe_load(fleet.read_text())
    config = Path(said["controlPlane"]["kubeconfig"])
    nobody = re.sub(r"(https?://127\.0\.0\.1):[0-9]+", r"\1:1", config.read_text())
    config.write_text(nobody)
    assert main(["nvcf", "recover", "--fleet", str(fleet), "--format", "json"]) == 2
    answer = json.loads(capsys.readouterr().out)
    assert (answer["outcome"], answer["record"]) == ("stop", None)
    assert answer["nextCommand"] == f"aicr nvcf recover --fleet {fleet}"
