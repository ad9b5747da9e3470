"""What a probe pod says about the pull of its image: the pod and its events in, an outcome out.

Nothing is concluded from the phase or the exit code: an imageID says that the runtime resolved the
image, whatever became of the container. Only the container called ``check`` counts, and of the
events those of this pod's UID that name it.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

CONTAINER = "check"
GO_OUTCOMES = frozenset(("pulled", "pulled-not-startable"))
NOT_COMPARED = "digest-not-compared"
_FIELD = f"spec.containers{{{CONTAINER}}}"
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_PULL_FAILED = frozenset(("ErrImagePull", "ImagePullBackOff"))
_INVALID = frozenset(("InvalidImageName", "ImageInspectError"))
_OTHER_PULL = frozenset(("ErrImageNeverPull", "RegistryUnavailable", "SignatureValidationFailed"))
_DEADLINE = "DeadlineExceeded"
# The words of runtimes, most telling first: (cause, what its message contains).
_CAUSES = (
    ("no-platform", ("no match for platform", "no matching manifest",
                     "no image found in image index", "no image found in manifest list")),
    ("dns", ("no such host", "server misbehaving", "temporary failure in name resolution")),
    ("tls", ("x509:", "tls:", "certificate", "server gave http response to https client")),
    ("unauthorised", ("401 unauthorized", "unauthorized", "authentication required",
                      "authorization failed", "no basic auth credentials")),
    ("forbidden", ("403 forbidden", "denied", "forbidden")),
    ("not-found", (": not found", "manifest unknown", "404 not found", "name unknown",
                   "repository does not exist", "not found")),
    ("network", ("i/o timeout", "connection refused", "connection reset", "no route to host",
                 "network is unreachable", "context deadline exceeded", "eof")),
)  # fmt: skip


class Reading:
    """An outcome of the table, what narrows it down, and what to tell beside it. ``cause`` is a
    word, ``why`` a sentence; ``image_id`` is the runtime's, "" where it gave none."""

    __slots__ = ("cause", "digests", "image_id", "notes", "outcome", "why")

    def __init__(
        self,
        outcome: str,
        *,
        cause: str = "",
        why: str = "",
        image_id: str = "",
        notes: Sequence[str] = (),
    ) -> None:
        self.outcome = outcome
        self.cause = cause
        self.why = why
        self.image_id = image_id
        self.digests = _DIGEST.findall(image_id)
        self.notes = notes


class Expected:
    """What is known of the image beforehand. ``digests`` are all that would do, none where none
    is known; ``architectures`` those that the registry has, None where it was not read."""

    __slots__ = ("architectures", "digests")

    def __init__(
        self, digests: Collection[str] = (), architectures: Collection[str] | None = None
    ) -> None:
        self.digests = digests
        self.architectures = architectures


def mutated(sent: Mapping[str, Any], created: Mapping[str, Any]) -> list[str]:
    """What the created pod has otherwise than was sent, of what decides a pull."""
    wanted, found = sent["spec"], created.get("spec") or {}
    mine = wanted["containers"][0]
    theirs: Mapping[str, Any] = next(
        (one for one in found.get("containers") or () if one.get("name") == CONTAINER), {}
    )
    pairs = [
        ("image", mine["image"], theirs.get("image")),
        ("imagePullPolicy", mine["imagePullPolicy"], theirs.get("imagePullPolicy")),
        ("nodeName", wanted["nodeName"], found.get("nodeName")),
        ("serviceAccountName", wanted["serviceAccountName"], found.get("serviceAccountName")),
    ]
    if wanted["imagePullSecrets"]:  # where none is asked for, the service account's are added
        names = [one.get("name") for one in found.get("imagePullSecrets") or ()]
        pairs.append(
            ("imagePullSecrets", [one["name"] for one in wanted["imagePullSecrets"]], names)
        )
    return [f"{field} is {got!r}, {want!r} was sent" for field, want, got in pairs if got != want]


def read_pull(
    pod: Mapping[str, Any] | None,
    events: Sequence[Mapping[str, Any]],
    *,
    uid: str,
    architecture: str,
    expected: Expected,
    gone: bool = False,
    over: str = "",
) -> Reading | None:
    """The outcome; None while there is nothing to conclude yet.

    ``gone`` says that the pod was removed, by somebody else; ``over`` why nothing more will come
    ("after 180 s"), "" while something may.
    """
    status: Mapping[str, Any] = (pod or {}).get("status") or {}
    check: Mapping[str, Any] = next(
        (one for one in status.get("containerStatuses") or () if one.get("name") == CONTAINER), {}
    )
    mine = [one for one in events if (one.get("involvedObject") or {}).get("uid") == uid]
    image_id = str(check.get("imageID") or "")
    secret = _message(mine, "FailedToRetrieveImagePullSecret")
    if secret:
        return Reading("secret-missing", why=secret, image_id=image_id)
    evicted = _evicted(pod, events, gone=gone)
    if evicted:
        shown = f" (imageID was {image_id})" if image_id else ""
        return Reading("unknown", cause="evicted", why=f"{evicted}{shown}", image_id=image_id)
    pulls = [one for one in mine if _of_check(one) and one.get("reason") == "Pulled"]
    really = [one for one in pulls if "already present on machine" not in _text(one)]
    if image_id:
        if pulls and not really:
            why = "the node had the image already and pulled nothing"
            return Reading("unknown", cause="not-pulled-anew", why=why, image_id=image_id)
        return _pulled(image_id, architecture, expected)
    waiting: Mapping[str, Any] = (check.get("state") or {}).get("waiting") or {}
    reason = str(waiting.get("reason") or "")
    said = str(waiting.get("message") or "")
    if reason in _INVALID or _message(mine, "InspectFailed"):
        return Reading("invalid-reference", why=said or _message(mine, "InspectFailed"))
    if reason in _PULL_FAILED or reason in _OTHER_PULL:
        why = said or _message(mine, "Failed")
        return Reading("not-pulled", cause=cause_of(why), why=why)
    if really:
        why = (
            said
            or _message(mine, "Failed").removeprefix("Error: ")
            or "the container did not start"
        )
        return Reading(
            "pulled-not-startable",
            why=why,
            notes=(
                f"{NOT_COMPARED}: the runtime gave no imageID for a container that cannot start",
            ),
        )
    rejected = str(status.get("reason") or "")
    if status.get("phase") == "Failed" and rejected != _DEADLINE and rejected:
        return Reading("unknown", cause=rejected, why=str(status.get("message") or rejected))
    if gone:
        return Reading("unknown", cause="gone", why="the pod was removed by somebody else")
    if over:
        return _nothing_came(status, mine, reason, over)
    return None


def cause_of(message: str) -> str:
    """Which cause the words of a runtime stand for."""
    text = message.lower()
    return next((cause for cause, words in _CAUSES if any(word in text for word in words)), "other")


def _pulled(image_id: str, architecture: str, expected: Expected) -> Reading:
    digests = _DIGEST.findall(image_id)
    notes: tuple[str, ...] = ()
    if not expected.digests:
        notes = (f"{NOT_COMPARED}: no digest is known from an inventory or the registry",)
    elif not digests:
        notes = (f"{NOT_COMPARED}: the runtime's imageID {image_id} has no digest",)
    elif not set(digests) & set(expected.digests):
        why = f"the node has {image_id}, expected was {' or '.join(sorted(expected.digests))}"
        return Reading("digest-differs", why=why, image_id=image_id)
    if expected.architectures is not None and architecture not in expected.architectures:
        has = ", ".join(sorted(expected.architectures)) or "none"
        why = f"the node is {architecture}, the image in the registry is for {has}"
        return Reading("wrong-architecture", why=why, image_id=image_id)
    return Reading("pulled", image_id=image_id, notes=notes)


def _evicted(
    pod: Mapping[str, Any] | None, events: Sequence[Mapping[str, Any]], *, gone: bool
) -> str:
    """Why the pod was taken off its node; "" where it was not."""
    meta: Mapping[str, Any] = (pod or {}).get("metadata") or {}
    status: Mapping[str, Any] = (pod or {}).get("status") or {}
    if status.get("reason") == "Evicted":
        return str(status.get("message") or "Evicted")
    if not (gone or meta.get("deletionTimestamp")):
        return ""
    if status.get("phase") == "Failed" and status.get("reason") not in (None, "", _DEADLINE):
        return ""  # rejected: said by its own reason
    for one in status.get("conditions") or ():
        if one.get("type") == "DisruptionTarget" and one.get("status") == "True":
            return f"{one.get('reason')}: {one.get('message')}"
    # The taint manager's event names the pod and leaves out the UID.
    name = meta.get("name")
    for one in events:
        about = one.get("involvedObject") or {}
        if one.get("reason") == "TaintManagerEviction" and name in (None, about.get("name")):
            return f"TaintManagerEviction: {_text(one)}"
    return ""


def _nothing_came(
    status: Mapping[str, Any], mine: Sequence[Mapping[str, Any]], reason: str, over: str
) -> Reading:
    for one in status.get("initContainerStatuses") or ():
        if not (one.get("state") or {}).get("terminated"):
            state = (one.get("state") or {}).get("waiting") or {}
            detail = f" ({state['reason']})" if state.get("reason") else ""
            why = f"the injected init container {one.get('name')} blocks{detail}, {over}"
            return Reading("unknown", cause="init-container", why=why)
    if any(_of_check(one) and one.get("reason") == "Pulling" for one in mine):
        return Reading("unknown", cause="still-pulling", why=f"still pulling {over}")
    for one in reversed(mine):
        if one.get("type") == "Warning":
            return Reading("unknown", cause=str(one.get("reason")), why=f"{_text(one)} ({over})")
    if not status.get("containerStatuses") and not mine:
        why = f"nothing was ever reported {over}: does the node's kubelet run?"
        return Reading("unknown", cause="nothing-reported", why=why)
    return Reading("unknown", cause=reason or "no-outcome", why=f"no outcome {over}")


def _of_check(event: Mapping[str, Any]) -> bool:
    return (event.get("involvedObject") or {}).get("fieldPath") == _FIELD


def _message(events: Sequence[Mapping[str, Any]], reason: str) -> str:
    return next((_text(one) for one in events if one.get("reason") == reason), "")


def _text(event: Mapping[str, Any]) -> str:
    return str(event.get("message") or "")
