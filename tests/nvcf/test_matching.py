"""What became of a message, on the recordings of a restarted server and on messages made here."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from aicr.errors import AicrError
from aicr.nvcf.accounts import AccountAnswer
from aicr.nvcf.matching import Clusters, Finding, match, subject_of
from aicr.nvcf.messages import Retained, read_message
from aicr.nvcf.requests import Request, requests_from
from nvcf_world import EAST, NCA, WEST, creation, recorded, request_of, some_uuid
from nvcf_world import subject_of as subject

BOTH = Clusters({EAST: "east", WEST: "west"}, {}, {})
WANTED = AccountAnswer("wanted", "ACTIVE")
ABSENT = AccountAnswer("absent", "404")


def message(data: bytes, sequence: int = 1, on: str = "") -> Retained:
    body = {"subject": on or subject(), "seq": sequence, "time": "2026-11-30T12:00:00Z",
            "data": base64.b64encode(data).decode()}  # fmt: skip
    return read_message(json.dumps(body).encode())


def requests(*items: dict[str, Any], cluster: str = "east") -> list[Request]:
    return requests_from(json.dumps({"items": items}).encode(), cluster)


def one(
    found: Retained,
    known: list[Request],
    clusters: Clusters = BOTH,
    account: AccountAnswer | None = None,
) -> Finding:
    answers = {} if account is None else {subject_of(found): account}
    return match([found], known, clusters, answers)[0]


def test_the_recorded_incident() -> None:
    """Sequences 1 to 4 again after a restart: 1 and 2 collide, 3 has no match, 4 is its own."""
    known = requests_from(json.dumps(recorded("icms/icmsrequests-list")).encode(), "east")
    messages = [
        read_message(json.dumps(recorded(f"nats/restart/msg-get-seq-{n}")["message"]).encode())
        for n in range(1, 5)
    ]
    answers = {subject_of(one): WANTED for one in messages}
    found = match(messages, known, BOTH, answers)
    assert [one.outcome for one in found[:3]] == ["waiting-unclaimed"] * 3
    assert found[3].outcome in ("in-progress", "terminal-request")
    assert [bool(one.flags) for one in found] == [True, True, False, False]


def test_the_label_is_never_a_key() -> None:
    """The right request is found although another carries this message's label."""
    fields, data = creation("new")
    found = message(data, 7)
    other, _ = creation("old")
    known = requests(
        request_of(other, label=found.label, status="RequestCompleted"),
        request_of(fields, label="0" * 63),
    )
    result = one(found, known)
    assert result.outcome == "in-progress"
    assert result.request is not None
    assert result.request.request_id == fields["requestId"]
    assert list(result.flags) == ["colliding-id"]
    # The same label on its own request is no collision.
    assert one(found, requests(request_of(fields, label=found.label))).flags == ()


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ("", "in-progress"),
        ("RequestPending", "in-progress"),
        ("RequestInProgress", "in-progress"),
        ("RequestCachingInProgress", "in-progress"),
        ("RequestInstancesInProgress", "in-progress"),
        ("RequestCompleted", "in-progress"),
        ("RequestFailed", "terminal-request"),
        ("RequestFailureAcknowledged", "terminal-request"),
        ("RequestCompletionAcknowledged", "terminal-request"),
        ("SomethingNew", "unverified"),
    ],
)
def test_the_status_of_the_request(status: str, outcome: str) -> None:
    fields, data = creation("a")
    assert one(message(data), requests(request_of(fields, status=status))).outcome == outcome


def test_a_request_being_deleted_is_terminal() -> None:
    fields, data = creation("a")
    item = request_of(fields)
    item["metadata"]["deletionTimestamp"] = "2026-11-30T12:00:00Z"
    assert one(message(data), requests(item)).outcome == "terminal-request"


@pytest.mark.parametrize(
    "change",
    [
        {"ncaId": "another-account"},
        {"functionDetails": {"functionId": some_uuid("x"), "functionVersionId": some_uuid("y")}},
        {"creationMsgInfo": {"deploymentId": some_uuid("x")}},
    ],
)
def test_ids_that_differ_conflict(change: dict[str, Any]) -> None:
    fields, data = creation("a")
    assert one(message(data), requests(request_of(fields, **change))).outcome == "conflicting"


def test_ids_that_are_absent_do_not() -> None:
    fields, data = creation("a")
    item = request_of(fields, creationMsgInfo={}, functionDetails={})
    del item["spec"]["ncaId"]
    assert one(message(data), requests(item)).outcome == "in-progress"


def test_more_conflicts() -> None:
    fields, data = creation("a")
    twice = requests(request_of(fields)) + requests(request_of(fields))
    assert one(message(data), twice).outcome == "conflicting"
    elsewhere = requests(request_of(fields), cluster="west")
    assert "is in cluster west" in one(message(data), elsewhere).why
    same = match([message(data, 1), message(data, 2)], [], BOTH, {})
    assert [found.outcome for found in same] == ["conflicting"] * 2
    other = AccountAnswer("wanted", "ACTIVE", some_uuid("another deployment"))
    assert one(message(data), [], account=other).outcome == "conflicting"


@pytest.mark.parametrize(
    ("account", "outcome"),
    [(WANTED, "waiting-unclaimed"), (ABSENT, "orphaned-candidate"), (None, "unverified"),
     (AccountAnswer("unverified", "401"), "unverified"),
     (AccountAnswer("unwanted", "INACTIVE"), "unverified")],
)  # fmt: skip
def test_no_request_anywhere(account: AccountAnswer | None, outcome: str) -> None:
    _, data = creation("a")
    assert one(message(data), [], account=account).outcome == outcome


def test_a_cluster_that_was_not_read_or_is_paused() -> None:
    fields, data = creation("a")
    for name in ("east", "west"):
        unread = Clusters(BOTH.names, {name: "no route"}, {})
        assert one(message(data), [], unread, ABSENT).outcome == "unverified"
    # A live request in its own cluster is found whatever the others say.
    unread = Clusters(BOTH.names, {"west": "no route"}, {})
    assert one(message(data), requests(request_of(fields)), unread).outcome == "in-progress"
    paused = Clusters(BOTH.names, {}, {"east": "CordonMaintenance"})
    assert one(message(data), [], paused, ABSENT).outcome == "unverified"
    assert one(message(data), [], Clusters({}, {}, {}), ABSENT).outcome == "unverified"


def test_a_creation_message_matches_creation_requests_only() -> None:
    fields, data = creation("a")
    ending = requests(request_of(fields, action="TerminateInstances"))
    assert one(message(data), ending, account=WANTED).outcome == "waiting-unclaimed"


def test_a_termination_message() -> None:
    fields, _ = creation("a")
    data = json.dumps({"requestId": fields["requestId"], "ncaId": NCA, "instanceIds": ["x"],
                       "action": "TerminateInstances"}).encode()  # fmt: skip
    found = message(data, on=f"Terminate.NVCA.{EAST}")
    assert one(found, [], account=ABSENT).outcome == "unverified"
    ending = request_of(fields, action="TerminateInstances")
    assert one(found, requests(ending)).outcome == "in-progress"
    assert one(found, requests(request_of(fields))).outcome == "unverified"
    assert one(found, requests(ending, ending)).outcome == "unverified"


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"[]", b'"text"', b"\xff\xfe", b"[" * 50_000, b'{"requestId": 7}',
        creation("a", requestId="not an id")[1],
        creation("a", requestId=None)[1],
        creation("a", requestId="9f93ffa2-0376-495e-a723-f6c653ed1e34; rm -rf /")[1],
        creation("a", ncaId="../../etc/passwd")[1],
        creation("a", action="Other")[1],
        creation("a", functionDetails=None)[1],
        creation("a", functionDetails={"functionId": "--help"})[1],
    ],
)  # fmt: skip
def test_undecodable(data: bytes) -> None:
    result = one(message(data), [], account=WANTED)
    assert result.outcome == "undecodable"
    assert "passwd" not in result.why


def test_not_base64_and_no_subject() -> None:
    broken = read_message(json.dumps({"subject": subject(), "seq": 1, "data": "%%%"}).encode())
    assert broken.problem == "its data is not base64"
    assert message(creation("a")[1], on="Create.NVCA.Function").problem
    with pytest.raises(AicrError):
        read_message(b"<html>")


def test_the_deployment_inside_the_launch_specification() -> None:
    fields, data = creation("a")
    assert message(data).deployment == fields["launchSpecification"]["deploymentId"]
    top = some_uuid("top")
    assert message(creation("a", deploymentId=top)[1]).deployment == top
    task = message(creation("t", task=True)[1], on=subject(task=True))
    assert (task.kind, task.task, task.deployment) == ("task", some_uuid("task t"), "")
