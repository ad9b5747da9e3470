"""A catalog at another revision of its repository, and checkouts that cannot tell."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from aicr.errors import AicrError
from aicr.upgrade.lint import lint
from aicr.upgrade.revision import catalog_at
from record_catalog import put, record, records_file, write_catalog


def git(folder: Path, *words: str) -> str:
    named = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a"}
    named |= {"GIT_COMMITTER_EMAIL": "a@b", "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", "-C", str(folder), *words],
        env={**os.environ, **named},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


FILE = records_file("alpha", record("<2.0.0", ">=2.0.0 <=2.0.0"))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a catalog folder, committed once."""
    root = tmp_path / "repository"
    write_catalog(root / "catalog", {"alpha": "2.0.0"}, {"alpha": FILE})
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    return root


def commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-qm", "next")


def pins_at(ref: str, folder: Path) -> list[str]:
    found = catalog_at(ref, catalog=str(folder), data=None)
    return [entry.version for entry in found.registry.values()]


def test_a_revision_is_read_as_it_was(repository: Path) -> None:
    folder = repository / "catalog"
    write_catalog(folder, {"alpha": "3.0.0"}, {"alpha": FILE})
    commit(repository)
    assert pins_at("HEAD~1", folder) == ["2.0.0"]
    assert pins_at("HEAD", folder) == ["3.0.0"]
    base = catalog_at("HEAD~1", catalog=str(folder), data=None)
    assert base.has("components/alpha/upgrades.yaml")
    assert base.where("registry.yaml") == f"{folder} at HEAD~1/registry.yaml"
    assert lint(base) == []


def test_the_base_is_where_the_branch_began(repository: Path) -> None:
    folder = repository / "catalog"
    git(repository, "branch", "work")
    write_catalog(folder, {"alpha": "4.0.0"}, {"alpha": FILE})
    commit(repository)
    git(repository, "checkout", "-q", "work")
    put(repository, "note.md", "x")
    commit(repository)
    assert pins_at("main", folder) == ["2.0.0"]


def test_a_catalog_at_the_root_and_over_the_shipped_one(tmp_path: Path) -> None:
    write_catalog(tmp_path, {"alpha": "2.0.0"}, {"alpha": FILE})
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    assert pins_at("main", tmp_path) == ["2.0.0"]
    both = catalog_at("main", catalog=None, data=str(tmp_path))
    assert both.registry["alpha"].version == "2.0.0"
    assert len(both.registry) > 1


def test_a_folder_that_was_not_there_yet(repository: Path) -> None:
    write_catalog(repository / "other", {"beta": "1.0.0"})
    commit(repository)
    assert pins_at("HEAD~1", repository / "other") == []


def test_links_inside_are_followed(repository: Path) -> None:
    folder = repository / "catalog"
    (folder / "components/beta").mkdir()
    (folder / "components/beta/upgrades.yaml").symlink_to("../alpha/upgrades.yaml")
    commit(repository)
    base = catalog_at("HEAD", catalog=str(folder), data=None)
    assert base.node("components/beta/upgrades.yaml") == base.node("components/alpha/upgrades.yaml")
    (folder / "components/beta/upgrades.yaml").unlink()
    (folder / "components/beta/upgrades.yaml").symlink_to("../../../note")
    commit(repository)
    with pytest.raises(AicrError, match="is a link to"):
        catalog_at("HEAD", catalog=str(folder), data=None)


def refused(ref: str, folder: Path) -> str:
    with pytest.raises(AicrError) as caught:
        catalog_at(ref, catalog=str(folder), data=None)
    return f"{caught.value.message} ({caught.value.hint})"


def test_changes_that_are_in_no_revision(repository: Path) -> None:
    folder = repository / "catalog"
    put(repository, "note.md", "outside the folder, so it does not matter")
    assert pins_at("HEAD", folder) == ["2.0.0"]
    put(folder, "components/alpha/values.yaml", "x: 1\n")
    said = refused("HEAD", folder)
    assert "has changes that are in no revision" in said
    assert "catalog/components/alpha/values.yaml" in said
    git(repository, "add", ".")
    assert "has changes" in refused("HEAD", folder)


def test_a_shallow_checkout(repository: Path, tmp_path: Path) -> None:
    put(repository, "note.md", "x")
    commit(repository)
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repository}", "shallow")
    said = refused("HEAD", tmp_path / "shallow/catalog")
    assert "the checkout is shallow" in said
    assert "fetch-depth: 0" in said


def test_revisions_that_are_not_there(repository: Path) -> None:
    folder = repository / "catalog"
    assert "has no such revision" in refused("nowhere", folder)
    for odd in ("", "-x", "--all", "a\nb"):
        assert "is no revision" in refused(odd, folder)
    git(repository, "checkout", "-q", "--orphan", "apart")
    git(repository, "commit", "-qm", "apart")
    assert "no revision in common" in refused("main", folder)


def test_a_base_that_is_no_catalog(repository: Path) -> None:
    folder = repository / "catalog"
    put(folder, "registry.yaml", "kind: Other\n")
    commit(repository)
    write_catalog(folder, {"alpha": "2.0.0"}, {"alpha": FILE})
    commit(repository)
    assert "holds no catalog that this version reads" in refused("HEAD~1", folder)


def test_no_repository_and_no_git(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_catalog(tmp_path / "apart", {"alpha": "2.0.0"})
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert "not a git repository" in refused("HEAD", tmp_path / "apart")
    monkeypatch.setenv("PATH", "")
    assert "git is not on PATH" in refused("HEAD", repository / "catalog")


def test_the_repository_of_a_hook_is_not_taken_for_the_folder_s(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    assert pins_at("HEAD", repository / "catalog") == ["2.0.0"]
