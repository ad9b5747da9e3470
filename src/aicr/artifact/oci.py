"""How one archive is kept in a container registry: an OCI artifact with one layer."""

from __future__ import annotations

from aicr.artifact.image_ref import parse_image
from aicr.artifact.registry_http import SECONDS, RegistryConnection, json_map
from aicr.documents.digest import sha256_hex
from aicr.errors import UNAVAILABLE, AicrError, invalid, not_found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from aicr.artifact.image_ref import ImageRef

SCHEME = "oci://"
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar+gzip"
EMPTY_TYPE = "application/vnd.oci.empty.v1+json"
_ACCEPT = ", ".join(
    (
        MANIFEST_TYPE,
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.docker.distribution.manifest.v2+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
    )
)
_EMPTY = b"{}"


def parse_oci(location: str, flag: str) -> ImageRef:
    """The registry, repository and tag in ``oci://host/repository:tag``. Raises INVALID_REQUEST."""
    ref = parse_image(location.removeprefix(SCHEME))
    if ref is None or not ref.domain:
        raise invalid(
            f"{flag} {location}: expected oci://HOST/REPOSITORY:TAG, in lower case",
            hint="the host has a dot or a port in it, or is localhost",
        )
    if not (ref.tag or ref.digest):
        raise invalid(f"{flag} {location}: has no tag", hint="add one, such as :v1")
    return ref


class OciArtifact:
    """What a registry has under a reference; ``location`` is how messages name it."""

    def __init__(
        self, ref: ImageRef, location: str, *, plain_http: bool = False, seconds: float = SECONDS
    ) -> None:
        self._ref = ref
        self._location = location
        self._registry = RegistryConnection(ref, location, plain_http=plain_http, seconds=seconds)

    def type(self) -> str | None:
        """The type of what is there, "" where it says none; None where nothing is there."""
        found = self._manifest()
        return None if found is None else _type_of(found)

    def push(self, layer: bytes, *, artifact_type: str, title: str) -> str:
        """Put ``layer`` there under the reference's tag; the digest of the manifest.

        Same layer, same digest. The tag is written last, so that it never names half of it.
        """
        from aicr.documents.emit import json_text

        described = _descriptor(LAYER_TYPE, layer)
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST_TYPE,
            "artifactType": artifact_type,
            "config": _descriptor(EMPTY_TYPE, _EMPTY),
            "layers": [{**described, "annotations": {"org.opencontainers.image.title": title}}],
        }
        data = json_text(manifest).encode("utf-8")
        self._push_blob(_EMPTY)
        self._push_blob(layer)
        url = self._registry.url(f"manifests/{self._ref.tag}")
        answer = self._registry.call("PUT", url, data, {"Content-Type": MANIFEST_TYPE}, writes=True)
        if answer[0] != 201:
            raise self._registry.refused(url, answer)
        digest = f"sha256:{sha256_hex(data)}"
        kept = answer[1].get("docker-content-digest", digest)
        if kept != digest:
            raise AicrError(
                UNAVAILABLE, f"{self._location}: the registry keeps {kept}, {digest} was sent"
            )
        return digest

    def pull(self, *, artifact_type: str, largest: int) -> bytes:
        """The layer that is there. Raises NOT_FOUND where nothing is, INVALID_REQUEST where it is
        of another type, larger than ``largest``, or not what its digest says."""
        manifest = self._manifest()
        if manifest is None:
            raise not_found(f"{self._location}: there is nothing of that name in the registry")
        layers = manifest.get("layers")
        layer = layers[0] if isinstance(layers, list) and len(layers) == 1 else None
        if _type_of(manifest) != artifact_type or not isinstance(layer, dict):
            raise invalid(
                f"{self._location}: expected an artifact of the type {artifact_type}, found "
                f'"{_type_of(manifest)}"'
            )
        digest, size = str(layer.get("digest")), layer.get("size")
        if not isinstance(size, int) or size > largest:
            raise invalid(f"{self._location}: {size} bytes, more than the {largest} allowed")
        url = self._registry.url(f"blobs/{digest}")
        answer = self._registry.call("GET", url, largest=largest)
        if answer[0] != 200:
            raise self._registry.refused(url, answer)
        if f"sha256:{sha256_hex(answer[2])}" != digest:
            raise invalid(f"{self._location}: its layer is not what the digest {digest} says")
        return answer[2]

    def _manifest(self) -> Mapping[str, object] | None:
        url = self._registry.url(f"manifests/{self._ref.version}")
        answer = self._registry.call("GET", url, None, {"Accept": _ACCEPT})
        if answer[0] == 404:
            return None
        if answer[0] != 200:
            raise self._registry.refused(url, answer)
        if self._ref.digest and f"sha256:{sha256_hex(answer[2])}" != self._ref.digest:
            raise invalid(f"{self._location}: the registry sent content of another digest")
        return json_map(answer[2])

    def _push_blob(self, data: bytes) -> None:
        digest = f"sha256:{sha256_hex(data)}"
        head = self._registry.call("HEAD", self._registry.url(f"blobs/{digest}"), writes=True)
        if head[0] == 200:
            return
        url = self._registry.url("blobs/uploads/")
        answer = self._registry.call("POST", url, b"", writes=True)
        if answer[0] != 202 or not answer[1].get("location"):
            raise self._registry.refused(url, answer)
        from urllib.parse import urljoin

        place = urljoin(url, answer[1]["location"])
        place += f"{'&' if '?' in place else '?'}digest={digest}"
        kind = {"Content-Type": "application/octet-stream"}
        answer = self._registry.call("PUT", place, data, kind, writes=True)
        if answer[0] != 201:
            raise self._registry.refused(place, answer)


def _descriptor(kind: str, data: bytes) -> dict[str, object]:
    return {"mediaType": kind, "digest": f"sha256:{sha256_hex(data)}", "size": len(data)}


def _type_of(manifest: Mapping[str, object]) -> str:
    config = manifest.get("config")
    below = config.get("mediaType") if isinstance(config, dict) else ""
    return str(manifest.get("artifactType") or below or "")
