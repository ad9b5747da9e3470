"""Where a direct connection to NATS leads, and as whom: as the fleet file says, or a context file
of the ``nats`` client.
"""

from __future__ import annotations

import json
import os

from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

    from aicr.nvcf.fleet import Nats

_USUAL = ("url", "creds", "nkey", "ca", "cert", "key", "user", "password", "token", "inbox_prefix")
_PATHS = ("creds", "nkey", "ca", "cert", "key")
# What leads elsewhere, or in another way: without it the answers would be those of another place.
_OTHERS = ("jetstream_domain", "jetstream_api_prefix", "nsc", "user_jwt", "socks_proxy")


class Place:
    """Where to connect, and as whom; paths are absolute. ``shown`` names it without a secret."""

    __slots__ = (*_USUAL, "shown", "tls_first")

    def __init__(self, shown: str, *, tls_first: bool = False, **given: str) -> None:
        self.shown = _without_password(shown)
        self.tls_first = tls_first
        for key in _USUAL:
            setattr(self, key, given.get(key, ""))

    if TYPE_CHECKING:
        url: str
        creds: str
        nkey: str
        ca: str
        cert: str
        key: str
        user: str
        password: str
        token: str
        inbox_prefix: str


def place_of(nats: Nats) -> Place:
    """As the fleet file says."""
    return Place(nats.url, url=nats.url, creds=nats.creds, nkey=nats.nkey, ca=nats.ca)


def read_context(path: str) -> Place:
    """As a context file of the ``nats`` client says. Raises INVALID_REQUEST, without its content.

    Its secrets stay in memory.
    """
    flag = f"--nats-context-file {path}"
    try:
        with open(path, "rb") as file:
            found = json.load(file)
    except (OSError, ValueError):
        raise invalid(f"{flag}: cannot be read as a context of the nats client") from None
    if not isinstance(found, dict) or not found.get("url"):
        raise invalid(f"{flag}: names no url")
    for key in _OTHERS:
        if found.get(key):
            raise invalid(
                f"{flag}: has {key}, which a direct connection does not know",
                hint="leave controlPlane.nats.url out of the fleet file and read through nats-box",
            )
    given = {key: str(found[key]) for key in _USUAL if found.get(key)}
    for key in _PATHS:
        if key in given:
            given[key] = os.path.expanduser(given[key])
    shown = f"context file {os.path.basename(path)}"
    return Place(shown, tls_first=bool(found.get("tls_first")), **given)


def options(
    place: Place, seconds: float, error_cb: Callable[[Exception], Awaitable[None]]
) -> dict[str, Any]:
    """What ``nats.connect`` is given. Raises INVALID_REQUEST for a file that is not there."""
    found: dict[str, Any] = {
        "servers": [one.strip() for one in place.url.split(",") if one.strip()],
        "name": "aicr nvcf (reads only)",
        "connect_timeout": max(1, round(seconds)),
        "max_reconnect_attempts": 3,
        "reconnect_time_wait": 0.5,
        "allow_reconnect": False,
        "error_cb": error_cb,
        "pending_size": 16 * 1024 * 1024,
    }
    for path in (place.creds, place.nkey, place.ca, place.cert, place.key):
        if path and not os.path.isfile(path):
            raise invalid(f"{path}: there is no such file, which the connection to NATS needs")
    for key, option in (
        ("creds", "user_credentials"),
        ("nkey", "nkeys_seed"),
        ("user", "user"),
        ("password", "password"),
        ("token", "token"),
        ("inbox_prefix", "inbox_prefix"),
    ):
        if getattr(place, key):
            found[option] = getattr(place, key)
    if place.tls_first:
        found["tls_handshake_first"] = True
    if place.ca or place.cert or place.tls_first or place.url.startswith("tls://"):
        import ssl

        context = ssl.create_default_context(cafile=place.ca or None)
        if place.cert:
            context.load_cert_chain(place.cert, place.key or None)
        found["tls"] = context
    return found


def _without_password(url: str) -> str:
    from urllib.parse import urlsplit

    if "@" not in url:
        return url
    try:
        hosts = [urlsplit(one.strip()) for one in url.split(",")]
        return ",".join(f"{one.scheme}://{one.hostname}:{one.port or 4222}" for one in hosts)
    except ValueError:
        return "nats://(hidden)"
