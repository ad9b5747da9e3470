"""What a catalog folder was at another revision, read from its git repository.

Only the ``git`` command is used, and only to read. A checkout that cannot answer (shallow, or with
changes that are in no revision) is an error and never an empty base.
"""

from __future__ import annotations

import os
import posixpath

from aicr.catalog.folder import FOLDERS, TOP_FILES, Layer, read_layer
from aicr.catalog.layers import Catalog
from aicr.catalog.open import SHIPPED_DATA, open_shipped
from aicr.documents.fields import Problems
from aicr.documents.nodes import Map
from aicr.documents.reader import read_yaml
from aicr.errors import AicrError, invalid, not_found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.documents.nodes import Node

_SHOWN_CHANGES = 5
_HOOK_NAMES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")


def catalog_at(ref: str, *, catalog: str | None, data: str | None) -> Catalog:
    """The catalog as it was where the checkout branched off ``ref``, opened like
    ``open_catalog`` opens today's: the folder alone, or over the shipped one."""
    folder = catalog or data or SHIPPED_DATA
    label = folder.rstrip("/") if folder is not SHIPPED_DATA else "the shipped catalog"
    git = _Git(folder, label)
    revision = git.branch_point(ref)
    contents = git.contents(revision)
    where = f"{label} at {ref}"
    problems = Problems()
    try:
        layer = _layer(where, contents, problems)
        problems.raise_any()
        return Catalog([open_shipped(), layer] if data is not None else [layer])
    except AicrError as error:
        raise invalid(
            f"the base revision {ref} holds no catalog that this version reads: {error.message}",
            hint="compare with a revision that does, or lint without --base",
        ) from None


def _layer(where: str, contents: dict[str, bytes], problems: Problems) -> Layer:
    layer, trees = read_layer("", where, sorted(contents.items()), problems)

    def tree(path: str) -> Node:
        if path not in trees:
            if path not in contents:
                raise not_found(f"{where}/{path}: there is no such file in the catalog")
            trees[path] = read_yaml(contents[path], f"{where}/{path}", empty=Map())
        return trees[path]

    return Layer("", where, layer.files, layer.overlays, layer.mixins, tree)


class _Git:
    """The repository around a catalog folder."""

    def __init__(self, folder: str, label: str) -> None:
        self._folder = folder
        self._label = label
        if self._run("rev-parse", "--is-inside-work-tree").strip() != b"true":
            raise invalid(f"{label} is not in the work tree of a git repository")
        self._prefix = os.fsdecode(self._run("rev-parse", "--show-prefix").rstrip(b"\n"))

    def branch_point(self, ref: str) -> str:
        """The newest common revision of the checkout and ``ref``."""
        if not ref or ref.startswith("-") or not ref.isprintable():
            raise invalid(f"--base {ref!r} is no revision")
        if self._run("rev-parse", "--is-shallow-repository").strip() == b"true":
            raise invalid(
                "the checkout is shallow, so its history cannot be compared with a base revision",
                hint="git fetch --unshallow; in a GitHub workflow: actions/checkout with "
                "fetch-depth: 0",
            )
        changed = self._run("status", "--porcelain=v1", "-z", "--no-renames", "--", ".")
        if changed:
            names = [os.fsdecode(entry[3:]) for entry in changed.split(b"\0") if entry]
            more = f" and {len(names) - _SHOWN_CHANGES} more" * (len(names) > _SHOWN_CHANGES)
            raise invalid(
                f"{self._label} has changes that are in no revision: "
                f"{', '.join(names[:_SHOWN_CHANGES])}{more}",
                hint="commit or stash them; lint without --base works on any checkout",
            )
        found = self._try("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        if found is None:
            raise invalid(
                f"--base {ref}: the repository around {self._label} has no such revision",
                hint="name a branch, tag or commit that was fetched, such as origin/main",
            )
        point = self._try("merge-base", "HEAD", found.decode().strip())
        if point is None:
            raise invalid(f"--base {ref} and the checkout have no revision in common")
        return point.decode().split()[0]

    def contents(self, revision: str) -> dict[str, bytes]:
        """The catalog files of the folder at a revision; none where it was not there."""
        below = ["--", self._prefix] if self._prefix else []
        listed = self._run("ls-tree", "-r", "-z", "--full-tree", revision, *below)
        blobs: dict[str, bytes] = {}
        links: set[str] = set()
        for entry in listed.split(b"\0"):
            head, tab, name = entry.partition(b"\t")
            path = os.fsdecode(name)[len(self._prefix) :]
            if not tab or head.split()[1] != b"blob" or not _is_catalog_file(path):
                continue
            blobs[path] = head.split()[2]
            if head.startswith(b"120000"):
                links.add(path)
        contents = self._blobs(blobs)
        for path in links:
            target = os.fsdecode(contents[path])
            aim = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
            if aim not in contents or aim in links:
                raise invalid(
                    f"{path} is a link to {target} at the base revision, which cannot be followed",
                    hint="link to a file of the catalog",
                )
            contents[path] = contents[aim]
        return contents

    def _blobs(self, blobs: dict[str, bytes]) -> dict[str, bytes]:
        if not blobs:
            return {}
        asked = b"".join(name + b"\n" for name in blobs.values())
        data = self._run("cat-file", "--batch", stdin=asked)
        contents: dict[str, bytes] = {}
        at = 0
        for path in blobs:
            end = data.index(b"\n", at)
            head = data[at:end].split()
            if len(head) != 3:
                raise invalid(
                    f"{path} of the base revision is not in the repository",
                    hint="fetch it: partial clones leave contents out",
                )
            size = int(head[2])
            contents[path] = data[end + 1 : end + 1 + size]
            at = end + 1 + size + 1
        return contents

    def _run(self, *arguments: str, stdin: bytes | None = None) -> bytes:
        found = self._call(arguments, stdin)
        if isinstance(found, str):
            raise invalid(f"git {arguments[0]} in {self._label}: {found}")
        return found

    def _try(self, *arguments: str) -> bytes | None:
        found = self._call(arguments, None)
        return None if isinstance(found, str) else found

    def _call(self, arguments: tuple[str, ...], stdin: bytes | None) -> bytes | str:
        """What git printed, or what it complained of."""
        import subprocess

        # Inside a git hook these name the repository of the hook; the folder's own is meant.
        environment = {name: os.environ[name] for name in os.environ if name not in _HOOK_NAMES}
        environment |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
        try:
            done = subprocess.run(
                ["git", "-C", self._folder, *arguments],
                input=stdin,
                stdin=subprocess.DEVNULL if stdin is None else None,
                capture_output=True,
                env=environment,
                check=False,
            )
        except FileNotFoundError:
            raise invalid(
                "git is not on PATH, and a base revision is read through it",
                hint="install git, or lint without --base",
            ) from None
        except OSError as error:
            raise invalid(f"git could not be run: {error.strerror}") from None
        if done.returncode:
            complaint = os.fsdecode(done.stderr).strip().splitlines()
            return complaint[0] if complaint else f"exit code {done.returncode}"
        return done.stdout


def _is_catalog_file(path: str) -> bool:
    return path in TOP_FILES or path.startswith(tuple(f"{folder}/" for folder in FOLDERS))
