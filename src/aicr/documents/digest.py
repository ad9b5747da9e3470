"""The SHA-256 of bytes, without loading OpenSSL where the interpreter has its own."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import sha256
else:
    try:
        from _sha2 import sha256  # Python 3.12 and later
    except ImportError:
        try:
            from _sha256 import sha256
        except ImportError:
            from hashlib import sha256


def sha256_hex(data: bytes) -> str:
    """The digest as 64 hexadecimal digits."""
    return sha256(data).hexdigest()
