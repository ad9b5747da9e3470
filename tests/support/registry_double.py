"""Container registries for tests: Debian's docker-registry on loopback (open, with tokens, with a
password file), and one that replays what a real one was recorded to answer."""

from __future__ import annotations

import base64
import datetime
import http.client
import json
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from kube_double_tls import Authority

USER, PASSWORD = "robot", "let-me-in"
# bcrypt of PASSWORD, the only kind that docker-registry reads.
_HTPASSWD = f"{USER}:$2b$05$abcdefghijklmnopqrstuu3Jd./u/rH1RxB6auX5v7gLP6uWhKCgG\n"
SERVICE = "registry.test"
Handler = Callable[[BaseHTTPRequestHandler], None]


class Registries:
    """Three registries over one storage; ``open`` speaks plain http, the others TLS."""

    def __init__(self, folder: Path) -> None:
        self.authority = Authority(folder)
        self.certificate = self.authority.issue("server", server=True)
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        self.tokens = Web(self._token, certificate=self.certificate)
        self.token_requests: list[tuple[str, str]] = []
        (folder / "htpasswd").write_text(_HTPASSWD)
        self.open = self._start("open", {})
        self.password = self._start(
            "password",
            {"auth": {"htpasswd": {"realm": "test", "path": str(folder / "htpasswd")}}},
            tls=True,
        )
        self.token = self._start(
            "token",
            {
                "auth": {
                    "token": {
                        "realm": f"{self.tokens.url}/token",
                        "service": SERVICE,
                        "issuer": "test",
                        "rootcertbundle": str(self.authority.certificate),
                    }
                }
            },
            tls=True,
        )

    def stop(self) -> None:
        self.tokens.stop()
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.wait(timeout=10)

    def push(self, repository: str, tag: str, manifest: bytes, kind: str) -> None:
        self._call("PUT", f"/v2/{repository}/manifests/{tag}", manifest, kind)

    def push_blob(self, repository: str, data: bytes, digest: str) -> None:
        location = self._call("POST", f"/v2/{repository}/blobs/uploads/", b"", "")
        path = location.partition("//")[2].partition("/")[2]
        self._call("PUT", f"/{path}&digest={digest}", data, "application/octet-stream")

    def _call(self, method: str, path: str, body: bytes, kind: str) -> str:
        connection = http.client.HTTPConnection(self.open, timeout=10)
        connection.request(method, path, body, {"Content-Type": kind} if kind else {})
        answer = connection.getresponse()
        said = answer.read()
        connection.close()
        assert answer.status < 300, (answer.status, said)
        return answer.headers.get("Location", "")

    def _start(self, name: str, more: Mapping[str, Any], *, tls: bool = False) -> str:
        port = free_port()
        http_section: dict[str, Any] = {"addr": f"127.0.0.1:{port}", "secret": "x"}
        if tls:
            http_section["tls"] = {
                "certificate": str(self.certificate),
                "key": str(self.certificate),
            }
        config = {
            "version": 0.1,
            "log": {"level": "error"},
            "storage": {"filesystem": {"rootdirectory": str(self._folder / "storage")}},
            "http": http_section,
            **more,
        }
        path = self._folder / f"{name}.yml"
        path.write_text(yaml.safe_dump(config))
        process = subprocess.Popen(
            ["docker-registry", "serve", str(path)],
            stdout=subprocess.DEVNULL,
            stderr=(self._folder / f"{name}.log").open("wb"),
        )
        self._processes.append(process)
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return f"127.0.0.1:{port}"
            assert process.poll() is None, (self._folder / f"{name}.log").read_text()
            time.sleep(0.05)
        raise AssertionError(f"docker-registry {name} did not start")

    def _token(self, request: BaseHTTPRequestHandler) -> None:
        from urllib.parse import parse_qs, urlsplit

        query = parse_qs(urlsplit(request.path).query)
        authorization = request.headers.get("Authorization", "")
        self.token_requests.append((request.command, authorization))
        basic = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if authorization != basic:
            send(request, 401, b'{"details": "incorrect username or password"}')
            return
        kind, name, actions = query["scope"][0].split(":")
        access = [{"type": kind, "name": name, "actions": actions.split(",")}]
        send(request, 200, json.dumps({"token": self._sign(access)}).encode())

    def _sign(self, access: list[dict[str, Any]]) -> str:
        pem = self.certificate.read_bytes()
        certificate = x509.load_pem_x509_certificate(pem)
        key = serialization.load_pem_private_key(pem, None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        now = int(datetime.datetime.now(datetime.UTC).timestamp())
        chain = base64.b64encode(certificate.public_bytes(serialization.Encoding.DER)).decode()
        head = {"typ": "JWT", "alg": "ES256", "x5c": [chain]}
        claims = {
            "iss": "test", "sub": USER, "aud": SERVICE, "exp": now + 300, "nbf": now - 5,
            "iat": now, "jti": str(now), "access": access,
        }  # fmt: skip
        text = ".".join(_url64(json.dumps(one).encode()) for one in (head, claims))
        r, s = decode_dss_signature(key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{text}.{_url64(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


class Web:
    """A small web server; ``seen`` are the requests as (method, path, Authorization)."""

    def __init__(self, handler: Handler, *, certificate: Path | None = None) -> None:
        self.seen: list[tuple[str, str, str]] = []
        web = self

        class Requests(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                web.seen.append((self.command, self.path, self.headers.get("Authorization", "")))
                handler(self)

            do_HEAD = do_POST = do_GET

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Requests)
        self._server.daemon_threads = True
        self._scheme = "http"
        if certificate is not None:
            self._scheme = "https"
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        return f"{self._scheme}://{self.host}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def send(
    request: BaseHTTPRequestHandler,
    status: int,
    body: bytes,
    headers: Mapping[str, str] | None = None,
) -> None:
    request.send_response(status)
    for key, value in {"Content-Type": "application/json", **(headers or {})}.items():
        request.send_header(key, value)
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    if request.command != "HEAD":
        request.wfile.write(body)


def replay(folder: Path) -> Handler:
    """A handler that answers as recorded, by method, path and the Accept header."""
    answers: dict[tuple[str, str, str], tuple[int, dict[str, str], bytes]] = {}
    for path in sorted(folder.glob("*.json")):
        one = json.loads(path.read_text())
        asked, answer = one["request"], one["response"]
        if path.name.startswith(("unauthorized", "ping-401")):
            continue
        body = answer.get("body")
        data = b"" if body is None else json.dumps(body).encode()
        if isinstance(body, str):
            data = body.encode()
        if "errors" in (body or {}):
            data = json.dumps(body, separators=(",", ":")).encode() + b"\n"
        headers = {
            key: value
            for key, value in answer["headers"].items()
            if key in ("Content-Type", "Docker-Content-Digest", "Docker-Distribution-Api-Version")
        }
        accept = asked["headers"].get("Accept", "")
        answers[asked["method"], asked["path"], accept] = (answer["status"], headers, data)

    def handle(request: BaseHTTPRequestHandler) -> None:
        accept = request.headers.get("Accept", "")
        key = (request.command, request.path)
        found = answers.get((*key, accept)) or answers.get((*key, ""))
        if found is None:
            found = next((value for (m, p, _), value in answers.items() if (m, p) == key), None)
        status, headers, data = found or (404, {"Content-Type": "text/plain"}, b"not recorded\n")
        send(request, status, data, headers)

    return handle


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _url64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
