"""The ICMSRequests of a compute cluster, as far as matching needs them; nothing else is kept."""

from __future__ import annotations

import re
import sys

from aicr.cluster import wire
from aicr.cluster.failures import ApiError
from aicr.cluster.reading import List, read_list
from aicr.errors import NOT_FOUND, UNAVAILABLE, AicrError
from aicr.nvcf.work_ids import Function, Launch, Task, work_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from aicr.cluster.connection import Connection

GROUP = "nvca.nvcf.nvidia.io"
VERSION = "v2beta1"
LABEL = "SQSMessageID"
CREATIONS = frozenset((
    "RequestICMSInstances", "RequestICMSInstancesForTask",
    "RequestSpotInstances", "RequestSpotInstancesForTask",
))  # fmt: skip
TERMINATIONS = frozenset(("TerminateInstances",))
LIVE = frozenset((
    "", "RequestPending", "RequestInProgress", "RequestCachingInProgress",
    "RequestInstancesInProgress", "RequestCompleted",
))  # fmt: skip
TERMINAL = frozenset((
    "RequestFailed", "RequestFailureAcknowledged", "RequestCompletionAcknowledged",
))  # fmt: skip
_RECEIPT = re.compile(r"((?:Create|Terminate)\.NVCA\..+):([0-9]{1,19})")


class Request:
    """One ICMSRequest. ``state`` is ``live``, ``terminal`` or ``unknown`` (another status);
    ``subject`` and ``sequence`` are of the message that it was made from, "" and 0 where its
    receipt does not say."""

    __slots__ = (
        "action", "cluster", "created", "deployment", "function", "label", "name", "namespace",
        "nca_id", "request_id", "sequence", "state", "status", "subject", "task", "version",
    )  # fmt: skip

    def __init__(
        self,
        *,
        cluster: str,
        namespace: str,
        name: str,
        created: str,
        state: str,
        status: str,
        action: str,
        request_id: str,
        nca_id: str,
        deployment: str,
        function: str,
        version: str,
        task: str,
        label: str,
        subject: str,
        sequence: int,
    ) -> None:
        self.cluster = cluster
        self.namespace = namespace
        self.name = name
        self.created = created
        self.state = state
        self.status = status
        self.action = action
        self.request_id = request_id
        self.nca_id = nca_id
        self.deployment = deployment
        self.function = function
        self.version = version
        self.task = task
        self.label = label
        self.subject = subject
        self.sequence = sequence

    @property
    def creates(self) -> bool:
        return self.action in CREATIONS


class _Meta(wire.Struct, gc=False):
    name: str
    namespace: str = ""
    creationTimestamp: str = ""
    deletionTimestamp: str | None = None
    labels: dict[str, str] | None = None


class _Creation(wire.Struct, gc=False):
    deploymentId: str | None = None
    functionLaunchSpecification: Launch | None = None
    taskLaunchSpecification: Launch | None = None


class _Spec(wire.Struct, gc=False):
    requestId: str | None = None
    ncaId: str | None = None
    action: str | None = None
    sqsMessageReceipt: str | None = None
    functionDetails: Function | None = None
    taskDetails: Task | None = None
    creationMsgInfo: _Creation | None = None
    functionId: str | None = None
    functionVersionId: str | None = None


class _Status(wire.Struct, gc=False):
    requestStatus: str | None = None


class _Item(wire.Struct, gc=False):
    metadata: _Meta
    spec: _Spec
    status: _Status | None = None


_PAGE = wire.Decoder(wire.Page[_Item])


def read_requests(
    connection: Connection,
    cluster: str,
    keep: Callable[[bytes], None] | None = None,
    share: Callable[[Request], None] | None = None,
) -> list[Request]:
    """Every ICMSRequest of the cluster; ``keep`` gets each page as it came, ``share`` each request
    (to let equal texts be one: there may be very many).

    Raises AicrError where the list cannot be read to its end. No such resource is an error too: an
    agent that never made a request cannot be told apart from a wrong cluster.
    """
    wanted = List("icmsrequests", group=GROUP, version=VERSION, limit=500)
    try:
        reader = read_list(connection, wanted, lambda: _Reader(cluster, keep, share))
    except ApiError as error:
        if error.code == NOT_FOUND:
            raise AicrError(
                UNAVAILABLE,
                f"{cluster}: the resource icmsrequests.{GROUP} is not there",
                hint="is this a compute cluster with an NVCF agent?",
            ) from None
        raise
    return reader.found


def requests_from(body: bytes, cluster: str) -> list[Request]:
    """The requests in a list as kubectl prints it, or as the API sends it. Raises UNAVAILABLE."""
    reader = _Reader(cluster, None, None)
    reader.page(body)
    return reader.found


class _Reader:
    def __init__(
        self,
        cluster: str,
        keep: Callable[[bytes], None] | None,
        share: Callable[[Request], None] | None,
    ) -> None:
        self._cluster = cluster
        self._keep = keep
        self._share = share
        self.found: list[Request] = []

    def page(self, body: bytes) -> str:
        page = wire.decode(_PAGE, body, f"the requests of {self._cluster}")
        if page.items is None:
            raise AicrError(
                UNAVAILABLE, f"the requests of {self._cluster}: the answer has no items"
            )
        if self._keep is not None:
            self._keep(body)
        for item in page.items:
            one = _request(item, self._cluster)
            if self._share is not None:
                self._share(one)
            self.found.append(one)
        return page.metadata.next


def _request(item: _Item, cluster: str) -> Request:
    spec, meta = item.spec, item.metadata
    status = (item.status and item.status.requestStatus) or ""
    creation = spec.creationMsgInfo
    launches = (
        (creation.functionLaunchSpecification, creation.taskLaunchSpecification)
        if creation is not None
        else ()
    )
    deployment, function, version, task = work_ids(
        spec, creation.deploymentId if creation is not None else None, launches
    )
    receipt = _RECEIPT.fullmatch(spec.sqsMessageReceipt or "")
    state = "live" if status in LIVE else "terminal" if status in TERMINAL else "unknown"
    return Request(
        cluster=cluster,
        namespace=sys.intern(meta.namespace),
        name=meta.name,
        created=meta.creationTimestamp,
        state="terminal" if meta.deletionTimestamp else state,
        status=sys.intern(status),
        action=sys.intern(spec.action or ""),
        request_id=(spec.requestId or "").lower(),
        nca_id=sys.intern(spec.ncaId or ""),
        deployment=deployment,
        function=function,
        version=version,
        task=task,
        label=(meta.labels or {}).get(LABEL, ""),
        subject=sys.intern(receipt[1]) if receipt else "",
        sequence=int(receipt[2]) if receipt else 0,
    )


class Index:
    """Requests by a text that most have alone: a list is made only where two share it."""

    __slots__ = ("_found",)

    def __init__(self, pairs: Iterable[tuple[str, Request]]) -> None:
        self._found: dict[str, Request | list[Request]] = {}
        for text, one in pairs:
            if not text:
                continue
            before = self._found.setdefault(text, one)
            if before is one:
                continue
            if isinstance(before, list):
                before.append(one)
            else:
                self._found[text] = [before, one]

    def __getitem__(self, text: str) -> Sequence[Request]:
        found = self._found.get(text, ())
        return (found,) if isinstance(found, Request) else found
