"""Which images objects and values name."""

from __future__ import annotations

import contextlib

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from aicr.artifact.image_ref import parse_image
from aicr.charts.loose import read_loosely
from aicr.errors import AicrError
from aicr.mirror.gather import from_objects, from_values, tags_in
from aicr.mirror.names import PARTS, in_full, of_map

DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("nginx", "docker.io/library/nginx:latest"),
        ("nginx:1", "docker.io/library/nginx:1"),
        ("team/app", "docker.io/team/app:latest"),
        ("index.docker.io/team/app:1", "docker.io/team/app:1"),
        ("quay.io/a/b:v1.2-x", "quay.io/a/b:v1.2-x"),
        ("localhost/a", "localhost/a:latest"),
        ("h:5000/a:b", "h:5000/a:b"),
        (f"quay.io/a/b@{DIGEST}", f"quay.io/a/b@{DIGEST}"),
        (f"quay.io/a/b:1@{DIGEST}", f"quay.io/a/b:1@{DIGEST}"),
        ("{{ .Values.image }}", None),
        ("https://quay.io/a", None),
        ("", None),
        ("Not An Image", None),
    ],
)
def test_in_full(text: str, full: str | None) -> None:
    assert in_full(text) == full


@pytest.mark.parametrize(
    ("node", "found"),
    [
        ({"repository": "quay.io/a/b", "tag": "1"}, "quay.io/a/b:1"),
        ({"registry": "quay.io", "repository": "a/b", "tag": "1"}, "quay.io/a/b:1"),
        ({"repository": "r.io/a", "image": "b", "version": "580"}, "r.io/a/b:580"),
        ({"registry": "r.io", "image": "a/b", "tag": "1"}, "r.io/a/b:1"),
        ({"registry": "r.io", "name": "a/b", "tag": "1"}, "r.io/a/b:1"),
        ({"repository": "r.io/a", "name": "b", "version": "1"}, "r.io/a/b:1"),
        ({"repository": "r.io/a/b", "name": "b", "tag": "1"}, "r.io/a/b:1"),
        ({"image": "r.io/a:1", "version": "9"}, "r.io/a:1"),
        ({"image": "r.io/a", "version": "9"}, "r.io/a:9"),
        ({"repository": "a/b", "tag": 1.5}, "a/b:1.5"),
        ({"repository": "a/b", "tag": "1", "digest": DIGEST}, f"a/b:1@{DIGEST}"),
        ({"repository": "a/b", "digest": "a" * 64}, f"a/b@{DIGEST}"),
        ({"repository": "a/b", "tag": DIGEST}, f"a/b@{DIGEST}"),
        ({"repository": "a/b", "tag": None}, "a/b"),
        ({"repository": "a/b", "tag": ""}, "a/b"),
        ({"registry": "docker.io", "repository": "quay.io/a/b", "tag": "1"}, "quay.io/a/b:1"),
        ({"repository": "https://charts.example", "name": "x", "version": "1"}, ""),
        ({"name": "x", "version": "1"}, ""),
        ({"registry": "r.io"}, ""),
        ({"image": {"repository": "a/b"}}, ""),
        ({"image": "{{ tpl }}"}, ""),
    ],
)  # fmt: skip
def test_maps(node: dict[str, object], found: str) -> None:
    assert of_map(node) == found


OBJECTS = """\
apiVersion: apps/v1
kind: DaemonSet
spec:
  template:
    spec:
      initContainers: [{name: a, image: r.io/init:1}]
      containers:
        - name: b
          image: plain
          env:
            - {name: OPERAND_IMAGE, value: "r.io/operand:2"}
            - {name: OTHER, value: "r.io/other:2"}
      volumes: [{name: v, image: {reference: "r.io/volume:1"}}]
---
apiVersion: nvidia.com/v1
kind: ClusterPolicy
spec:
  driver: {enabled: true, repository: r.io/nvidia, image: driver, version: "580.1"}
  gds: {enabled: false, repository: r.io/nvidia, image: gds, version: "1"}
  validator: {image: "r.io/validator:3"}
  untagged: {image: r.io/untagged}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec: {image: "r.io/never:1"}
---
apiVersion: v1
kind: Pod
metadata: {annotations: {helm.sh/hook: test}}
spec: {containers: [{image: "r.io/test:1"}]}
---
apiVersion: v1
kind: Pod
metadata: {annotations: {helm.sh/hook: "pre-install,test"}}
spec: {containers: [{image: "r.io/hook:1"}]}
---
apiVersion: v1
kind: ConfigMap
data:
  sidecar.yaml: |
    containers: [{image: "r.io/sidecar:1"}]
  broken.yaml: "image: {{ x"
  note: "image: r.io/note:1"
---
apiVersion: v1
kind: List
items:
  - apiVersion: batch/v1
    kind: Job
    spec: {template: {spec: {containers: [{image: "r.io/listed:1"}]}}}
"""


def test_objects() -> None:
    found = from_objects(yaml.load_all(OBJECTS, yaml.BaseLoader))
    assert sorted(found.images) == [
        "docker.io/library/plain:latest", "r.io/hook:1", "r.io/init:1", "r.io/listed:1",
        "r.io/nvidia/driver:580.1", "r.io/operand:2", "r.io/sidecar:1", "r.io/validator:3",
        "r.io/volume:1",
    ]  # fmt: skip
    assert found.untagged == {"r.io/untagged"}
    assert found.hidden == {"ClusterPolicy (nvidia.com)"}
    assert found.installers == set()


def test_what_installs_further_things_hides_them() -> None:
    found = from_objects([{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription"}])
    assert found.installers == {"Subscription (operators.coreos.com)"}


def test_aliases_are_walked_once() -> None:
    text = "a: &a [{image: 'r.io/x:1'}]\n"
    for depth in range(40):
        before = "a" if depth == 0 else f"b{depth - 1}"
        text += f"b{depth}: &b{depth} [*{before}, *{before}, *{before}]\n"
    assert from_objects(yaml.load_all(text, yaml.BaseLoader)).images == {"r.io/x:1"}


def test_values() -> None:
    values = {
        "global": {"imageRegistry": "mirror.io"},
        "image": {"registry": "quay.io", "repository": "a/b", "tag": "1"},
        "off": {"enabled": False, "image": "r.io/off:1"},
        "on": {"enabled": "true", "image": "r.io/on:1"},
        "templated": {"image": "{{ .Values.x }}"},
        "chart": {"repository": "https://x", "name": "y", "version": "1"},
        "replicas": 1,
    }
    assert from_values(values).images == {"mirror.io/a/b:1", "r.io/on:1"}


def test_tags_of_repositories_that_stand_in_arguments() -> None:
    text = "--reloader=r.io/a/reloader:v1 --x=other.r.io/a/reloader:v2 r.io/a/reloader-more:v3"
    assert tags_in(text, ["r.io/a/reloader"]) == {"r.io/a/reloader:v1"}
    assert tags_in(f"r.io/a@{DIGEST}", ["r.io/a"]) == {f"r.io/a@{DIGEST}"}
    assert tags_in("r.io/a and r.io/a:", ["r.io/a"]) == set()


WORDS = st.sampled_from(
    ["a/b", "r.io", "r.io/a/b:1", "1.2", DIGEST, "", "https://x", "{{ x }}", "A B"]
)
LEAVES = st.one_of(WORDS, st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9))
KEYS = st.sampled_from(
    [*PARTS, "containers", "env", "value", "enabled", "kind", "apiVersion", "items"]
)
TREES = st.recursive(
    LEAVES,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(KEYS, below, max_size=5),
    max_leaves=20,
)


@given(st.lists(TREES, max_size=3))
@settings(max_examples=200)
def test_whatever_is_rendered_only_references_come_out(documents: list[object]) -> None:
    found = from_objects(documents)
    found.images |= from_values({"x": documents}).images
    for image in found.images:
        ref = parse_image(image)
        assert ref is not None
        assert ref.domain
        assert ref.tag or ref.digest


@given(st.text(alphabet="-:[]{}&*!|>'\"%@` \n\tab0~<?#,", max_size=60))
@settings(max_examples=200)
def test_reading_loosely_gives_data_or_an_error(text: str) -> None:
    with contextlib.suppress(AicrError):
        assert isinstance(read_loosely(text.encode(), "x"), list)


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(AicrError, match="nested deeper"):
        read_loosely(b"[" * 101 + b"]" * 101, "x")
    with pytest.raises(AicrError, match="x: "):
        read_loosely(b"[" * 1_000_000, "x")
