"""What became of each retained message: message, requests and account answers in, one outcome out.

Matched by ``requestId`` and ``ncaId``, then by the ids of deployment, function and version, or
task: one that is absent is no conflict, one that differs is. ``SQSMessageID`` is never a key.
"""

from __future__ import annotations

from aicr.nvcf.requests import Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.nvcf.accounts import AccountAnswer
    from aicr.nvcf.messages import Retained
    from aicr.nvcf.requests import Request

IN_PROGRESS = "in-progress"
WAITING = "waiting-unclaimed"
ORPHANED = "orphaned-candidate"
TERMINAL = "terminal-request"
CONFLICTING = "conflicting"
UNDECODABLE = "undecodable"
UNVERIFIED = "unverified"
COLLIDING = "colliding-id"
OTHER_CAUSES = (
    "this is the signature of a reused message id; it can also be a maintenance cordon, too little "
    "capacity, a task that holds its message by design, or a consumer that nobody serves"
)
_COLLIDES = (COLLIDING,)
_KEYS = ("deployment", "function", "version", "task")


class Clusters:
    """What is known of the consuming clusters: ``names`` by cluster id; ``unread`` with the
    reason, and ``paused`` (their agents take no new work), both by name."""

    __slots__ = ("names", "paused", "unread")

    def __init__(
        self, names: Mapping[str, str], unread: Mapping[str, str], paused: Mapping[str, str]
    ) -> None:
        self.names = names
        self.unread = unread
        self.paused = paused


class Finding:
    """A message and what became of it: ``outcome``, ``why`` in words, the ``request`` that was
    found, ``flags``, and the ``account``'s answer where one was asked."""

    __slots__ = ("_why", "account", "flags", "message", "outcome", "request")

    def __init__(
        self,
        message: Retained,
        outcome: str,
        why: str,
        *,
        request: Request | None = None,
        flags: Sequence[str] = (),
        account: AccountAnswer | None = None,
    ) -> None:
        self.message = message
        self.outcome = outcome
        self._why = why
        self.request = request
        self.flags = flags
        self.account = account

    @property
    def why(self) -> str:
        one = self.request
        if self._why or one is None:
            return self._why
        ended = "being deleted" if self.outcome == TERMINAL else "new"
        return f"{one.cluster}/{one.namespace}/{one.name} is {one.status or ended}"


def match(
    messages: Sequence[Retained],
    requests: Sequence[Request],
    clusters: Clusters,
    accounts: Mapping[tuple[str, ...], AccountAnswer],
) -> list[Finding]:
    """One finding for each message, in their order."""
    known = Index((one.request_id, one) for one in requests)
    labels = Index((one.label, one) for one in requests)
    seen: set[str] = set()
    again: set[str] = set()
    for message in messages:
        (again if message.request_id in seen else seen).add(message.request_id)
    found = []
    for message in messages:
        if message.problem:
            found.append(Finding(message, UNDECODABLE, message.problem))
            continue
        account = accounts.get(subject_of(message))
        candidates = [
            one
            for one in known[message.request_id]
            if one.creates == (message.kind != "termination")
        ]
        twice = message.request_id in again
        outcome, why, request = _outcome(message, candidates, clusters, account, twice=twice)
        flags = _COLLIDES if _collides(message, labels) else ()
        found.append(Finding(message, outcome, why, request=request, flags=flags, account=account))
    return found


def subject_of(message: Retained) -> tuple[str, ...]:
    """What the owning account is asked about: the same for every message of one deployment."""
    if message.kind == "task":
        return ("task", message.nca_id, message.task)
    return ("function", message.nca_id, message.function, message.version)


def _outcome(
    message: Retained,
    candidates: Sequence[Request],
    clusters: Clusters,
    account: AccountAnswer | None,
    *,
    twice: bool,
) -> tuple[str, str, Request | None]:
    own = clusters.names.get(message.cluster_id, "")
    if not own:
        return UNVERIFIED, f"no cluster of the fleet file has the id {message.cluster_id}", None
    if own in clusters.unread:
        return UNVERIFIED, f"cluster {own} could not be read: {clusters.unread[own]}", None
    first = candidates[0] if candidates else None
    conflict = _conflict(message, candidates, own, account, twice=twice)
    if conflict:
        ends = message.kind == "termination"
        return UNVERIFIED if ends else CONFLICTING, conflict, first
    if first is not None:
        if first.state == "live":
            return IN_PROGRESS, "", first
        if first.state == "terminal":
            return TERMINAL, "", first
        return UNVERIFIED, f"request {first.name} has a status that is not known", first
    if clusters.unread:
        other = next(iter(clusters.unread))
        return UNVERIFIED, f"no request matches, and cluster {other} could not be read", None
    if message.kind == "termination":
        return UNVERIFIED, "no request matches; whether it is obsolete cannot be shown", None
    return _of_account(own, clusters, account)


def _of_account(
    own: str, clusters: Clusters, account: AccountAnswer | None
) -> tuple[str, str, Request | None]:
    if account is None:
        return UNVERIFIED, "no request matches, and its account was not asked", None
    if account.state == "wanted":
        return WAITING, f"the account wants it ({account.said}) and no request exists", None
    if account.state == "absent":
        if own in clusters.paused:
            return UNVERIFIED, f"cluster {own} is paused: {clusters.paused[own]}", None
        return ORPHANED, "no request, and the account's own 404 is verified", None
    return UNVERIFIED, f"no request matches, and the account: {account.said}", None


def _conflict(
    message: Retained,
    candidates: Sequence[Request],
    own: str,
    account: AccountAnswer | None,
    *,
    twice: bool,
) -> str:
    if twice:
        return "another retained message has the same requestId"
    if len(candidates) > 1:
        return f"{len(candidates)} requests have its requestId"
    for one in candidates:
        if one.nca_id and one.nca_id != message.nca_id:
            return f"request {one.name} has another ncaId"
        for key in _KEYS:
            ours, theirs = getattr(message, key), getattr(one, key)
            if ours and theirs and ours != theirs:
                return f"request {one.name} has another {key} id"
        if one.cluster != own:
            return f"request {one.name} is in cluster {one.cluster}, its subject names {own}"
    if (
        account is not None
        and account.state == "wanted"
        and message.deployment
        and account.deployment
        and account.deployment != message.deployment
    ):
        return f"the account has another deployment of this function ({account.deployment})"
    return ""


def _collides(message: Retained, labels: Index) -> bool:
    """Whether another request carries the label that this message would get."""
    return any(one.request_id != message.request_id for one in labels[message.label])
