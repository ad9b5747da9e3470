"""The rules of a version row, told once more and slowly: text in, plain answers out.

Written from the specification's sentences, sharing only the parsing of versions with the code
under test, so that the two can be held against each other.
"""

from __future__ import annotations

from itertools import combinations, pairwise

from aicr.versions.semver import Version, parse

Bound = tuple[str, Version]
Record = tuple[str, str, str]  # from, to, verdict
Answer = tuple[str, str, str, str]  # verdict, reason, stoppedAt, startAt
Way = tuple[tuple[str, ...], str, str]  # path, landAt, furthest


def v(text: str) -> Version:
    found = parse(text)
    assert found is not None, text
    return found


def bounds(text: str) -> list[Bound]:
    found = []
    for word in text.replace(",", " ").split():
        op = word[: len(word) - len(word.lstrip("<>="))]
        found.append((op, v(word.lstrip("<>="))))
    return found


def inside(text: str, x: Version) -> bool:
    checks = {
        ">": lambda b: x > b, ">=": lambda b: x >= b, "<": lambda b: x < b,
        "<=": lambda b: x <= b, "=": lambda b: x == b, "": lambda b: x == b,
    }  # fmt: skip
    return all(checks[op](b) for op, b in bounds(text))


def floor(record: Record) -> tuple[Version, bool]:
    return next((b, op != ">") for op, b in bounds(record[1]) if op not in ("<", "<="))


def ceiling(record: Record) -> tuple[Version, bool]:
    return next((b, op != "<") for op, b in bounds(record[1]) if op not in (">", ">="))


def is_crossed(record: Record, source: Version, target: Version) -> bool:
    at, inclusive = floor(record)
    if inclusive:
        return source < at and target >= at
    return source <= at and target > at


def reaches(record: Record, target: Version) -> bool:
    at, inclusive = ceiling(record)
    return target <= at if inclusive else target < at


def meet(one: str, other: str) -> bool:
    """Whether some version is inside both ranges: if any is, then one of these is."""
    candidates = [Version(0, 0, 0, (0,))]
    for _, b in bounds(one) + bounds(other):
        candidates += [b, b.successor]
    return any(inside(one, c) and inside(other, c) for c in candidates)


def answer(records: list[Record], old: str, new: str) -> Answer:
    source, target = parse(old), parse(new)
    if source is None or target is None:
        return "unversioned", "not-comparable", "", ""
    crossed = [r for r in records if is_crossed(r, source, target)]
    crossed = [
        r
        for r in crossed
        if inside(r[0], source)
        or not any(floor(o) == floor(r) and inside(o[0], source) for o in crossed)
    ]
    crossed.sort(key=lambda r: (floor(r)[0], not floor(r)[1]))
    if not crossed:
        if target < source:
            return "unknown", "downgrade", "", ""
        if not records:
            return "unknown", "no-record", "", ""
        highest = records[0]
        for r in records[1:]:
            if ceiling(r) > ceiling(highest):
                highest = r
        if not reaches(highest, target):
            return "blocked", "beyond-record-ceiling", highest[1], ""
        return "unknown", "no-boundary-crossed", "", ""
    if len(crossed) == 1 and inside(crossed[0][0], source):
        only = crossed[0]
        if not reaches(only, target):
            return "blocked", "beyond-record-ceiling", only[1], ""
        return only[2], "recorded", only[1] if only[2] == "blocked" else "", ""
    blocked = [r for r in crossed if r[2] == "blocked"]
    if blocked:
        return "blocked", "record-blocks", blocked[0][1], ""
    if len(crossed) > 1:
        others = [r for r in crossed if r[2] != "safe"]
        if (
            not others
            and inside(crossed[0][0], source)
            and all(meet(a[1], b[0]) for a, b in pairwise(crossed))
            and reaches(crossed[-1], target)
        ):
            return "safe", "recorded", "", ""
        if len(others) == 1 and inside(others[0][0], source) and reaches(others[0], target):
            return others[0][2], "recorded", "", ""
        return "blocked", "multiple-boundaries", crossed[0][1], ""
    only = crossed[0]
    lower = [(op, b) for op, b in bounds(only[0]) if op not in ("<", "<=")]
    below = any(source < b or (op == ">" and source == b) for op, b in lower)
    return "blocked", "undefined-origin", only[1], only[0] if below else ""


def ways(records: list[Record], pins: list[tuple[str, list[str]]], old: str, new: str) -> Way:
    """path, landAt and furthest, by trying every chain there is. ``pins``: oldest release first."""
    verdict, reason, _, _ = answer(records, old, new)
    if verdict != "blocked" or reason == "recorded":
        return (), "", ""
    source, target = v(old), v(new)
    spelled: dict[Version, str] = {}
    for r in records:
        for op, b in bounds(r[0]) + bounds(r[1]):
            if op not in ("<", ">"):
                bare = b.text.removeprefix("v")
                spelled[b] = "v" + bare if old.startswith("v") else bare
    pinned: dict[Version, str] = {}
    for _, versions in pins:
        for text in versions:
            found = parse(text)
            if found is not None:
                pinned[found] = text
    spelled.update(pinned)
    stops = sorted(s for s in spelled if source < s < target)

    def manual(a: Version, b: Version) -> int | None:
        """0 for safe, 1 for manual, None where the jump cannot be walked."""
        one = old if a == source else spelled[a]
        other = new if b == target else spelled[b]
        return {"safe": 0, "manual": 1}.get(answer(records, one, other)[0])

    def best(goal: Version) -> tuple[Version, ...] | None:
        between = [s for s in stops if s < goal]
        found = []
        for size in range(len(between) + 1):
            for chosen in combinations(between, size):
                chain = (source, *chosen, goal)
                hops = [manual(a, b) for a, b in pairwise(chain)]
                if None in hops:
                    continue
                manuals = sum(h for h in hops if h)
                unpinned = sum(s not in pinned for s in chosen)
                found.append(((size, manuals, unpinned), chain[1:]))
            if found:
                break
        if not found:
            return None
        least = min(cost for cost, _ in found)
        # The higher first differing stop: the greatest chain, compared stop by stop.
        return max(chain for cost, chain in found if cost == least)

    path = best(target)
    if path is not None:
        texts = (*(spelled[s] for s in path[:-1]), new)
        return texts, texts[0], ""
    reached = [s for s in stops if best(s) is not None]
    by_hand = [
        s for s in reached if answer(records, spelled[s], new)[:2] == ("blocked", "recorded")
    ]
    if by_hand:
        chain = best(by_hand[-1])
        assert chain is not None
        return (), spelled[chain[0]], spelled[by_hand[-1]]
    return (), "", spelled[reached[-1]] if reached else ""
