from __future__ import annotations

import json
from typing import Any

import pytest

from aicr.artifact.image_ref import ImageRef, parse_image
from aicr.errors import AicrError
from aicr.nvcf.inventory import Inventory, compare, inventory_from, read_inventory
from aicr.nvcf.mirror_plan import apart, plan_copies, plan_text

D1, D2 = "sha256:" + "1" * 64, "sha256:" + "2" * 64


def entry(reference: str, *, digest: str = "", release: str = "nvct-api") -> dict[str, Any]:
    repository, _, version = reference.rpartition(":")
    return {
        "type": "container-image",
        "name": repository.rpartition("/")[2],
        "repository": repository,
        "version": version,
        "reference": reference,
        "sources": [{"plane": "control-plane", "release": release}],
        **({"digest": digest} if digest else {}),
    }


def inventory(*entries: dict[str, Any]) -> Inventory:
    chart = {"type": "helm-chart", "name": "nvcf-worker-task-oss", "reference": "x@1"}
    document = {
        "schema_version": 1,
        "source": {"version": "1.0.10", "tag": "t", "commit": "c"},
        "artifacts": [chart, *entries],
        "unknown": True,
    }
    return inventory_from(json.dumps(document).encode(), "inventory.json")


def ref(text: str) -> ImageRef:
    found = parse_image(text)
    assert found is not None
    return found


TASK = "nvcr.io/nvidia/nvcf/nvcf-worker-task-oss:1.1.6"
MIRRORED = "mirror.example.com:5000/team/nvcf-worker-task-oss:1.1.6"


def test_a_mirror_has_another_repository_by_design() -> None:
    found = compare(ref(MIRRORED), inventory(entry(TASK)))
    assert found.agrees
    assert found.notes == [f"digest-not-compared: {MIRRORED}: equal by tag alone"]


def test_digests_on_both_sides_decide() -> None:
    assert compare(ref(f"{MIRRORED}@{D1}"), inventory(entry(TASK, digest=D1))).notes == []
    # Equal tags do not help where the digests differ, and the other way round.
    assert not compare(ref(f"{MIRRORED}@{D2}"), inventory(entry(TASK, digest=D1))).agrees
    other_tag = MIRRORED.replace("1.1.6", "mirrored")
    assert compare(ref(f"{other_tag}@{D1}"), inventory(entry(TASK, digest=D1))).agrees
    by_tag = compare(ref(MIRRORED), inventory(entry(TASK, digest=D1)))
    assert by_tag.agrees
    assert by_tag.digests == [D1]


def test_a_difference_shows_both() -> None:
    found = compare(ref(MIRRORED.replace("1.1.6", "1.1.5")), inventory(entry(TASK)))
    assert not found.agrees
    assert "nvcf-worker-task-oss:1.1.5" in found.why
    assert TASK in found.why
    digest_alone = MIRRORED.replace(":1.1.6", f"@{D1}")
    assert not compare(ref(digest_alone), inventory(entry(TASK))).agrees


def test_no_candidate_is_a_difference() -> None:
    found = compare(ref("nvcr.io/nvidia/nvcf/nvcf_worker_task:2.107.0"), inventory(entry(TASK)))
    assert not found.agrees
    assert "has no image nvcf_worker_task" in found.why


def test_a_name_that_occurs_twice_is_chosen_by_its_release() -> None:
    functions = entry("nvcr.io/nvidia/nvcf/nvcf-worker-init-oss:1.2.1", release="nvcf-api")
    tasks = entry("nvcr.io/nvidia/nvcf/nvcf-worker-init-oss:1.2.4")
    both = inventory(functions, tasks)
    assert compare(ref("m/nvcf-worker-init-oss:1.2.4"), both).agrees
    assert not compare(ref("m/nvcf-worker-init-oss:1.2.1"), both).agrees
    by_name = compare(ref("m/nvcf-worker-init-oss:1.2.1"), inventory(functions))
    assert by_name.agrees
    assert "compared by name" in by_name.notes[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "expected an inventory"),
        ('{"schema_version": 2, "artifacts": []}', "expected 1, found 2"),
        ('{"schema_version": "1", "artifacts": []}', "expected 1, found '1'"),
        ('{"schema_version": 1}', "artifacts: expected a list"),
        (
            '{"schema_version": 1, "artifacts": [{"type": "container-image"}]}',
            "needs a name and a reference",
        ),
    ],
)
def test_what_is_no_inventory(text: str, said: str) -> None:
    with pytest.raises(AicrError, match=said):
        inventory_from(text.encode(), "inventory.json")


def test_an_address_must_be_https() -> None:
    with pytest.raises(AicrError, match="expected a file or an https address"):
        read_inventory("http://example.com/inventory.json")


@pytest.mark.parametrize(
    "text",
    [
        "a", "a:1", "a/b/c:1.2.3-x_y", f"a@{D1}", f"a:1@{D1}", "localhost/a", "h:5000/a/b",
        "h.example.com/a__b/c-d.e", "[::1]:5000/a", "dummy",
    ],
)  # fmt: skip
def test_what_is_an_image_reference(text: str) -> None:
    assert parse_image(text) is not None


@pytest.mark.parametrize(
    "text",
    ["", "A", "h.io/A/b", "a b", " a", "a:", "a:-", "a@sha256:12", "a//b", "-a", "a:1:2", "a@",
     "h:x/a", "a/b:t/", "x" * 300],
)  # fmt: skip
def test_what_is_no_image_reference(text: str) -> None:
    assert parse_image(text) is None


def test_a_plan_copies_by_digest_to_where_the_render_points() -> None:
    found = inventory(
        entry(TASK, digest=D1),
        entry("docker.io/natsio/nats-server-config-reloader:0.24.0", release="nats"),
        entry("nvcr.io/nvidia/nvcf/nats-box:0.19.7-nonroot", release="nats"),
        entry("nvcr.io/nvidia/nvcf/nvca:3.10.3", release="x"),
        entry("quay.io/jetstack/cert-manager-webhook:v1.20.2", release="cert-manager"),
    )
    settings = {"h": "mirror.example.com:5000", "r": "team"}
    copies = plan_copies(
        [compare(ref(MIRRORED), found)], architectures=["amd64", "arm64"], settings=settings
    )
    others = apart(found)
    assert [one.reference.partition(":")[0].rpartition("/")[2] for one in others] == [
        "nats-server-config-reloader", "nats-box", "cert-manager-webhook",
    ]  # fmt: skip
    source = TASK.replace(":1.1.6", f"@{D1}")
    assert plan_text(copies, [], "skopeo") == (
        f"skopeo copy --multi-arch all --preserve-digests docker://{source} docker://{MIRRORED}\n"
    )
    assert plan_text(copies, [], "regctl") == f"regctl image copy {source} {MIRRORED}\n"
    assert plan_text(copies, [], "text") == f"{source} -> {MIRRORED}  (amd64, arm64)\n"
    assert "# Not moved by global.image" in plan_text(copies, others, "skopeo")
    said = json.loads(plan_text(copies, others, "json"))
    assert said["images"][0] == {
        "source": TASK,
        "digest": D1,
        "destination": MIRRORED,
        "architectures": ["amd64", "arm64"],
        "followsGlobalImage": True,
    }
    assert len(said["apart"]) == 3
    fixed = plan_copies(
        [compare(ref("other.example.com/x/nvcf-worker-task-oss:1.1.6"), found)],
        architectures=["amd64"],
        settings=settings,
    )
    assert not fixed[0].follows
    assert "does not follow global.image" in plan_text(fixed, [], "text")
