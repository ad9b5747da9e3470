"""The compiled form and its cache: the same answers, keyed by content, and never in the way."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aicr.catalog.open
from aicr.catalog.compiled import (
    MOST_KEPT,
    _decode,
    _encode,
    cache_folder,
    decode_layer,
    encode_layer,
    read_cached,
    write_cached,
)
from aicr.catalog.folder import Layer, read_files, read_layer
from aicr.catalog.layers import Catalog
from aicr.catalog.open import compile_shipped, open_catalog, open_shipped
from aicr.documents.fields import Problems
from aicr.documents.nodes import Map, Node, Scalar, Seq
from aicr.recipe.criteria import Criteria
from aicr.recipe.document import write_recipe
from aicr.recipe.resolve import resolve
from small_catalog import SmallCatalog, helm


def rich(tmp_path: Path, name: str = "c") -> Path:
    files = SmallCatalog().registry(helm("a", "1.20", extra=[1, {"k": None}]), helm("b"))
    files.overlay("base", componentRefs=[{"name": "a", "overrides": {"x": [1, "1", None]}}])
    files.add("overlays/eks.yaml", "kind: RecipeMetadata\nmetadata: {name: eks}\nspec:\n"
              "  criteria: {service: eks}\n  mixins: [m]\n  constraints:\n"
              "    - {name: k, value: 1.30}\n  componentRefs:\n    - name: a\n"
              "      version: 010\n      valuesFile: components/a/values.yaml\n")  # fmt: skip
    files.mixin("m", componentRefs=[{"name": "b", "dependencyRefs": ["a"]}])
    files.add("components/a/values.yaml", "a: &x {on: off, n: 1_0}\nb: *x\nc: |\n  é\n")
    files.add("components/a/manifests/t.yaml", b"\xff binary")
    files.add("components/a/broken.yaml", "a: [")
    return files.write(tmp_path / name)


def parsed(root: Path) -> tuple[Layer, dict[str, Node]]:
    problems = Problems()
    layer, trees = read_layer(str(root), str(root), read_files(str(root), str(root)), problems)
    problems.raise_any()
    return layer, trees


def with_lines(node: Node) -> object:
    """A node with everything that it knows."""
    if isinstance(node, Map):
        return ("map", node.line, [(k, node.lines[k], with_lines(v)) for k, v in node.items()])
    if isinstance(node, Seq):
        return ("list", node.line, node.lines, [with_lines(item) for item in node])
    return (type(node).__name__, node if isinstance(node, str) else node.text)


def test_the_compiled_form_gives_the_same_answers(tmp_path: Path) -> None:
    root = rich(tmp_path)
    layer, trees = parsed(root)
    data = encode_layer(layer, trees)
    compiled = decode_layer(data, str(root), str(root))
    assert compiled is not None
    for path in trees:
        assert with_lines(compiled.tree(path)) == with_lines(layer.tree(path)), path
    one, two = Catalog([layer]), Catalog([compiled])
    assert one.digest == two.digest
    assert one.paths() == two.paths()
    assert list(one.heads) == list(two.heads)
    for criteria in (Criteria(service="eks"), Criteria(service="eks", nodes=3)):
        assert write_recipe(resolve(one, criteria)) == write_recipe(resolve(two, criteria))
    assert two.file("components/a/manifests/t.yaml") == b"\xff binary"
    assert encode_layer(compiled, trees) == data


def nodes() -> st.SearchStrategy[Node]:
    text = st.text(max_size=6)

    def maps(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        def build(items: dict[str, Node], line: int) -> Node:
            node = Map(line)
            for number, (key, value) in enumerate(items.items()):
                node[key] = value
                node.lines[key] = line + number
            return node

        return st.builds(build, st.dictionaries(text, inner, max_size=3), st.integers(1, 9))

    def lists(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        def build(items: list[Node], line: int) -> Node:
            node = Seq(line)
            node.extend(items)
            node.lines = [line + number for number in range(len(items))]
            return node

        return st.builds(build, st.lists(inner, max_size=3), st.integers(1, 9))

    leaf: st.SearchStrategy[Node] = st.one_of(text, text.map(Scalar))
    return st.recursive(leaf, lambda inner: st.one_of(maps(inner), lists(inner)), max_leaves=8)


@given(nodes())
def test_every_tree_survives(node: Node) -> None:
    assert with_lines(_decode(_encode(node))) == with_lines(node)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: b"no index",
        lambda data: b"\n" + data,
        lambda data: data[:-1],
        lambda data: data + b" ",
        lambda data: data.replace(b"aicr-catalog/", b"aicr-catalog/9", 1),
        lambda data: b"[]\n" + data.split(b"\n", 1)[1],
    ],
)
def test_what_is_no_compiled_form_is_none(tmp_path: Path, damage: object) -> None:
    root = rich(tmp_path)
    data = encode_layer(*parsed(root))
    assert callable(damage)
    assert decode_layer(damage(data), str(root), "") is None


def test_the_shipped_catalog_compiled_is_the_shipped_catalog() -> None:
    data = compile_shipped()
    assert data == compile_shipped()
    layer = decode_layer(data, aicr.catalog.open.SHIPPED_DATA, "")
    assert layer is not None
    assert Catalog([layer]).digest == Catalog([open_shipped()]).digest


def test_the_compiled_file_of_the_package_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = rich(tmp_path)
    monkeypatch.setattr(aicr.catalog.open, "SHIPPED_DATA", str(root))
    compiled = tmp_path / "compiled.bin"
    compiled.write_bytes(compile_shipped())
    monkeypatch.setattr(aicr.catalog.open, "SHIPPED_COMPILED", str(compiled))
    before = open_catalog().digest
    (root / "registry.yaml").unlink()
    assert open_catalog().digest == before
    compiled.write_bytes(b"damaged")
    assert open_catalog().digest != before


def kept(home: Path) -> list[Path]:
    return sorted(home.rglob("*.bin"))


def recipe_of(root: Path) -> str:
    return write_recipe(resolve(open_catalog(catalog=str(root)), Criteria(service="eks")))


def test_the_cache_is_keyed_by_content(tmp_path: Path, cache_home: Path) -> None:
    root = rich(tmp_path)
    first = recipe_of(root)
    assert cache_folder() == str(cache_home / "aicr" / "catalogs")
    (one,) = kept(cache_home)
    stamp = one.stat().st_mtime_ns
    assert recipe_of(root) == first
    assert kept(cache_home) == [one]
    assert one.stat().st_mtime_ns == stamp
    rich(tmp_path, "same")
    assert recipe_of(tmp_path / "same") == first
    assert kept(cache_home) == [one]
    registry = root / "registry.yaml"
    stat = registry.stat()
    registry.write_bytes(registry.read_bytes().replace(b"charts.example/b", b"charts.example/z"))
    os.utime(registry, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert "charts.example/z" in recipe_of(root)
    assert len(kept(cache_home)) == 2


def test_messages_name_the_folder_at_hand_also_from_the_cache(
    tmp_path: Path, cache_home: Path
) -> None:
    for name in ("one", "two"):
        catalog = open_catalog(catalog=str(rich(tmp_path, name)))
        assert catalog.where("registry.yaml") == f"{tmp_path}/{name}/registry.yaml"
    assert len(kept(cache_home)) == 1


def test_a_folder_with_problems_is_not_kept(tmp_path: Path, cache_home: Path) -> None:
    root = SmallCatalog().registry(helm("a")).overlay("base", unknown=1).write(tmp_path / "c")
    open_catalog(catalog=str(root), allow_unknown=True)
    assert kept(cache_home) == []


@pytest.mark.parametrize("where", ["start", "middle", "end", "cut", "empty", "zeros"])
def test_a_damaged_cache_file_is_ignored_and_replaced(
    tmp_path: Path, cache_home: Path, where: str
) -> None:
    root = rich(tmp_path)
    expected = recipe_of(root)
    (file,) = kept(cache_home)
    data = bytearray(file.read_bytes())
    damaged: bytes
    if where in ("start", "middle", "end"):
        place = {"start": 100, "middle": len(data) // 2, "end": len(data) - 9}[where]
        data[place] ^= 1
        damaged = bytes(data)
    elif where == "cut":
        damaged = bytes(data[: len(data) // 2])
    else:
        damaged = b"" if where == "empty" else bytes(len(data))
    file.write_bytes(damaged)
    assert recipe_of(root) == expected
    assert file.read_bytes() != damaged
    assert recipe_of(root) == expected


def test_a_cache_that_cannot_be_written_is_survived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = rich(tmp_path)
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert recipe_of(root) == recipe_of(root)
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/no/such")
    assert recipe_of(root) == recipe_of(root)


def test_a_pipe_in_the_cache_is_not_waited_for(tmp_path: Path, cache_home: Path) -> None:
    root = rich(tmp_path)
    expected = recipe_of(root)
    (file,) = kept(cache_home)
    file.unlink()
    os.mkfifo(file)
    assert recipe_of(root) == expected


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to a read-only folder")
def test_a_read_only_cache_is_survived(tmp_path: Path, cache_home: Path) -> None:
    cache_home.mkdir(mode=0o500)
    assert "kind: RecipeResult" in recipe_of(rich(tmp_path))
    assert kept(cache_home) == []


def test_a_failed_write_leaves_nothing(cache_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: str, target: str) -> None:
        raise OSError("no")

    monkeypatch.setattr(os, "replace", fail)
    write_cached("key.bin", b"data")
    assert read_cached("key.bin") is None
    assert [path for path in cache_home.rglob("*") if path.is_file()] == []


def test_the_home_is_used_without_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == f"{tmp_path}/.cache/aicr/catalogs"


def test_writers_at_the_same_time(tmp_path: Path, cache_home: Path) -> None:
    root = rich(tmp_path)
    program = (
        "import sys\n"
        "from aicr.catalog.open import open_catalog\n"
        "print(open_catalog(catalog=sys.argv[1]).digest)\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program, str(root)], stdout=subprocess.PIPE)
        for _ in range(6)
    ]
    answers = {one.communicate(timeout=60)[0] for one in running}
    assert [one.returncode for one in running] == [0] * 6
    assert len(answers) == 1
    (file,) = kept(cache_home)
    assert read_cached(file.name) is not None
    assert [path for path in cache_home.rglob(".*") if path.is_file()] == []


def test_the_oldest_are_not_kept(cache_home: Path) -> None:
    write_cached("first.bin", b"data")
    folder = Path(cache_folder())
    (folder / ".left.bin.123").write_bytes(b"of a process that was killed")
    for age, name in ((3, "first.bin"), (2, ".left.bin.123")):
        os.utime(folder / name, (1_700_000_000 - age, 1_700_000_000 - age))
    for number in range(MOST_KEPT):
        write_cached(f"{number}.bin", b"data")
        os.utime(folder / f"{number}.bin", (1_700_000_000 + number, 1_700_000_000 + number))
    assert sorted(os.listdir(folder)) == sorted(f"{number}.bin" for number in range(MOST_KEPT))
    write_cached("last.bin", b"data")
    assert read_cached("0.bin") is None
    assert read_cached("1.bin") == read_cached("last.bin") == b"data"
    assert len(os.listdir(folder)) == MOST_KEPT
