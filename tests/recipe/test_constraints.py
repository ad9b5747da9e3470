from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aicr.catalog.model import Constraint
from aicr.recipe.constraints import ConstraintError, evaluate, path_of, version_of
from aicr.recipe.snapshot import Snapshot

NAME = "OS.sysctl./proc/sys/kernel/osrelease"


def snapshot(value: str) -> Snapshot:
    return Snapshot("s.yaml", {("OS", "sysctl"): {"/proc/sys/kernel/osrelease": value}})


@pytest.mark.parametrize(
    ("actual", "value", "holds"),
    [
        ("6.8.0-1021-aws", ">= 6.8", True),
        ("6.5.0-1021-aws", ">= 6.8", False),
        ("6.12.40-64.114.amzn2023.x86_64", ">= 6.1", True),
        ("v1.33.5-eks-ba24e9c", ">= 1.32.4", True),
        ("v1.32.3-gke.1234000", ">= 1.32.4", False),
        ("v1.34.2+rke2r1", ">=1.34", True),
        ("1.34.2", "<= 1.34", True),
        ("1.34.2", "> 1.34", False),
        ("1.34.2", "< 1.35", True),
        ("1.34", "== 1.34.0", True),
        ("1.34.2", "== 1.34", False),
        ("1.34.2", "!= 1.34", True),
        ("24.04", "24.04", True),
        ("24.04.1", "24.04", False),
        ("ubuntu", "ubuntu", True),
        ("Ubuntu", "ubuntu", False),
        ("ubuntu", "== ubuntu", True),
        ("ubuntu", "!= rhel", True),
        (" ubuntu ", "ubuntu", True),
        ("1.10", ">= 1.9", True),
        ("535.104.05.1", ">= 535.104.05", True),
        ("main", ">= 1.0", False),
    ],
)
def test_outcomes(actual: str, value: str, holds: bool) -> None:
    outcome = evaluate(Constraint(NAME, value), snapshot(actual))
    assert outcome.holds is holds
    assert bool(outcome.reason) is not holds
    assert outcome.actual == actual.strip()


def test_what_the_snapshot_does_not_state_it_does_not_meet() -> None:
    outcome = evaluate(Constraint("K8s.server.version", ">= 1.0"), snapshot("6.8"))
    assert (outcome.holds, outcome.actual) == (False, "")
    assert outcome.reason == "the snapshot has no K8s.server.version"


def test_paths() -> None:
    assert path_of("K8s.server.version") == ("K8s", "server", "version")
    assert path_of(NAME) == ("OS", "sysctl", "/proc/sys/kernel/osrelease")
    assert path_of("NodeTopology.label.nvidia.com/gpu.present")[2] == "nvidia.com/gpu.present"
    assert path_of("SystemD.containerd.service.ActiveState") == (
        "SystemD", "containerd.service", "ActiveState",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("K8s.server", ">= 1"),
        ("K8s", ">= 1"),
        ("K8s.items[0].x", ">= 1"),
        (NAME, ">="),
        (NAME, " "),
        (NAME, ">= latest"),
    ],
)
def test_constraints_that_cannot_be_read(name: str, value: str) -> None:
    with pytest.raises(ConstraintError):
        evaluate(Constraint(name, value), snapshot("6.8"))


parts = st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple)


@given(parts, parts)
def test_orders_exclude_each_other(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    one, other = (".".join(map(str, side)) for side in (left, right))
    assert version_of(one) == left

    def holds(operator: str) -> bool:
        return evaluate(Constraint(NAME, f"{operator} {other}"), snapshot(one)).holds

    assert holds(">=") is not holds("<")
    assert holds("<=") is not holds(">")
    assert holds("==") is not holds("!=")
    assert holds(">=") or holds("<=")
    if holds("=="):
        assert holds(">=")
        assert holds("<=")
