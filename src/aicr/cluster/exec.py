"""What a command in a running container says: exec over WebSocket, ended only by its status.

Nothing is sent to the command. A stream that ends without the command's status, or takes longer or
says more than allowed, is an error: half an answer is none.
"""

from __future__ import annotations

import json
import time

from aicr.cluster.connection import USER_AGENT, Connection
from aicr.cluster.failures import Permission, broken, failure, too_slow
from aicr.cluster.reading import object_path
from aicr.errors import UNAVAILABLE, AicrError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from aicr.cluster.credentials import Access

PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
_STDOUT, _STDERR, _STATUS, _CLOSED = 1, 2, 3, 255
LARGEST = 64 * 1024 * 1024


class Ran:
    """A command that ended: what it said, and its exit code."""

    __slots__ = ("code", "stderr", "stdout")

    def __init__(self, code: int, stdout: bytes, stderr: bytes) -> None:
        self.code = code
        self.stdout = stdout
        self.stderr = stderr


def exec_query(command: Sequence[str], container: str = "") -> list[tuple[str, str]]:
    """The query of such a request: no stdin, no terminal."""
    query = [("command", word) for word in command]
    if container:
        query.append(("container", container))
    return [*query, ("stdin", "false"), ("stdout", "true"), ("stderr", "true"), ("tty", "false")]


def run(
    connection: Connection,
    namespace: str,
    pod: str,
    command: Sequence[str],
    *,
    container: str = "",
    seconds: float = 30.0,
    largest: int = LARGEST,
) -> Ran:
    """Run ``command`` in the pod and give what it said.

    Raises ``ApiError`` where the server says no, TIMEOUT, and UNAVAILABLE for a stream that is cut.
    """
    from urllib.parse import urlencode

    end = time.monotonic() + seconds
    permission = Permission("get and create", "pods/exec", namespace=namespace, name=pod)
    path = f"{object_path('pods', namespace, pod)}/exec"
    address = "ws" + connection.server.removeprefix("http")
    socket = _open(
        connection, f"{address}{path}?{urlencode(exec_query(command, container))}", permission, end
    )
    try:
        return _collect(connection, socket, permission, end, seconds, largest)
    finally:
        socket.close(timeout=1)


def _open(connection: Connection, url: str, permission: Permission, end: float) -> Any:
    import websocket

    access = connection._access
    headers = [f"{key}: {value}" for key, value in access.headers().items()]
    socket: Any = websocket.WebSocket(
        sslopt=_tls(access), enable_multithread=False, skip_utf8_validation=True
    )
    socket.settimeout(min(connection.patience.connect, max(0.1, end - time.monotonic())))
    try:
        socket.connect(
            url,
            header=[*headers, f"User-Agent: {USER_AGENT}"],
            subprotocols=list(PROTOCOLS),
            suppress_origin=True,
            redirect_limit=0,
            **_proxy(access),
        )
    except websocket.WebSocketBadStatusException as error:
        found = {str(key).title(): str(value) for key, value in (error.resp_headers or {}).items()}
        raise failure(
            error.status_code,
            found,
            bytes(error.resp_body or b""),
            server=connection.server,
            context=connection.context,
            permission=permission,
            role=connection.role,
        ) from None
    except websocket.WebSocketTimeoutException:
        raise too_slow(
            str(permission), connection.patience.connect, server=connection.server,
            context=connection.context,
        ) from None  # fmt: skip
    except (websocket.WebSocketException, OSError, ValueError) as error:
        raise broken(error, server=connection.server, context=connection.context, tries=1) from None
    return socket


def _collect(
    connection: Connection,
    socket: Any,
    permission: Permission,
    end: float,
    seconds: float,
    largest: int,
) -> Ran:
    import websocket

    said = {_STDOUT: bytearray(), _STDERR: bytearray(), _STATUS: bytearray()}
    ended = False
    while not ended:
        left = end - time.monotonic()
        if left <= 0:
            raise _late(connection, permission, seconds)
        socket.settimeout(left)
        try:
            opcode, data = socket.recv_data()
        except websocket.WebSocketTimeoutException:
            raise _late(connection, permission, seconds) from None
        except (websocket.WebSocketException, OSError) as error:
            if said[_STATUS]:
                break
            raise _cut(connection, permission, type(error).__name__) from None
        if opcode == websocket.ABNF.OPCODE_CLOSE:
            break
        if not data:
            continue
        channel = data[0]
        if channel in said:
            said[channel] += data[1:]
            if sum(map(len, said.values())) > largest:
                raise AicrError(
                    UNAVAILABLE,
                    f"{connection.server}: the command said more than {largest} bytes",
                )
        ended = channel == _STATUS and _status(bytes(said[_STATUS])) is not None
    code = _status(bytes(said[_STATUS]))
    if code is None:
        raise _cut(connection, permission, "it closed before the command's status came")
    if code < 0:
        raise AicrError(
            UNAVAILABLE,
            f"{connection.server} (context {connection.context}) could not {permission}: "
            f"{_message(bytes(said[_STATUS]))}",
        )
    return Ran(code, bytes(said[_STDOUT]), bytes(said[_STDERR]))


def _status(data: bytes) -> int | None:
    """The exit code in the server's last word; None while that is not whole."""
    try:
        found = json.loads(data)
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    if found.get("status") == "Success":
        return 0
    details = found.get("details")
    causes = details.get("causes") if isinstance(details, dict) else None
    for cause in causes if isinstance(causes, list) else ():
        if isinstance(cause, dict) and cause.get("reason") == "ExitCode":
            text = str(cause.get("message", ""))
            return int(text) if text.isdecimal() and int(text) else 1
    return -1


def _message(data: bytes) -> str:
    return str(json.loads(data).get("message", ""))[:500] or "no explanation"


def _tls(access: Access) -> dict[str, Any]:
    found: dict[str, Any] = {"context": access.tls, "check_hostname": access.verifies_tls}
    if access.server_name:
        found["server_hostname"] = access.server_name
    return found if access.tls is not None else {}


def _proxy(access: Access) -> dict[str, Any]:
    """The proxy that other requests go through. The library would look into the environment
    itself, unless it is told which hosts no proxy is for: all, or none."""
    from urllib.parse import unquote

    if hasattr(access.pool, "proxy_url"):  # what urllib3 makes of a SOCKS proxy
        raise invalid(f"{access.server}: a command in a pod cannot be run through a SOCKS proxy")
    proxy = access.pool.proxy
    if proxy is None:
        return {"http_proxy_host": "none", "http_no_proxy": ["*"]}
    found: dict[str, Any] = {
        "http_proxy_host": proxy.host,
        "http_proxy_port": proxy.port or 80,
        "http_no_proxy": ["-"],
        "proxy_type": "http",
    }
    if proxy.auth:
        found["http_proxy_auth"] = tuple(map(unquote, proxy.auth.split(":", 1)))
    return found


def _late(connection: Connection, permission: Permission, seconds: float) -> AicrError:
    return too_slow(str(permission), seconds, server=connection.server, context=connection.context)


def _cut(connection: Connection, permission: Permission, why: str) -> AicrError:
    return AicrError(
        UNAVAILABLE,
        f"{connection.server} (context {connection.context}): the stream was cut while it was to "
        f"{permission}: {why}",
        hint="try again",
    )
