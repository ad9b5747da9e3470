"""Whether a bundle is what was written: every kind of difference is found and named."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from aicr.artifact.tarball import pack
from aicr.bundle.contents import open_contents
from aicr.bundle.verify import Verification, verify
from aicr.bundle.writers import WRITERS
from aicr.catalog.layers import Catalog
from aicr.errors import AicrError
from aicr.recipe.model import Recipe
from bundles import build, write_out


@pytest.fixture
def root(recipe: Recipe, catalog: Catalog, tmp_path: Path) -> Path:
    return write_out(build(recipe, catalog), tmp_path / "b")


def check(root: Path) -> Verification:
    return verify(open_contents(str(root)))


def relist(root: Path) -> None:
    """Checksums as somebody would write them who covers up a change."""
    files = sorted(
        path for path in root.rglob("*") if path.is_file() and path.name != "checksums.txt"
    )
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(root)}\n"
        for path in files
    ]
    (root / "checksums.txt").write_text("".join(lines))


@pytest.mark.parametrize("deployer", WRITERS)
def test_what_was_written_is_intact(
    recipe: Recipe, catalog: Catalog, tmp_path: Path, deployer: str
) -> None:
    bundle = build(recipe, catalog, deployer)
    found = check(write_out(bundle, tmp_path / "b"))
    assert found.intact, found.problems
    assert found.count == len(bundle.files) - 1
    assert found.deployer == deployer
    (tmp_path / "b.tar.gz").write_bytes(pack(bundle.files))
    assert check(tmp_path / "b.tar.gz").intact


def test_changed_missing_and_extra_files(root: Path) -> None:
    (root / "deploy.sh").write_bytes(b"mine")
    (root / "README.md").unlink()
    (root / "003-chart" / "notes.txt").write_text("mine")
    found = check(root)
    assert not found.intact
    assert [(one.path, one.found) for one in found.changed] == [
        ("deploy.sh", hashlib.sha256(b"mine").hexdigest())
    ]
    assert found.missing == ["README.md"]
    assert found.extra == ["003-chart/notes.txt"]
    assert found.problems == []


def test_links_are_not_followed(root: Path) -> None:
    content = (root / "deploy.sh").read_bytes()
    (root.parent / "outside").write_bytes(content)
    (root / "deploy.sh").unlink()
    (root / "deploy.sh").symlink_to(root.parent / "outside")
    (root / "more").symlink_to(root.parent)
    found = check(root)
    assert [one for one in found.problems if "link" in one] == [
        "deploy.sh: is a link",
        "more: is a link",
    ]
    assert found.missing == found.extra == []


@pytest.mark.parametrize(
    ("path", "old", "new", "says"),
    [
        ("recipe.yaml", "26.10", "26.11", "recipe.yaml: has the digest sha256:"),
        ("bundle-info.yaml", "deploy.sh", "gone.sh", "layout.entrypoint: gone.sh is not there"),
        ("bundle-info.yaml", "path: 003-chart", "path: 009-chart", "009-chart is not there"),
        ("bundle-info.yaml", "namespace: oci-system", "namespace: other", "the namespace other"),
        ("bundle-info.yaml", "name: chart-post", "name: chart-pre", "chart-pre]: is there twice"),
        ("bundle-info.yaml", "component: plain", "component: oci", "none is for plain"),
        ("bundle-info.yaml", "component: plain", "component: nope", "has no component nope"),
        ("bundle-info.yaml", "path: recipe.yaml", "path: ../recipe.yaml", "not a path inside"),
        ("bundle-info.yaml", "kind: BundleInfo", "kind: Other", "found \"Other\""),
        ("bundle-info.yaml", "deployer: helm", "deployer: helm\n  more: 1", "unknown key"),
    ],
)  # fmt: skip
def test_a_cover_up_is_found_in_the_layout(
    root: Path, path: str, old: str, new: str, says: str
) -> None:
    text = (root / path).read_text()
    assert old in text
    (root / path).write_text(text.replace(old, new, 1))
    relist(root)
    found = check(root)
    assert found.changed == []
    assert any(says in problem for problem in found.problems), found.problems


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nonsense\n", 'checksums.txt:1: "nonsense" is no digest and path'),
        ("0" * 64 + "  ../x\n", "is no digest and path"),
        ("0" * 64 + "  a\n" + "0" * 64 + "  a\n", 'checksums.txt:2: "a" is there twice'),
        ("", "bundle-info.yaml"),
    ],
)
def test_bad_checksums(root: Path, text: str, says: str) -> None:
    (root / "checksums.txt").write_text(text)
    found = check(root)
    assert not found.intact
    assert any(says in line for line in [*found.problems, *found.extra])


def test_no_checksums_at_all(root: Path) -> None:
    (root / "checksums.txt").unlink()
    assert "checksums.txt: is missing, so no file can be compared" in check(root).problems


def test_what_is_no_bundle(tmp_path: Path) -> None:
    with pytest.raises(AicrError, match="there is no such folder or file"):
        check(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(AicrError, match="so it is no bundle"):
        check(tmp_path / "empty")
    (tmp_path / "x.txt").write_text("x")
    with pytest.raises(AicrError, match=r"is no folder and no \.tar\.gz"):
        check(tmp_path / "x.txt")
    (tmp_path / "x.tar.gz").write_text("no archive at all")
    with pytest.raises(AicrError, match="not a gzip archive"):
        check(tmp_path / "x.tar.gz")
