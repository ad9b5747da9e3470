"""What a failed request means for the person who asked: an HTTP status or a broken connection in,
an error with its next step out."""

from __future__ import annotations

from aicr.errors import (
    CONFLICT,
    FORBIDDEN,
    INVALID_REQUEST,
    NOT_FOUND,
    RATE_LIMITED,
    TIMEOUT,
    UNAUTHORIZED,
    UNAVAILABLE,
    AicrError,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_CODES = {
    400: INVALID_REQUEST,
    401: UNAUTHORIZED,
    403: FORBIDDEN,
    404: NOT_FOUND,
    408: TIMEOUT,
    409: CONFLICT,
    413: INVALID_REQUEST,
    422: INVALID_REQUEST,
    429: RATE_LIMITED,
    504: TIMEOUT,
}
_LONGEST = 500


class Permission:
    """What a request needs: a verb on a resource, in a namespace or ("") in all of the cluster."""

    __slots__ = ("group", "name", "namespace", "resource", "verb")

    def __init__(
        self, verb: str, resource: str, *, group: str = "", namespace: str = "", name: str = ""
    ) -> None:
        self.verb = verb
        self.resource = resource
        self.group = group
        self.namespace = namespace
        self.name = name

    def __str__(self) -> str:
        resource = f"{self.resource}.{self.group}" if self.group else self.resource
        named = f" {self.name}" if self.name else ""
        scope = f"in the namespace {self.namespace}" if self.namespace else "at the cluster scope"
        return f"{self.verb} {resource}{named} {scope}"


class ApiError(AicrError):
    """An answer that says no. ``status`` is the HTTP status, ``reason`` the server's own word,
    ``kind`` the resource that it names."""

    def __init__(
        self, code: str, message: str, *, status: int, reason: str, kind: str = "", hint: str = ""
    ) -> None:
        super().__init__(code, message, hint=hint)
        self.status = status
        self.reason = reason
        self.kind = kind


def failure(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    server: str,
    context: str,
    permission: Permission,
    role: str,
) -> ApiError:
    """The error for an answer of this status; ``role`` is the file with the rights to apply."""
    reason, said, kind = _status(headers, body)
    code = _CODES.get(status, UNAVAILABLE if status >= 500 else INVALID_REQUEST)
    at = f"{server} (context {context})"
    hint = ""
    if status == 401:
        message = f"{at} does not accept the credentials: {said}"
        hint = "log in as you would for kubectl, then try again"
    elif status == 403:
        message = f"no permission to {permission} on {at}: {said}".rstrip(": ")
        hint = f"grant it: kubectl apply -f {role}, and bind that role" if role else ""
    elif status == 429:
        message = f"{at} is too busy to {permission}, and stayed so: {said}"
        hint = "try again later"
    else:
        message = f"{at} answered {status} to {permission}: {said}"
    return ApiError(code, message, status=status, reason=reason, kind=kind, hint=hint)


def _status(headers: Mapping[str, str], body: bytes) -> tuple[str, str, str]:
    """Reason, message and the kind that it is about: of a Status, else of whatever text came."""
    if headers.get("Content-Type", "").startswith("application/json"):
        import json

        try:
            status = json.loads(body)
        except ValueError:
            status = None
        if isinstance(status, dict) and status.get("kind") == "Status":
            details = status.get("details")
            kind = str(details.get("kind", "")) if isinstance(details, dict) else ""
            return str(status.get("reason", "")), str(status.get("message", ""))[:_LONGEST], kind
        return "", "an answer without an explanation", ""
    text = body[: _LONGEST * 4].decode("utf-8", "replace").strip()
    return "", text[:_LONGEST] or "no explanation", ""


def broken(error: Exception, *, server: str, context: str, tries: int) -> AicrError:
    """The error for a connection that could not be made, or did not last."""
    at = f"{server} (context {context})"
    text = plain(error)
    if "CERTIFICATE_VERIFY_FAILED" in text or "certificate verify failed" in text:
        return AicrError(
            UNAVAILABLE,
            f"the certificate of {at} cannot be trusted: {text}",
            hint="the kubeconfig's certificate-authority must be the one of this server",
        )
    after = f" after {tries} tries" if tries > 1 else ""
    return AicrError(
        UNAVAILABLE,
        f"{at} cannot be reached{after}: {text}",
        hint="check the server, the context, and whether a VPN or a proxy is needed",
    )


def too_slow(what: str, seconds: float, *, server: str, context: str) -> AicrError:
    return AicrError(
        TIMEOUT,
        f"{server} (context {context}) took longer than {seconds:g} s to {what}",
        hint="try again later",
    )


def plain(error: Exception) -> str:
    """The innermost words of a transport error, without the object it happened to."""
    inner: BaseException = error
    while isinstance(inner.__cause__ or getattr(inner, "reason", None), BaseException):
        inner = inner.__cause__ or inner.reason  # type: ignore[attr-defined]
    return str(inner).split(">: ")[-1][:_LONGEST] or type(inner).__name__
