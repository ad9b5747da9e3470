"""What a credential plugin of a kubeconfig answers: a token or a certificate, in bounded time.

A plugin that may ask a person gets the terminal where there is one. Any other gets none, in a
session of its own: what waits for somebody who is not there is ended, with all that it started.
"""

from __future__ import annotations

import json
import os
import sys
import time

from aicr.errors import UNAUTHORIZED, AicrError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from subprocess import Popen
    from typing import Any

    from aicr.cluster.kubeconfig import Place

# Seconds that a plugin may take: alone, and where a person may be logging in.
ALONE = 60.0
ATTENDED = 300.0
_MODES = ("Never", "IfAvailable", "Always")
_LONGEST = 2000
_LOG_IN = "log in as you would for kubectl, then try again"

# A plugin is asked once for as long as what it answered is good, as kubectl does.
_answered: dict[str, Credential] = {}


class Credential:
    """A token, or a certificate with its key (PEM); ``expires`` is when, None where that is not
    known."""

    __slots__ = ("certificate", "expires", "key", "token")

    def __init__(
        self,
        token: str = "",
        *,
        certificate: str = "",
        key: str = "",
        expires: float | None = None,
    ) -> None:
        self.token = token
        self.certificate = certificate
        self.key = key
        self.expires = expires

    @property
    def is_over(self) -> bool:
        return self.expires is not None and time.time() >= self.expires


def ask_plugin(place: Place, *, rejected: bool = False) -> Credential:
    """What the plugin of the kubeconfig's user answers; ``rejected`` is whether the server refused
    what it answered last.

    Raises UNAUTHORIZED with the plugin's own words where it gives nothing.
    """
    spec = place.user["exec"]
    if not isinstance(spec, dict) or not spec.get("command"):
        raise _nothing(place, "", "the kubeconfig names no command")
    key = json.dumps([place.origin, spec, place.cluster], sort_keys=True, default=str)
    known = _answered.get(key)
    if known is not None and not known.is_over and not rejected:
        return known
    found = _credential(place, spec, _run(place, spec))
    if found.is_over:  # by this machine's clock; the server's own is the one that counts
        found.expires = None
    _answered[key] = found
    return found


def _run(place: Place, spec: Mapping[str, Any]) -> str:
    import subprocess

    command = _command(place, spec)
    mode = str(spec.get("interactiveMode") or "IfAvailable")
    if mode not in _MODES:
        raise _nothing(place, command, f"interactiveMode {mode} is none of {', '.join(_MODES)}")
    terminal = sys.stdin is not None and sys.stdin.isatty()
    if mode == "Always" and not terminal:
        raise _nothing(
            place, command, "it needs a terminal (interactiveMode: Always), and there is none here"
        )
    interactive = terminal and mode != "Never"
    seen = sys.stderr is not None and sys.stderr.isatty()
    seconds = ATTENDED if seen else ALONE
    try:
        process = subprocess.Popen(
            [command, *map(str, spec.get("args") or ())],
            stdin=None if interactive else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=None if seen else subprocess.PIPE,
            env=_environment(place, spec, interactive=interactive),
            start_new_session=not interactive,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        hint = str(spec.get("installHint") or "").strip()
        raise _nothing(
            place, command, f"it cannot be started: {error.strerror}", hint or _LOG_IN
        ) from None
    try:
        out, said = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        said = _end(process, group=not interactive)
        raise _nothing(
            place,
            command,
            _with(f"it had not answered after {seconds:g} s, and was ended", said),
            "is it waiting for a terminal or a browser? " + _LOG_IN,
        ) from None
    except BaseException:
        _end(process, group=not interactive)
        raise
    if process.returncode:
        raise _nothing(place, command, _with(f"it ended with {process.returncode}", said))
    return out


def _end(process: Popen[str], *, group: bool) -> str:
    """End the plugin, and what it started where that is a group of its own; what it had said."""
    import signal
    from subprocess import TimeoutExpired

    try:
        if group:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except ProcessLookupError:
        pass
    try:
        return process.communicate(timeout=1)[1] or ""
    except TimeoutExpired:  # something that left the group holds the pipe
        return ""


def _command(place: Place, spec: Mapping[str, Any]) -> str:
    """The command; one with a slash is relative to the kubeconfig, as for kubectl."""
    command = str(spec["command"])
    if os.sep not in command:
        return command
    return os.path.join(os.path.abspath(os.path.dirname(place.origin)), command)


def _environment(place: Place, spec: Mapping[str, Any], *, interactive: bool) -> Mapping[str, str]:
    asked: dict[str, object] = {"interactive": interactive}
    if spec.get("provideClusterInfo"):
        asked["cluster"] = _cluster(place)
    told = {"apiVersion": spec.get("apiVersion"), "kind": "ExecCredential", "spec": asked}
    own = {
        str(one.get("name")): str(one.get("value") or "")
        for one in spec.get("env") or ()
        if isinstance(one, dict)
    }
    return {**os.environ, **own, "KUBERNETES_EXEC_INFO": json.dumps(told)}


def _cluster(place: Place) -> Mapping[str, object]:
    """The cluster as a plugin is told of it."""
    told: dict[str, object] = {
        key: place.cluster[key]
        for key in (
            "server",
            "tls-server-name",
            "insecure-skip-tls-verify",
            "certificate-authority-data",
            "proxy-url",
        )
        if place.cluster.get(key)
    }
    authority = place.cluster.get("certificate-authority")
    if authority and "certificate-authority-data" not in told:
        from base64 import b64encode

        try:
            with open(str(authority), "rb") as file:
                told["certificate-authority-data"] = b64encode(file.read()).decode()
        except OSError:
            pass  # said where the connection itself needs it
    for one in place.cluster.get("extensions") or ():
        if isinstance(one, dict) and one.get("name") == "client.authentication.k8s.io/exec":
            told["config"] = one.get("extension")
    return told


def _credential(place: Place, spec: Mapping[str, Any], out: str) -> Credential:
    command = _command(place, spec)
    try:
        answer = json.loads(out)
    except ValueError:
        raise _nothing(place, command, "what it wrote is no JSON") from None
    status = answer.get("status") if isinstance(answer, dict) else None
    if not isinstance(status, dict) or answer.get("kind") != "ExecCredential":
        raise _nothing(place, command, "what it wrote is no ExecCredential with a status")
    if answer.get("apiVersion") != spec.get("apiVersion"):
        raise _nothing(
            place,
            command,
            f"it speaks {answer.get('apiVersion')}, and the kubeconfig says "
            f"{spec.get('apiVersion')}",
        )
    token = str(status.get("token") or "")
    certificate = str(status.get("clientCertificateData") or "")
    key = str(status.get("clientKeyData") or "")
    if bool(certificate) != bool(key):
        raise _nothing(place, command, "it gave a certificate or a key, and not both")
    if not token and not certificate:
        raise _nothing(place, command, "it gave neither a token nor a certificate")
    expires = _time(status.get("expirationTimestamp"))
    return Credential(token, certificate=certificate, key=key, expires=expires)


def _time(text: object) -> float | None:
    from datetime import datetime

    try:
        return datetime.fromisoformat(str(text)).timestamp() if text else None
    except ValueError:
        return None


def _with(what: str, said: str | None) -> str:
    words = (said or "").strip()[-_LONGEST:]
    return f"{what}: {words}" if words else what


def _nothing(place: Place, command: str, why: str, hint: str = _LOG_IN) -> AicrError:
    named = f"the credential plugin {command}" if command else "the credential plugin"
    return AicrError(
        UNAUTHORIZED, f"context {place.context}: {named} gave no credentials: {why}", hint=hint
    )
