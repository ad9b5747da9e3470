"""How much a client may ask for: the bounds of the server, in one place."""

from __future__ import annotations


class Limits:
    """``body`` bytes of a request (also unpacked), ``bodies`` bytes of all that are being received,
    ``active`` requests and ``connections`` at once, ``pipelined`` requests of one connection that
    wait for the one ahead of them, ``threads`` that compute and ``waiting`` places
    before them; seconds for a request's head, its body, its computing, its whole answer, and for
    what is under way when the server is told to end."""

    __slots__ = (
        "active",
        "answer_seconds",
        "bodies",
        "body",
        "body_seconds",
        "cached_answers",
        "cached_bytes",
        "connections",
        "drain_seconds",
        "head",
        "head_seconds",
        "idle_seconds",
        "pipelined",
        "seconds",
        "threads",
        "waiting",
    )

    def __init__(
        self,
        *,
        body: int = 4 * 1024 * 1024,
        bodies: int = 64 * 1024 * 1024,
        active: int = 512,
        connections: int = 4096,
        pipelined: int = 64,
        threads: int = 2,
        waiting: int = 64,
        head: int = 32 * 1024,
        head_seconds: float = 10,
        body_seconds: float = 20,
        seconds: float = 20,
        answer_seconds: float = 60,
        idle_seconds: float = 15,
        drain_seconds: float = 25,
        cached_answers: int = 8192,
        cached_bytes: int = 64 * 1024 * 1024,
    ) -> None:
        self.body = body
        self.bodies = bodies
        self.active = active
        self.connections = connections
        self.pipelined = pipelined
        self.threads = threads
        self.waiting = waiting
        self.head = head
        self.head_seconds = head_seconds
        self.body_seconds = body_seconds
        self.seconds = seconds
        self.answer_seconds = answer_seconds
        self.idle_seconds = idle_seconds
        self.drain_seconds = drain_seconds
        self.cached_answers = cached_answers
        self.cached_bytes = cached_bytes
