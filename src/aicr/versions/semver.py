"""Which of two versions is newer, how far apart they are, and what is a version at all.

A version is SemVer 2.0.0 with two liberties that component pins need: one leading ``v``, and
one to three numeric parts (missing ones are 0)::

    version    = ["v"] number ["." number ["." number]] ["-" prerelease] ["+" build]
    number     = "0" | digit-without-zero *digit
    prerelease = identifier *("." identifier)      numeric identifiers have no leading zero
    build      = identifier *("." identifier)
    identifier = 1*(ASCII letter | digit | "-")

Everything else (a branch, a commit, ``V1.0.0``, ``01.2.3``, ``1.2.3.4``, a blank) is not a
version, and ``parse`` answers None.
"""

from __future__ import annotations

from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Key = tuple[int, int, int, int, tuple[int | tuple[int, int | str], ...]]

# Longer texts are no version that anybody released, and int() of thousands of digits is an attack.
_LONGEST = 256

_RELEASE: tuple[int | tuple[int, int | str], ...] = (1,)


class Version:
    """One version. Ordering and equality are SemVer precedence, so build metadata and spelling
    (a ``v``, missing parts) do not count; ``same`` compares two versions as written.

    ``line`` comes before everything else in the order, for a project whose numbers began anew;
    0 where nothing was said of lines."""

    __slots__ = ("build", "key", "line", "major", "minor", "patch", "prerelease", "text")

    def __init__(
        self,
        major: int,
        minor: int,
        patch: int,
        prerelease: tuple[int | str, ...] = (),
        *,
        build: str = "",
        text: str = "",
        line: int = 0,
    ) -> None:
        self.line = line
        self.major = major
        self.minor = minor
        self.patch = patch
        self.prerelease = prerelease
        self.build = build
        self.text = text or _spell(major, minor, patch, prerelease, build)
        # A release sorts after its prereleases; numeric identifiers before alphanumeric ones;
        # of two lists with one beginning the shorter is lower, as tuples already have it.
        self.key: Key = (
            line,
            major,
            minor,
            patch,
            (0, *[(0, i) if isinstance(i, int) else (1, i) for i in prerelease])
            if prerelease
            else _RELEASE,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __lt__(self, other: Version) -> bool:
        return self.key < other.key

    def __le__(self, other: Version) -> bool:
        return self.key <= other.key

    def __gt__(self, other: Version) -> bool:
        return self.key > other.key

    def __ge__(self, other: Version) -> bool:
        return self.key >= other.key

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Version({self.text!r})"

    @property
    def successor(self) -> Version:
        """The least version above this one: SemVer order has one, since identifiers begin at 0."""
        if self.prerelease:
            prerelease = (*self.prerelease, 0)
            return Version(self.major, self.minor, self.patch, prerelease, line=self.line)
        return Version(self.major, self.minor, self.patch + 1, (0,), line=self.line)

    def in_line(self, line: int) -> Version:
        """The same version as one of that line."""
        return Version(
            self.major,
            self.minor,
            self.patch,
            self.prerelease,
            build=self.build,
            text=self.text,
            line=line,
        )


LOWEST = Version(0, 0, 0, (0,), text="0.0.0-0")


@lru_cache(maxsize=16384)
def parse(text: str) -> Version | None:
    """The version that ``text`` spells, or None where it spells none."""
    if len(text) > _LONGEST or not text.isascii():
        return None
    rest = text[1:] if text[:1] == "v" else text
    rest, plus, build = rest.partition("+")
    core, dash, tail = rest.partition("-")
    numbers = core.split(".")
    if len(numbers) > 3 or not all(map(_is_number, numbers)):
        return None
    if plus and not _are_identifiers(build.split(".")):
        return None
    prerelease: tuple[int | str, ...] = ()
    if dash:
        identifiers = tail.split(".")
        if not _are_identifiers(identifiers):
            return None
        if any(i.isdigit() and not _is_number(i) for i in identifiers):
            return None
        prerelease = tuple(int(i) if i.isdigit() else i for i in identifiers)
    major, minor, patch = (int(n) for n in (*numbers, "0", "0")[:3])
    return Version(major, minor, patch, prerelease, build=build, text=text)


def without_v(text: str) -> str:
    """``text`` without one leading ``v``."""
    return text[1:] if text[:1] == "v" else text


def same(a: str, b: str) -> bool:
    """Whether two versions are equal as written, one leading ``v`` aside.

    ``1.2.0+a`` and ``1.2.0+b`` order as equal and yet are different builds, so they differ here.
    """
    return without_v(a) == without_v(b)


def jump(a: Version, b: Version) -> str:
    """The distance from one version to another at the highest level that differs ("2 majors",
    "1 minor", "3 patches", "prerelease", "build"); "" where only the spelling differs.

    Between lines numbers say nothing: "another line"."""
    if a.line != b.line:
        return "another line"
    for level, plural, distance in (
        ("major", "majors", b.major - a.major),
        ("minor", "minors", b.minor - a.minor),
        ("patch", "patches", b.patch - a.patch),
    ):
        if distance:
            return f"{abs(distance)} {level if abs(distance) == 1 else plural}"
    if a.prerelease != b.prerelease:
        return "prerelease"
    return "build" if a.build != b.build else ""


def breaking(a: Version, b: Version) -> bool:
    """Whether SemVer lets the upgrade from a to b break its users; a downgrade is not judged.

    Another line promises nothing."""
    if b.line != a.line:
        return b.line > a.line
    if b.major != a.major:
        return b.major > a.major
    if b.minor != a.minor:
        return b.minor > a.minor and a.major == 0
    return b.patch == a.patch and b > a


def _spell(major: int, minor: int, patch: int, prerelease: Sequence[int | str], build: str) -> str:
    text = f"{major}.{minor}.{patch}"
    if prerelease:
        text += "-" + ".".join(map(str, prerelease))
    return f"{text}+{build}" if build else text


def _is_number(text: str) -> bool:
    return text.isdigit() and (text[0] != "0" or len(text) == 1)


def _are_identifiers(texts: Sequence[str]) -> bool:
    # The caller has made sure that the text is ASCII, so isalnum means letters and digits.
    return all(text and (text.isalnum() or text.replace("-", "0").isalnum()) for text in texts)
