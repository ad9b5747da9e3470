"""Which charts lie in a folder on disk, as archives or as folders of their own."""

from __future__ import annotations

import os

from aicr.artifact.tarball import MAX_ARCHIVE_BYTES, MAX_UNPACKED_BYTES, pack
from aicr.charts.archive import (
    CHART_FILE,
    MAX_FILE_BYTES,
    ChartArchive,
    read_archive,
    read_metadata,
)
from aicr.errors import AicrError, invalid, not_found
from aicr.versions.semver import same

ORIGIN = "charts folder"
# What version control keeps beside a chart.
_NOT_PACKED = frozenset((".git", ".svn", ".hg", ".bzr"))


def find_chart(folder: str, name: str, version: str) -> ChartArchive:
    """The chart ``name`` of this version in ``folder``.

    Looked for under the names that Helm would give it, then in every archive and folder there.
    Raises NOT_FOUND, which says what is there instead; INVALID_REQUEST where the chart is bad.
    """
    try:
        entries = sorted(os.listdir(folder))
    except OSError as error:
        raise invalid(f"--charts-dir {folder}: cannot be read: {error.strerror}") from None
    likely = [f"{name}-{version}.tgz", f"{name}-{version.removeprefix('v')}.tgz", name]
    ordered = [entry for entry in likely if entry in entries]
    ordered += [entry for entry in entries if entry not in likely]
    others: list[str] = []
    for entry in ordered:
        expected = entry in likely
        path = os.path.join(folder, entry)
        try:
            found = _identity(path)
        except AicrError:
            # What is not looked for may be broken; what has its name may not.
            if expected or entry.startswith(f"{name}-"):
                raise
            continue
        if found is None or found[0] != name:
            continue
        if same(found[1], version):
            return _load(path)
        others.append(found[1])
    what = f"{name} {version}" if version else name
    there = f"it has {name} {', '.join(sorted(others))}" if others else f"it has no chart {name}"
    raise not_found(f"{what} is not in the charts folder {folder}: {there}")


def _identity(path: str) -> tuple[str, str] | None:
    """Name and version of the chart at ``path``; None where it is no chart."""
    if os.path.isdir(path):
        file = os.path.join(path, CHART_FILE)
        if not os.path.isfile(file):
            return None
        name, version, _ = read_metadata(_read(file, MAX_FILE_BYTES), file)
        return name, version
    if not path.endswith(".tgz") or not os.path.isfile(path):
        return None
    found = _load(path)
    return found.name, found.version


def _load(path: str) -> ChartArchive:
    if os.path.isdir(path):
        name, _, _ = read_metadata(
            _read(os.path.join(path, CHART_FILE), MAX_FILE_BYTES), os.path.join(path, CHART_FILE)
        )
        return read_archive(_packed(path, name), path, origin=f"{ORIGIN} (packed from a folder)")
    return read_archive(_read(path, MAX_ARCHIVE_BYTES), path, origin=ORIGIN)


def _packed(folder: str, name: str) -> bytes:
    """The chart folder as an archive; same files, same bytes."""
    files: dict[str, tuple[bytes, bool]] = {}
    total = 0
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if one not in _NOT_PACKED)
        for one in (*folders, *names):
            if os.path.islink(os.path.join(root, one)):
                raise invalid(f"{os.path.join(root, one)}: is a link, and links are not taken")
        for one in sorted(names):
            path = os.path.join(root, one)
            data = _read(path, MAX_FILE_BYTES)
            total += len(data)
            if total > MAX_UNPACKED_BYTES:
                raise invalid(f"{folder}: more than the {MAX_UNPACKED_BYTES} bytes allowed")
            below = os.path.relpath(path, folder).replace(os.sep, "/")
            files[f"{name}/{below}"] = (data, False)
    return pack(files)


def _read(path: str, largest: int) -> bytes:
    if not os.path.isfile(path):
        raise invalid(f"{path}: is no regular file")
    try:
        with open(path, "rb") as file:
            data = file.read(largest + 1)
    except OSError as error:
        raise invalid(f"{path}: cannot be read: {error.strerror}") from None
    if len(data) > largest:
        raise invalid(f"{path}: more than the {largest} bytes allowed")
    return data
