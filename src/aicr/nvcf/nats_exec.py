"""JetStream through the nats-box pod, as the runbook reads it: one command for each answer."""

from __future__ import annotations

from aicr.cluster import wire
from aicr.cluster.exec import Ran, exec_query, run
from aicr.cluster.failures import ApiError
from aicr.cluster.reading import List, object_path, read_list
from aicr.errors import NOT_FOUND, UNAVAILABLE, AicrError
from aicr.nvcf import allow, jetstream
from aicr.nvcf.nats_access import Retained

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from aicr.cluster.connection import Connection
    from aicr.nvcf.fleet import Nats

MOST_ATTEMPTS = 2000
_GONE = (b"no message found", b"(10037)")


class _Condition(wire.Struct):
    type: str = ""
    status: str = ""


class _PodStatus(wire.Struct):
    conditions: list[_Condition] | None = None


class _PodMeta(wire.Struct):
    name: str
    uid: str = ""
    deletionTimestamp: str | None = None


class _Pod(wire.Struct):
    metadata: _PodMeta
    status: _PodStatus | None = None


_PODS = wire.Decoder(wire.Page[_Pod])


class _Pods:
    def __init__(self) -> None:
        self.found: list[_Pod] = []

    def page(self, body: bytes) -> str:
        page = wire.decode(_PODS, body, "the pods")
        self.found += page.items or ()
        return page.metadata.next


def find_box(connection: Connection, nats: Nats) -> str:
    """The first nats-box pod that is ready and not terminating. Raises UNAVAILABLE."""
    wanted = List("pods", namespace=nats.namespace, labels=nats.selector)
    pods = read_list(connection, wanted, _Pods).found
    for pod in pods:
        conditions = (pod.status or _PodStatus()).conditions or ()
        ready = any(one.type == "Ready" and one.status == "True" for one in conditions)
        if ready and pod.metadata.deletionTimestamp is None:
            return pod.metadata.name
    raise AicrError(
        UNAVAILABLE,
        f"namespace {nats.namespace}: no ready nats-box pod has the labels {nats.selector} "
        f"({len(pods)} pods have them)",
        hint="check controlPlane.nats.namespace and selector in the fleet file",
    )


class Box:
    """The pod in which commands run; where it goes away, another one is taken, once."""

    def __init__(self, connection: Connection, nats: Nats, seconds: float) -> None:
        self.connection = connection
        self.nats = nats
        self.seconds = seconds
        self.notes: list[str] = []
        self.pod = find_box(connection, nats)
        self._replaced = False

    def run(self, command: Sequence[str], what: str) -> Ran:
        """Run it. Raises AicrError for anything but a command that ended."""
        allow.command(command)
        pod = self.pod
        try:
            return self._run(pod, command)
        except ApiError as error:
            if error.code != NOT_FOUND or self._replaced:
                raise AicrError(error.code, f"{what}: {error.message}", hint=error.hint) from None
        except AicrError as error:
            if self._replaced or self._is_there(pod):
                raise AicrError(error.code, f"{what}: {error.message}", hint=error.hint) from None
        self._replaced = True
        self.pod = find_box(self.connection, self.nats)
        self.notes.append(f"the nats-box pod {pod} went away; {self.pod} was taken instead")
        return self._run(self.pod, command)

    def _run(self, pod: str, command: Sequence[str]) -> Ran:
        path = f"{object_path('pods', self.nats.namespace, pod)}/exec"
        allow.kubernetes("GET", path, query=exec_query(command, self.nats.container))
        return run(
            self.connection, self.nats.namespace, pod, command,
            container=self.nats.container, seconds=self.seconds,
        )  # fmt: skip

    def _is_there(self, pod: str) -> bool:
        wanted = List("pods", namespace=self.nats.namespace, labels=self.nats.selector)
        pods = read_list(self.connection, wanted, _Pods).found
        return any(
            one.metadata.name == pod and one.metadata.deletionTimestamp is None for one in pods
        )


class ExecAccess:
    """``NatsAccess`` by exec."""

    way = "exec"

    def __init__(self, box: Box, context: str, *, timeout: int = 10) -> None:
        self._box = box
        self.context = context
        self._head = ["nats", "--context", context, "--timeout", f"{timeout}s"]

    @property
    def source(self) -> str:
        return f"pod {self._box.nats.namespace}/{self._box.pod}, NATS context {self.context}"

    @property
    def notes(self) -> list[str]:
        return self._box.notes

    def stream_names(self) -> set[str]:
        what = "the names of the streams"
        return self._names(["stream", "ls", "--json", "--all"], what)

    def stream(self, name: str) -> tuple[jetstream.StreamInfo, bytes]:
        what = f"stream {name}"
        body = self._ask(["stream", "info", name, "--json", "--no-select"], what)
        return jetstream.decode(jetstream.STREAM, body, what), body

    def subjects(self, stream: str) -> dict[str, int]:
        return {}

    def consumer_names(self, stream: str) -> set[str]:
        what = f"the consumers of {stream}"
        return self._names(["consumer", "ls", stream, "--json", "--no-select"], what)

    def consumer(self, stream: str, name: str) -> tuple[jetstream.ConsumerInfo, bytes]:
        what = f"consumer {name}"
        body = self._ask(["consumer", "info", stream, name, "--json", "--no-select"], what)
        return jetstream.decode(jetstream.CONSUMER, body, what), body

    def many_consumer_names(self, streams: Iterable[str]) -> dict[str, set[str]]:
        return {}

    def retained(
        self,
        stream: str,
        first: int,
        last: int,
        take: Callable[[int, bytes], None],
        *,
        most: int = MOST_ATTEMPTS,
    ) -> Retained:
        done = Retained()
        for sequence in range(first, last + 1):
            if done.tried >= most:
                done.whole = False
                break
            done.tried += 1
            what = f"message {sequence} of {stream}"
            try:
                body = self._message(stream, sequence, what)
            except AicrError as error:
                done.failed.append((sequence, error.message))
                if len(done.failed) > 3 and not done.found:
                    done.whole = False
                    break
                continue
            if body is not None:
                take(sequence, body)
                done.found += 1
        return done

    def call(self, what: str) -> str:
        return " ".join([*self._head, what])

    def close(self) -> None:
        """Nothing is kept open."""

    def _message(self, stream: str, sequence: int, what: str) -> bytes | None:
        ran = self._run(["stream", "get", stream, str(sequence), "--json"], what)
        if ran.code == 0:
            jetstream.decode(jetstream.MESSAGE, ran.stdout, what)
            return ran.stdout
        if any(words in ran.stderr for words in _GONE):
            return None
        raise _refused(ran, what)

    def _names(self, words: list[str], what: str) -> set[str]:
        return set(jetstream.decode(jetstream.NAMES, self._ask(words, what), what) or ())

    def _ask(self, words: list[str], what: str) -> bytes:
        ran = self._run(words, what)
        if ran.code:
            raise _refused(ran, what)
        if b"missing" in ran.stderr.lower() or b"timeout" in ran.stderr.lower():
            raise AicrError(UNAVAILABLE, f"{what}: not whole: {_said(ran.stderr)}")
        return ran.stdout

    def _run(self, words: list[str], what: str) -> Ran:
        return self._box.run([*self._head, *words], what)


def _refused(ran: Ran, what: str) -> AicrError:
    """The client's own words; a stream that is not there is told apart by a list, never by them."""
    return AicrError(UNAVAILABLE, f"{what}: nats ended with {ran.code}: {_said(ran.stderr)}")


def _said(text: bytes) -> str:
    lines = text.decode("utf-8", "replace").strip().splitlines()
    return (lines[-1] if lines else "no explanation")[:300]
