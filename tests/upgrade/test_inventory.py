"""What a side deploys, and which fields count as moved."""

from __future__ import annotations

import pytest

from aicr.catalog.model import ComponentRef
from aicr.upgrade.inventory import Identity, identity_changes, inventory_of, names_in


def moved(before: Identity, after: Identity, *, with_names: bool = False) -> list[str]:
    changes = identity_changes(before, after, with_names=with_names)
    back = identity_changes(after, before, with_names=with_names)
    assert [(c.field, c.before, c.after) for c in changes] == [
        (c.field, c.after, c.before) for c in back
    ]
    return [c.field for c in changes]


@pytest.mark.parametrize("field", ["namespace", "chart", "source", "path", "type"])
def test_a_field_counts_only_when_both_sides_state_it(field: str) -> None:
    one, other, silent = Identity("1", **{field: "a"}), Identity("1", **{field: "b"}), Identity("1")  # type: ignore[arg-type]
    assert moved(one, other) == [field]
    assert moved(one, one) == []
    assert moved(one, silent) == []


def test_type_is_compared_without_regard_to_case_and_nothing_else_is() -> None:
    assert moved(Identity("1", type="Helm"), Identity("1", type="helm")) == []
    assert moved(Identity("1", type="Helm"), Identity("1", type="Kustomize")) == ["type"]
    assert moved(Identity("1", namespace="A"), Identity("1", namespace="a")) == ["namespace"]


def test_file_sets_count_always_order_aside_unless_a_side_states_none_at_all() -> None:
    def files(*names: str) -> Identity:
        return Identity("1", manifest_files=frozenset(names), pre_manifest_files=frozenset())

    assert moved(files("a", "b"), files("b", "a")) == []
    assert moved(files("a"), files()) == ["manifestFiles"]
    assert moved(files("a"), Identity("1")) == []
    pre = Identity("1", manifest_files=frozenset(), pre_manifest_files=frozenset({"p"}))
    assert moved(files(), pre) == ["preManifestFiles"]


def test_object_names_at_any_depth() -> None:
    values = {
        "fullnameOverride": "a",
        "sub": {"nameOverride": "b", "list": [{"fullnameOverride": "c"}]},
        "a.b": {"nameOverride": None},
        "other": {"name": "x"},
        "n": {"nameOverride": 7},
    }
    assert names_in(values) == {
        "fullnameOverride": "a",
        "sub.nameOverride": "b",
        "sub.list[0].fullnameOverride": "c",
        '"a.b".nameOverride': "null",
        "n.nameOverride": "7",
    }
    assert names_in(None) == {}


def test_an_absent_name_counts_as_a_value_where_names_are_compared() -> None:
    named, unnamed = Identity("1", names={"nameOverride": "x"}), Identity("1", names={})
    assert moved(named, unnamed, with_names=True) == ["nameOverride"]
    assert moved(named, unnamed) == []
    assert moved(named, Identity("1"), with_names=True) == []


def test_the_table_leaves_out_what_is_disabled_and_keeps_versions_as_written() -> None:
    refs = [
        ComponentRef("a", version="1.10", tag="9"),
        ComponentRef("b", tag="v2"),
        ComponentRef("c", version="1", overrides={"enabled": False}),
        ComponentRef("d", version="1", install=False),
        ComponentRef("e", manifest_files=["m"], overrides={"enabled": True}),
    ]
    table = inventory_of(refs)
    assert {name: identity.version for name, identity in table.items()} == {
        "a": "1.10",
        "b": "v2",
        "e": "",
    }
    assert table["e"].manifest_files == frozenset({"m"})
    assert table["a"].names is None
    assert inventory_of(refs, {"a": {"nameOverride": "x"}})["a"].names == {"nameOverride": "x"}
    assert inventory_of(refs, {"a": {}})["a"].names == {}
    assert inventory_of(refs, {"b": {}})["a"].names is None


def test_a_name_that_reads_null_is_not_the_absence_of_one() -> None:
    assert names_in({"fullnameOverride": "null"}) != names_in({"fullnameOverride": None})
    assert names_in({"fullnameOverride": "123"}) == names_in({"fullnameOverride": 123})
