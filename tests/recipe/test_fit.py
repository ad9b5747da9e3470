from __future__ import annotations

import json

import pytest

from aicr.catalog.layers import Catalog
from aicr.errors import AicrError
from aicr.recipe.criteria import Criteria
from aicr.recipe.fit import Fitted, resolve_on
from aicr.recipe.resolve import resolve
from aicr.recipe.snapshot import read_snapshot
from snapshots import constrained_stack, requires, snapshot_of


def fitted(
    catalog: Catalog, criteria: Criteria, version: str, *, detected: tuple[str, ...] = (),
    os_version: str = "24.04",
) -> Fitted:  # fmt: skip
    document = snapshot_of(
        {"K8s.server": {"version": version}, "OS.release": {"VERSION_ID": os_version}}
    )
    snapshot = read_snapshot(json.dumps(document).encode(), "s.yaml")
    return resolve_on(catalog, criteria, snapshot, detected)


ALL = Criteria(service="eks", accelerator="h100", os="ubuntu")


def test_a_cluster_that_meets_everything_gets_the_plain_recipe() -> None:
    catalog = constrained_stack().in_memory()
    found = fitted(catalog, ALL, "v1.33.0-eks-1")
    plain = resolve(catalog, ALL)
    assert found.warnings == []
    assert found.recipe.applied_overlays == plain.applied_overlays
    assert [ref.name for ref in found.recipe.components] == ["a", "m"]


def test_an_overlay_that_fails_is_left_out_and_what_it_stands_on_stays() -> None:
    found = fitted(constrained_stack().in_memory(), ALL, "v1.30.1", detected=("accelerator", "os"))
    recipe = found.recipe
    assert recipe.applied_overlays == ["base", "eks"]
    assert recipe.excluded_overlays == ["h100-eks", "h100-eks-ubuntu"]
    by_overlay = {one.overlay: one for one in recipe.constraint_warnings}
    assert set(by_overlay) == {"h100-eks", "h100-eks-ubuntu"}
    assert by_overlay["h100-eks"].reason == "expected >= 1.32, found v1.30.1"
    assert by_overlay["h100-eks-ubuntu"].reason.endswith('(stated by "h100-eks")')
    assert recipe.criteria == Criteria(service="eks")
    relaxed = [one for one in found.warnings if "left open" in one]
    assert len(relaxed) == 2
    assert any(one.startswith("accelerator=h100 ") for one in relaxed)
    assert any(one.startswith("os=ubuntu ") for one in relaxed)


def test_a_stated_criterion_is_never_relaxed() -> None:
    with pytest.raises(AicrError) as caught:
        fitted(constrained_stack().in_memory(), ALL, "v1.30.1", detected=("os",))
    error = caught.value
    assert error.code == "INVALID_REQUEST"
    assert "accelerator=h100" in error.message
    assert '"h100-eks": K8s.server.version: expected >= 1.32, found v1.30.1' in error.message
    assert [one["dimension"] for one in error.details["uncovered"]] == ["accelerator"]  # type: ignore[attr-defined]


def test_a_failing_mixin_constraint_leaves_out_the_leaf_that_brings_it() -> None:
    found = fitted(
        constrained_stack().in_memory(), ALL, "v1.33.0", detected=("os",), os_version="22.04"
    )
    assert found.recipe.excluded_overlays == ["h100-eks-ubuntu"]
    assert found.recipe.applied_overlays == ["base", "eks", "h100-eks"]
    (warning,) = found.recipe.constraint_warnings
    assert warning.reason == 'expected 24.04, found 22.04 (of the mixin "ubuntu")'


def test_an_overlay_further_up_may_ask_for_less() -> None:
    catalog = constrained_stack().overlay(
        "h100-eks-training", base="h100-eks",
        criteria={"service": "eks", "accelerator": "h100", "intent": "training"},
        constraints=requires(">= 1.29"),
    )  # fmt: skip
    criteria = Criteria(service="eks", accelerator="h100", intent="training")
    found = fitted(catalog.in_memory(), criteria, "v1.30.0")
    assert found.recipe.excluded_overlays == []
    assert found.recipe.constraints[0].value == ">= 1.29"


def test_the_root_stays_and_is_warned_about() -> None:
    catalog = constrained_stack().overlay("h100", criteria={"accelerator": "h100"}).in_memory()
    found = fitted(catalog, Criteria(accelerator="h100"), "v1.20.0")
    assert found.recipe.excluded_overlays == []
    assert [one.overlay for one in found.recipe.constraint_warnings] == ["base"]
    assert len(found.warnings) == 1
    assert "so it stays" in found.warnings[0]


def test_nothing_left_is_an_error_even_if_all_was_detected() -> None:
    with pytest.raises(AicrError, match="no recipe for"):
        fitted(
            constrained_stack().in_memory(),
            Criteria(service="eks"),
            "v1.20.0",
            detected=("service",),
        )


def test_a_constraint_that_cannot_be_read_names_its_file() -> None:
    catalog = constrained_stack().overlay(
        "eks", criteria={"service": "eks"}, constraints=requires(">= newest")
    )
    with pytest.raises(AicrError, match=r"overlays/eks\.yaml: .*no version"):
        fitted(catalog.in_memory(), Criteria(service="eks"), "v1.30.0")
