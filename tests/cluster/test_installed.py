from __future__ import annotations

import base64
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aicr.catalog.model import ComponentRef
from aicr.cluster.helm_releases import _decoded, _Held, _Stored
from aicr.cluster.wire import Meta
from aicr.upgrade.cluster_side import established, expected_parts
from aicr.upgrade.installed import Install, Known, attribute, lookalikes
from kube_double_helm import record, stored

KNOWN = {
    name: Known(name, chart=name)
    for name in ("gpu-operator", "nodewright", "nodewright-post", "a-very-long-component-name")
}


def install(
    release: str, namespace: str = "ns", storage: str = "Secret", **fields: object
) -> Install:
    values: dict[str, object] = {
        "stored_in": namespace,
        "revision": "1",
        "state": "deployed",
        "settled": True,
        "version": "1.0.0",
    }
    return Install(release, namespace=namespace, storage=storage, **(values | fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("release", "deployer", "expected"),
    [
        ("gpu-operator", "helm", ("gpu-operator", "")),
        ("gpu-operator-pre", "helmfile", ("gpu-operator", "pre")),
        ("gpu-operator-post", "helm", ("gpu-operator", "post")),
        ("nodewright-post", "helm", ("nodewright-post", "")),
        ("nodewright-post-post", "helm", ("nodewright-post", "post")),
        ("gpu-operator-other", "helm", None),
        ("ns-gpu-operator", "helm", None),
        ("gpu-operator", "flux", None),
        ("ns-gpu-operator", "flux", ("gpu-operator", "")),
        ("ns-gpu-operator-post", "flux", ("gpu-operator", "post")),
        ("ns-gpu-operator", "", ("gpu-operator", "")),
        ("gpu-operator", "", ("gpu-operator", "")),
        ("-post", "helm", None),
    ],
)
def test_whose_a_release_is(release: str, deployer: str, expected: tuple[str, str] | None) -> None:
    found, others = attribute([install(release)], KNOWN, deployer)
    assert [(one.component, one.part) for one in found] == ([expected] if expected else [])
    assert len(others) == (expected is None)


def test_applications_have_no_name_of_flux() -> None:
    found, _ = attribute([install("ns-gpu-operator", storage="Application")], KNOWN, "")
    assert not found


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.16.0+0123456789ab", "0.16.0"),
        ("0.16.0+build.5", "0.16.0+build.5"),
        ("0.16.0+0123456789AB", "0.16.0+0123456789AB"),
        ("0.16.0", "0.16.0"),
    ],
)
def test_the_digest_that_flux_appends(version: str, expected: str) -> None:
    one = install("ns-gpu-operator", version=version)
    assert attribute([one], KNOWN, "flux")[0][0].version == expected
    one = install("gpu-operator", version=version)
    assert attribute([one], KNOWN, "helm")[0][0].version == version


def test_what_is_left_out_and_what_looks_alike() -> None:
    mine = install("mine", chart="gpu-operator")
    found, others = attribute(
        [mine, install("gpu-operator")], KNOWN, "helm", excluded=["ns/gpu-operator"]
    )
    assert (found, others) == ([], [mine])
    assert lookalikes(others, KNOWN) == [
        "Secret ns/mine has the chart of gpu-operator, but not its name: it was not taken for it"
    ]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"source": "s"}, [""]),
        ({"source": "s", "manifest_files": ["a"]}, ["", "post"]),
        (
            {"source": "s", "manifest_files": ["a"], "pre_manifest_files": ["b"]},
            ["pre", "", "post"],
        ),
        ({"manifest_files": ["a"]}, [""]),
        ({"pre_manifest_files": ["a"]}, ["pre"]),
        ({"manifest_files": ["a"], "pre_manifest_files": ["b"]}, ["pre", ""]),
    ],
)
def test_which_releases_a_component_has(fields: dict[str, str], expected: list[str]) -> None:
    assert expected_parts(ComponentRef("a", type="Helm", **fields)) == expected  # type: ignore[arg-type]


def test_all_releases_of_a_component_must_agree() -> None:
    ref = ComponentRef("a", source="s", manifest_files=["m"])
    main = install("a", component="a")
    same = install("a-post", component="a", part="post", stamped=True)
    older = install("a-post", component="a", part="post", stamped=True, version="0.9.0")
    failed = install("a-post", component="a", part="post", stamped=True, version="", settled=False)
    foreign = install("a-post", component="a", part="post", version="7.0.0")
    for post, version in ((same, "1.0.0"), (older, ""), (failed, ""), (foreign, "1.0.0")):
        assert established({"": main, "post": post}, ref)[0] == version
    without = ComponentRef("a", source="s")
    assert established({"": main, "post": older}, without)[0] == "1.0.0"
    assert established({"post": same}, ref)[0] == "1.0.0"
    assert established({"post": foreign}, ref)[0] == ""


@given(st.binary(max_size=200), st.booleans(), st.booleans())
def test_no_content_of_a_record_is_an_error(data: bytes, packed: bool, secret: bool) -> None:
    payload = base64.b64encode(gzip.compress(data, 1) if packed else data)
    if secret:
        payload = base64.b64encode(payload)
    name = stored(record("a", "ns"))["metadata"]["name"]
    item = _Stored(metadata=Meta(name=name), data=_Held(release=payload.decode()))
    found, problem = _decoded(item, "Secret" if secret else "ConfigMap")
    assert (found is None) == bool(problem)
    assert len(problem) < 60
