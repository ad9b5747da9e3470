"""Measures ``aicr serve``: requests a second and their latency, beside a plain "hello" of the same
server, over the loopback with connections kept open.

``python tools/bench_server.py``: recipes over all criteria, and checks of two recipes.
``python tools/bench_server.py --clients 1000 --seconds 60``: many clients with everything at once;
fails on any answer that is neither the one wanted nor a 429 or 503 with Retry-After, and says how
the server's memory went.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from urllib.parse import urlencode

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXAMPLE = os.path.join(ROOT, "examples", "eks-h100-training-v0.20.0.yaml")
CONNECTIONS = 64
HELLO = """\
import uvicorn, sys
BODY = b'{"hello": "world"}'
HEADERS = [(b"content-type", b"application/json"), (b"content-length", b"18")]
async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": BODY})
uvicorn.run(app, port=int(sys.argv[1]), loop="uvloop", http="httptools", log_level="critical",
            access_log=False, lifespan="off")
"""

Wanted = tuple[bytes, frozenset[int]]  # a whole request, and the statuses that are right for it


class Server:
    """A server in a process of its own."""

    def __init__(self, command: Sequence[str], port: int = 0) -> None:
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        if port:
            self.port = port
            _wait_for(port)
            return
        line = json.loads(self.process.stdout.readline())
        self.port = int(line["url"].rpartition(":")[2])

    def memory(self) -> float:
        """Resident memory in MiB."""
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize() / 2**20

    def cpu(self) -> float:
        """CPU seconds so far."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(40)


def _wait_for(port: int) -> None:
    for _ in range(100):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).close()
            return
        except OSError:
            time.sleep(0.05)
    sys.exit("the server did not come up")


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def post(path: str, body: bytes, media: str = "application/json") -> bytes:
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {media}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class Tally:
    """What came back, and how long each took."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.statuses: dict[int, int] = {}
        self.errors: list[str] = []

    def percentile(self, share: float) -> float:
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000


class _Client(asyncio.Protocol):
    """One connection that asks, waits for the whole answer, and asks again."""

    def __init__(self, requests: Sequence[Wanted], at: int, tally: Tally, end: float) -> None:
        self._requests = requests
        self._tally = tally
        self._end = end
        self._head = b""
        self._missing = -1
        self._start = 0.0
        self.at = at
        self.done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport
        self._ask()

    def _ask(self) -> None:
        self._start = time.perf_counter()
        self._request, self._right = self._requests[self.at % len(self._requests)]
        self.at += 1
        self._head = b""
        self._missing = -1
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        if self._missing < 0:
            self._head += data
            cut = self._head.find(b"\r\n\r\n")
            if cut < 0:
                return
            data = self._head[cut + 4 :]
            self._head = self._head[:cut].lower() + b"\r"
            length = self._head.partition(b"content-length:")[2].partition(b"\r")[0]
            self._missing = int(length)
        self._missing -= len(data)
        if self._missing <= 0:
            self._answered()

    def _answered(self) -> None:
        now = time.perf_counter()
        status = int(self._head[9:12])
        tally = self._tally
        tally.times.append(now - self._start)
        tally.statuses[status] = tally.statuses.get(status, 0) + 1
        shed = status in (429, 503) and b"retry-after:" in self._head
        if status not in self._right and not shed:
            tally.errors.append(f"{status}: {self._request[:60]!r}")
        self._start = 0.0
        if now >= self._end or shed or b"connection: close" in self._head:
            self._finish(shed=shed)
        else:
            self._ask()

    def _finish(self, *, shed: bool) -> None:
        if not self.done.done():
            self.done.set_result(shed)
        self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        if self._start:
            self._tally.errors.append(f"the connection was lost: {error}")
        if not self.done.done():
            self.done.set_result(False)


def blocks(port: int) -> int:
    """Of Python's memory, while nothing is under way."""
    time.sleep(1)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as response:
        text: str = response.read().decode()
    return int(float(text.split("\naicr_python_blocks ")[1].split("\n")[0]))


async def _client(port: int, requests: Sequence[Wanted], end: float, tally: Tally, at: int) -> None:
    loop = asyncio.get_running_loop()
    while time.perf_counter() < end:
        start = at
        try:
            _, client = await loop.create_connection(
                lambda: _Client(requests, start, tally, end),  # noqa: B023
                "127.0.0.1",
                port,
            )
        except OSError as error:
            tally.errors.append(f"{type(error).__name__}: {error}")
            await asyncio.sleep(0.2)
            continue
        shed = await client.done
        at = client.at
        if shed:
            await asyncio.sleep(0.2)


async def _drive(
    port: int, requests: Sequence[Wanted], clients: int, seconds: float
) -> tuple[Tally, float]:
    tally = Tally()
    start = time.perf_counter()
    step = max(1, len(requests) // clients)
    await asyncio.gather(
        *(_client(port, requests, start + seconds, tally, i * step) for i in range(clients))
    )
    return tally, time.perf_counter() - start


def drive(
    port: int, requests: Sequence[Wanted], clients: int, seconds: float
) -> tuple[Tally, float]:
    """The tally, and the seconds that it took."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(_drive(port, requests, clients, seconds))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_drive(port, requests, clients, seconds))


OK = frozenset((200,))


def recipes() -> list[Wanted]:
    """A request for each of the criteria that resolve on the shipped catalog."""
    from aicr.catalog.open import open_catalog
    from aicr.recipe.listing import resolvable

    found = [one.stated() for one, _ in resolvable(open_catalog())]
    return [(get(f"/v1/recipe?{urlencode(one)}"), OK) for one in found]


def checks(text: bool = False) -> list[Wanted]:
    """Checks of what a past release pinned against what is shipped now, no two of them alike; both
    sides as JSON, or as the text of a YAML document."""
    from aicr.library import Catalog, Recipe, check, resolved
    from aicr.recipe.listing import resolvable
    from aicr.upgrade.sides import Side

    catalog = Catalog()
    found: list[Wanted] = []
    releases = catalog.layers.releases[:-1]
    sized = [one for one, size in resolvable(catalog.layers) if 14 <= size <= 16]
    for number, criteria in enumerate(sized[:: max(1, len(sized) // 64)]):
        new = resolved(catalog, criteria)
        pins = releases[number % len(releases)].pins
        refs = [
            ref.replace(version=pins[ref.name][0]) if ref.version and pins.get(ref.name) else ref
            for ref in new.components
        ]
        old = Recipe(Side("from", new.model.replace(components=refs)))
        if not check(old, new, catalog=catalog, deployer="helm").rows:
            continue
        body = {"deployer": "helm"} | {
            key: one.yaml() if text else json.loads(one.json())
            for key, one in (("from", old), ("to", new))
        }
        found.append((post("/v1/upgrade-check", json.dumps(body).encode()), OK))
    return found


def one_check(port: int) -> list[Wanted]:
    """One check, of the recipe in the examples against what is shipped now, again and again."""
    from aicr.library import Recipe

    old = json.loads(Recipe.open(EXAMPLE).json())
    url = f"http://127.0.0.1:{port}/v1/recipe?service=eks&accelerator=h100&intent=training"
    with urllib.request.urlopen(url, timeout=30) as response:
        new = json.load(response)
    body = json.dumps({"from": old, "to": new, "deployer": "helm"}).encode()
    return [(post("/v1/upgrade-check", body), OK)]


def everything(port: int) -> list[Wanted]:
    """Requests of every kind, some of them wrong."""
    bad = frozenset((400,))
    with open(EXAMPLE, "rb") as file:
        old = file.read()
    criteria = json.dumps({"criteria": {"service": "eks"}, "deployer": "helm"}).encode()
    return [
        *recipes()[:20],
        *one_check(port) * 2,
        *checks()[:8],
        (post("/v1/upgrade-check?deployer=helm", old, "application/yaml"), OK),
        (post("/v1/upgrade-plan?deployer=flux", old, "application/yaml"), OK),
        (post("/v1/bundle", criteria), OK),
        (get("/v1/components"), OK),
        (get("/v1/records/gpu-operator"), OK),
        (get("/healthz"), OK),
        (get("/"), OK),
        (get("/v1/recipe?service=nowhere"), bad),
        (post("/v1/upgrade-check", b"{"), bad),
    ]


def measure(
    name: str, server: Server, requests: Sequence[Wanted], seconds: float, base: float = 0.0
) -> float:
    """Print a line; gives the requests of a CPU second, which ``base`` is of a plain hello."""
    drive(server.port, requests, CONNECTIONS, min(2.0, seconds))
    before = server.cpu()
    tally, took = drive(server.port, requests, CONNECTIONS, seconds)
    if tally.errors:
        sys.exit(f"{name}: {len(tally.errors)} errors, such as {tally.errors[0]}")
    rate = len(tally.times) / took
    busy = (server.cpu() - before) / took
    own = rate / busy
    print(
        f"| {name} | {rate:,.0f} | {tally.percentile(0.5):.1f} ms "
        f"| {tally.percentile(0.99):.1f} ms | {busy:.2f} | {own:,.0f} | {own / (base or own):.2f} |"
    )
    return own


def bench(aicr: Sequence[str], seconds: float) -> None:
    print(
        f"| over {CONNECTIONS} connections | a second | p50 | p99 | processors of the server "
        "| a CPU second of it | / hello |"
    )
    print("|---|---|---|---|---|---|---|")
    port = _free_port()
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "hello.py")
        with open(program, "w", encoding="ascii") as file:
            file.write(HELLO)
        hello = Server([sys.executable, program, str(port)], port)
        base = measure("plain hello", hello, [(get("/"), OK)], seconds)
        hello.end()
    server = Server([*aicr, "serve", "--port", "0"])
    # The request log goes where a log goes: somebody reads it.
    reading = subprocess.Popen(["cat"], stdin=server.process.stdout, stdout=subprocess.DEVNULL)
    kinds = {
        "GET /v1/recipe, all criteria": recipes(),
        "POST /v1/upgrade-check, one pair of recipes": one_check(server.port),
        "POST /v1/upgrade-check, different pairs": checks(),
        "POST /v1/upgrade-check, different pairs as YAML": checks(text=True),
    }
    try:
        for name, requests in kinds.items():
            measure(name, server, requests, seconds, base)
    finally:
        server.end()
        reading.wait(10)


def storm(aicr: Sequence[str], clients: int, seconds: float) -> int:
    """Many clients at once; gives an exit code."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < clients + 100:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, clients + 100), hard))
    server = Server([*aicr, "serve", "--port", "0"])
    reading = subprocess.Popen(["cat"], stdin=server.process.stdout, stdout=subprocess.DEVNULL)
    try:
        requests = everything(server.port)
        drive(server.port, requests, clients, seconds / 6)
        before, held = server.memory(), blocks(server.port)
        tally, took = drive(server.port, requests, clients, seconds)
        after, holds = server.memory(), blocks(server.port)
        print(
            f"{clients} clients for {took:.0f} s: {len(tally.times):,} answers, "
            f"{dict(sorted(tally.statuses.items()))}, p99 {tally.percentile(0.99):,.0f} ms"
        )
        print(
            f"memory {before:.1f} MiB after warming up, {after:.1f} MiB at the end; blocks that "
            f"Python holds: {held:,}, then {holds:,}"
        )
        # A block for each answer would be a leak. Cycles wait to be collected, as many as 150,000
        # blocks of them, and the allocator takes minutes to settle.
        grown = holds - held > len(tally.times) + 150_000 or after > before * 1.5
        for error in tally.errors[:5]:
            print(f"error: {error}")
        print(f"{len(tally.errors)} errors{', and the memory grew' if grown else ''}")
        return 1 if tally.errors or grown else 0
    finally:
        server.end()
        reading.wait(10)


def _free_port() -> int:
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def main() -> int:
    parser = argparse.ArgumentParser(description="measure aicr serve")
    parser.add_argument("--aicr", default="", help="the command (default: python -m aicr)")
    parser.add_argument("--clients", type=int, default=0, help="a storm of so many clients")
    parser.add_argument("--seconds", type=float, default=8.0)
    args = parser.parse_args()
    aicr = [args.aicr] if args.aicr else [sys.executable, "-m", "aicr"]
    if args.clients:
        return storm(aicr, args.clients, args.seconds)
    bench(aicr, args.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
