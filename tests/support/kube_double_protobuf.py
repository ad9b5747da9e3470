"""The protobuf of the Kubernetes API as far as Helm sends it: the Secrets that hold its releases.

A typed client of Go may send what it writes in that form, and takes JSON as the answer.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator

from kube_double_kinds import Object

MAGIC = b"k8s\x00"


def is_protobuf(body: bytes) -> bool:
    return body.startswith(MAGIC)


def secret(body: bytes) -> Object:
    """The Secret in ``body``."""
    envelope = dict(_fields(body[len(MAGIC) :]))
    head = dict(_fields(_bytes(envelope[1])))
    assert head[2] == b"Secret", head
    found: Object = {"metadata": {}, "data": {}}
    for number, value in _fields(_bytes(envelope[2])):
        if number == 1:
            found["metadata"] = _metadata(_bytes(value))
        elif number == 2:
            key, data = _entry(_bytes(value))
            found["data"][key] = base64.b64encode(data).decode()
        elif number == 3:
            found["type"] = _bytes(value).decode()
    return found


def _metadata(data: bytes) -> Object:
    texts = {1: "name", 3: "namespace", 5: "uid", 6: "resourceVersion"}
    maps = {11: "labels", 12: "annotations"}
    found: Object = {}
    for number, value in _fields(data):
        if number in texts and value:
            found[texts[number]] = _bytes(value).decode()
        elif number in maps:
            key, text = _entry(_bytes(value))
            found.setdefault(maps[number], {})[key] = text.decode()
    return found


def _entry(data: bytes) -> tuple[str, bytes]:
    fields = dict(_fields(data))
    return _bytes(fields.get(1, b"")).decode(), _bytes(fields.get(2, b""))


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message: number, and the number or the bytes that it has."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        if tag & 7 == 0:
            value, at = _varint(data, at)
            yield tag >> 3, value
        elif tag & 7 == 2:
            length, at = _varint(data, at)
            yield tag >> 3, data[at : at + length]
            at += length
        else:
            raise AssertionError(f"wire type {tag & 7} is not known here")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def _bytes(value: int | bytes) -> bytes:
    assert isinstance(value, bytes)
    return value
