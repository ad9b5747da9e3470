"""The error codes of the project, their exit codes and HTTP statuses."""

from __future__ import annotations

INVALID_REQUEST = "INVALID_REQUEST"
CONFLICT = "CONFLICT"
NOT_FOUND = "NOT_FOUND"
UNAUTHORIZED = "UNAUTHORIZED"
FORBIDDEN = "FORBIDDEN"
TIMEOUT = "TIMEOUT"
UNAVAILABLE = "UNAVAILABLE"
RATE_LIMITED = "RATE_LIMITED"
INTERNAL = "INTERNAL"

EXIT_CODES = {
    INVALID_REQUEST: 2,
    CONFLICT: 2,
    NOT_FOUND: 3,
    UNAUTHORIZED: 4,
    FORBIDDEN: 4,
    TIMEOUT: 5,
    UNAVAILABLE: 6,
    RATE_LIMITED: 7,
    INTERNAL: 8,
}

HTTP_STATUSES = {
    INVALID_REQUEST: 400,
    CONFLICT: 409,
    NOT_FOUND: 404,
    UNAUTHORIZED: 401,
    FORBIDDEN: 403,
    TIMEOUT: 504,
    UNAVAILABLE: 503,
    RATE_LIMITED: 429,
    INTERNAL: 500,
}


class AicrError(Exception):
    """Something a person can act on.

    ``message`` names the thing, what was found, what was expected and where; ``hint`` says
    what to do; ``details`` is a JSON-ready object for machines.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str = "",
        details: dict[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.details = details or {}

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.code]

    @property
    def http_status(self) -> int:
        return HTTP_STATUSES[self.code]


def invalid(message: str, *, hint: str = "", details: dict[str, object] | None = None) -> AicrError:
    """An ``INVALID_REQUEST``: the caller has to change the input."""
    return AicrError(INVALID_REQUEST, message, hint=hint, details=details)


def not_found(
    message: str, *, hint: str = "", details: dict[str, object] | None = None
) -> AicrError:
    """A ``NOT_FOUND``: something looked up inside an artifact or a catalog is not there."""
    return AicrError(NOT_FOUND, message, hint=hint, details=details)


def install(extra: str) -> str:
    """What a hint says where an optional part of the package is not there."""
    return f"install the extra {extra}: pip install '.[{extra}]' in the folder of aicr's source"
