"""Flags for the whole cluster are read strictly, and land where the registry says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from aicr.artifact.bundle_info import read_bundle_info
from aicr.bundle.build import Bundle, Request, build_bundle
from aicr.bundle.scheduling import Scheduling, wishes_of
from aicr.catalog.folder import read_layer
from aicr.catalog.open import open_catalog
from aicr.errors import AicrError
from aicr.recipe.criteria import Criteria
from aicr.recipe.resolve import resolve
from small_catalog import SmallCatalog, helm

TOLERATION = {"key": "gpu", "operator": "Equal", "value": "yes", "effect": "NoSchedule"}


def bundle(
    root: Path,
    scheduling: Scheduling,
    *,
    sets: list[str] | None = None,
    set_json: list[str] | None = None,
    dynamic: list[str] | None = None,
    kept: dict[str, bytes] | None = None,
    values: dict[str, object] | None = None,
    **entry: Any,
) -> Bundle:
    scheduled: dict[str, Any] = {
        "nodeScheduling": {
            "system": {"nodeSelectorPaths": ["sys.nodeSelector"], "tolerationPaths": ["tol", "t2"]},
            "accelerated": {
                "nodeSelectorPaths": ["acc.nodeSelector", r"by\.name.sel"],
                "tolerationPaths": ["tol"],
                "taintStrPaths": ["env.taint"],
                "taintPaths": ["env.taintObject"],
            },
            "nodeCountPaths": ["count"],
        },
        "podScheduling": {"workload": {"workloadSelectorPaths": ["wl"]}},
        "storageClassPaths": ["store[0].class"],
    }
    catalog = SmallCatalog().registry(helm("a", **(entry or scheduled)), helm("b"))
    refs = [{"name": "a", "overrides": values or {}}, {"name": "b"}]
    catalog.overlay("base", componentRefs=refs).overlay("eks", criteria={"service": "eks"})
    opened = catalog.open(root)
    request = Request(
        "helm", sets=sets or [], set_json=set_json or [], dynamic=dynamic or [],
        scheduling=scheduling,
    )  # fmt: skip
    recipe = resolve(opened, Criteria(service="eks"))
    return build_bundle(recipe, opened, request, where="r.yaml", kept=kept)


ALL = Scheduling(
    system_node_selector=["pool=sys"],
    system_node_toleration=["sys=:NoExecute"],
    accelerated_node_selector=["nvidia.com/gpu.present=true", "pool=gpu"],
    accelerated_node_toleration=["gpu=yes:NoSchedule", "gpu=yes:NoSchedule", "x:NoExecute"],
    workload_selector=["team=ml"],
    workload_gate="setup=needed:NoSchedule",
    nodes="8",
    storage_class="fast.ssd",
)


def test_everything_lands(tmp_path: Path) -> None:
    found = bundle(tmp_path, ALL)
    system = {"key": "sys", "operator": "Equal", "value": "", "effect": "NoExecute"}
    gpu = {"nvidia.com/gpu.present": "true", "pool": "gpu"}
    assert found.plan.values("a") == {
        "sys": {"nodeSelector": {"pool": "sys"}},
        # Its pods run on both kinds of nodes.
        "tol": [system, TOLERATION, {"key": "x", "operator": "Exists", "effect": "NoExecute"}],
        "t2": [system],
        "acc": {"nodeSelector": gpu},
        "by.name": {"sel": gpu},
        "env": {
            "taint": "setup=needed:NoSchedule",
            "taintObject": {"key": "setup", "value": "needed", "effect": "NoSchedule"},
        },
        "wl": {"team": "ml"},
        "count": 8,
        "store": [{"class": "fast.ssd"}],
    }
    assert found.plan.values("b") == {}
    assert found.notices == []
    written = yaml.safe_load(found.files["001-a/values.yaml"][0])
    assert written == found.plan.values("a")


def test_the_flags_are_in_bundle_info(tmp_path: Path) -> None:
    data = bundle(tmp_path, ALL).files["bundle-info.yaml"][0]
    assert read_bundle_info(data, "x").settings == {
        "systemNodeSelector": ["pool=sys"],
        "systemNodeToleration": ["sys=:NoExecute"],
        "acceleratedNodeSelector": ["nvidia.com/gpu.present=true", "pool=gpu"],
        "acceleratedNodeToleration": ["gpu=yes:NoSchedule", "gpu=yes:NoSchedule", "x:NoExecute"],
        "workloadSelector": ["team=ml"],
        "workloadGate": "setup=needed:NoSchedule",
        "nodes": "8",
        "storageClass": "fast.ssd",
    }
    assert Scheduling(nodes="0").settings() == {}


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ({"system_node_selector": ["pool"]}, "--system-node-selector 'pool': expected a label"),
        ({"system_node_selector": ["=x"]}, "expected a label"),
        ({"system_node_selector": ["a=b,c=d"]}, "expected a label"),
        ({"system_node_selector": ["a=$(reboot)"]}, "expected a label"),
        ({"system_node_selector": ["A_/b=c"]}, "expected a label"),
        ({"system_node_selector": ["a=b", "a=c"]}, "contradict each other: a label has one value"),
        ({"workload_selector": ["a:b"]}, "--workload-selector 'a:b'"),
        ({"accelerated_node_toleration": ["a=b"]}, "expected key=value:Effect"),
        ({"accelerated_node_toleration": ["a=b:Never"]}, "NoSchedule, PreferNoSchedule, NoExec"),
        ({"accelerated_node_toleration": ["a=b:noschedule"]}, "expected key=value:Effect"),
        ({"system_node_toleration": [":NoSchedule"]}, "expected key=value:Effect"),
        ({"workload_gate": "a b:NoSchedule"}, "--workload-gate a b:NoSchedule"),
        ({"nodes": "-1"}, "--nodes '-1': expected a whole number, 0 or more"),
        ({"nodes": "1.5"}, "expected a whole number"),
        ({"nodes": "\u0663"}, "expected a whole number"),
        ({"nodes": "many"}, "expected a whole number"),
        ({"storage_class": "Fast"}, "--storage-class 'Fast'"),
        ({"storage_class": "../x"}, "expected the name of a StorageClass"),
    ],
)
def test_what_is_refused(flags: dict[str, object], says: str) -> None:
    with pytest.raises(AicrError) as caught:
        wishes_of(Scheduling(**flags))  # type: ignore[arg-type]
    assert says in caught.value.message
    assert caught.value.exit_code == 2


def test_everything_is_reported_at_once() -> None:
    with pytest.raises(AicrError) as caught:
        wishes_of(Scheduling(nodes="-1", storage_class="_", system_node_selector=["x"]))
    problems = caught.value.details["problems"]
    assert isinstance(problems, list)
    assert len(problems) == 3


def test_zero_nodes_states_nothing(tmp_path: Path) -> None:
    assert bundle(tmp_path, Scheduling(nodes="0")).plan.values("a") == {}


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (Scheduling(storage_class="fast"), "(storageClassPaths in the registry)"),
        (Scheduling(nodes="3"), "(nodeScheduling.nodeCountPaths in the registry)"),
        (Scheduling(workload_gate="a:NoSchedule"), "(nodeScheduling.accelerated.taintStrPaths or"),
    ],
)
def test_a_flag_without_a_place(tmp_path: Path, flags: Scheduling, says: str) -> None:
    with pytest.raises(AicrError) as caught:
        bundle(tmp_path, flags, displayName="A")
    assert "has no effect: no component of the recipe has a place for it" in caught.value.message
    assert says in caught.value.message


def test_a_place_in_a_component_that_is_left_out(tmp_path: Path) -> None:
    with pytest.raises(AicrError, match="no component of the recipe has a place"):
        bundle(tmp_path, Scheduling(nodes="3"), sets=["a:enabled=false"])


def test_two_flags_for_one_path(tmp_path: Path) -> None:
    paths = {"nodeSelectorPaths": ["sel"]}
    flags = Scheduling(system_node_selector=["a=1", "b=2"], accelerated_node_selector=["b=2"])
    found = bundle(tmp_path / "1", flags, nodeScheduling={"system": paths, "accelerated": paths})
    assert found.plan.values("a") == {"sel": {"a": "1", "b": "2"}}
    flags = Scheduling(system_node_selector=["a=1"], accelerated_node_selector=["a=2"])
    with pytest.raises(AicrError, match='contradict each other on "a"'):
        bundle(tmp_path / "2", flags, nodeScheduling={"system": paths, "accelerated": paths})


@pytest.mark.parametrize(
    ("paths", "says"),
    [("x", "expected a list of paths"), (["a[b]"], "'a[b]' is no path")],
)
def test_a_registry_that_cannot_be_read(tmp_path: Path, paths: object, says: str) -> None:
    with pytest.raises(AicrError) as caught:
        bundle(tmp_path, Scheduling(storage_class="x"), storageClassPaths=paths)
    assert says in caught.value.message
    assert "a.storageClassPaths" in caught.value.message


def test_a_path_that_leads_nowhere(tmp_path: Path) -> None:
    with pytest.raises(
        AicrError, match=r'--storage-class x: in the values of "a" "store" is a map'
    ):
        bundle(tmp_path, Scheduling(storage_class="x"), values={"store": {"y": 1}})


class TestLastWord:
    """A component's own override wins over a flag, the operator's own file over both."""

    def test_an_override_of_the_component(self, tmp_path: Path) -> None:
        flags = Scheduling(storage_class="fast")
        found = bundle(tmp_path, flags, sets=["a:one=slow"], storageClassPaths=["one", "two"])
        assert found.plan.values("a") == {"one": "slow", "two": "fast"}
        (notice,) = found.notices
        assert notice.severity == "warning"
        assert '--storage-class fast is not what "a" gets at one' in notice.message

    def test_more_labels_do_not_displace(self, tmp_path: Path) -> None:
        flags = Scheduling(system_node_selector=["pool=sys"])
        js = ['a:sys.nodeSelector={"zone": "a"}']
        found = bundle(tmp_path, flags, set_json=js)
        assert found.plan.values("a") == {"sys": {"nodeSelector": {"pool": "sys", "zone": "a"}}}
        assert found.notices == []

    def test_another_pool_for_one_component(self, tmp_path: Path) -> None:
        flags = Scheduling(accelerated_node_selector=["pool=gpu"])
        js = ['a:acc.nodeSelector={"pool": null, "other": "x"}']
        found = bundle(tmp_path, flags, set_json=js)
        assert found.plan.values("a")["acc"] == {"nodeSelector": {"other": "x"}}
        (notice,) = found.notices
        assert "is not what" in notice.message

    def test_nothing_is_left_of_a_flag(self, tmp_path: Path) -> None:
        with pytest.raises(AicrError, match="every component that it concerns has an override"):
            bundle(tmp_path, Scheduling(nodes="3"), sets=["a:count=4"])

    def test_the_operators_file(self, tmp_path: Path) -> None:
        flags = Scheduling(nodes="3", storage_class="x")
        found = bundle(tmp_path / "1", flags, kept={"a": b"store: [{class: mine}]\n"},
                       storageClassPaths=["store[0].class", "other"],
                       nodeScheduling={"nodeCountPaths": ["count"]})  # fmt: skip
        (notice,) = found.notices
        assert "store[0].class: its own override or cluster-values.yaml" in notice.message
        with pytest.raises(AicrError, match=r'cluster-values\.yaml says otherwise about "x"'):
            bundle(tmp_path / "2", Scheduling(), sets=["a:x=1"], kept={"a": b"x: 2\n"})
        assert bundle(tmp_path / "3", Scheduling(), sets=["a:x=1"], kept={"a": b"x: 1\n"})
        with pytest.raises(AicrError, match=r"cluster-values\.yaml of a"):
            bundle(tmp_path / "4", Scheduling(), kept={"a": b"x: [\n"})
        with pytest.raises(AicrError, match="expected a map of values"):
            bundle(tmp_path / "5", Scheduling(), kept={"a": b"[x]\n"})

    def test_what_the_catalog_had_is_named(self, tmp_path: Path) -> None:
        flags = Scheduling(
            system_node_selector=["pool=sys"], accelerated_node_toleration=["gpu=yes:NoSchedule"]
        )
        values: dict[str, object] = {
            "sys": {"nodeSelector": {"os": "linux", "pool": "x"}},
            "tol": [TOLERATION, {"operator": "Exists"}, {"key": "k", "effect": "NoExecute"}],
        }
        found = bundle(tmp_path, flags, values=values)
        assert found.plan.values("a")["tol"] == [TOLERATION]
        assert [one.message.partition(": ")[2] for one in found.notices] == [
            "os=linux", "every taint, k:NoExecute",
        ]  # fmt: skip

    def test_left_to_install_time(self, tmp_path: Path) -> None:
        found = bundle(tmp_path, Scheduling(nodes="3"), dynamic=["a:count"])
        assert yaml.safe_load(found.files["001-a/cluster-values.yaml"][0]) == {"count": 3}
        assert yaml.safe_load(found.files["001-a/values.yaml"][0]) == {}


def test_what_the_registry_wants_checked_sees_the_flags() -> None:
    """The shipped registry points out selectors that are missing; with the flags none is."""
    catalog = open_catalog()
    asked = Criteria(service="eks", accelerator="h100", intent="training", os="ubuntu")
    recipe = resolve(catalog, asked)
    flags = Scheduling(accelerated_node_selector=["a=b"], workload_selector=["c=d"])

    def missing(request: Request) -> list[str]:
        found = build_bundle(recipe, catalog, request, where="r.yaml")
        return [one.message for one in found.notices if "Without --" in one.message]

    assert len(missing(Request("helm"))) == 2
    assert missing(Request("helm", scheduling=flags)) == []


def test_every_path_of_the_shipped_registry_is_reached() -> None:
    """With all flags at once, over every component that the shipped catalog knows."""
    from aicr.bundle.landings import land, landings_of
    from aicr.catalog.model import ComponentRef
    from bundles import recipe_of

    catalog = open_catalog()
    refs = [ComponentRef(name, type="Helm") for name in catalog.registry]
    landings = landings_of(wishes_of(ALL), recipe_of(*refs), catalog)
    assert len(landings) > 25
    flags = set()
    for name, group in landings.items():
        values, problems = land(name, {}, group)
        assert problems == []
        assert values
        flags |= {wish.flag for landing in group for wish in landing.wishes}
    assert flags == {wish.flag for wish in wishes_of(ALL)}


def test_every_path_of_a_foreign_registry_is_reached(cases: Path) -> None:
    from aicr.bundle.landings import landings_of
    from aicr.catalog.layers import Catalog
    from aicr.catalog.model import ComponentRef
    from aicr.documents.fields import Problems
    from bundles import recipe_of

    root = cases / "public-catalog"
    contents = [("registry.yaml", (root / "registry.yaml").read_bytes())]
    layer, _ = read_layer(str(root), "", contents, Problems())
    catalog = Catalog([layer])
    refs = [ComponentRef(name, type="Helm") for name in catalog.registry]
    raw = yaml.safe_load(contents[0][1])["components"]
    expected = 0
    for entry in raw:
        nodes = entry.get("nodeScheduling") or {}
        pods = (entry.get("podScheduling") or {}).get("workload") or {}
        groups = [nodes.get("system") or {}, nodes.get("accelerated") or {}, pods]
        groups.append({"count": nodes.get("nodeCountPaths") or []})
        expected += len({path for group in groups for paths in group.values() for path in paths})
    found = landings_of(wishes_of(ALL), recipe_of(*refs), catalog)
    assert sum(map(len, found.values())) == expected
