"""A real kube-apiserver over etcd, from the folder that ``KUBEBUILDER_ASSETS`` names.

It has the parts of ``KubeDouble`` that the tests for both use: objects are seeded through the API,
who may do what is its own authoriser's answer, and what was asked is what its audit log says.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import urllib3
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from kube_config_file import write_kubeconfig
from kube_double import ADMIN_TOKEN
from kube_double_kinds import StatusError
from kube_double_rbac import ADMINS
from kube_double_request import Request
from kube_double_tls import Authority
from kube_real_store import RealStore, audited

TOKENS = f'{ADMIN_TOKEN},admin,1,"{ADMINS}"\ntoken-user-token,token-user,2\n'
AUDIT = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    # Written before the answer is given: what a client has got an answer for is in the log.
    "omitStages": ["ResponseStarted", "ResponseComplete", "Panic"],
    "rules": [{"level": "Metadata"}],
}


def assets() -> Path | None:
    """The folder with etcd and kube-apiserver; None where none is named."""
    folder = os.environ.get("KUBEBUILDER_ASSETS")
    return Path(folder) if folder else None


class KubeReal:
    """A running server. Use it in a ``with`` block; ``folder`` is where kubeconfigs go."""

    def __init__(self, home: Path, binaries: Path) -> None:
        self.folder = home
        self.authority = Authority(home)
        self.store = RealStore(self)
        self._home = home
        self._binaries = binaries
        self._processes: list[subprocess.Popen[bytes]] = []
        self._ports = [_free_port() for _ in range(3)]
        self._pool = urllib3.PoolManager(retries=False, ca_certs=str(self.authority.certificate))
        self._forgotten = 0

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._ports[2]}"

    def __enter__(self) -> KubeReal:
        etcd = [f"http://127.0.0.1:{port}" for port in self._ports[:2]]
        self._start(
            "etcd",
            f"--data-dir={self._home / 'etcd'}",
            f"--listen-client-urls={etcd[0]}",
            f"--advertise-client-urls={etcd[0]}",
            f"--listen-peer-urls={etcd[1]}",
            f"--initial-advertise-peer-urls={etcd[1]}",
            f"--initial-cluster=default={etcd[1]}",
            "--unsafe-no-fsync",
        )
        serving = self.authority.issue("serving", server=True)
        key = self._home / "accounts.key"
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
            f"--tls-cert-file={serving}",
            f"--tls-private-key-file={serving}",
            f"--client-ca-file={self.authority.certificate}",
            f"--token-auth-file={self._written('tokens.csv', TOKENS)}",
            "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--service-cluster-ip-range=10.0.0.0/24",
            f"--audit-policy-file={self._written('audit.yaml', yaml.safe_dump(AUDIT))}",
            f"--audit-log-path={self._home / 'audit.log'}",
        )
        try:
            until(self._is_ready, "the kube-apiserver is ready", seconds=300)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        for process in reversed(self._processes):
            process.kill()  # it would wait for watches to end, and keeps nothing anyway
            process.wait(30)
        self._processes.clear()

    def namespace(self, *names: str) -> None:
        for name in names:
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            self.ask("POST", "/api/v1/namespaces", body, (201, 409))

    def kubeconfig(
        self,
        user: Mapping[str, Any] | None = None,
        *,
        cluster: Mapping[str, Any] | None = None,
        name: str = "double",
    ) -> Path:
        """A kubeconfig for this server; the administrator's token unless ``user`` says more."""
        server = {"server": self.url, "certificate-authority": str(self.authority.certificate)}
        return write_kubeconfig(
            self.folder, name, user or {"token": ADMIN_TOKEN}, {**server, **(cluster or {})}
        )

    @property
    def requests(self) -> list[Request]:
        """What this tool asked, as the server's audit log has it."""
        with (self._home / "audit.log").open("rb") as log:
            log.seek(self._forgotten)
            return audited(self.store, log)

    def verbs(self) -> set[tuple[str, str]]:
        """(verb, resource) of every request for a resource."""
        return {(one.verb, one.resource) for one in self.requests if one.verb}

    def forget(self) -> None:
        """What was asked until now does not count."""
        self._forgotten = (self._home / "audit.log").stat().st_size

    def granted(self, user: str, role: Mapping[str, Any], namespace: str = "") -> None:
        """Wait until the rights of a bound role hold: the authoriser hears of it in its time."""
        for right in _rights(role, namespace):
            until(lambda right=right: self._may(user, right), f"{user} may {right}")  # type: ignore[misc]

    def denied(self, user: str, role: Mapping[str, Any], namespace: str = "") -> None:
        """Wait until none of these rights holds."""
        for right in _rights(role, namespace):
            until(lambda right=right: not self._may(user, right), f"{user} may not {right}")  # type: ignore[misc]

    def ask(self, method: str, path: str, body: object, good: tuple[int, ...]) -> Any:
        answer = self._pool.request(
            method,
            self.url + path,
            json=body,
            headers={"Authorization": f"Bearer {ADMIN_TOKEN}"},
            timeout=60,
        )
        if answer.status not in good:
            raise StatusError(answer.status, "", f"{method} {path}: {answer.data.decode()}")
        return answer.json()

    def _may(self, user: str, right: Mapping[str, str]) -> bool:
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": user,
                "groups": ["system:authenticated"],
                "resourceAttributes": dict(right),
            },
        }
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        return bool(self.ask("POST", path, body, (201,))["status"]["allowed"])

    def _written(self, name: str, text: str) -> Path:
        path = self._home / name
        path.write_text(text)
        return path

    def _start(self, program: str, *arguments: str) -> None:
        log = (self._home / f"{program}.log").open("wb")
        command = [str(self._binaries / program), *arguments]
        self._processes.append(subprocess.Popen(command, stdout=log, stderr=log))

    def _is_ready(self) -> bool:
        if any(process.poll() is not None for process in self._processes):
            raise RuntimeError(f"a server of the tests ended; its log is in {self._home}")
        try:
            answer = self._pool.request(
                "GET",
                f"{self.url}/readyz",
                headers={"Authorization": f"Bearer {ADMIN_TOKEN}"},
                timeout=10,
            )
        except urllib3.exceptions.HTTPError:
            return False
        return answer.status == 200


def until(holds: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Wait for what comes in its own time."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {seconds:g} s: {what}")
        time.sleep(0.05)


def _rights(role: Mapping[str, Any], namespace: str) -> list[dict[str, str]]:
    return [
        {
            "verb": verb,
            "group": group,
            "resource": resource.partition("/")[0],
            "subresource": resource.partition("/")[2],
            "namespace": namespace,
            "name": name,
        }
        for rule in role["rules"] or ()
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
        for name in rule.get("resourceNames") or ("",)
    ]


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
