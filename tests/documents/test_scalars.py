"""Scalars: the native value of each way to write one, and the text that stays."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aicr.documents.nodes import Map, Scalar, Seq, kind_of
from aicr.documents.reader import read_yaml
from aicr.documents.scalars import plain, text_of

NULLS = ["", "~", "null", "Null", "NULL"]
TRUE = ["true", "True", "TRUE"]
FALSE = ["false", "False", "FALSE"]
INTEGERS = {
    "0": 0, "-0": 0, "1": 1, "+1": 1, "-1": -1, "12345678901": 12345678901,
    "0o17": 15, "0o10": 8, "017": 15, "010": 8, "00": 0, "0x1F": 31, "0xff": 255, "-0x10": -16,
    "9223372036854775807": 2**63 - 1, "-9223372036854775808": -(2**63),
    "18446744073709551615": 2**64 - 1,
}  # fmt: skip
FLOATS = {
    "1.20": 1.2, "26.10": 26.1, "1.": 1.0, ".5": 0.5, "-.5": -0.5, "+.5": 0.5, "1e3": 1000.0,
    "1E3": 1000.0, "1e+3": 1000.0, "1.5e-3": 0.0015, "-1.0": -1.0, "089": 89.0, "0.0": 0.0,
    "18446744073709551616": 2.0**64, "-9223372036854775809": -(2.0**63),
    ".inf": math.inf, "+.Inf": math.inf, "-.INF": -math.inf,
}  # fmt: skip
TEXTS = [
    "on", "off", "On", "OFF", "yes", "no", "Yes", "NO", "y", "n", "Y", "N",
    "1:30", "190:20:30", "1_000", "0b1", "0b101", "0x", "0o", "0o8", "0xg", "2001-01-01",
    "2001-12-14t21:59:43.10-05:00", "1.2.3", "v1.2", "1.2-rc.1", "10.0.0.0/8", "nULL", "tRUE",
    "truE", "none", "nil", "inf", "infinity", "nan", "NaN", ".nAn", "e5", "1e", "1e5e5", "+", "=",
    "1e999", "-1e999", "1,000", "٣", "½", "²", "1 000", "0.1.2", "--1", "+-1", "1-", "1+1", ".",
    "..", ".e3", "0x1.8p1", "1d", "1f", "1L",
    "0" + "9" * 400,
]  # fmt: skip


def of(text: str) -> object:
    found = plain(read_yaml(f"- {text}", "f"))
    assert isinstance(found, list)
    return found[0]


@pytest.mark.parametrize("text", NULLS)
def test_null(text: str) -> None:
    assert of(text) is None


@pytest.mark.parametrize("text", TRUE + FALSE)
def test_booleans(text: str) -> None:
    assert of(text) is (text in TRUE)


@pytest.mark.parametrize(("text", "expected"), INTEGERS.items())
def test_integers(text: str, expected: int) -> None:
    found = of(text)
    assert (type(found), found) == (int, expected)


@pytest.mark.parametrize(("text", "expected"), FLOATS.items())
def test_floats(text: str, expected: float) -> None:
    found = of(text)
    assert (type(found), found) == (float, expected)


@pytest.mark.parametrize("text", [".nan", ".NaN", ".NAN"])
def test_not_a_number(text: str) -> None:
    found = of(text)
    assert isinstance(found, float)
    assert math.isnan(found)


@pytest.mark.parametrize("text", TEXTS)
def test_text(text: str) -> None:
    assert of(text) == text


@pytest.mark.parametrize("text", [*NULLS, *TRUE, *INTEGERS, *FLOATS, "on"])
def test_quotes_and_the_str_tag_make_text(text: str) -> None:
    assert of(f"'{text}'") == text
    assert of(f'"{text}"') == text
    assert of(f"!!str {text}") == text


def test_a_number_of_any_length_is_read_in_time() -> None:
    """Converting digits is quadratic: beyond what could be a number, it stays text."""
    assert of("9" * 100_000) == "9" * 100_000
    assert of("1" * 70) == float("1" * 70)


@given(st.integers(-(2**63), 2**64 - 1))
def test_every_64_bit_integer_is_itself(value: int) -> None:
    assert of(str(value)) == value
    assert isinstance(of(str(value)), int)


@given(st.floats(allow_nan=False))
def test_every_float_is_itself(value: float) -> None:
    written = repr(value).replace("inf", ".inf")
    assert of(written) == value


@given(st.text("0123456789+-.eExXoObB_:,infaNullTrue", min_size=1, max_size=12))
def test_a_scalar_keeps_its_text(text: str) -> None:
    node = read_yaml(f'{{"a": 1, "b": {text!r}}}', "f")
    assert isinstance(node, Map)
    assert text_of(node["b"]) == text


def test_text_of() -> None:
    assert text_of("x") == "x"
    assert text_of(Scalar("1.20")) == "1.20"
    assert text_of(Scalar("True")) == "True"
    assert [text_of(Scalar(text)) for text in NULLS] == [None] * len(NULLS)
    for node in (Map(), Seq()):
        with pytest.raises(TypeError):
            text_of(node)


def test_what_a_person_calls_it() -> None:
    assert kind_of(Map()) == "a map"
    assert kind_of(Seq()) == "a list"
    assert kind_of("x") == "text"
    assert kind_of(Scalar("~")) == "null"
    assert kind_of(Scalar("True")) == "the boolean True"
    assert kind_of(Scalar("1.20")) == "the number 1.20"
