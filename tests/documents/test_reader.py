"""Reading a document: what is accepted, what is refused, and which line the message names."""

from __future__ import annotations

import pytest

from aicr.documents.nodes import Map, Scalar, Seq
from aicr.documents.reader import MAX_ALIASED_NODES, MAX_BYTES, MAX_DEPTH, read_documents, read_yaml
from aicr.documents.scalars import plain
from aicr.errors import INVALID_REQUEST, AicrError


def value(text: str | bytes) -> object:
    return plain(read_yaml(text, "f.yaml"))


def message(text: str | bytes) -> str:
    with pytest.raises(AicrError) as caught:
        read_yaml(text, "f.yaml")
    assert caught.value.code == INVALID_REQUEST
    return caught.value.message


def test_text_of_scalars_stays_and_lines_are_kept() -> None:
    node = read_yaml("a: 1.20\nb:\n  - x\n  - 010\n\nc: 'on'\n", "f.yaml")
    assert isinstance(node, Map)
    assert node == {"a": Scalar("1.20"), "b": ["x", Scalar("010")], "c": "on"}
    assert node.lines == {"a": 1, "b": 2, "c": 6}
    items = node["b"]
    assert isinstance(items, Seq)
    assert (items.line, items.lines) == (3, [3, 4])


def test_json_is_read() -> None:
    assert value('{"a": [1, 2.5, "x\\u00e9\\n", null, true], "b": {}}') == {
        "a": [1, 2.5, "xé\n", None, True],
        "b": {},
    }


def test_block_scalars_anchors_and_flow() -> None:
    text = "a: &x\n  k: [1, 2]\nb: *x\nc: |\n  one\n  two\nd: >-\n  folded\n  text\n"
    shared = {"k": [1, 2]}
    assert value(text) == {"a": shared, "b": shared, "c": "one\ntwo\n", "d": "folded text"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: &m {x: 1, y: 1}\nb: {<<: *m, y: 2}", {"x": 1, "y": 2}),
        ("a: &m {x: 1, y: 1}\nb: {y: 2, <<: *m}", {"x": 1, "y": 2}),
        ("a: [&m {x: 1}, &n {x: 2, y: 2}]\nb: {<<: [*m, *n]}", {"x": 1, "y": 2}),
        ("a: &m {x: {k: 1}}\nb: {<<: *m, x: {l: 2}}", {"x": {"l": 2}}),
        ("a: &m {x: 1}\nc: &n {<<: *m, y: 2}\nb: {<<: *n, z: 3}", {"x": 1, "y": 2, "z": 3}),
        ("b: {<<: {x: 1}}", {"x": 1}),
        ("b: {<<: []}", {}),
        ("b: {'<<': 1}", {"<<": 1}),
    ],
    ids=["own-key-wins", "order-is-no-matter", "first-of-a-list-wins", "not-deep", "chained",
         "inline", "empty-list", "quoted-is-a-key"],
)  # fmt: skip
def test_merge_keys(text: str, expected: object) -> None:
    found = value(text)
    assert isinstance(found, dict)
    assert found["b"] == expected


def test_merged_keys_name_the_line_where_they_were_written() -> None:
    node = read_yaml("a: &m\n  x: 1\nb:\n  <<: *m\n  y: 2\n", "f.yaml")
    assert isinstance(node, Map)
    merged = node["b"]
    assert isinstance(merged, Map)
    assert merged.lines == {"x": 2, "y": 5}


@pytest.mark.parametrize("text", ["a:\n  <<: 1", "a:\n  <<: text", "a:\n  <<: [{x: 1}, 2]"])
def test_merging_what_is_no_map_is_refused(text: str) -> None:
    assert message(text) == "f.yaml:2: a merge key (<<) needs a map"


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("a: 1\nb: 2\na: 3", 3, 'the key "a" is there twice (first on line 1)'),
        ('{"a": 1,\n "a": 1}', 2, 'the key "a" is there twice (first on line 1)'),
        ("x:\n  - k: 1\n    'k': 2", 3, 'the key "k" is there twice (first on line 2)'),
        ("x:\n  <<: {a: 1}\n  <<: {b: 1}", 3, 'the key "<<" is there twice (first on line 2)'),
        ("1: a\n'1': b", 2, 'the key "1" is there twice'),
        ("a:\n\tb: 1", 2, "a tab is used for indentation"),
        ("\ta: 1", 1, "a tab is used for indentation"),
        ("a: 1\n\tb: 2", 2, "a tab is used for indentation"),
        ("a:\n  b: 1\n\t- c", 3, "a tab is used for indentation"),
        ("a: !foo b", 1, "the tag !foo is not supported"),
        ("\na: !!binary aGk=", 2, "tag:yaml.org,2002:binary is not supported"),
        ("a: !!set {x}", 1, "tag:yaml.org,2002:set is not supported"),
        ("a: !!python/object:os.system {}", 1, "python/object:os.system is not supported"),
        ("a: !!timestamp 2001-01-01", 1, "timestamp is not supported"),
        ("a: !!int x", 1, "int is not supported here"),
        ("? [a]\n: b", 1, "a map or list as a key; keys must be text"),
        ("- &a x\n- {*a : 1}", 2, "an alias as a key; keys must be text"),
        ("a: 1\n: b", 2, "did not find expected key"),
        ("? \n: b", 1, "an empty key"),
        ("a: *nowhere", 1, 'the alias "*nowhere" has no anchor'),
        ("*nowhere", 1, 'the alias "*nowhere" has no anchor'),
        ("a: &a\n  - *a", 2, 'the alias "*a" stands inside what it names'),
        ("a: &a 1\n---\nb: *a", 3, 'the alias "*a" has no anchor'),
        ("a: [1, 2\n", 2, "did not find expected"),
        ("a: b: c", 1, "mapping values are not allowed"),
        ("a: 'open\n\n", 3, "found unexpected end of stream"),
        ("a: @x", 1, "found character that cannot start any token"),
        ("%YAML 9.9\n---\na: 1", 1, "incompatible YAML document"),
    ],
)  # fmt: skip
def test_what_is_refused_names_the_line(text: str, line: int, part: str) -> None:
    found = message(text)
    assert found.startswith(f"f.yaml:{line}: "), found
    assert part in found


def test_a_tab_hint_says_what_to_do() -> None:
    with pytest.raises(AicrError) as caught:
        read_yaml("a:\n\tb: 1", "f.yaml")
    assert caught.value.hint == "indent with spaces"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a: 1\nb: \x00", "f.yaml:2: a NUL byte (is this a binary file?)"),
        (b"\x7fELF\x02\x01\n\xff\xfe", "f.yaml:2: not UTF-8 text (is this a binary file?)"),
        ("a: é".encode("latin-1"), "f.yaml:1: not UTF-8 text (is this a binary file?)"),
        ("a: 1".encode("utf-16"), "f.yaml:1: not UTF-8 text (is this a binary file?)"),
        (b"\x1f\x8b\x08\x00", "f.yaml:1: not UTF-8 text (is this a binary file?)"),
    ],
    ids=["nul", "binary", "latin-1", "utf-16", "gzip"],
)
def test_what_is_no_text_is_refused(data: bytes, expected: str) -> None:
    assert message(data) == expected


@pytest.mark.parametrize("control", ["\x01", "\x1b", "\x7f", "￾"])
def test_control_characters_are_refused(control: str) -> None:
    assert "f.yaml" in message(f"a: x{control}y")


def test_a_byte_order_mark_is_dropped() -> None:
    assert value(b"\xef\xbb\xbfa: 1") == {"a": 1}
    assert value("\ufeffa: 1") == {"a": 1}


def test_windows_line_ends_are_read() -> None:
    assert value(b"a: 1\r\nb: |\r\n  x\r\n  y\r\n") == {"a": 1, "b": "x\ny\n"}


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n", "---\n...\n"])
def test_an_empty_file_is_refused_unless_it_stands_for_something(text: str) -> None:
    assert message(text) == "f.yaml: the file is empty"
    stands_for = Map()
    assert read_yaml(text, "f.yaml", empty=stands_for) is stands_for


def test_a_null_is_not_an_empty_file() -> None:
    assert read_yaml("null", "f.yaml") == Scalar("null")
    assert value("~") is None


def test_several_documents() -> None:
    assert message("a: 1\n---\nb: 2\n") == "f.yaml: 2 YAML documents in one file, expected one"
    assert value("---\na: 1\n---\n") == {"a": 1}
    assert list(map(plain, read_documents("a: 1\n---\n---\n- b\n", "f"))) == [{"a": 1}, ["b"]]


def test_size_limit() -> None:
    body = b"# " + b"x" * (MAX_BYTES - 7) + b"\na: 1"
    assert len(body) == MAX_BYTES
    assert value(body) == {"a": 1}
    assert message(body + b"\n") == (
        f"f.yaml: {MAX_BYTES + 1} bytes, more than the {MAX_BYTES} allowed for a document"
    )


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a": ', "}")])
def test_depth_limit(opening: str, closing: str) -> None:
    def nested(depth: int) -> str:
        return opening * depth + "1" + closing * depth

    assert value(nested(MAX_DEPTH)) is not None
    assert message(nested(MAX_DEPTH + 1)) == f"f.yaml:1: nested deeper than {MAX_DEPTH} levels"
    assert "nest" in message(nested(100_000))


def test_aliases_do_not_get_around_the_depth_limit() -> None:
    links = [f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, MAX_DEPTH + 1)]
    deep = "a0: &a0 [1]\n" + "\n".join(links)
    assert message(deep) == f"f.yaml:{MAX_DEPTH}: nested deeper than {MAX_DEPTH} levels"
    value("a0: &a0 [1]\n" + "\n".join(links[: MAX_DEPTH - 2]))


def test_an_alias_bomb_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    found = message("\n".join(lines))
    assert f"aliases expand to more than {MAX_ALIASED_NODES} nodes" in found
    assert found.startswith("f.yaml:5: ")


def test_an_alias_bomb_of_merge_keys_is_refused() -> None:
    big = ", ".join(f"k{n}: 1" for n in range(1000))
    lines = [f"a: &a {{{big}}}"] + [f"m{n}: {{<<: *a}}" for n in range(101)]
    assert "aliases expand to more than" in message("\n".join(lines))


def test_many_honest_aliases_are_fine() -> None:
    text = "a: &a {x: 1}\nb:\n" + "  - *a\n" * 10_000
    found = value(text)
    assert isinstance(found, dict)
    assert found["b"] == [{"x": 1}] * 10_000
