"""Folders: which files are a catalog, what of a folder is refused, and what is found at once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aicr.catalog import folder
from aicr.catalog.folder import MAX_FILE_BYTES
from aicr.catalog.open import open_catalog
from aicr.documents import reader
from aicr.errors import INVALID_REQUEST, NOT_FOUND, AicrError
from aicr.recipe.criteria import Criteria
from aicr.recipe.resolve import resolve
from small_catalog import SmallCatalog, helm, overlay_file, simple


def refused(root: Path, *, flag: str = "catalog", allow_unknown: bool = False) -> str:
    catalog, data = (str(root), None) if flag == "catalog" else (None, str(root))
    with pytest.raises(AicrError) as caught:
        open_catalog(catalog, data, allow_unknown=allow_unknown)
    assert caught.value.code == INVALID_REQUEST
    return caught.value.message


def test_what_is_no_catalog(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    (tmp_path / "stray").mkdir()
    (tmp_path / "stray" / "notes.txt").write_text("x")
    for flag in ("catalog", "data"):
        shown = f"--{flag} {tmp_path}"
        assert refused(tmp_path / "no", flag=flag) == (
            f"{shown}/no: does not exist, expected a catalog folder"
        )
        assert refused(tmp_path / "file", flag=flag) == (
            f"{shown}/file: is a file, expected a catalog folder"
        )
        assert refused(tmp_path / "empty", flag=flag) == f"{shown}/empty: holds no catalog file"
        assert refused(tmp_path / "stray", flag=flag) == f"{shown}/stray: holds no catalog file"


def test_a_catalog_that_stands_alone_has_a_registry(tmp_path: Path) -> None:
    SmallCatalog().overlay("base").write(tmp_path / "c")
    assert refused(tmp_path / "c") == (
        f"--catalog {tmp_path}/c: no registry.yaml in it, so this is no catalog"
    )


def test_both_flags_are_refused(tmp_path: Path) -> None:
    with pytest.raises(AicrError, match="--catalog and --data were both given"):
        open_catalog(catalog=str(tmp_path), data=str(tmp_path))


def test_problems_of_all_files_are_reported_together(tmp_path: Path) -> None:
    files = simple().add("overlays/x.yaml", overlay_file("x", bas="base"))
    files.add("mixins/m.yaml", {"kind": "RecipeMixin", "metadata": {"name": "m"}})
    files.registry({"name": "a"}, {"name": "a"})
    found = refused(files.write(tmp_path / "c"))
    assert found.startswith("3 problems:\n")
    for part in (
        f"{tmp_path}/c/mixins/m.yaml:1: spec: is missing",
        f'{tmp_path}/c/overlays/x.yaml:1: spec: unknown key "bas", did you mean "base"?',
        f'{tmp_path}/c/registry.yaml:1: components[1].name: the component "a" is there twice',
    ):
        assert part in found


def test_files_without_a_name_are_each_reported(tmp_path: Path) -> None:
    files = simple()
    for name in ("x", "y"):
        files.add(f"mixins/{name}.yaml", {"kind": "RecipeMixin", "spec": {}})
    found = refused(files.write(tmp_path / "c"))
    assert f"{tmp_path}/c/mixins/x.yaml:1: metadata: is missing" in found
    assert f"{tmp_path}/c/mixins/y.yaml:1: metadata: is missing" in found


def test_allowed_unknown_keys_are_warnings_each_time(tmp_path: Path) -> None:
    files = simple({"name": "a"}).add(
        "overlays/x.yaml", overlay_file("x", criteria={"service": "gke"}, newer=1)
    )
    root = files.write(tmp_path / "c")
    assert 'unknown key "newer"' in refused(root)
    for _ in range(2):
        warnings: list[str] = []
        catalog = open_catalog(
            catalog=str(root),
            allow_unknown=True,
            on_warning=lambda problem, seen=warnings: seen.append(str(problem)),  # type: ignore[misc]
        )
        assert warnings == [f'{root}/overlays/x.yaml:1: spec: unknown key "newer"']
        assert resolve(catalog, Criteria(service="gke")).applied_overlays == ["base", "x"]
    assert 'unknown key "newer"' in refused(root)


def test_a_profile_is_refused_even_where_unknown_keys_are_allowed(tmp_path: Path) -> None:
    files = simple().add("overlays/x.yaml", overlay_file("x", profile={"a": 1}))
    found = refused(files.write(tmp_path / "c"), allow_unknown=True)
    assert "spec.profile: profiles are of a newer edition" in found


def test_a_file_that_does_not_parse_is_named(tmp_path: Path) -> None:
    root = simple().add("overlays/x.yaml", "a: 1\na: 2\n").write(tmp_path / "c")
    assert refused(root) == (
        f'{root}/overlays/x.yaml:2: the key "a" is there twice (first on line 1)'
    )
    (root / "overlays/x.yaml").write_bytes(b"")
    assert refused(root) == f"{root}/overlays/x.yaml: the file is empty"


def test_a_values_file_that_does_not_parse_matters_when_it_is_used(tmp_path: Path) -> None:
    catalog = simple({"name": "a"}).add("components/a/values.yaml", "a: 1\na: 2\n")
    for _ in range(2):  # read, then from the cache
        opened = catalog.open(tmp_path / "c")
        with pytest.raises(AicrError) as caught:
            opened.node("components/a/values.yaml")
        assert caught.value.message.startswith(f"{tmp_path}/c/components/a/values.yaml:2: ")


def test_an_empty_values_file_is_an_empty_map(tmp_path: Path) -> None:
    catalog = simple({"name": "a"}).add("components/a/values.yaml", "# nothing\n")
    for _ in range(2):
        assert catalog.open(tmp_path / "c").node("components/a/values.yaml") == {}


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    files = simple({"name": "a"})
    files.add("overlays/README.md", "# not\n\tYAML: [").add("docs/overlays/x.yaml", "{{")
    files.add("components/a/manifests/t.yaml", "{{ template }}: [").add("other.yaml", "{{")
    catalog = files.open(tmp_path / "c")
    assert "docs/overlays/x.yaml" not in catalog.paths()
    assert "other.yaml" not in catalog.paths()
    assert catalog.file("components/a/manifests/t.yaml") == b"{{ template }}: ["


@pytest.mark.parametrize(
    "linked", ["registry.yaml", "releases.yaml", "overlays/x.yaml", "overlays", "mixins",
               "mixins/sub", "components", "components/a", "components/a/values.yaml"],
)  # fmt: skip
def test_links_that_lead_out_are_refused(tmp_path: Path, linked: str) -> None:
    outside = simple().overlay("x").mixin("sub/m").write(tmp_path / "outside")
    (outside / "components/a").mkdir(parents=True)
    (outside / "components/a/values.yaml").write_text("a: 1")
    (outside / "releases.yaml").write_text("kind: ReleaseHistory")
    root = SmallCatalog().overlay("base").write(tmp_path / "c")
    if linked in ("overlays", "mixins", "components"):
        SmallCatalog().registry(helm("a")).write(root)
        if linked == "overlays":
            (root / "overlays/base.yaml").unlink()
            (root / "overlays").rmdir()
    place = root / linked
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(outside / linked)
    assert refused(root) == (
        f"{root}/{linked}: a link that leads out of the catalog is not followed"
    )


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("registry.yaml", "is no file that can be read"),
        ("releases.yaml", "is no file that can be read"),
        ("records-allowlist.yaml", "is no file that can be read"),
        ("mixins", "is no folder that can be read"),
        ("overlays/more.yaml", "is no file and no folder that can be read"),
        ("components/a/upgrades.yaml", "is no file and no folder that can be read"),
    ],
)
@pytest.mark.parametrize("kind", ["link to nothing", "pipe"])
def test_what_cannot_be_read_is_not_left_out(
    tmp_path: Path, path: str, message: str, kind: str
) -> None:
    # With --data the shipped file of that path would count instead.
    simple().write(tmp_path / "c")
    odd = tmp_path / "c" / path
    odd.parent.mkdir(parents=True, exist_ok=True)
    odd.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(odd)
    else:
        odd.symlink_to("nothing")
    for flag in ("catalog", "data"):
        assert refused(tmp_path / "c", flag=flag) == f"{tmp_path}/c/{path}: {message}"


@pytest.mark.parametrize("path", ["registry.yaml", "releases.yaml"])
def test_a_folder_with_the_name_of_a_file(tmp_path: Path, path: str) -> None:
    simple().write(tmp_path / "c")
    (tmp_path / "c" / path).unlink(missing_ok=True)
    (tmp_path / "c" / path).mkdir()
    assert refused(tmp_path / "c") == f"{tmp_path}/c/{path}: is no file that can be read"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("registry.yml", "registry.yaml"),
        ("Registry.YAML", "registry.yaml"),
        ("releases.yml", "releases.yaml"),
        ("records-allowlist.yml", "records-allowlist.yaml"),
        ("Overlays", "overlays"),
    ],
)
def test_a_name_that_is_nearly_one_of_a_catalog(tmp_path: Path, name: str, meant: str) -> None:
    simple().add(name, "").write(tmp_path / "c")
    assert refused(tmp_path / "c", flag="data") == (
        f"{tmp_path}/c/{name}: is not read, since a catalog has {meant}; rename it"
    )


def test_an_overlay_whose_ending_is_in_capitals_counts(tmp_path: Path) -> None:
    files = simple().add("overlays/x.YAML", overlay_file("x", criteria={"service": "eks"}))
    assert "x" in files.open(tmp_path / "c").heads


def test_the_lock_of_an_editor_is_left_alone(tmp_path: Path) -> None:
    simple().write(tmp_path / "c")
    (tmp_path / "c" / "overlays" / ".#base.yaml").symlink_to("somebody@host.123")
    assert "base" in open_catalog(str(tmp_path / "c")).heads


def test_a_file_with_the_name_of_a_folder(tmp_path: Path) -> None:
    simple().add("mixins", "").write(tmp_path / "c")
    assert refused(tmp_path / "c") == f"{tmp_path}/c/mixins: is no folder that can be read"


def test_links_inside_the_catalog_are_followed(tmp_path: Path) -> None:
    root = simple({"name": "a"}).add("components/a/values.yaml", "x: 1").write(tmp_path / "real")
    (root / "components/a/values-2.yaml").symlink_to("values.yaml")
    (root / "components/b").symlink_to("a")
    (tmp_path / "link").symlink_to("real")
    for folder_name in ("real", "link"):
        catalog = open_catalog(catalog=str(tmp_path / folder_name))
        for path in ("components/a/values-2.yaml", "components/b/values.yaml"):
            assert catalog.file(path) == b"x: 1"


def test_a_link_in_a_loop_is_refused(tmp_path: Path) -> None:
    root = simple().write(tmp_path / "c")
    (root / "overlays/loop").symlink_to(".")
    assert "folders nested deeper than 16 (a link in a loop?)" in refused(root)


def test_a_link_that_appears_later_is_not_followed(tmp_path: Path) -> None:
    """The compiled form knows the file; what is there now is checked when it is read."""
    root = simple().add("components/a/manifests/t.yaml", "x").write(tmp_path / "c")
    catalog = open_catalog(catalog=str(root))
    (tmp_path / "secret").write_text("secret")
    (root / "components/a/manifests/t.yaml").unlink()
    (root / "components/a/manifests/t.yaml").symlink_to(tmp_path / "secret")
    with pytest.raises(AicrError, match="leads out of the catalog is not followed"):
        catalog.file("components/a/manifests/t.yaml")


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "overlays/../../x", "a\\b", "a\0b"])
def test_paths_that_lead_out_are_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(AicrError) as caught:
        folder.read_file(str(tmp_path), path, path)
    assert caught.value.message.endswith("is not a path inside the catalog")


def test_a_file_that_went_away(tmp_path: Path) -> None:
    root = simple().add("components/a/manifests/t.yaml", "x").write(tmp_path / "c")
    catalog = open_catalog(catalog=str(root))
    (root / "components/a/manifests/t.yaml").unlink()
    with pytest.raises(AicrError) as caught:
        catalog.file("components/a/manifests/t.yaml")
    assert caught.value.code == NOT_FOUND


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    root = simple().write(tmp_path / "c")
    with open(root / "overlays/x.yaml", "wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    assert refused(root) == (
        f"{root}/overlays/x.yaml: larger than the {MAX_FILE_BYTES} bytes allowed for a file"
    )


def test_a_name_that_is_not_utf_8(tmp_path: Path, cache_home: Path) -> None:
    root = simple({"name": "a"}).add("components/a/values.yaml", "x: 1").write(tmp_path / "c")
    odd = os.path.join(os.fsencode(root), b"components/a/\xff.yaml")
    with open(odd, "wb") as file:
        file.write(b"y: 2")
    digests = set()
    for _ in range(2):
        catalog = open_catalog(catalog=str(root))
        assert catalog.node("components/a/\udcff.yaml") is not None
        digests.add(catalog.digest)
    assert len(digests) == 1
    assert list(cache_home.rglob("*.bin"))


def test_every_file_is_read_and_parsed_once(
    tmp_path: Path, cache_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loading is linear: one pass over the files, and none of the YAML the second time."""
    files = simple({"name": "a"})
    for number in range(50):
        files.overlay(f"x{number}", base="base" if number == 0 else f"x{number - 1}")
        files.add(f"components/c{number}/values.yaml", "a: 1")
    root = files.write(tmp_path / "c")
    read: list[str] = []
    parsed: list[str] = []
    real_read, real_parse = folder._read_bytes, reader.read_yaml

    def counted_read(full: str, where: str) -> bytes:
        read.append(full)
        return real_read(full, where)

    def counted_parse(*arguments: object, **named: object) -> object:
        parsed.append(str(arguments[1]))
        return real_parse(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(folder, "_read_bytes", counted_read)
    monkeypatch.setattr(reader, "read_yaml", counted_parse)
    open_catalog(catalog=str(root))
    assert len(read) == len(set(read)) == len(files.files)
    assert len(parsed) == len(set(parsed)) == len(files.files)
    parsed.clear()
    resolve(open_catalog(catalog=str(root)), Criteria(service="eks"))
    assert parsed == []
