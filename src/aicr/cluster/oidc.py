"""The id-token of a kubeconfig's ``auth-provider: oidc``, and a new one where it is over.

The issuer is always asked over verified TLS: it is sent the refresh token. A refresh token that the
issuer replaces is put into the kubeconfig in place of the old one, as kubectl does: the old one is
worth nothing from then on. Nothing else is ever written.
"""

from __future__ import annotations

import json
import os
import re
import time

from aicr.cluster.plugin import Credential
from aicr.cluster.tls import decoded
from aicr.errors import UNAUTHORIZED, UNAVAILABLE, AicrError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from urllib3 import PoolManager

    from aicr.cluster.kubeconfig import Place

_DISCOVERY = "/.well-known/openid-configuration"
# Seconds before its end from which a token is not used any more, as for kubectl.
_EARLY = 10.0
_SECONDS = 30.0
_LARGEST = 1024 * 1024
# What a token can be made of and still stand where another stood, however that was quoted.
_TOKEN = r"[A-Za-z0-9._~+/=-]"
_LOG_IN = "log in again as you would for kubectl, then try again"

# What was got for a kubeconfig's refresh token: an id-token, and the refresh token to use next.
_given: dict[tuple[str, str, str], tuple[str, str]] = {}


def id_token(
    place: Place,
    pool: Callable[[str, str, bytes], PoolManager],
    *,
    rejected: str = "",
    on_note: Callable[[str], None],
) -> Credential:
    """A token that is good by this machine's clock; ``rejected`` is one that the server refused.

    ``pool`` gives connections to an address, trusting the authorities in a file or in bytes, else
    the system's. Raises UNAUTHORIZED where a new login is needed.
    """
    config = place.user["auth-provider"].get("config") or {}
    refresh = str(config.get("refresh-token") or "")
    whose = place.origin, str(config.get("idp-issuer-url"))
    known = _given.get((*whose, refresh))
    token, refresh = known or (str(config.get("id-token") or ""), refresh)
    ends = _end_of(place, token) if token else 0.0
    if token and token != rejected and (ends is None or time.time() < ends - _EARLY):
        return Credential(token, expires=None if ends is None else ends - _EARLY)
    if not refresh:
        why = "the server refused its id-token" if token == rejected else "its id-token is over"
        why = why if token else "it has no id-token"
        raise _no_token(place, f"{why}, and the kubeconfig has no refresh-token for another")
    for name in ("idp-issuer-url", "client-id"):
        if not config.get(name):
            raise invalid(f"{place}: the auth-provider oidc of {place.context} has no {name}")
    answer = _refreshed(place, {**config, "refresh-token": refresh}, pool)
    token = str(answer.get("id_token") or "")
    if not token:
        raise _no_token(
            place, "its answer holds no id_token (was the scope openid asked for at login?)"
        )
    new = str(answer.get("refresh_token") or refresh)
    if new != refresh:
        _keep(place, refresh, new, on_note)
    _given[(*whose, str(config["refresh-token"]))] = _given[(*whose, new)] = token, new
    ends = _end_of(place, token)
    over = ends is not None and time.time() >= ends - _EARLY  # the clocks differ
    return Credential(token, expires=None if ends is None or over else ends - _EARLY)


def _end_of(place: Place, token: str) -> float | None:
    """When the token is over, by its own word; None where it does not say."""
    from base64 import urlsafe_b64decode

    parts = token.split(".")
    try:
        if len(parts) != 3:
            raise ValueError
        claims = json.loads(urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        return float(claims["exp"]) if "exp" in claims else None
    except (ValueError, TypeError, KeyError):
        raise _no_token(place, "its id-token is no JWT") from None


def _refreshed(
    place: Place, config: Mapping[str, Any], pool: Callable[[str, str, bytes], PoolManager]
) -> Mapping[str, Any]:
    from urllib.parse import quote, urlencode

    issuer = str(config["idp-issuer-url"]).rstrip("/")
    authority = str(config.get("idp-certificate-authority") or "")
    if authority:
        authority = os.path.join(os.path.abspath(os.path.dirname(place.origin)), authority)
    data = decoded(place, config, "idp-certificate-authority-data")
    connections = pool(_https(issuer, "idp-issuer-url"), authority, data)
    found = _asked(issuer, connections, "GET", issuer + _DISCOVERY)
    endpoint = _https(str(found.get("token_endpoint") or ""), f"token_endpoint of {issuer}")
    form = {"grant_type": "refresh_token", "refresh_token": str(config["refresh-token"])}
    identity, secret = str(config["client-id"]), str(config.get("client-secret") or "")
    headers: dict[str, str] = {}
    ways = found.get("token_endpoint_auth_methods_supported")
    if secret and (not isinstance(ways, list) or "client_secret_basic" in ways):
        from urllib3.util import make_headers

        headers = make_headers(basic_auth=f"{quote(identity, safe='')}:{quote(secret, safe='')}")
    else:
        form["client_id"] = identity
        if secret:
            form["client_secret"] = secret
    headers["Content-Type"] = "application/x-www-form-urlencoded"
    return _asked(issuer, connections, "POST", endpoint, headers, urlencode(form).encode(), place)


def _asked(
    issuer: str,
    pool: PoolManager,
    method: str,
    url: str,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    place: Place | None = None,
) -> Mapping[str, Any]:
    from urllib3.exceptions import HTTPError

    from aicr.cluster.failures import plain

    try:
        answer = pool.request(
            method,
            url,
            headers={"Accept": "application/json", **(headers or {})},
            body=body,
            timeout=_SECONDS,
            retries=False,
            redirect=False,
            preload_content=False,
        )
        data = answer.read(_LARGEST)
        answer.close()
    except HTTPError as error:
        raise AicrError(
            UNAVAILABLE, f"the OIDC issuer {issuer} cannot be asked for a token: {plain(error)}"
        ) from None
    try:
        found = json.loads(data)
    except ValueError:
        found = None
    said = found if isinstance(found, dict) else {}
    if answer.status == 200 and isinstance(found, dict):
        return said
    why = ": ".join(str(said[key])[:300] for key in ("error", "error_description") if key in said)
    if place is not None and 400 <= answer.status < 500:
        raise _no_token(place, f"{issuer} refused it a new one ({answer.status} {why})".strip())
    raise AicrError(
        UNAVAILABLE,
        f"the OIDC issuer {issuer} answered {answer.status} to {method} {url}, and not what an "
        "issuer says" + (f": {why}" if why else ""),
    )


def _https(url: str, what: str) -> str:
    if not url.startswith("https://"):
        raise invalid(f'{what}: expected an https:// address, found "{url}": it is sent a secret')
    return url


def _keep(place: Place, old: str, new: str, on_note: Callable[[str], None]) -> None:
    """Put the new refresh token where the old one stands; all else of the file stays as it is."""
    from tempfile import mkstemp

    path = os.path.realpath(place.origin)
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        text, replaced = re.subn(f"(?<!{_TOKEN}){re.escape(old)}(?!{_TOKEN})", lambda _: new, text)
        if not replaced or not re.fullmatch(f"{_TOKEN}+", new):
            raise ValueError
        descriptor, temporary = mkstemp(dir=os.path.dirname(path), prefix=".aicr-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(temporary, os.stat(path).st_mode & 0o777)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except (OSError, ValueError):
        on_note(
            f"the OIDC issuer replaced the refresh token of context {place.context}, and the new "
            f"one could not be put into {place.origin}: the next command will need a new login"
        )


def _no_token(place: Place, why: str) -> AicrError:
    return AicrError(
        UNAUTHORIZED,
        f"context {place.context}: the auth-provider oidc gave no token: {why}",
        hint=_LOG_IN,
    )
