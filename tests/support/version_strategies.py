"""Versions to draw from: few numbers, so that equal and neighbouring ones are common."""

from __future__ import annotations

from hypothesis import strategies as st

from aicr.versions.semver import Version, parse

identifiers = st.one_of(
    st.integers(0, 11).map(str),
    st.sampled_from(["alpha", "beta", "rc", "a", "A", "-", "0a", "x-1"]),
)
prereleases = st.lists(identifiers, min_size=0, max_size=3).map(
    lambda parts: "-" + ".".join(parts) if parts else ""
)
triples = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 12))


@st.composite
def texts(draw: st.DrawFn, build: bool = True) -> str:
    core = ".".join(map(str, draw(triples)))
    built = draw(st.sampled_from(["", "", "+a", "+b.7"])) if build else ""
    return draw(st.sampled_from(["", "v"])) + core + draw(prereleases) + built


def version(text: str) -> Version:
    found = parse(text)
    assert found is not None, text
    return found


versions = texts().map(version)
bounds = texts(build=False).map(version)
