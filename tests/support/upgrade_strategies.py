"""Random records to draw: everything on one short ladder of versions."""

from __future__ import annotations

from hypothesis import strategies as st

from aicr.upgrade.model import Records
from upgrade_oracle import Record
from upgrade_records import records, transition, version

# Few versions, so that bounds coincide, touch and cross all the time.
LADDER = ["0.9.0", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.1.0", "2.0.0-alpha.2", "2.0.0", "v2.1.0",
          "3.0.0"]  # fmt: skip
rungs = st.sampled_from(LADDER)
verdicts = st.sampled_from(["safe", "safe", "manual", "blocked"])


@st.composite
def record_lists(draw: st.DrawFn) -> list[Record]:
    found: list[Record] = []
    for _ in range(draw(st.integers(0, 5))):
        low, high = sorted([draw(rungs), draw(rungs)], key=lambda t: version(t))
        to = draw(
            st.sampled_from(
                [f">={low} <={high}", f">{low} <={high}", f">={low}, <{high}", low, f"={low}"]
            )
        )
        start, end = sorted([draw(rungs), draw(rungs)], key=lambda t: version(t))
        origin = draw(
            st.sampled_from(
                [f"<{low}", f"<={low}", f">={start} <{end}", f">{start},<={end}", start]
            )
        )
        found.append((origin, to, draw(verdicts)))
    return found


def built(found: list[Record]) -> Records | None:
    return records(*(transition(*r) for r in found)) if found else None
