"""An override takes effect, or it is an error that says why."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aicr.bundle.overrides import Settled, apply, parse_set, settle
from aicr.catalog.model import ComponentRef, RegistryEntry
from aicr.errors import AicrError
from aicr.recipe.model import Recipe
from bundles import recipe_of

REGISTRY = {
    "one": RegistryEntry("one", where="", raw={}, override_keys=["first", "shared", "two"]),
    "two": RegistryEntry("two", where="", raw={}, override_keys=["shared", "two"]),
    "off": RegistryEntry("off", where="", raw={}),
    "absent": RegistryEntry("absent", where="", raw={}, override_keys=["gone"]),
}


def recipe() -> Recipe:
    return recipe_of(ComponentRef("one"), ComponentRef("two"), ComponentRef("off", install=False))


def settled(*texts: str) -> Settled:
    return settle(parse_set(texts), recipe(), REGISTRY)


def values(*texts: str, start: dict[str, object] | None = None) -> dict[str, object]:
    changed, problems = apply("one", start or {}, settled(*texts).values.get("one", ()))
    assert problems == []
    return changed


def error(*texts: str) -> str:
    with pytest.raises(AicrError) as caught:
        settled(*texts)
    assert caught.value.exit_code == 2
    return caught.value.message


def test_a_component_by_its_name_or_an_override_key() -> None:
    assert values("one:a=1", "first:b=2") == {"a": 1, "b": 2}
    assert list(settled("two:a=1").values) == ["two"]


def test_a_name_wins_over_the_override_key_of_another() -> None:
    assert list(settled("two:a=1").values) == ["two"]


def test_lists_grow_in_any_order_of_the_arguments() -> None:
    assert values("one:l[1]=b", "one:l[0]=a", "one:l[2]=c") == {"l": ["a", "b", "c"]}


def test_the_same_thing_twice_is_no_contradiction() -> None:
    assert values("one:a=1", "first:a=1") == {"a": 1}


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["nope:a=1"], "there is no component 'nope'"),
        (["onee:a=1"], 'did you mean "one"?'),
        (["absent:a=1"], "the component 'absent' is not in the recipe"),
        (["shared:a=1"], "'shared' stands for one and two"),
        (["a=1"], "expected component:path=value"),
        ([":a=1"], "expected component:path=value"),
        (["one"], "expected component:path=value"),
        (["one:a"], "has no =value"),
        (["one:a=1,two:b=2"], "one --set is for one component"),
        (["one:a=1", "one:a=2"], "contradict each other"),
        (["one:a=1", "first:a=1x"], "contradict each other"),
        (["one:a=1", 'one:a=true'], "contradict each other"),
        (["one:a=1", "one:a.b=2"], "contradict each other"),
        (["one:a.b=2", "one:a=1"], "contradict each other"),
        (["one:a[0]=2", "one:a.b=1"], "contradict each other"),
        (["one:a.b=2", "one:a[0].c=1"], "contradict each other"),
        (["one:a=null", "one:a.b=1"], "contradict each other"),
        (["one:enabled=false", "one:enabled=true"], "contradict each other"),
        (["one:enabled=false", "first:a=1"], '"one" is left out by --set one:enabled=false'),
        (["off:a=1"], 'the recipe disables "off", which no override brings back'),
        (["off:enabled=true"], 'the recipe disables "off", which no override brings back'),
        (["one:enabled=maybe"], "enabled is true or false"),
        (["one:enabled=null"], "enabled is true or false"),
        (["one:enabled.x=true"], "enabled is true or false"),
        (["one:a=\udcff"], "not UTF-8 text"),
    ],
)  # fmt: skip
def test_what_cannot_take_effect(texts: list[str], says: str) -> None:
    assert says in error(*texts)


def test_everything_is_reported_at_once() -> None:
    message = error("nope:a=1", "off:a=1", "one:x=1", "one:x=2")
    assert message.startswith("3 overrides are wrong:")


def test_components_are_left_out() -> None:
    found = settled("first:enabled=false", "off:enabled=false", "two:enabled=true")
    assert found.removed == {"one"}
    assert found.values == {}


def test_a_null_stays_in_a_map_that_the_overrides_bring() -> None:
    assert values("one:new.on=1", "one:new.off=null") == {"new": {"on": 1, "off": None}}
    assert values("one:new.a.off=null", "one:new.off=null") == {
        "new": {"a": {"off": None}, "off": None}
    }


def test_values_for_what_reads_none() -> None:
    built = ComponentRef("one", type="Kustomize", source="https://h/x")
    with pytest.raises(AicrError, match='"one" is built with Kustomize, and nothing in it reads'):
        settle(parse_set(["one:a=1"]), recipe_of(built), REGISTRY)
    assert settle(parse_set(["one:enabled=false"]), recipe_of(built), REGISTRY).removed == {"one"}
    both = built.replace(manifest_files=["x.yaml"])
    assert "one" in settle(parse_set(["one:a=1"]), recipe_of(both), REGISTRY).values


def test_a_path_that_leads_nowhere_is_reported() -> None:
    overrides = settled("one:a[0]=1", "one:b=null").values["one"]
    changed, problems = apply("one", {"a": {"x": 1}}, overrides)
    assert changed == {"a": {"x": 1}}
    assert problems == [
        '--set one:a[0]=1: in the values of "one" "a" is a map; write a key instead of [0]',
        (
            '--set one:b=null: in the values of "one" "b" is not in the values, so null has '
            "nothing to remove"
        ),
    ]


PATHS = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(".".join)
PAIRS = st.lists(st.tuples(PATHS, st.integers(0, 2)), min_size=1, max_size=6)


@given(PAIRS, st.randoms(use_true_random=False))
def test_order_never_matters(pairs: list[tuple[str, int]], random: object) -> None:
    texts = [f"one:{path}={value}" for path, value in pairs]
    mixed = list(texts)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    try:
        expected = values(*texts)
    except AicrError:
        with pytest.raises(AicrError):
            values(*mixed)
        return
    assert values(*mixed) == expected
    for path, value in pairs:
        node: object = expected
        for key in path.split("."):
            assert isinstance(node, dict)
            node = node[key]
        assert node == value
