"""Which Helm releases there are: the newest revision of each, as Helm recorded it.

Helm keeps a record a revision in a Secret or a ConfigMap (label ``owner=helm``). The list asks for
metadata alone: the labels say which revision is the newest, and only that one is read whole. Of a
record nothing is kept but name, version and state; what cannot be decoded is a value, not an error.
"""

from __future__ import annotations

import binascii
import re
import zlib
from base64 import b64decode

from aicr.cluster import wire
from aicr.cluster.failures import ApiError, Permission
from aicr.cluster.reading import METADATA_ONLY, List, object_path, read_list
from aicr.errors import UNAVAILABLE, AicrError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from aicr.cluster.connection import Connection

SELECTOR = "owner=helm"
RECORD_TYPE = "helm.sh/release.v1"
SECRET = "Secret"
CONFIG_MAP = "ConfigMap"
RESOURCES = {SECRET: "secrets", CONFIG_MAP: "configmaps"}

# States of a record, in Helm's words.
DEPLOYED = "deployed"
UNINSTALLED = "uninstalled"

COMPONENT_VERSION = "aicr.run/component-version"
GENERATED_BY = "aicr.run/generated-by"

# A record has at most 1 MiB compressed; a chart that grows beyond this is no chart.
_LARGEST = 32 * 1024 * 1024
_KEY = re.compile(r"sh\.helm\.release\.v([0-9]+)\.(.+)\.v([0-9]+)")


class Release:
    """The newest revision of a release.

    ``namespace`` is where it is installed, ``stored_in`` where its record is kept (Flux may keep
    it elsewhere). ``component_version`` and ``generated_by`` are what a chart of this tool says of
    itself. ``problem`` says why the record could not be decoded; then only the labels speak.
    """

    __slots__ = (
        "chart",
        "chart_version",
        "component_version",
        "generated_by",
        "name",
        "namespace",
        "problem",
        "revision",
        "revisions",
        "since",
        "state",
        "storage",
        "stored_in",
    )

    def __init__(
        self,
        name: str,
        *,
        namespace: str,
        storage: str,
        stored_in: str,
        revision: int,
        revisions: int,
        state: str,
        chart: str = "",
        chart_version: str = "",
        component_version: str = "",
        generated_by: str = "",
        since: str = "",
        problem: str = "",
    ) -> None:
        self.name = name
        self.namespace = namespace
        self.storage = storage
        self.stored_in = stored_in
        self.revision = revision
        self.revisions = revisions
        self.state = state
        self.chart = chart
        self.chart_version = chart_version
        self.component_version = component_version
        self.generated_by = generated_by
        self.since = since
        self.problem = problem

    @property
    def stamped(self) -> bool:
        """Whether this tool generated its chart."""
        return bool(self.component_version or self.generated_by)

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name} ({self.storage} in {self.stored_in})"


class Releases:
    """All of them, by namespace and name; of ``records`` in all, ``others`` were no release."""

    __slots__ = ("others", "records", "releases")

    def __init__(self, releases: list[Release], records: int, others: int) -> None:
        self.releases = releases
        self.records = records
        self.others = others


class _Held(wire.Struct):
    release: str = ""


class _Stored(wire.Item):
    data: _Held | None = None
    type: str = ""


class _Chart(wire.Struct):
    name: str = ""
    version: str = ""
    annotations: dict[str, str] | None = None


class _ChartOf(wire.Struct):
    metadata: _Chart | None = None


class _Info(wire.Struct):
    status: str = ""
    last_deployed: str = ""


class _Record(wire.Struct):
    name: str = ""
    namespace: str = ""
    version: int = 0
    info: _Info | None = None
    chart: _ChartOf | None = None


_PAGES = wire.Decoder(wire.Page[_Stored])
_ONE = wire.Decoder(_Stored)
_RECORDS = wire.Decoder(_Record)


def read_releases(connection: Connection) -> Releases:
    """Every release whose record is in a Secret or a ConfigMap, in the whole cluster.

    Raises FORBIDDEN with the right that is missing.
    """
    found: list[Release] = []
    records = others = 0
    for storage in (SECRET, CONFIG_MAP):
        for last in (False, True):
            index = read_list(
                connection,
                List(RESOURCES[storage], labels=SELECTOR, accept=METADATA_ONLY),
                _Index,
            )
            try:
                releases = [_release(connection, storage, one) for one in index.newest.values()]
            except _Gone as gone:
                if last:
                    raise AicrError(
                        UNAVAILABLE,
                        f"{connection.server}: {gone} vanished while it was read, twice",
                        hint="are upgrades running? try again when they are done",
                    ) from None
                continue
            found += releases
            break
        records += index.records
        others += index.others
    found.sort(key=lambda one: (one.namespace, one.name, one.storage, one.stored_in))
    return Releases(found, records, others)


class _Newest:
    """The newest record of a release so far, by its labels."""

    __slots__ = ("item", "name", "revision", "revisions", "state")

    def __init__(self, name: str, revision: int, item: _Stored, state: str) -> None:
        self.name = name
        self.revision = revision
        self.revisions = 1
        self.item = item
        self.state = state


class _Index:
    """Reads the list: for each release, which of its records is the newest."""

    def __init__(self) -> None:
        self.newest: dict[tuple[str, str], _Newest] = {}
        self.records = 0
        self.others = 0

    def page(self, body: bytes) -> str:
        page = wire.decode(_PAGES, body, "Helm's records")
        for item in page.items or ():
            self._take(item)
        return page.metadata.next

    def _take(self, item: _Stored) -> None:
        self.records += 1
        labels = item.metadata.labels or {}
        key = _KEY.fullmatch(item.metadata.name)
        name = labels.get("name") or (key[2] if key else "")
        number = labels.get("version") or (key[3] if key else "")
        if not name or not number.isdecimal() or (key is None and item.type != RECORD_TYPE):
            self.others += 1
            return
        revision = int(number)
        state = labels.get("status", "")
        place = (item.metadata.namespace, name)
        old = self.newest.get(place)
        if old is None:
            self.newest[place] = _Newest(name, revision, _kept(item), state)
            return
        old.revisions += 1
        if revision > old.revision:
            old.revision, old.item, old.state = revision, _kept(item), state


def _kept(item: _Stored) -> _Stored:
    """The record without labels and annotations: there may be thousands."""
    meta = wire.Meta(name=item.metadata.name, namespace=item.metadata.namespace)
    return _Stored(metadata=meta, data=item.data, type=item.type)


class _Gone(Exception):
    """A record that the list showed is not there any more."""


def _release(connection: Connection, storage: str, newest: _Newest) -> Release:
    item = newest.item
    meta = item.metadata
    if item.data is None:
        item = _whole(connection, storage, meta)
    record, problem = _decoded(item, storage)
    if record is not None and record.version not in (0, newest.revision):
        problem = f"the record is of revision {record.version}"
        record = None
    info = record.info if record is not None else None
    chart = record.chart.metadata if record is not None and record.chart is not None else None
    annotations: Mapping[str, str] = (chart.annotations if chart is not None else None) or {}
    return Release(
        newest.name,
        namespace=(record.namespace if record is not None else "") or meta.namespace,
        storage=storage,
        stored_in=meta.namespace,
        revision=newest.revision,
        revisions=newest.revisions,
        state=(info.status if info is not None else "") or newest.state or "unknown",
        chart=chart.name if chart is not None else "",
        chart_version=chart.version if chart is not None else "",
        component_version=annotations.get(COMPONENT_VERSION, ""),
        generated_by=annotations.get(GENERATED_BY, ""),
        since=info.last_deployed if info is not None else "",
        problem=problem,
    )


def _whole(connection: Connection, storage: str, meta: wire.Meta) -> _Stored:
    resource = RESOURCES[storage]
    permission = Permission("get", resource, namespace=meta.namespace, name=meta.name)
    try:
        answer = connection.read(object_path(resource, meta.namespace, meta.name), permission)
    except ApiError as error:
        if error.status == 404:
            raise _Gone(f"{storage} {meta.namespace}/{meta.name}") from None
        raise
    return wire.decode(_ONE, answer.body, f"a {storage} of Helm")


def _decoded(item: _Stored, storage: str) -> tuple[_Record | None, str]:
    """The record in a Secret or ConfigMap, else why there is none; never a word of its content."""
    key = _KEY.fullmatch(item.metadata.name)
    kind = item.type or (f"helm.sh/release.v{key[1]}" if key else "")
    if kind and kind != RECORD_TYPE:
        return None, f"its type {kind} is not known to this version"
    held = item.data.release if item.data is not None else ""
    if not held:
        return None, "the record is empty"
    try:
        data = b64decode(held, validate=True)
        if storage == SECRET:
            data = b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None, "the record is not base64"
    if data[:2] == b"\x1f\x8b":
        try:
            unpacker = zlib.decompressobj(31)
            data = unpacker.decompress(data, _LARGEST)
        except zlib.error:
            return None, "the record cannot be unpacked"
        if unpacker.unconsumed_tail:
            return None, f"the record unpacks to more than {_LARGEST} bytes"
        if not unpacker.eof:
            return None, "the record is cut off"
    try:
        record = _RECORDS.decode(data)
    except (wire.DecodeError, UnicodeDecodeError, RecursionError):
        return None, "the record is not a release"
    return record, ""
