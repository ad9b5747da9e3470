"""Which ids name the work that a message or a request is about, wherever in it they stand."""

from __future__ import annotations

from aicr.cluster import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    class Named(Protocol):
        """What a message's body and a request's spec have in common."""

        functionDetails: Function | None
        taskDetails: Task | None
        functionId: str | None
        functionVersionId: str | None


# Nothing that is decoded refers to itself: the collector need not look at it.
class Function(wire.Struct, gc=False):
    functionId: str | None = None
    functionVersionId: str | None = None


class Task(wire.Struct, gc=False):
    taskId: str | None = None


class Launch(wire.Struct, gc=False):
    deploymentId: str | None = None


def work_ids(
    named: Named, deployment: str | None, launches: Sequence[Launch | None]
) -> tuple[str, str, str, str]:
    """Deployment, function, version and task in lower case, "" where there is none.

    ``deployment`` is what stands at the top, ``launches`` are the specifications that may have it
    instead.
    """
    for launch in launches:
        if not deployment and launch is not None:
            deployment = launch.deploymentId
    details, task = named.functionDetails, named.taskDetails
    function, version = named.functionId, named.functionVersionId
    if details is not None:
        function = details.functionId or function
        version = details.functionVersionId or version
    return (
        (deployment or "").lower(),
        (function or "").lower(),
        (version or "").lower(),
        ((task.taskId if task is not None else "") or "").lower(),
    )
