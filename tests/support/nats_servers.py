"""Real NATS servers for tests, one or three, and what a control plane does with them.

Everything here waits for what it needs: a cluster that has just started, or lost a server, answers
"nobody is there" or "not now" for a while.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from nats_process import NatsServer
from waiting import DEADLINE, until

T = TypeVar("T")

CREATION = "CreateNvcaFunctionTaskStream"
TERMINATION = "TerminateNvcaStream"
DAY = 86_400 * 1_000_000_000
# For one answer; it is asked again until DEADLINE.
_ONCE = 10.0
# Of the API: no leader yet, no place for it yet, not in a cluster yet.
_NOT_YET = frozenset((10005, 10006, 10008, 10009, 10074))
# What is deleted already, where it is not known whether the first try arrived.
_GONE = frozenset((10014, 10037, 10043, 10057, 10059))


class Servers:
    """All servers of one control plane."""

    def __init__(self, folder: Path, count: int) -> None:
        self.all = [NatsServer(folder, f"nats-{number}") for number in range(count)]
        if count > 1:
            for server in self.all:
                server.routes = [one.route for one in self.all]
        self._loop = asyncio.new_event_loop()

    def start(self) -> None:
        for server in self.all:
            server.start(wait=False)
        for server in self.all:
            server.wait()
        self.agree()

    def agree(self) -> None:
        """Wait until all servers see each other, and one of them leads."""
        for server in self.all if len(self.all) > 1 else ():
            asked = partial(self._agrees, server)
            until(asked, f"{server.name} is in the cluster", passing=(OSError, ValueError))

    def _agrees(self, server: NatsServer) -> bool:
        meta = server.get("/jsz").get("meta_cluster", {})
        routes = {one.get("remote_name") for one in server.get("/routez").get("routes") or ()}
        others = len(self.all) - 1
        return bool(meta.get("leader")) and len(routes) == others and (
            meta.get("cluster_size") == len(self.all)
        )  # fmt: skip

    def stop(self) -> None:
        for server in self.all:
            server.stop()
        _end(self._loop)

    @property
    def url(self) -> str:
        return ",".join(server.url for server in self.all)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(asyncio.wait_for(work, DEADLINE))

    @contextlib.contextmanager
    def client(self) -> Iterator[Any]:
        """A client of the control plane's, with all rights."""
        client = until(self._connect, "a connection to NATS", passing=_passing())
        try:
            yield client
        finally:
            with contextlib.suppress(Exception):
                self.run(client.close())

    def _connect(self) -> Any:
        import nats

        async def quiet(error: Exception) -> None:
            """It is tried again."""

        return self.run(
            nats.connect(
                [one.url for one in self.all], connect_timeout=5, max_reconnect_attempts=2,
                reconnect_time_wait=0.1, error_cb=quiet,
            )
        )  # fmt: skip

    def api(self, subject: str, payload: object = None) -> dict[str, Any]:
        """A JetStream API request that has to succeed."""
        body = json.dumps(payload).encode() if payload is not None else b""
        asked = 0

        def ask() -> dict[str, Any] | None:
            nonlocal asked
            asked += 1
            answer = self.run(client.request(f"$JS.API.{subject}", body, timeout=_ONCE))
            found: dict[str, Any] = json.loads(answer.data)
            error = found.get("error", {})
            if error.get("code") == 503 or error.get("err_code") in _NOT_YET:
                return None
            if asked > 1 and ".DELETE." in subject and error.get("err_code") in _GONE:
                return {"success": True}
            return found

        with self.client() as client:
            found = until(ask, f"an answer to {subject}", passing=_passing())
        assert found is not None
        assert "error" not in found, found
        return found

    def stream(self, name: str, subjects: str, *, replicas: int = 1, **more: object) -> None:
        config = {
            "name": name,
            "subjects": [subjects],
            "retention": "workqueue",
            "storage": "memory",
            "num_replicas": replicas,
            "max_age": 4 * DAY,
            **more,
        }
        self.api(f"STREAM.CREATE.{name}", config)

    def consumer(self, stream: str, name: str, subjects: str, ack_wait: float = 360) -> None:
        config = {
            "durable_name": name,
            "ack_policy": "explicit",
            "ack_wait": int(ack_wait * 1e9),
            "filter_subject": subjects,
            "max_deliver": -1,
        }
        self.api(
            f"CONSUMER.DURABLE.CREATE.{stream}.{name}", {"stream_name": stream, "config": config}
        )

    def nvca(self, *clusters: str, ack_wait: float = 360) -> None:
        """The two NVCA streams with the consumers of these clusters."""
        self.stream(CREATION, "Create.NVCA.>")
        self.stream(TERMINATION, "Terminate.NVCA.>")
        for cluster in clusters:
            self.consumer(
                CREATION, f"{CREATION}-{cluster}", f"Create.NVCA.*.{cluster}.*.*", ack_wait
            )
            self.consumer(TERMINATION, f"{TERMINATION}-{cluster}", f"Terminate.NVCA.{cluster}", 30)

    def functions(self, count: int, *, replicas: int = 1) -> list[str]:
        """``count`` rq_ streams with a consumer each."""
        names = []
        for number in range(count):
            version = f"f0d78217-3c60-5fca-acb4-{number:012x}"
            name = f"rq_ncp_{version}"
            self.stream(name, f"rq.ncp.{version}.>", replicas=replicas, max_age=0)
            self.consumer(name, f"{name}_workers", f"rq.ncp.{version}.>", 30)
            names.append(name)
        return names

    def publish(self, subject: str, *bodies: bytes) -> None:
        """Store each body once: where an answer does not come it is sent again as the same one."""
        with self.client() as client:
            for body in bodies:
                header = {"Nats-Msg-Id": uuid.uuid4().hex}

                send = partial(client.request, subject, body, timeout=_ONCE, headers=header)
                stored = partial(self._stored, send)
                until(stored, f"{subject} is stored", passing=_passing())

    def _stored(self, send: Callable[[], Coroutine[Any, Any, Any]]) -> bool:
        found = json.loads(self.run(send()).data)
        assert found.get("error", {}).get("code", 503) == 503, found
        return "seq" in found

    def fetch(self, stream: str, consumer: str, count: int = 1, *, ack: bool = True) -> list[bytes]:
        """Take ``count`` messages as an agent does; acknowledged at once, or left in flight."""
        taken: list[bytes] = []
        with self.client() as client:
            pull = until(
                lambda: self.run(client.jetstream().pull_subscribe_bind(consumer, stream)),
                f"the consumer {consumer}",
                passing=_passing(),
            )

            def take() -> bool:
                for message in self.run(pull.fetch(count - len(taken), timeout=_ONCE)):
                    taken.append(message.data)
                    if ack:
                        done = partial(self._acknowledge, message)
                        until(done, "the acknowledgement", passing=_passing())
                return len(taken) == count

            until(take, f"{count} messages for {consumer}", passing=_passing())
        return taken

    def _acknowledge(self, message: Any) -> bool:
        self.run(message.ack_sync(_ONCE))
        return True

    def state(self, stream: str) -> dict[str, Any]:
        """The state of the stream, as its leader says."""
        found: dict[str, Any] = self.api(f"STREAM.INFO.{stream}")["state"]
        return found


def _passing() -> tuple[type[BaseException], ...]:
    """What a cluster that is not ready answers, or does not."""
    from nats.errors import Error

    return (Error, TimeoutError, OSError)


def _end(loop: asyncio.AbstractEventLoop) -> None:
    """End what still waits there, then the loop."""

    async def end() -> None:
        waiting = asyncio.all_tasks() - {asyncio.current_task()}
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    loop.run_until_complete(end())
    loop.close()
