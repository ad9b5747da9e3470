"""A real kube-apiserver over etcd, from the folder that ``KUBEBUILDER_ASSETS`` names.

It has the parts of ``KubeDouble`` that the tests for both use; objects are seeded through the API.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import urllib3
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from kube_double import ADMIN_TOKEN
from kube_double_kinds import Kind, StatusError
from kube_double_rbac import ADMINS
from kube_double_store import Store

TOKENS = f'{ADMIN_TOKEN},admin,1,"{ADMINS}"\ntoken-user-token,token-user,2\n'
_OF_THE_SERVER = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation")


def assets() -> Path | None:
    """The folder with etcd and kube-apiserver; None where none is named."""
    folder = os.environ.get("KUBEBUILDER_ASSETS")
    return Path(folder) if folder else None


class KubeReal:
    """A running server. Use it in a ``with`` block."""

    def __init__(self, folder: Path, binaries: Path) -> None:
        self.folder = folder
        self.store = RealStore(self)
        self._binaries = binaries
        self._processes: list[subprocess.Popen[bytes]] = []
        self._ports = [_free_port() for _ in range(3)]
        self._certificates = folder / "certificates"
        self._pool = urllib3.PoolManager(retries=False, cert_reqs="CERT_NONE")

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._ports[2]}"

    def __enter__(self) -> KubeReal:
        etcd = [f"http://127.0.0.1:{port}" for port in self._ports[:2]]
        self._start(
            "etcd",
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={etcd[0]}",
            f"--advertise-client-urls={etcd[0]}",
            f"--listen-peer-urls={etcd[1]}",
            f"--initial-advertise-peer-urls={etcd[1]}",
            f"--initial-cluster=default={etcd[1]}",
        )
        tokens = self.folder / "tokens.csv"
        tokens.write_text(TOKENS)
        key = self.folder / "accounts.key"
        key.write_bytes(
            rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.TraditionalOpenSSL,
                serialization.NoEncryption(),
            )
        )
        self._start(
            "kube-apiserver",
            f"--etcd-servers={etcd[0]}",
            "--bind-address=127.0.0.1",
            f"--secure-port={self._ports[2]}",
            f"--cert-dir={self._certificates}",
            f"--token-auth-file={tokens}",
            "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--service-cluster-ip-range=10.0.0.0/24",
        )
        end = time.monotonic() + 60
        while not self._is_ready():
            if time.monotonic() > end:
                self.stop()
                raise TimeoutError("the kube-apiserver did not become ready within a minute")
            time.sleep(0.2)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            process.wait(30)
        self._processes.clear()

    def namespace(self, *names: str) -> None:
        for name in names:
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            self.ask("POST", "/api/v1/namespaces", body, (201, 409))

    def kubeconfig(self, user: Mapping[str, Any] | None = None, *, name: str = "double") -> Path:
        authority = str(self._certificates / "apiserver.crt")
        document = {
            "current-context": name,
            "clusters": [
                {
                    "name": name,
                    "cluster": {"server": self.url, "certificate-authority": authority},
                }
            ],
            "users": [{"name": name, "user": dict(user or {"token": ADMIN_TOKEN})}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        }
        path = self.folder / f"{name}.kubeconfig"
        path.write_text(yaml.safe_dump(document))
        return path

    def ask(self, method: str, path: str, body: object, good: tuple[int, ...]) -> Any:
        answer = self._pool.request(
            method,
            self.url + path,
            body=None if body is None else json.dumps(body),
            headers={"Authorization": f"Bearer {ADMIN_TOKEN}", "Content-Type": "application/json"},
        )
        if answer.status not in good:
            raise StatusError(answer.status, "", f"{method} {path}: {answer.data.decode()}")
        return answer.json()

    def _start(self, program: str, *arguments: str) -> None:
        log = (self.folder / f"{program}.log").open("wb")
        command = [str(self._binaries / program), *arguments]
        self._processes.append(subprocess.Popen(command, stdout=log, stderr=log))

    def _is_ready(self) -> bool:
        try:
            answer = self._pool.request(
                "GET", f"{self.url}/readyz", headers={"Authorization": f"Bearer {ADMIN_TOKEN}"}
            )
        except urllib3.exceptions.HTTPError:
            return False
        return answer.status == 200


class RealStore:
    """Seeds objects through the API."""

    def __init__(self, server: KubeReal) -> None:
        self._server = server
        self._known = Store()

    def kind(self, group: str, plural: str) -> Kind:
        return self._known.kind(group, plural)

    def define(self, crd: Mapping[str, Any]) -> Kind:
        kind = self._known.define(crd)
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        self._server.ask("POST", path, crd, (201,))
        end = time.monotonic() + 30
        while True:
            try:
                self._server.ask("GET", self._path(kind, ""), None, (200,))
                return kind
            except StatusError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    def seed(self, kind: Kind, *items: Mapping[str, Any]) -> None:
        for item in items:
            meta = {k: v for k, v in item["metadata"].items() if k not in _OF_THE_SERVER}
            namespace = meta.get("namespace", "")
            if namespace:
                self._server.namespace(namespace)
            body = {**item, "apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta}
            self._server.ask("POST", self._path(kind, namespace), body, (201,))

    def apply(self, *items: Mapping[str, Any]) -> None:
        for item in items:
            self.seed(self._known.kind_of(item), item)

    def _path(self, kind: Kind, namespace: str) -> str:
        root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
        return (
            f"{root}/namespaces/{namespace}/{kind.plural}" if namespace else f"{root}/{kind.plural}"
        )


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
