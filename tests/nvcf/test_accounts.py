"""nvcf-cli, played by a script: what it may be asked, and when a 404 is one."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from aicr.nvcf.accounts import AccountAnswer, Client, ask_accounts
from aicr.nvcf.fleet import Account
from nvcf_cli_double import NvcfCli
from nvcf_world import NCA, some_uuid

FUNCTION, VERSION, TASK = some_uuid("f"), some_uuid("v"), some_uuid("t")
SUBJECT = ("function", NCA, FUNCTION, VERSION)


@pytest.fixture
def cli(tmp_path: Path) -> NvcfCli:
    return NvcfCli(tmp_path)


def answer(cli: NvcfCli, subject: tuple[str, ...] = SUBJECT, **more: Any) -> AccountAnswer:
    return ask_accounts([subject], [cli.account()], seconds=5, **more)[subject]


@pytest.mark.parametrize(
    ("status", "state"),
    [("ACTIVE", "wanted"), ("DEPLOYING", "wanted"), ("DEGRADED", "wanted"),
     ("INACTIVE", "unwanted"), ("DELETED", "unwanted"), ("ERROR", "unwanted"), ("", "unwanted"),
     ("\x1b[31mRED", "unwanted")],
)  # fmt: skip
def test_a_function(cli: NvcfCli, status: str, state: str) -> None:
    cli.function(FUNCTION, VERSION, status, deployment=some_uuid("d"))
    found = answer(cli)
    assert (found.state, found.deployment) == (state, some_uuid("d"))
    assert "\x1b" not in found.said
    assert cli.asked()[0][2:] == ["function", "deploy", "get", "--function-id", FUNCTION,
                                  "--version-id", VERSION, "--json"]  # fmt: skip


@pytest.mark.parametrize(("status", "state"), [("QUEUED", "wanted"), ("COMPLETED", "unwanted")])
def test_a_task(cli: NvcfCli, status: str, state: str) -> None:
    cli.task(TASK, status)
    assert answer(cli, ("task", NCA, TASK)).state == state


def test_one_read_for_each_id(cli: NvcfCli) -> None:
    cli.function(FUNCTION, VERSION, "ACTIVE")
    ask_accounts([SUBJECT] * 50, [cli.account()])
    assert len(cli.asked()) == 1


def test_a_404_alone_is_not_verified(cli: NvcfCli) -> None:
    cli.missing(FUNCTION, VERSION)
    assert answer(cli).state == "unverified"
    # Something else of the same account that is found in the same run shows where it comes from.
    other = ("function", NCA, some_uuid("f2"), some_uuid("v2"))
    cli.function(other[2], other[3], "INACTIVE")
    assert answer(cli, known={NCA: [other]}).state == "absent"
    found = ask_accounts([SUBJECT, other], [cli.account()])
    assert found[SUBJECT].state == "absent"


@pytest.mark.parametrize(
    "body",
    [
        "404 page not found",
        '{"status": 404, "detail": "no route"}',
        '{"status": 404, "detail": "another id 00000000-0000-0000-0000-000000000000"}',
        '{"message": "Not Found"}',
        "",
    ],
)
def test_a_404_of_somebody_else(cli: NvcfCli, body: str) -> None:
    other = ("function", NCA, some_uuid("f2"), some_uuid("v2"))
    cli.function(other[2], other[3], "ACTIVE")
    cli.refuse(VERSION, f"failed to get deployment details: API error 404: {body}")
    assert answer(cli, known={NCA: [other]}).state == "unverified"


@pytest.mark.parametrize("status", ["401", "403"])
def test_a_credential_may_have_been_in_the_environment(cli: NvcfCli, status: str) -> None:
    cli.refuse(VERSION, f"API error {status}: denied token=SECRET")
    found = answer(cli)
    assert found.state == "unverified"
    assert "NVCF_*" in found.said
    assert "SECRET" not in found.said


@pytest.mark.parametrize(
    "stdout",
    ["", "{}", "[]", "not json", '{"deployment": {}}', '{"deployment": []}',
     json.dumps({"deployment": {"functionId": some_uuid("x"), "functionVersionId": VERSION}}),
     json.dumps({"deployment": {"functionId": FUNCTION, "functionVersionId": VERSION,
                                "ncaId": "another", "functionStatus": "ACTIVE"}})],
)  # fmt: skip
def test_answers_that_are_none(cli: NvcfCli, stdout: str) -> None:
    cli.says(VERSION, stdout)
    assert answer(cli).state == "unverified"


def test_a_client_that_does_not_end(cli: NvcfCli) -> None:
    cli.hang(VERSION)
    found = ask_accounts([SUBJECT], [cli.account()], seconds=0.3)[SUBJECT]
    assert (found.state, found.said) == ("unverified", "nvcf-cli did not end in time")


def test_never_another_account(cli: NvcfCli) -> None:
    found = answer(cli, ("function", "another", FUNCTION, VERSION))
    assert found.state == "unverified"
    assert cli.asked() == []


def test_a_throw_away_home(cli: NvcfCli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".nvcf-cli.default.state").write_text("login")
    (home / ".ssh").mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("NVCF_TOKEN", "SECRET")
    monkeypatch.setenv("NVCF_BASE_HTTP_URL", "https://elsewhere")
    cli.function(FUNCTION, VERSION, "ACTIVE")
    answer(cli)
    environment = cli.environments()[0]
    assert environment["HOME"] != str(home)
    assert environment["files"] == [".nvcf-cli.default.state"]
    assert not any(name.startswith("NVCF_") for name in environment)
    assert not os.path.exists(environment["HOME"])


@pytest.mark.parametrize("broken", ["missing", "garbage", "other", "not executable", "no client"])
def test_without_its_configuration_it_is_not_run(cli: NvcfCli, broken: str) -> None:
    """The client would fall back to the hosted service."""
    cli.function(FUNCTION, VERSION, "ACTIVE")
    account = cli.account()
    config = Path(account.config)
    if broken == "missing":
        config.unlink()
    elif broken == "garbage":
        config.write_text("{")
    elif broken == "other":
        config.write_text("other: 1")
    elif broken == "not executable":
        os.chmod(account.nvcf_cli, stat.S_IRUSR)
        if os.access(account.nvcf_cli, os.X_OK):
            pytest.skip("everything can be run by this user")
    else:
        account = Account(nca_id=NCA, nvcf_cli="/nowhere", config=account.config, invocation=None)
    assert ask_accounts([SUBJECT], [account])[SUBJECT].state == "unverified"
    assert cli.asked() == []


def test_what_is_not_on_the_list_is_not_run(cli: NvcfCli) -> None:
    with Client(cli.account()) as client, pytest.raises(Exception, match="not done"):
        client.run(["function", "deploy", "remove"])
    assert cli.asked() == []
