"""Exec and proxy in the Kubernetes double: commands over WebSocket, pages of real monitors."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import struct
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from kube_double import PLAIN, Exchange, KubeDouble
from kube_double_kinds import Object

_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_PROTOCOL = "v5.channel.k8s.io"


class Result(NamedTuple):
    """What a command says. ``cut`` ends the stream after that many bytes of stdout, without a
    status; ``hang`` says nothing at all for so many seconds."""

    stdout: bytes = b""
    stderr: bytes = b""
    code: int = 0
    cut: int = -1
    hang: float = 0.0


Command = Callable[[Sequence[str]], Result]


def serve_exec(double: KubeDouble, run: Command) -> list[list[str]]:
    """Answer exec with what ``run`` gives; the list gets every command."""
    commands: list[list[str]] = []

    def answer(exchange: Exchange, pod: Object) -> None:
        query = parse_qs(urlsplit(exchange.path).query)
        command = query.get("command", [])
        commands.append(command)
        asked = exchange.headers.get("Sec-WebSocket-Protocol", "")
        if exchange.headers.get("Upgrade", "").lower() != "websocket" or _PROTOCOL not in asked:
            exchange.send(400, "unable to upgrade: no websocket\n", kind=PLAIN)
            return
        key = exchange.headers["Sec-WebSocket-Key"] + _GUID
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        exchange.send_response_only(101)
        exchange.send_header("Upgrade", "websocket")
        exchange.send_header("Connection", "Upgrade")
        exchange.send_header("Sec-WebSocket-Accept", accept)
        exchange.send_header("Sec-WebSocket-Protocol", _PROTOCOL)
        exchange.end_headers()
        exchange.close_connection = True
        result = run(command)
        _talk(exchange, result)

    double.subresources["pods", "exec"] = answer
    return commands


def _talk(exchange: Exchange, result: Result) -> None:
    if result.hang:
        import time

        time.sleep(result.hang)
        return
    stdout = result.stdout if result.cut < 0 else result.stdout[: result.cut]
    for start in range(0, len(stdout), 32768):
        _frame(exchange, b"\x01" + stdout[start : start + 32768])
    if result.cut >= 0:
        exchange.wfile.flush()
        exchange.connection.close()
        return
    if result.stderr:
        _frame(exchange, b"\x02" + result.stderr)
    status: dict[str, Any] = {"metadata": {}, "status": "Success"}
    if result.code:
        status = {
            "metadata": {},
            "status": "Failure",
            "message": f"command terminated with non-zero exit code: {result.code}",
            "reason": "NonZeroExitCode",
            "details": {"causes": [{"reason": "ExitCode", "message": str(result.code)}]},
        }
    _frame(exchange, b"\x03" + json.dumps(status).encode())
    _frame(exchange, struct.pack(">H", 1000), opcode=8)
    exchange.wfile.flush()


def _frame(exchange: Exchange, data: bytes, opcode: int = 2) -> None:
    size = len(data)
    if size < 126:
        head = struct.pack(">BB", 0x80 | opcode, size)
    elif size < 65536:
        head = struct.pack(">BBH", 0x80 | opcode, 126, size)
    else:
        head = struct.pack(">BBQ", 0x80 | opcode, 127, size)
    exchange.wfile.write(head + data)


def serve_monitors(double: KubeDouble, ports: Mapping[str, int]) -> None:
    """Answer ``pods/proxy`` with the pages of real monitors, by pod name."""

    def answer(exchange: Exchange, pod: Object) -> None:
        path = urlsplit(exchange.path)
        page = path.path.partition("/proxy")[2] + (f"?{path.query}" if path.query else "")
        port = ports[pod["metadata"]["name"]]
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{page}", timeout=60) as found:
                exchange.send(200, found.read().decode(), kind="application/json")
        except urllib.error.HTTPError as error:
            exchange.send(error.code, error.read().decode(), kind="application/json")
        except OSError as error:
            exchange.send(503, f"error trying to reach service: {error}\n", kind=PLAIN)

    double.subresources["pods", "proxy"] = answer


def nats_box(nats: str, url: str, home: Path, ports: Mapping[str, int]) -> Command:
    """The commands of a nats-box, run with the real nats client; ``wget`` reads the monitors."""
    contexts = home / "nats" / "context"
    contexts.mkdir(parents=True, exist_ok=True)
    (contexts / "default.json").write_text(json.dumps({"url": url}))

    def run(command: Sequence[str]) -> Result:
        if command[0] == "wget":
            return _wget(command[-1], ports)
        done = subprocess.run(
            [nats, *command[1:]],
            env={**os.environ, "XDG_CONFIG_HOME": str(home)},
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=120,
            check=False,
        )
        return Result(done.stdout, done.stderr, done.returncode)

    return run


def recorded_box(url: str, ports: Mapping[str, int]) -> Command:
    """The same where the nats client is not installed: the API's answers, printed as nats 0.5.1
    was recorded to print them."""

    def run(command: Sequence[str]) -> Result:
        if command[0] == "wget":
            return _wget(command[-1], ports)
        words = [word for word in command[5:] if not word.startswith("-")]
        verb, what, *names = words
        api = {
            ("stream", "ls"): "STREAM.NAMES",
            ("stream", "info"): "STREAM.INFO",
            ("stream", "get"): "STREAM.MSG.GET",
            ("consumer", "ls"): "CONSUMER.NAMES",
            ("consumer", "info"): "CONSUMER.INFO",
        }[verb, what]
        payload = b""
        if what == "get":
            payload = json.dumps({"seq": int(names.pop())}).encode()
        subject = ".".join([api, *names])
        try:
            found = asyncio.run(_ask(url, subject, payload))
        except Exception as error:
            return Result(stderr=f"nats: error: {error}\n".encode(), code=1)
        if "error" in found:
            said = f"{found['error']['description']} ({found['error']['err_code']})"
            what = f"could not retrieve {'#'.join(names)}: {said}"
            return Result(stderr=f"nats: error: {what}\n".encode(), code=1)
        if what == "ls":
            shown = found["streams" if verb == "stream" else "consumers"]
        else:
            shown = found["message"] if what == "get" else found
        return Result(json.dumps(shown, indent=2).encode() + b"\n")

    return run


async def _ask(url: str, subject: str, payload: bytes) -> dict[str, Any]:
    import nats

    client: Any = await nats.connect(url.split(","), connect_timeout=10)
    try:
        answer = await client.request(f"$JS.API.{subject}", payload, timeout=10)
        found: dict[str, Any] = json.loads(answer.data)
        return found
    finally:
        await client.close()


def _wget(url: str, ports: Mapping[str, int]) -> Result:
    address = urlsplit(url)
    host = (address.hostname or "").partition(".")[0]
    page = address.path + (f"?{address.query}" if address.query else "")
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{ports[host]}{page}", timeout=60) as found:
            return Result(found.read())
    except OSError as error:
        return Result(stderr=f"wget: {error}\n".encode(), code=1)
