"""The ASGI application: which address is which function, and what every answer has in common."""

from __future__ import annotations

import asyncio
import re
import secrets
import sys
import time
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, Router

from aicr.errors import INTERNAL, INVALID_REQUEST, NOT_FOUND, UNAVAILABLE, AicrError, invalid
from aicr.server import endpoints
from aicr.server.asks import Ask
from aicr.server.bodies import Bodies
from aicr.server.metrics import MEDIA, Metrics
from aicr.server.negotiation import (
    ARCHIVE,
    DOCUMENT,
    JSON,
    MIRROR,
    PLAN,
    RECIPE,
    REPORT,
    VALUE,
    media_type,
    wanted,
)
from aicr.server.refusal import RETRYABLE, Refusal, problem_values, retry_headers, warnings_header
from aicr.server.service import Answer, Kept
from aicr.server.work import Work, overloaded
from aicr.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.types import Message, Receive, Scope, Send

    from aicr.server.log import Log
    from aicr.server.service import Service

    Function = Callable[[Service, Ask], Answer]
    Endpoint = Callable[[Request], Awaitable[Response]]

WARNINGS = "aicr-warnings"
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_SAFE = (
    (b"x-content-type-options", b"nosniff"),
    (b"vary", b"accept"),
    (b"cache-control", b"no-cache"),
)
_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"
_POLICY_BYTES = _POLICY.encode("ascii")
# These are answered however busy the server is.
_ALWAYS = ("/healthz", "/readyz", "/metrics")
_LARGEST_KEPT = 1024 * 1024


class App:
    """One server's application. ``draining`` is set when it has been told to end."""

    def __init__(self, service: Service, log: Log) -> None:
        limits = service.limits
        self._service = service
        self._limits = limits
        self._log = log
        self._work = Work(threads=limits.threads, waiting=limits.waiting, seconds=limits.seconds)
        self._bodies = Bodies(limits)
        self._kept = Kept(answers=limits.cached_answers, size=limits.cached_bytes)
        self._prefix = secrets.token_hex(6)
        self._count = 0
        self.active = 0
        self.draining = False
        self._warming: asyncio.Task[int] | None = None
        self.metrics = Metrics(__version__, service.catalog.digest)
        self.metrics.gauge("aicr_http_active", "Requests under way.", lambda: self.active)
        self.metrics.gauge("aicr_work_taken", "Computations under way.", lambda: self._work.taken)
        self.metrics.gauge("aicr_body_bytes", "Bytes of bodies held.", lambda: self._bodies.held)
        self.metrics.gauge("aicr_kept_answers", "Answers kept.", lambda: len(self._kept))
        self.metrics.gauge(
            "aicr_python_blocks", "Blocks of memory in use by Python.", sys.getallocatedblocks
        )
        self.metrics.gauge(
            "aicr_log_lines_left_out",
            "Lines of the log that nobody read in time.",
            lambda: self._log.left_out,
        )
        self._inner = Router(self._routes(), redirect_slashes=False)

    def _routes(self) -> list[Route]:
        from aicr.server.openapi import document
        from aicr.server.page import index

        page = index(self._service)
        openapi = document()
        both, get, post = ["GET", "POST"], ["GET"], ["POST"]
        computed = self._computed
        return [
            Route("/", self._fixed(page.body, page.media, page.headers), methods=get),
            Route("/v1/recipe", computed(endpoints.recipe, RECIPE), methods=both),
            Route("/v1/query", computed(endpoints.query, VALUE), methods=both),
            Route("/v1/bundle", computed(endpoints.make_bundle, ARCHIVE), methods=post),
            Route("/v1/upgrade-check", computed(endpoints.upgrade_check, REPORT), methods=post),
            Route("/v1/upgrade-plan", computed(endpoints.upgrade_plan, PLAN), methods=post),
            Route("/v1/mirror-list", computed(endpoints.mirror_list, MIRROR), methods=post),
            Route("/v1/criteria", computed(endpoints.criteria, DOCUMENT), methods=get),
            Route("/v1/components", computed(endpoints.components, DOCUMENT), methods=get),
            Route("/v1/records/{component}", self._records, methods=get),
            Route("/openapi.json", self._fixed(openapi, "application/json"), methods=get),
            Route("/healthz", self._fixed(b'{"status": "ok"}\n', "application/json"), methods=get),
            Route("/readyz", self._ready, methods=get),
            Route("/metrics", self._metrics, methods=get),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._lifespan(receive, send)
            return
        start = time.perf_counter()
        accept, request_id, bodied = b"", b"", False
        for name, value in scope["headers"]:
            if name == b"accept":
                accept = accept + b"," + value if accept else value
            elif name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
                request_id = value
            elif name == b"transfer-encoding" or (name == b"content-length" and value != b"0"):
                bodied = True
        if not request_id:
            self._count += 1
            request_id = f"{self._prefix}-{self._count}".encode()
        scope["aicr.accept"], scope["aicr.request_id"] = accept, request_id
        scope["aicr.bodied"] = bodied
        scope["app"] = self  # with it the router raises, and one place words every refusal
        if scope["method"] == "GET" and not bodied:
            kept = self._kept.get((scope["path"], scope["query_string"], accept))
            if kept is not None:
                await _send_kept(send, kept, request_id)
                self._done(scope, 200, len(kept.body), start)
                return
        await self._answered(scope, receive, send, start)

    async def _answered(self, scope: Scope, receive: Receive, send: Send, start: float) -> None:
        status, size, fault = 499, 0, ""  # 499: the client went away
        own = [*_SAFE, (b"x-request-id", scope["aicr.request_id"])]

        async def sending(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *own]
            else:
                size += len(message.get("body", b""))
            await send(message)

        self.active += 1
        try:
            try:
                if self.active > self._limits.active and scope["path"] not in _ALWAYS:
                    raise overloaded("too many requests at once")
                await self._inner(scope, receive, sending)
            except ClientDisconnect:
                pass
            except Exception as error:
                response, fault = self._refused(error, scope)
                await response(scope, receive, sending)
        finally:
            self.active -= 1
            if status == 503:
                self.metrics.shed()
            self._done(scope, status, size, start, fault)

    def _done(self, scope: Scope, status: int, size: int, start: float, fault: str = "") -> None:
        seconds = time.perf_counter() - start
        path = scope["path"]
        method = scope["method"]
        self.metrics.count(
            method if method in ("GET", "POST", "HEAD") else "other", _route(path), status, seconds
        )
        client = scope.get("client")
        self._log.request(
            request_id=scope["aicr.request_id"].decode("ascii"),
            method=method,
            path=path,
            status=status,
            size=size,
            seconds=seconds,
            client=client[0] if client else "",
            fault=fault,
        )

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                # The page asks for it at once, and it takes a while.
                self._warming = asyncio.create_task(
                    self._work.run(lambda: len(self._service.resolvable))
                )
                await send({"type": "lifespan.startup.complete"})
            else:
                self._work.close()
                self._log.close()
                await send({"type": "lifespan.shutdown.complete"})
                return

    def _computed(self, function: Function, offered: Mapping[str, str]) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            return await self._compute(request, function, offered)

        return endpoint

    async def _records(self, request: Request) -> Response:
        function = partial(endpoints.records, component=request.path_params["component"])
        return await self._compute(request, function, DOCUMENT)

    async def _compute(
        self, request: Request, function: Function, offered: Mapping[str, str]
    ) -> Response:
        accept: bytes = request.scope["aicr.accept"]
        form = wanted(accept.decode("latin-1"), offered)
        body, kind = b"", ""
        query: bytes = request.scope["query_string"]
        if request.method == "POST":
            body, kind = await self._bodies.receive(request)
        elif request.scope["aicr.bodied"]:
            raise invalid("a GET has no body", hint="use POST, or put the fields into the query")
        try:
            ask = Ask(query.decode("latin-1"), form, body, kind)
            answer = await self._work.run(partial(function, self._service, ask))
        finally:
            self._bodies.held -= len(body)
        if (
            request.method == "GET"
            and len(query) + len(accept) <= 1024
            and len(answer.body) <= _LARGEST_KEPT
        ):
            self._kept.put((request.scope["path"], query, accept), answer)
        return _response(answer)

    def _fixed(self, body: bytes, media: str, headers: Mapping[str, str] | None = None) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            return _response(Answer(body, media, headers=dict(headers or {})))

        return endpoint

    async def _ready(self, request: Request) -> Response:
        if self.draining:
            raise AicrError(UNAVAILABLE, "the server is ending")
        return _response(Answer(b'{"status": "ready"}\n', "application/json"))

    async def _metrics(self, request: Request) -> Response:
        return _response(Answer(self.metrics.text(), MEDIA))

    def _refused(self, raised: Exception, scope: Scope) -> tuple[Response, str]:
        """The answer for an exception, and what the log says of a fault of this program."""
        headers: dict[str, str] = {}
        fault = ""
        if isinstance(raised, Refusal):
            status, error, headers = raised.status, raised.error, raised.headers
        elif isinstance(raised, AicrError):
            status, error = raised.http_status, raised
        elif isinstance(raised, HTTPException):
            status, error = raised.status_code, _of_http(raised, scope)
            headers = dict(raised.headers or {})
        else:
            status, fault = 500, _frames(raised)
            error = AicrError(INTERNAL, "a fault of the server itself; its log says where")
        headers = {**retry_headers(error), **headers}
        if status in (429, 503):
            assert error.code in RETRYABLE
        values = problem_values(
            error, scope["aicr.request_id"].decode("ascii"), self._log.timestamp()
        )
        return _response(_problem(values, scope, status, headers)), fault


def _problem(
    values: Mapping[str, object], scope: Scope, status: int, headers: dict[str, str]
) -> Answer:
    from aicr.documents.emit import json_text, yaml_text

    try:
        form = wanted(scope["aicr.accept"].decode("latin-1"), DOCUMENT)
    except Refusal:
        form = "json"  # better an answer that was not asked for than none
    if form == "yaml":
        return Answer(
            yaml_text(values).encode("utf-8"), media_type(form, DOCUMENT), status=status,
            headers=headers,
        )  # fmt: skip
    body = json_text(values).encode("utf-8", "backslashreplace")
    return Answer(body, media_type("json", JSON), status=status, headers=headers)


def _of_http(raised: HTTPException, scope: Scope) -> AicrError:
    if raised.status_code == 404:
        return AicrError(
            NOT_FOUND, "there is nothing at this address", hint="/openapi.json lists what there is"
        )
    if raised.status_code == 405:
        return invalid(f"{scope['method'][:20]} is not done to this address")
    return AicrError(INVALID_REQUEST, str(raised.detail))


def _frames(error: Exception) -> str:
    """Where an error came from, without its message, which may hold what a client sent."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)[-6:]
    places = [f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in frames]
    return f"{type(error).__name__} at {' > '.join(places)}"


def _response(answer: Answer) -> Response:
    headers = {"content-security-policy": _POLICY, **answer.headers}
    if answer.warnings:
        headers[WARNINGS] = warnings_header(answer.warnings)
    headers["content-type"] = answer.media
    return Response(answer.body, status_code=answer.status, headers=headers)


async def _send_kept(send: Send, answer: Answer, request_id: bytes) -> None:
    headers = [
        (b"content-length", b"%d" % len(answer.body)),
        (b"content-type", answer.media.encode("ascii")),
        (b"content-security-policy", _POLICY_BYTES),
        *_SAFE,
        (b"x-request-id", request_id),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


_ROUTES = frozenset(
    ("/", "/v1/recipe", "/v1/query", "/v1/bundle", "/v1/upgrade-check", "/v1/upgrade-plan",
     "/v1/mirror-list", "/v1/criteria", "/v1/components", "/openapi.json", *_ALWAYS)
)  # fmt: skip


def _route(path: str) -> str:
    """The address as a metric has it: a finite set."""
    if path in _ROUTES:
        return path
    return "/v1/records/{component}" if path.startswith("/v1/records/") else "other"
