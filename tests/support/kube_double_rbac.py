"""Whether the double lets a user do something: Roles and ClusterRoles, as bound in its store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kube_double_kinds import RBAC, Kind, StatusError, details
from kube_double_store import Store

ADMINS = "system:masters"
REVIEWS = "selfsubjectaccessreviews"


class User(NamedTuple):
    name: str
    groups: tuple[str, ...] = ()


class Attempt(NamedTuple):
    """What a request wants to do."""

    verb: str
    kind: Kind
    namespace: str
    name: str
    subresource: str

    @property
    def resource(self) -> str:
        return f"{self.kind.plural}/{self.subresource}" if self.subresource else self.kind.plural


def check(store: Store, user: User, attempt: Attempt) -> None:
    """Raise the 403 of a real server where no bound role allows it."""
    if ADMINS in user.groups:
        return
    for rule in _rules(store, user, attempt.namespace):
        if _allows(rule, attempt):
            return
    raise forbidden(user, attempt)


def review(store: Store, user: User, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The answer to a user's question about an own right; every user may ask."""
    asked = body["spec"]["resourceAttributes"]
    group = asked.get("group", "")
    kind = store.kinds.get((group, asked["resource"])) or Kind(group, "v1", asked["resource"], "")
    attempt = Attempt(
        asked["verb"], kind, asked.get("namespace", ""), "", asked.get("subresource", "")
    )
    try:
        check(store, user, attempt)
        allowed = True
    except StatusError:
        allowed = False
    return {
        "kind": "SelfSubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": body["spec"],
        "status": {"allowed": allowed},
    }


def forbidden(user: User, attempt: Attempt) -> StatusError:
    kind = attempt.kind
    named = f' "{attempt.name}"' if attempt.name else ""
    scope = (
        f'in the namespace "{attempt.namespace}"' if attempt.namespace else "at the cluster scope"
    )
    return StatusError(
        403,
        "Forbidden",
        f'{kind.qualified}{named} is forbidden: User "{user.name}" cannot {attempt.verb} resource '
        f'"{attempt.resource}" in API group "{kind.group}" {scope}',
        details(kind, attempt.name),
    )


def _rules(store: Store, user: User, namespace: str) -> Iterator[Mapping[str, Any]]:
    bindings = [*store.all(store.kind(RBAC, "clusterrolebindings"))]
    if namespace:
        bindings += [
            one
            for one in store.all(store.kind(RBAC, "rolebindings"))
            if one["metadata"]["namespace"] == namespace
        ]
    for binding in bindings:
        if not any(_is(user, subject) for subject in binding.get("subjects") or ()):
            continue
        ref = binding["roleRef"]
        plural = "clusterroles" if ref["kind"] == "ClusterRole" else "roles"
        home = "" if ref["kind"] == "ClusterRole" else binding["metadata"]["namespace"]
        role = store.find(store.kind(RBAC, plural), home, ref["name"])
        if role is not None:
            yield from role.get("rules") or ()


def _is(user: User, subject: Mapping[str, Any]) -> bool:
    if subject["kind"] == "Group":
        return subject["name"] in user.groups
    if subject["kind"] == "ServiceAccount":
        return user.name == f"system:serviceaccount:{subject['namespace']}:{subject['name']}"
    return bool(user.name == subject["name"])


def _allows(rule: Mapping[str, Any], attempt: Attempt) -> bool:
    names = rule.get("resourceNames")
    resources = rule.get("resources") or ()
    return (
        _has(rule.get("verbs") or (), attempt.verb)
        and _has(rule.get("apiGroups") or (), attempt.kind.group)
        and (
            _has(resources, attempt.resource)
            or (attempt.subresource != "" and f"*/{attempt.subresource}" in resources)
        )
        and (not names or attempt.name in names)
    )


def _has(words: Any, word: str) -> bool:
    return "*" in words or word in words
