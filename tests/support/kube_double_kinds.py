"""Which resources the Kubernetes double knows, and how it refuses: a real server's words."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

Object = dict[str, Any]

MAX_CONFIG_MAP = 1_048_576
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_KEY = re.compile(r"[-._a-zA-Z0-9]+")


class Kind(NamedTuple):
    """A resource of the API."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def custom(self) -> bool:
        return "." in self.group and not self.group.endswith(".k8s.io")


RBAC = "rbac.authorization.k8s.io"
BUILT_IN = (
    Kind("", "v1", "configmaps", "ConfigMap"),
    Kind("", "v1", "events", "Event"),
    Kind("", "v1", "namespaces", "Namespace", False),
    Kind("", "v1", "nodes", "Node", False),
    Kind("", "v1", "pods", "Pod"),
    Kind("", "v1", "secrets", "Secret"),
    Kind("", "v1", "serviceaccounts", "ServiceAccount"),
    Kind("", "v1", "services", "Service"),
    Kind(
        "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", False
    ),
    Kind("apps", "v1", "daemonsets", "DaemonSet"),
    Kind("apps", "v1", "deployments", "Deployment"),
    Kind("apps", "v1", "statefulsets", "StatefulSet"),
    Kind(
        "authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", False
    ),
    Kind(RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding", False),
    Kind(RBAC, "v1", "clusterroles", "ClusterRole", False),
    Kind(RBAC, "v1", "rolebindings", "RoleBinding"),
    Kind(RBAC, "v1", "roles", "Role"),
)  # fmt: skip


class StatusError(Exception):
    """A refusal, as the Status that says so."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: Object | None = None,
        metadata: Object | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.body: Object = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": metadata or {},
            "status": "Failure",
            "message": message,
            "reason": reason,
        }
        if details:
            self.body["details"] = details
        self.body["code"] = code


def details(kind: Kind, name: str = "") -> Object:
    found: Object = {}
    if name:
        found["name"] = name
    if kind.group:
        found["group"] = kind.group
    found["kind"] = kind.plural
    return found


def not_found(kind: Kind, name: str) -> StatusError:
    return StatusError(404, "NotFound", f'{kind.qualified} "{name}" not found', details(kind, name))


def validate(kind: Kind, item: Object) -> None:
    """Refuse what a real server refuses, of what this project may send."""
    name = item["metadata"].get("name", "")
    if not _NAME.fullmatch(name):
        rule = (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
            "'-' or '.', and must start and end with an alphanumeric character (e.g. "
            "'example.com', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        )
        message = f'Invalid value: "{name}": {rule}'
        raise _refused(kind, name, "FieldValueInvalid", message, "metadata.name")
    if kind.kind != "ConfigMap":
        return
    data = item.get("data") or {}
    for key in data:
        if not _KEY.fullmatch(key):
            rule = (
                "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
                "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
                "'[-._a-zA-Z0-9]+')"
            )
            message = f'Invalid value: "{key}": {rule}'
            raise _refused(kind, name, "FieldValueInvalid", message, f"data[{key}]")
    if sum(len(value.encode()) for value in data.values()) > MAX_CONFIG_MAP:
        message = f"Too long: may not be more than {MAX_CONFIG_MAP} bytes"
        raise _refused(kind, name, "FieldValueTooLong", message, "[]")


def _refused(kind: Kind, name: str, reason: str, message: str, field: str) -> StatusError:
    return StatusError(
        422,
        "Invalid",
        f'{kind.kind} "{name}" is invalid: {field}: {message}',
        {
            "name": name,
            "kind": kind.kind,
            "causes": [{"reason": reason, "message": message, "field": field}],
        },
    )


def immutable(kind: Kind, name: str) -> StatusError:
    message = "Forbidden: field is immutable when `immutable` is set"
    causes = [
        {"reason": "FieldValueForbidden", "message": message, "field": field}
        for field in ("immutable", "data")
    ]
    return StatusError(
        422,
        "Invalid",
        f'{kind.kind} "{name}" is invalid: [immutable: {message}, data: {message}]',
        {"name": name, "kind": kind.kind, "causes": causes},
    )
