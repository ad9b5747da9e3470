"""What one map or one text says of an image, and how the reference is written in full."""

from __future__ import annotations

from aicr.artifact.image_ref import DOCKER_HUB, parse_image

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PARTS = ("registry", "repository", "name", "image", "tag", "version", "digest")
_HEX = frozenset("0123456789abcdefABCDEF")


def in_full(text: str) -> str | None:
    """The reference with its registry and its tag; None for text that is no reference."""
    ref = parse_image(text)
    if ref is None:
        return None
    domain, path = ref.domain, ref.path
    if domain in ("", "index.docker.io", "registry-1.docker.io"):
        domain = DOCKER_HUB
    if domain == DOCKER_HUB and "/" not in path:
        path = f"library/{path}"
    tag = ref.tag or ("" if ref.digest else "latest")
    return f"{domain}/{path}{':' + tag if tag else ''}{'@' + ref.digest if ref.digest else ''}"


def is_pinned(text: str) -> bool:
    """Whether a reference has a tag or a digest."""
    ref = parse_image(text)
    return ref is not None and bool(ref.tag or ref.digest)


def of_map(node: Mapping[str, object], registry: str = "") -> str:
    """The reference that a map of ``PARTS`` spells, with or without a tag; "" where it is none.

    ``registry`` replaces the map's own (``global.imageRegistry``).
    """
    part = {key: _text(node.get(key)) for key in PARTS}
    if not (part["image"] or part["repository"] or (part["registry"] and part["name"])):
        return ""
    if any("://" in part[key] for key in ("registry", "repository", "image")):
        return ""  # a repository of charts or of code
    if "registry" in node and registry:
        part["registry"] = registry
    name = part["image"]
    if not name and part["name"] and part["repository"].rpartition("/")[2] != part["name"]:
        named = part["registry"] and not part["repository"]
        name = part["name"] if named or part["tag"] or part["version"] or part["digest"] else ""
    path = "/".join(one.strip("/") for one in (part["repository"], name) if one)
    ref = parse_image(path)
    if ref is None:
        return ""
    if part["registry"] and not ref.domain:
        path = f"{part['registry'].strip('/')}/{path}"
    if ref.tag or ref.digest:
        return path
    return path + _suffix(part["tag"] or part["version"], part["digest"])


def _suffix(tag: str, digest: str) -> str:
    tag = tag.removeprefix("@")
    if tag.startswith("sha256:"):
        tag, digest = "", tag
    if len(digest) == 64 and _HEX.issuperset(digest):
        digest = f"sha256:{digest}"
    return f"{':' + tag if tag else ''}{'@' + digest if digest else ''}"


def _text(value: object) -> str:
    if isinstance(value, str):
        return value if value not in ("null", "~") else ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return ""
