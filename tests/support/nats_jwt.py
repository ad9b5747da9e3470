"""A NATS operator with an account and users, as ``nsc`` would make them: what a server in operator
mode trusts, and the creds files of its users."""

from __future__ import annotations

import base64
import json
import os
import time
from pathlib import Path
from typing import Any

import nkeys


class Key:
    """An nkey: its public part, and how it signs."""

    def __init__(self, kind: int) -> None:
        self.seed: bytes = nkeys.encode_seed(os.urandom(32), kind)
        self._pair: Any = nkeys.from_seed(bytearray(self.seed))
        self.public: str = self._pair.public_key.decode()

    def sign(self, data: bytes) -> bytes:
        return bytes(self._pair.sign(data))


class Operator:
    """One operator, the servers' own account, and one with JetStream and without limits."""

    def __init__(self) -> None:
        self.key = Key(nkeys.PREFIX_BYTE_OPERATOR)
        self.system = Key(nkeys.PREFIX_BYTE_ACCOUNT)
        self.account = Key(nkeys.PREFIX_BYTE_ACCOUNT)
        limits = dict.fromkeys(
            ("subs", "data", "payload", "imports", "exports", "conn", "leaf", "mem_storage",
             "disk_storage", "streams", "consumer"), -1,
        )  # fmt: skip
        self._account = token(
            self.key, self.account.public, "account",
            limits={**limits, "wildcards": True},
            default_permissions={"pub": {}, "sub": {}},
        )  # fmt: skip

    def configuration(self) -> str:
        """Lines for a server's configuration: the accounts' tokens stand in it."""
        own = token(self.key, self.key.public, "operator", system_account=self.system.public)
        system = token(self.key, self.system.public, "account")
        return (
            f"operator: {own}\nresolver: MEMORY\nresolver_preload: {{\n"
            f"  {self.account.public}: {self._account}\n  {self.system.public}: {system}\n}}\n"
        )

    def creds(self, path: Path, *, expires: float = 3600, **permissions: Any) -> Path:
        """The file of a new user; ``permissions`` are ``pub`` and ``sub`` of its token."""
        user = Key(nkeys.PREFIX_BYTE_USER)
        limits = dict.fromkeys(("subs", "data", "payload"), -1)
        own = token(
            self.account, user.public, "user", expires=expires,
            **{"pub": {}, "sub": {}, **limits, **permissions},
        )  # fmt: skip
        path.write_text(
            f"-----BEGIN NATS USER JWT-----\n{own}\n------END NATS USER JWT------\n\n"
            "************************* IMPORTANT *************************\n"
            f"-----BEGIN USER NKEY SEED-----\n{user.seed.decode()}\n"
            "------END USER NKEY SEED------\n"
        )
        return path


def token(by: Key, subject: str, kind: str, *, expires: float = 0, **more: Any) -> str:
    """A token of the second version about ``subject``, signed."""
    now = int(time.time())
    claims: dict[str, Any] = {
        "jti": os.urandom(16).hex().upper(),
        "iat": now,
        "iss": by.public,
        "name": kind,
        "sub": subject,
        "nats": {**more, "type": kind, "version": 2},
    }
    if expires:
        claims["exp"] = now + int(expires)
    parts = [{"typ": "JWT", "alg": "ed25519-nkey"}, claims]
    signed = b".".join(_encoded(json.dumps(part).encode()) for part in parts)
    return (signed + b"." + _encoded(by.sign(signed))).decode()


def _encoded(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")
