"""Where the upstream charts of a recipe are taken from: a folder on disk, else their repository."""

from __future__ import annotations

import os

from aicr.charts.archive import ChartArchive, read_archive
from aicr.errors import invalid, not_found
from aicr.versions.semver import same

SCHEMES = ("https://", "http://", "oci://")


class Charts:
    """Finds charts, each one once. With a ``folder`` nothing is fetched: it has them or not."""

    def __init__(self, folder: str = "", *, plain_http: bool = False) -> None:
        if folder and not os.path.isdir(folder):
            raise invalid(f"--charts-dir {folder}: there is no such folder")
        self.folder = folder
        self._plain_http = plain_http
        self._found: dict[tuple[str, str, str], ChartArchive] = {}

    def get(self, repository: str, name: str, version: str) -> ChartArchive:
        """The chart. Raises NOT_FOUND, INVALID_REQUEST, or what stands for the network."""
        key = (repository, name, version)
        if key not in self._found:
            if self.folder:
                from aicr.charts.folder import find_chart

                # Where a repository has folders, the chart's own name is the last part.
                found = find_chart(self.folder, name.rpartition("/")[2], version)
            else:
                found = _fetched(repository, name, version, self._plain_http)
            self._found[key] = found
        return self._found[key]


def _fetched(repository: str, name: str, version: str, plain_http: bool) -> ChartArchive:
    import tempfile

    from aicr.artifact.tarball import MAX_ARCHIVE_BYTES
    from aicr.charts.engine import helm

    if not repository.startswith(SCHEMES):
        raise invalid(f"{repository}: no chart repository (https://, http:// or oci://)")
    engine = helm("fetching charts")
    where = f"{repository.rstrip('/')}/{name} {version}"
    with tempfile.TemporaryDirectory(prefix="aicr-charts-") as folder:
        engine.pull(repository.rstrip("/"), name, version, folder, plain_http=plain_http)
        archives = [entry for entry in os.listdir(folder) if entry.endswith(".tgz")]
        if len(archives) != 1:
            raise not_found(f"{where}: helm pull gave {len(archives)} archives, expected one")
        with open(os.path.join(folder, archives[0]), "rb") as file:
            data = file.read(MAX_ARCHIVE_BYTES + 1)
    found = read_archive(data, where, origin=repository)
    if found.name != name.rpartition("/")[2] or not same(found.version, version):
        raise invalid(f"{where}: the repository gave {found.name} {found.version}")
    return found
