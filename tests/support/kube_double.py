"""A Kubernetes API server for tests: HTTP(S) over an in-memory store, with roles and faults.

It answers as a real server was recorded to answer (``tests/data/kube``); a test keeps it to that.
``subresources`` is where a test adds what it needs of exec or proxy.
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, unquote, urlsplit

from kube_config_file import write_kubeconfig
from kube_double_discovery import discovery
from kube_double_faults import Answer, Cut, Drop, Fault, Faults, Hang, Run, Slow
from kube_double_kinds import Kind, Object, StatusError, not_found
from kube_double_protobuf import is_protobuf, secret
from kube_double_rbac import ADMINS, REVIEWS, Attempt, User, check, review
from kube_double_request import Request, resource_at
from kube_double_store import Store
from kube_double_tls import Authority

MAX_BODY = 3_145_728
ADMIN_TOKEN = "admin-token"
PLAIN = "text/plain; charset=utf-8"
_METADATA_ONLY = "as=PartialObjectMetadataList"
_METADATA_OF_ONE = "as=PartialObjectMetadata;"


Subresource = Callable[["Exchange", Object], None]


class KubeDouble:
    """A running server. Use it in a ``with`` block; ``url`` and ``kubeconfig`` lead to it."""

    def __init__(self, folder: Path, *, tls: bool = False) -> None:
        self.folder = folder
        self.store = Store()
        self.faults = Faults()
        self.requests: list[Request] = []
        self.tokens: dict[str, User] = {ADMIN_TOKEN: User("admin", (ADMINS,))}
        self.subresources: dict[tuple[str, str], Subresource] = {}
        self.clock: Callable[[], float] = time.time
        self.authority = Authority(folder) if tls else None
        self._server = _Server(("127.0.0.1", 0), self)
        if self.authority is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.authority.issue("server", server=True))
            context.load_verify_locations(self.authority.certificate)
            context.verify_mode = ssl.CERT_OPTIONAL
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )
        self._running = False

    def __enter__(self) -> KubeDouble:
        self._thread.start()
        self._running = True
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Be gone: open connections are cut, new ones are refused."""
        if self._running:
            self._running = False
            self._server.shutdown()
            self._server.server_close()
            self._server.cut_connections()

    @property
    def url(self) -> str:
        scheme = "https" if self.authority is not None else "http"
        return f"{scheme}://127.0.0.1:{self._server.server_address[1]}"

    def namespace(self, *names: str) -> None:
        for name in names:
            self.store.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def kubeconfig(
        self,
        user: Mapping[str, Any] | None = None,
        *,
        cluster: Mapping[str, Any] | None = None,
        name: str = "double",
    ) -> Path:
        """A kubeconfig for this server; the administrator's token unless ``user`` says more."""
        server: dict[str, Any] = {"server": self.url}
        if self.authority is not None:
            server["certificate-authority"] = str(self.authority.certificate)
        server |= cluster or {}
        return write_kubeconfig(self.folder, name, user or {"token": ADMIN_TOKEN}, server)

    def forget(self) -> None:
        """What was asked until now does not count."""
        self.requests.clear()

    def granted(self, user: str, role: Mapping[str, Any], namespace: str = "") -> None:
        """Wait until the rights of a bound role hold: here at once."""

    def denied(self, user: str, role: Mapping[str, Any], namespace: str = "") -> None:
        """Wait until none of these rights holds: here at once."""

    def verbs(self) -> set[tuple[str, str]]:
        """(verb, resource) of every request for a resource."""
        return {(one.verb, one.resource) for one in self.requests if one.verb}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], double: KubeDouble) -> None:
        self.double = double
        self._open: set[Any] = set()
        super().__init__(address, Exchange)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are part of the tests."""

    def cut_connections(self) -> None:
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class Exchange(BaseHTTPRequestHandler):
    """One connection: each request authenticated, authorised, answered."""

    protocol_version = "HTTP/1.1"
    server: _Server
    wbufsize = -1
    disable_nagle_algorithm = True

    @property
    def double(self) -> KubeDouble:
        return self.server.double

    def log_message(self, format: str, *args: object) -> None:
        pass

    def date_time_string(self, timestamp: float | None = None) -> str:
        return super().date_time_string(self.double.clock() if timestamp is None else timestamp)

    def do_GET(self) -> None:
        self._handle()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def _handle(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        request = self._parse(body)
        self.double.requests.append(request)
        fault = self.double.faults.next(request)
        if isinstance(fault, Run):
            fault.action()
            fault = None
        self.fault: Fault | None = fault
        if isinstance(fault, Answer):
            self.send(fault.status, fault.body, dict(fault.headers), kind=PLAIN)
            return
        if isinstance(fault, Drop | Hang):
            if isinstance(fault, Hang):
                time.sleep(fault.seconds)
            self.close_connection = True
            return
        try:
            self._answer(request)
        except StatusError as error:
            self.send_json(error.code, error.body)

    def _parse(self, body: bytes) -> Request:
        url = urlsplit(self.path)
        query = {key: values[-1] for key, values in parse_qs(url.query).items()}
        kind, namespace, name, subresource, rest = resource_at(self.double.store, unquote(url.path))
        verb = ""
        if kind is not None:
            one = bool(name)
            verb = {
                "GET": "get" if one else "watch" if query.get("watch") in ("1", "true") else "list",
                "POST": "create",
                "PUT": "update",
                "PATCH": "patch",
                "DELETE": "delete" if one else "deletecollection",
            }[self.command]
        return Request(
            self.command,
            url.path,
            query,
            verb,
            kind,
            namespace,
            name,
            subresource,
            rest,
            self._user(),
            dict(self.headers.items()),
            body,
            tuple(self.headers.items()),
        )

    def _user(self) -> User | None:
        """Who asks; None where the credentials are no good."""
        if isinstance(self.connection, ssl.SSLSocket):
            certificate = self.connection.getpeercert()
            if certificate:
                rdns = cast("tuple[tuple[tuple[str, str], ...], ...]", certificate["subject"])
                subject = [pair for rdn in rdns for pair in rdn]
                names = [value for key, value in subject if key == "commonName"]
                groups = tuple(value for key, value in subject if key == "organizationName")
                return User(str(names[0]), groups)
        given = self.headers.get("Authorization")
        if given is None:
            return User("system:anonymous", ("system:unauthenticated",))
        scheme, _, token = given.partition(" ")
        return self.double.tokens.get(token) if scheme.lower() == "bearer" else None

    def _answer(self, request: Request) -> None:
        if request.user is None:
            raise StatusError(401, "Unauthorized", "Unauthorized")
        store = self.double.store
        if request.kind is None:
            found = discovery(store, request.path) if request.method == "GET" else None
            if found is None:
                self.send(404, "404 page not found\n", kind=PLAIN)
            else:
                self.send_json(200, found)
            return
        kind, namespace, name = request.kind, request.namespace, request.name
        if (kind.plural, request.verb) == (REVIEWS, "create"):
            self.send_json(201, review(store, request.user, self._body(request)))
            return
        check(
            store, request.user, Attempt(request.verb, kind, namespace, name, request.subresource)
        )
        if request.subresource == "exec" and request.verb == "get":
            # A WebSocket begins with a GET; from 1.35 on a server asks for create besides.
            check(store, request.user, Attempt("create", kind, namespace, name, "exec"))
        if not kind.namespaced:
            namespace = ""
        if request.subresource:
            answer = self.double.subresources.get((kind.plural, request.subresource))
            if answer is None:
                raise not_found(kind, name)
            pod = name.partition(":")[0] if request.subresource == "proxy" else name
            answer(self, store.get(kind, namespace, pod))
        elif request.verb == "get":
            item = store.get(kind, namespace, name)
            if _METADATA_OF_ONE in request.headers.get("Accept", ""):
                own = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
                self.send_json(200, {**own, "metadata": item["metadata"]})
            else:
                self.send_json(200, _whole(kind, item))
        elif request.verb == "list":
            self._list(request, kind)
        elif request.verb == "watch":
            self._watch(request, kind)
        elif request.verb == "create":
            self.send_json(201, _whole(kind, store.create(kind, namespace, self._body(request))))
        elif request.verb == "update":
            item = store.update(kind, namespace, name, self._body(request))
            self.send_json(200, _whole(kind, item))
        elif request.verb == "delete":
            body = b"" if is_protobuf(request.body) else request.body
            options = json.loads(body) if body else {}
            uid = (options.get("preconditions") or {}).get("uid", "")
            self.send_json(200, _whole(kind, store.delete(kind, namespace, name, uid)))
        else:
            raise StatusError(405, "MethodNotAllowed", "the server does not allow this method")

    def _body(self, request: Request) -> Object:
        if len(request.body) > MAX_BODY:
            message = f"Request entity too large: limit is {MAX_BODY}"
            raise StatusError(413, "RequestEntityTooLarge", message)
        if is_protobuf(request.body):
            return secret(request.body)
        if "json" not in request.headers.get("Content-Type", ""):
            raise StatusError(415, "UnsupportedMediaType", "the body must be JSON")
        body: Object = json.loads(request.body)
        return {key: value for key, value in body.items() if key not in ("kind", "apiVersion")}

    def _list(self, request: Request, kind: Kind) -> None:
        page = self.double.store.list(
            kind,
            request.namespace,
            labels=request.query.get("labelSelector", ""),
            fields=request.query.get("fieldSelector", ""),
            limit=int(request.query.get("limit") or 0),
            token=request.query.get("continue", ""),
        )
        items = page.items
        head = {"kind": f"{kind.kind}List", "apiVersion": kind.api_version}
        if _METADATA_ONLY in request.headers.get("Accept", ""):
            head = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
            own = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
            items = [{**own, "metadata": item["metadata"]} for item in items]
        elif kind.custom:
            items = [_whole(kind, item) for item in items]
        self.send_json(200, {**head, "metadata": page.metadata, "items": items})

    def _watch(self, request: Request, kind: Kind) -> None:
        store, query = self.double.store, request.query
        revision = int(query.get("resourceVersion") or store.revision)
        end = time.monotonic() + float(query.get("timeoutSeconds") or 30)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if revision < store.compacted:
            message = f"too old resource version: {revision} ({store.compacted})"
            gone = StatusError(410, "Expired", message)
            self.chunk(json.dumps({"type": "ERROR", "object": gone.body}) + "\n")
        else:
            while time.monotonic() < end:
                found = list(
                    store.events(
                        kind,
                        request.namespace,
                        revision,
                        labels=query.get("labelSelector", ""),
                        fields=query.get("fieldSelector", ""),
                    )
                )
                for changed, what, item in found:
                    revision = changed
                    line = {"type": what, "object": _whole(kind, item)}
                    self.chunk(json.dumps(line) + "\n")
                if not found:
                    with store.changed:
                        store.changed.wait(min(0.2, max(0.0, end - time.monotonic())))
        self.chunk("")

    def chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def send_json(self, status: int, body: object) -> None:
        text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
        self.send(status, text + "\n", kind="application/json")

    def send(
        self, status: int, text: str, headers: Mapping[str, str] | None = None, *, kind: str
    ) -> None:
        """The answer, or what the fault of this request lets through of it."""
        data = text.encode()
        self.send_response(status)
        for key, value in ({"Content-Type": kind} | dict(headers or {})).items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if isinstance(self.fault, Cut):
            self.wfile.write(data[: self.fault.after])
            self.wfile.flush()
            self.close_connection = True
            self.connection.close()
            return
        if isinstance(self.fault, Slow):
            for start in range(0, len(data), self.fault.piece):
                self.wfile.write(data[start : start + self.fault.piece])
                self.wfile.flush()
                time.sleep(self.fault.pause)
            return
        self.wfile.write(data)
        self.wfile.flush()


def _whole(kind: Kind, item: Object) -> Object:
    return {"kind": kind.kind, "apiVersion": kind.api_version, **item}
