"""What a snapshot says of a cluster: its readings, and the criteria that they show.

The document: ``measurements: [{type, subtypes: [{subtype, data: {key: scalar}}]}]``, as the
public ``aicr snapshot`` writes it. Types and subtypes that this version does not know are kept:
a constraint may name them.
"""

from __future__ import annotations

from aicr.catalog.schema import open_document
from aicr.documents.fields import Problems
from aicr.documents.nodes import Map, Scalar, Seq
from aicr.documents.scalars import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from aicr.documents.nodes import Node

KIND = "Snapshot"
GPU_LABEL = "nvidia.com/gpu.product"
_PROVIDERS = {
    "aws": "eks", "gce": "gke", "azure": "aks", "oci": "oke", "ocid1": "oke", "kind": "kind",
    "linode": "lke", "metal3": "metal3",
}  # fmt: skip
_VERSION_MARKS = {"-eks-": "eks", "-gke.": "gke", "+rke2": "rke2"}
_OS_NAMES = {
    "amzn": "amazonlinux", "amazon": "amazonlinux", "redhat": "rhel",
    "redhatenterpriselinux": "rhel",
}  # fmt: skip
# PCI device ids of the vendor 10de, from the public pci.ids list.
_PCI_DEVICES = {
    "a100": "20b0 20b1 20b2 20b3 20b5 20f1",
    "h100": "2330 2331 2336 2337 2338 2339 233d",
    "h200": "2335 233b",
    "l40": "26b5",
    "l40s": "26b9",
    "b200": "2901 2909",
    "gb200": "2941",
    "gb300": "31a1 31c2 31c3",
    "rtx-pro-6000": "2bb1 2bb4 2bb5",
}
_PCI_KEYS = ("pci-id", "pci-device-id", "device-id")


class Snapshot:
    """The readings of a cluster, by type, subtype and key, as text."""

    __slots__ = ("_readings", "where")

    def __init__(self, where: str, readings: Mapping[tuple[str, str], Mapping[str, str]]) -> None:
        self.where = where
        self._readings = readings

    def reading(self, kind: str, subtype: str, key: str) -> str | None:
        return self._readings.get((kind, subtype), {}).get(key)

    def readings(self, kind: str, subtype: str) -> Mapping[str, str]:
        return self._readings.get((kind, subtype), {})


class Detected:
    """The criteria that a snapshot shows; ``doubts`` say what it shows and cannot be used."""

    __slots__ = ("criteria", "doubts")

    def __init__(self, criteria: Mapping[str, str], doubts: list[str]) -> None:
        self.criteria = criteria
        self.doubts = doubts


def read_snapshot(data: bytes, where: str) -> Snapshot:
    """The snapshot in a YAML or JSON document. Raises INVALID_REQUEST with every problem."""
    from aicr.documents.reader import read_yaml

    node = read_yaml(data, where)
    problems = Problems(allow_unknown=True)
    if isinstance(node, Map) and "kind" in node:
        fields = open_document(node, where, (KIND,), problems)
        for problem in problems.errors:
            if problem.field == "kind":
                problem.message += " (a snapshot that aicr snapshot wrote was expected)"
    else:  # written by hand, for a test or a dry run
        from aicr.documents.fields import Fields

        fields = Fields(node, where, "", problems)
    readings: dict[tuple[str, str], dict[str, str]] = {}
    if not problems.errors and not isinstance(node.get("measurements"), Seq):  # type: ignore[union-attr]
        fields.problem("expected a list of measurements", "measurements")
    for measurement in fields.items("measurements"):
        kind = measurement.required("type")
        for subtype in measurement.items("subtypes"):
            found = readings.setdefault((kind, subtype.text("subtype")), {})
            data_of = subtype.mapping("data")
            if data_of is not None:
                found.update(_texts(data_of.node))
    problems.raise_any()
    return Snapshot(where, readings)


def _texts(node: Mapping[str, Node]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in node.items():
        if isinstance(value, str | Scalar):
            text = text_of(value)
            if text is not None:
                found[key] = text
    return found


def detect(snapshot: Snapshot, admitted: Mapping[str, Collection[str]]) -> Detected:
    """The service, the accelerator and the OS that the snapshot shows.

    ``admitted`` are the valid values of each dimension. What is shown and is not one of them, and
    what is shown in two ways, is no criterion but a doubt.
    """
    doubts: list[str] = []
    criteria: dict[str, str] = {}
    for dimension, shown in (
        ("service", _services(snapshot)),
        ("accelerator", _accelerators(snapshot, admitted["accelerator"])),
        ("os", _systems(snapshot)),
    ):
        values = sorted(set(shown.values()))
        if len(values) > 1:
            said = ", ".join(f"{value} ({source})" for source, value in sorted(shown.items()))
            doubts.append(f"the {dimension} is left open, since the snapshot shows {said}")
        elif values and values[0] in admitted[dimension]:
            criteria[dimension] = values[0]
        elif values:
            source = next(iter(shown))
            doubts.append(
                f'the {dimension} is left open, since "{values[0]}" ({source}) is not known'
            )
    return Detected(criteria, doubts)


def _services(snapshot: Snapshot) -> dict[str, str]:
    """From the provider id; else from what the version of the API server ends in."""
    found: dict[str, str] = {}
    node = snapshot.readings("K8s", "node")
    for key in ("provider-id", "provider"):
        if node.get(key):
            word = node[key].lower().partition("://")[0].partition(".")[0]
            found[f"K8s.node.{key}"] = _PROVIDERS.get(word, word)
            break
    version = snapshot.reading("K8s", "server", "version") or ""
    for mark, service in _VERSION_MARKS.items():
        if mark in version:
            found["K8s.server.version"] = service
    return found


def _systems(snapshot: Snapshot) -> dict[str, str]:
    name = (snapshot.reading("OS", "release", "ID") or "").strip().lower()
    return {"OS.release.ID": _OS_NAMES.get(name, name)} if name else {}


def _accelerators(snapshot: Snapshot, known: Collection[str]) -> dict[str, str]:
    """From the GPU label of the nodes; else from the PCI id; else from the driver's own word."""
    labels = snapshot.readings("NodeTopology", "label")
    products = {
        key: value.partition("|")[0]
        for key, value in labels.items()
        if key == GPU_LABEL or key.startswith(GPU_LABEL + ".")
    }
    if products:
        return {key: _product(product, known) for key, product in products.items()}
    hardware = snapshot.readings("GPU", "hardware")
    for key in _PCI_KEYS:
        if hardware.get(key):
            return {f"GPU.hardware.{key}": _pci(hardware[key])}
    if hardware.get("model"):
        return {"GPU.hardware.model": hardware["model"].lower()}
    for subtype in ("smi", "device"):
        for key in ("gpu.model", "model"):
            product = snapshot.reading("GPU", subtype, key)
            if product:
                return {f"GPU.{subtype}.{key}": _product(product, known)}
    return {}


def _product(name: str, known: Collection[str]) -> str:
    """``NVIDIA-H100-80GB-HBM3`` is h100: whole words only, so that L40S is not L40."""
    words = name.lower().replace("-", " ").split()
    found = [value for value in known if _within(value.split("-"), words)]
    return max(found, key=len) if found else name


def _within(part: list[str], words: list[str]) -> bool:
    return any(words[at : at + len(part)] == part for at in range(len(words) - len(part) + 1))


def _pci(text: str) -> str:
    device = text.strip().lower().rpartition(":")[2].removeprefix("0x")
    for value, devices in _PCI_DEVICES.items():
        if device in devices.split():
            return value
    return text
