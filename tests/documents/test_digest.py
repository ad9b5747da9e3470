"""The digest is SHA-256, whichever implementation the interpreter has."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from aicr.documents.digest import sha256_hex


def test_a_known_digest() -> None:
    assert sha256_hex(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@given(st.binary(max_size=300))
def test_the_same_as_the_standard_library(data: bytes) -> None:
    assert sha256_hex(data) == hashlib.sha256(data).hexdigest()
