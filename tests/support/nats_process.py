"""One real nats-server process of a test, which can be killed and started again as it was."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import subprocess
import time
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import Any

from tools import tool
from waiting import DEADLINE, until

_TAKEN = "address already in use"


def free_port() -> int:
    """A port that nobody has, below those that the system gives to clients: a server that is
    restarted finds it free again."""
    for _ in range(200):
        port = random.SystemRandom().randrange(12_000, 32_000)
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no free port was found")


class NatsServer:
    """``routes`` are the route ports of its cluster, ``extra`` further lines of its
    configuration."""

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

    @property
    def _log(self) -> Path:
        return self.folder / f"{self.name}.log"

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
        self._start(config)
        if wait:
            self.wait()

    def _start(self, config: Path) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [tool("nats-server", "NATS_SERVER_BIN", needed=True), "-c", str(config)],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL,
            )  # fmt: skip

    def wait(self) -> None:
        """Until it says that it is healthy; it is started again where its port was still taken."""
        until(self._healthy, f"{self.name} is healthy", passing=(OSError, ValueError))

    def _healthy(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            said = self._log.read_text()[-2000:]
            assert _TAKEN in said, said
            time.sleep(0.2)
            self._start(self.folder / f"{self.name}.conf")
            return False
        return bool(self.get("/healthz?js-server-only=true").get("status") == "ok")

    def get(self, path: str) -> dict[str, Any]:
        """A page of its monitor."""
        url = f"http://127.0.0.1:{self.monitor}{path}"
        try:
            with urllib.request.urlopen(url, timeout=DEADLINE / 4) as answer:
                found: dict[str, Any] = json.loads(answer.read())
                return found
        except HTTPException as error:
            raise ConnectionError(f"{self.name}: {error}") from None

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def restart(self) -> None:
        self.stop()
        self.start()
