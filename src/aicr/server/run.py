"""The server process: listens, answers, ends when it is told to."""

from __future__ import annotations

import asyncio
import logging
import resource
import sys

import uvicorn

from aicr.errors import invalid
from aicr.library import Catalog
from aicr.server.app import App
from aicr.server.limits import Limits
from aicr.server.log import Log
from aicr.server.protocol import close_overdue, protocol_for
from aicr.server.service import Service

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from types import FrameType

_SPARE_DESCRIPTORS = 64
_TAKEN_AT_ONCE = 32


class _Server(uvicorn.Server):
    """Tells the application when it begins to end, and ends connections that are overdue."""

    def __init__(self, config: uvicorn.Config, app: App, log: Log) -> None:
        super().__init__(config)
        self._app = app
        self._log = log
        self._sweeping: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._sweeping = asyncio.create_task(self._sweep())
        host, port = (sockets or [])[0].getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        self._log.write(event="listening", url=f"http://{shown}:{port}")
        self._log.flush()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._app.draining = True
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._log.write(event="ending", active=self._app.active)
        await super().shutdown(sockets)
        if self._sweeping is not None:
            self._sweeping.cancel()

    async def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(1)
            close_overdue(self.server_state.connections, loop.time())


def serve(
    catalog: Catalog,
    *,
    host: str,
    port: int,
    charts_dir: str = "",
    log: bool = True,
    limits: Limits | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT. Raises INVALID_REQUEST where the address cannot be had."""
    limits = limits or Limits()
    limits.connections = min(limits.connections, _descriptors() - _SPARE_DESCRIPTORS)
    service = Service(catalog, limits, charts_dir=charts_dir)
    service.warm()
    lines = Log(sys.stdout.fileno() if log else None)
    app = App(service, lines)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        loop="uvloop",
        http=protocol_for(limits, lines),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=2048,
        timeout_keep_alive=int(limits.idle_seconds),
        timeout_graceful_shutdown=int(limits.drain_seconds),
    )
    # What it would say of broken requests has been answered to the client.
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    try:
        listening = config.bind_socket()
    except SystemExit:  # uvicorn's way to say that it could not
        raise invalid(f"cannot listen on {host}, port {port}") from None
    # The loop takes one connection in at each turn, from each descriptor of the same socket. With
    # one alone, a thousand clients at once would keep the last of them waiting for minutes.
    more = [listening.dup() for _ in range(_TAKEN_AT_ONCE - 1)]
    _Server(config, app, lines).run([listening, *more])


def _descriptors() -> int:
    """As many open files as this process may have, which the limit is raised to."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft == resource.RLIM_INFINITY or soft >= most:
        return most
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return most
