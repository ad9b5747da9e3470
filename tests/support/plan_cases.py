"""Random moves of small stacks to plan: records, releases, dependencies, identities."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from types import SimpleNamespace
from typing import Any, cast

from aicr.catalog.layers import Catalog
from aicr.catalog.model import ComponentRef, Release
from aicr.upgrade.check import Report, Rules, compare
from aicr.upgrade.inventory import inventory_of
from aicr.upgrade.model import Records, Replacement
from aicr.upgrade.plan import HOPS, Plan, make_plan
from aicr.upgrade.sides import Side
from upgrade_oracle import Record
from upgrade_records import STEPS, records, side, transition, version
from upgrade_strategies import LADDER

NAMES = ["a", "a-crds", "b", "b-crds", "c"]
ENDS = ["0.1.0", *LADDER, "3.1.0", "main"]


class Case:
    """A move of a stack: both sides, the records as text and as loaded, past releases."""

    def __init__(
        self,
        old: Side,
        new: Side,
        texts: dict[str, list[Record]],
        loaded: dict[str, Records],
        releases: list[Release],
    ) -> None:
        self.old = old
        self.new = new
        self.texts = texts
        self.loaded = loaded
        self.releases = releases

    def moved_from(self, old: Side) -> Case:
        return Case(old, self.new, self.texts, self.loaded, self.releases)

    def report(self) -> Report:
        rules = Rules(self.loaded, self.releases)
        rows = compare(
            inventory_of(self.old.recipe.components),
            inventory_of(self.new.recipe.components),
            rules,
            deployer="helm",
        )
        return Report("old", "new", rows, deployer="helm", records=self.loaded)

    def plan(self, mode: str = HOPS, **options: Any) -> Plan:
        catalog = cast(Catalog, SimpleNamespace(releases=self.releases))
        return make_plan(self.report(), self.old, self.new, catalog, mode=mode, **options)


def at_stage(components: list[ComponentRef]) -> Side:
    return side("stage", *components)


def record_list(random: Random) -> list[Record]:
    found: list[Record] = []
    if random.random() < 0.6:  # a ladder that can be climbed, here and there
        rungs = sorted(random.sample(LADDER, random.randint(2, 5)), key=version)
        for low, high in pairwise(rungs):
            verdict = random.choice(["safe", "manual", "manual", "manual", "blocked"])
            found.append((f">={low} <{high}", f">={high} <={high}", verdict))
    for _ in range(random.randint(0, 2)):
        low, high = sorted([random.choice(LADDER), random.choice(LADDER)], key=version)
        start, end = sorted([random.choice(LADDER), random.choice(LADDER)], key=version)
        to = random.choice([f">={low} <={high}", f">{low} <={high}", f">={low}, <{high}", low])
        origin = random.choice([f"<{low}", f"<={low}", f">={start} <{end}", start])
        found.append((origin, to, random.choice(["safe", "safe", "manual", "blocked"])))
    return found


def case(random: Random, *, with_identity: bool = True) -> Case:
    texts = {name: record_list(random) for name in NAMES if random.random() < 0.9}
    loaded = {}
    for name, found in texts.items():
        replaces = None
        if name == "c" and random.random() < 0.3:
            verdict = random.choice(["safe", "manual", "blocked"])
            replaces = Replacement(
                "b",
                verdict,
                summary="It takes over.",
                verified_by="lane-7" if verdict == "safe" else "",
                step_groups=() if verdict == "safe" else STEPS,
            )
        ways = (transition(*one, reversible=random.choice([True, None])) for one in found)
        if found or replaces is not None:
            loaded[name] = records(*ways, replaces=replaces)
    old, new = [], []
    for name in NAMES:
        where = random.random()
        before, after = random.choice(ENDS[:4]), random.choice(ENDS[-6:])
        if random.random() < 0.15:
            before, after = random.choice(ENDS), random.choice(ENDS)
        moved = with_identity and random.random() < 0.15
        if where < 0.85:
            old.append(ComponentRef(name, version=before, namespace=name, type="Helm"))
        if where > 0.15:
            space = f"new-{name}" if moved else name
            new.append(ComponentRef(name, version=after, namespace=space, type="Helm"))
    old, new = _depending(random, old), _depending(random, new)
    history = [
        Release(
            f"r{n}",
            {name: [random.choice(LADDER)] for name in NAMES if random.random() < 0.8},
        )
        for n in range(random.randint(0, 4))
    ]
    if history and random.random() < 0.7:  # a history that rises
        for name in NAMES:
            pins = sorted(random.choices(LADDER, k=len(history)), key=version)
            for release, pin in zip(history, pins, strict=True):
                cast(dict[str, list[str]], release.pins)[name] = [pin]
    return Case(side("old", *old), side("new", *new), texts, loaded, history)


def _depending(random: Random, refs: list[ComponentRef]) -> list[ComponentRef]:
    """Each component may wait for others that come before it in a hidden order."""
    order = random.sample(refs, len(refs))
    found = {}
    for index, ref in enumerate(order):
        needs = [other.name for other in order[:index] if random.random() < 0.25]
        found[ref.name] = ref.replace(dependency_refs=needs)
    return [found[ref.name] for ref in refs]
