"""What an image reference names: registry, repository, tag, digest.

reference  = [domain "/"] path [":" tag] ["@" digest]
domain     = host [":" port], told from the path by a "." or ":" in it, or by being "localhost"
path       = component {"/" component}; component = lower case, digits, and between them
             ".", "_", "__" or any number of "-"
tag        = a word character, then up to 127 of word characters, "." and "-"
digest     = "sha256:" and 64 hexadecimal digits (other algorithms: at least 32)
"""

from __future__ import annotations

import re

DOCKER_HUB = "docker.io"
_COMPONENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_DOMAIN = re.compile(rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9a-fA-F:]+\])(?::[0-9]+)?")
_PATH = re.compile(rf"{_COMPONENT}(?:/{_COMPONENT})*")
_TAG = re.compile(r"\w[\w.-]{0,127}", re.ASCII)
_DIGEST = re.compile(r"[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[0-9a-fA-F]{32,}")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class ImageRef:
    """``domain`` is "" where none is written; ``tag`` and ``digest`` too."""

    __slots__ = ("digest", "domain", "path", "tag", "text")

    def __init__(self, text: str, domain: str, path: str, tag: str, digest: str) -> None:
        self.text = text
        self.domain = domain
        self.path = path
        self.tag = tag
        self.digest = digest

    @property
    def name(self) -> str:
        """The last component of the path."""
        return self.path.rpartition("/")[2]

    @property
    def repository(self) -> str:
        return f"{self.domain}/{self.path}" if self.domain else self.path

    @property
    def registry(self) -> str:
        """The host to ask."""
        return self.domain or DOCKER_HUB

    @property
    def version(self) -> str:
        """What a registry is asked for: the digest, else the tag, else ``latest``."""
        return self.digest or self.tag or "latest"


def parse_image(text: str) -> ImageRef | None:
    """The reference; None for text that is none."""
    rest, at, digest = text.partition("@")
    if at and not _DIGEST.fullmatch(digest):
        return None
    head, slash, last = rest.rpartition("/")
    last, colon, tag = last.partition(":")
    if colon and not _TAG.fullmatch(tag):
        return None
    path = f"{head}{slash}{last}"
    first, slash, below = path.partition("/")
    domain = ""
    if slash and ("." in first or ":" in first or first == "localhost"):
        domain, path = first, below
        if not _DOMAIN.fullmatch(domain):
            return None
    if not _PATH.fullmatch(path) or len(path) > 255:
        return None
    return ImageRef(text, domain, path, tag, digest)
