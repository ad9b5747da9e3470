"""Which criteria resolve: all of them, and nothing else."""

from __future__ import annotations

import itertools

from hypothesis import given, settings

from aicr.errors import AicrError
from aicr.recipe.criteria import Criteria
from aicr.recipe.listing import resolvable
from aicr.recipe.resolve import resolve
from catalog_strategies import WORDS, asked, written
from resolution_oracle import Described, Values
from small_catalog import SmallCatalog, helm


def every_query() -> list[dict[str, str]]:
    choices = [["", *words] for words in WORDS.values()]
    found = [
        {key: word for key, word in zip(WORDS, words, strict=True) if word}
        for words in itertools.product(*choices)
    ]
    return [query for query in found if query]


@settings(max_examples=60)
@given(asked())
def test_as_trying_every_query_says(case: tuple[Described, Values]) -> None:
    catalog = written(case[0]).in_memory()
    expected: dict[Criteria, int] = {}
    for query in every_query():
        try:
            expected[Criteria.of(query)] = len(
                resolve(catalog, Criteria.of(query)).deployment_order
            )
        except AicrError:
            continue
    listed = resolvable(catalog)
    assert dict(listed) == expected
    assert len(listed) == len(expected)


def test_overlays_that_apply_beside_each_other_are_listed_together() -> None:
    files = SmallCatalog().registry(helm("a")).overlay("base", componentRefs=[{"name": "a"}])
    files.overlay("x", criteria={"service": "eks", "nodes": 3})
    files.overlay("y", criteria={"accelerator": "b200", "intent": "training"})
    assert [str(criteria) for criteria, _ in resolvable(files.in_memory())] == [
        "accelerator=b200, intent=training",
        "service=eks",
        "service=eks, accelerator=b200, intent=training",
    ]
