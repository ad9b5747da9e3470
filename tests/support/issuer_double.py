"""An OIDC issuer for tests, over HTTPS: discovery, and new tokens for a refresh token."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from kube_double_tls import Authority


class Asked(NamedTuple):
    """A request for a token."""

    form: dict[str, str]
    authorization: str


def jwt(name: str, ends: float) -> str:
    """An id-token that is over at ``ends``; nobody here checks its signature."""

    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return f"{part({'alg': 'RS256'})}.{part({'sub': name, 'exp': int(ends)})}.c2lnbmVk"


class IssuerDouble:
    """A running issuer. ``answer`` gives the status and the body for a request of a token;
    ``discovery`` is added to what it says of itself."""

    def __init__(self, folder: Path, answer: Callable[[Asked], tuple[int, object]]) -> None:
        self.authority = Authority(folder)
        self.answer = answer
        self.asked: list[Asked] = []
        self.discovery: dict[str, Any] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.authority.issue("issuer", server=True))
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._server.server_address[1]}"

    def user(self, **config: str) -> dict[str, Any]:
        """The kubeconfig's user of this issuer; what is empty is left out."""
        usual = {
            "idp-issuer-url": self.url,
            "idp-certificate-authority": str(self.authority.certificate),
            "client-id": "kube",
            "client-secret": "client-hush",
            "refresh-token": "refresh-hush-1",
        }
        merged = {key: value for key, value in (usual | config).items() if value}
        return {"auth-provider": {"name": "oidc", "config": merged}}

    def __enter__(self) -> IssuerDouble:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(double: IssuerDouble) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            if self.path != "/.well-known/openid-configuration":
                self._send(404, {"error": "not_found"})
                return
            own = {"issuer": double.url, "token_endpoint": f"{double.url}/token"}
            self._send(200, own | double.discovery)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            form = {key: values[-1] for key, values in parse_qs(body).items()}
            asked = Asked(form, self.headers.get("Authorization", ""))
            double.asked.append(asked)
            self._send(*double.answer(asked))

        def _send(self, status: int, body: object) -> None:
            data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler
