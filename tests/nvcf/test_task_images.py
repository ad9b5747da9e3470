from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from aicr.errors import AicrError
from aicr.nvcf.render import FUNCTIONS, TASKS, NoGo, read_render
from aicr.nvcf.task_images import function_images, task_images
from tools import tool

DATA = Path(__file__).parent.parent / "data" / "nvcf"
RECORDED = json.loads((DATA / "renders.json").read_text())["renders"]
BY_NAME: dict[str, dict[str, Any]] = {one["name"]: one for one in RECORDED}
HOST, REPO = "${nvct.sidecars.hostname}", "${nvct.sidecars.repository}"
GOLDEN = BY_NAME["golden"]


def written(folder: Path, one: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "configmap-env.yaml").write_text(one["env"])
    (folder / "configmap-remote-config.yaml").write_text(one["remote"])
    return folder


def lines(folder: Path) -> str:
    images = task_images(read_render(str(folder), TASKS))
    return "".join(f"{image.text}\n" for image in images.chosen(with_ess_agent=False))


@pytest.mark.parametrize("one", RECORDED, ids=lambda one: one["name"])
def test_a_render_gives_what_the_published_pipeline_gave(
    one: dict[str, Any], tmp_path: Path
) -> None:
    folder = written(tmp_path, one)
    if one["exit"] == 0:
        assert lines(folder) == one["stdout"]
        return
    with pytest.raises(NoGo) as caught:
        lines(folder)
    assert str(caught.value).startswith(one["error"])
    assert len(str(caught.value)) > len(one["error"])


def mike_farahs(path: str) -> bool:
    """Whether it is yq v4: another program has the same name, and may come first on PATH."""
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    return "mikefarah" in said.stdout


def test_the_published_pipeline_still_gives_what_was_recorded(tmp_path: Path) -> None:
    bash, yq = tool("bash"), tool("yq", "YQ_BIN", accepts=mike_farahs)
    path = os.pathsep.join([os.path.dirname(yq), os.path.dirname(tool("jq")), "/usr/bin", "/bin"])
    for one in RECORDED[::2]:  # each starts five processes
        folder = written(tmp_path / one["name"], one)
        done = subprocess.run(
            [bash, str(DATA / "published-pipeline.sh")],
            env={"PATH": path, "TASK_RENDER": str(folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.stdout, done.returncode == 0) == (one["stdout"], one["exit"] == 0), one["name"]
        assert one["error"] in done.stderr


def test_what_is_said_beyond_the_runbook(tmp_path: Path) -> None:
    with pytest.raises(NoGo) as caught:
        lines(written(tmp_path, BY_NAME["no-utils"]))
    assert "Missing task image: nvct.sidecars.utils-container: it is absent" in str(caught.value)
    with pytest.raises(NoGo, match="expected text, found the number"):
        lines(written(tmp_path, BY_NAME["number-utils"]))
    with pytest.raises(NoGo, match="remote configuration of nvct-api"):
        lines(written(tmp_path, BY_NAME["disabled-empty-file"]))
    with pytest.raises(NoGo, match=r"nvct-api\.yaml:\d"):
        lines(written(tmp_path, BY_NAME["not-yaml"]))
    bad = {**GOLDEN, "remote": GOLDEN["remote"].replace("nvcf-worker-task-oss:1.1.6", "A B:1")}
    with pytest.raises(NoGo, match=r"^No image reference: "):
        lines(written(tmp_path, bad))
    twice = GOLDEN["remote"].replace(
        "      otel-container", "      init-container: a/b:1\n" + 6 * " "
    )
    with pytest.raises(NoGo, match="twice"):
        lines(written(tmp_path, {**GOLDEN, "remote": twice + "otel-container: dummy"}))


def test_the_third_image_is_for_tasks_with_secrets(tmp_path: Path) -> None:
    rendered = read_render(str(written(tmp_path, GOLDEN)), TASKS)
    images = task_images(rendered)
    assert images.ess_agent is not None
    assert images.ess_agent.text == "nvcr.io/nvidia/nvcf/ess-agent:1.4.1"
    assert len(images.chosen(with_ess_agent=False)) == 2
    assert len(images.chosen(with_ess_agent=True)) == 3
    fixed = read_render(str(written(tmp_path, BY_NAME["fixed-images"])), TASKS)
    assert task_images(fixed).ess_agent is None  # its registry setting is missing: nobody asked
    with pytest.raises(NoGo, match=r"^Missing registry setting"):
        task_images(fixed, with_ess_agent=True)


def test_a_parent_of_the_templates_is_searched(tmp_path: Path) -> None:
    written(tmp_path / "out" / "02-core.yaml-nvct-api" / "helm-nvcf-nvct-api" / "templates", GOLDEN)
    written(tmp_path / "out" / "other" / "templates", BY_NAME["fixed-images"])
    assert lines(tmp_path) == GOLDEN["stdout"]
    written(tmp_path / "out" / "old" / "helm-nvcf-nvct-api" / "templates", GOLDEN)
    with pytest.raises(AicrError) as caught:
        lines(tmp_path)
    assert caught.value.message.count("helm-nvcf-nvct-api/templates") == 2


def test_elsewhere_the_config_maps_are_found_by_what_they_hold(tmp_path: Path) -> None:
    whole = "\n---\n".join(
        ("apiVersion: v1\nkind: Service\nmetadata: {name: x}", GOLDEN["env"], GOLDEN["remote"])
    )
    (tmp_path / "all.yaml").write_text(whole)
    (tmp_path / "values.yaml").write_text("a: [")
    rendered = read_render(str(tmp_path), TASKS)
    assert any("values.yaml" in note for note in rendered.notes)
    assert lines(tmp_path) == GOLDEN["stdout"]
    (tmp_path / "again.yaml").write_text(GOLDEN["remote"])
    with pytest.raises(AicrError, match="2 renders match"):
        lines(tmp_path)


def test_two_settings_that_disagree_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(GOLDEN["remote"] + "\n---\n" + GOLDEN["env"])
    (tmp_path / "env.yaml").write_text(GOLDEN["env"].replace("nvcr.io", "other.example.com"))
    with pytest.raises(AicrError, match="2 renders match"):
        lines(tmp_path)


def test_a_render_without_the_service_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("kind: Service\n")
    with pytest.raises(NoGo, match="it can be disabled"):
        lines(tmp_path)
    with pytest.raises(AicrError, match="no such folder"):
        lines(tmp_path / "not-there")


def test_the_workers_of_functions_have_keys(tmp_path: Path) -> None:
    remote = """\
nvcf:
  sidecars:
    inference-container: nvcr.io/nvidia/tritonserver:23.04-py3
    init-container: ${nvcf.sidecars.hostname}/${nvcf.sidecars.repository}/nvcf-worker-init-oss:1.2.1
    utils-container-image:
      go: ${nvcf.sidecars.hostname}/${nvcf.sidecars.repository}/nvcf-worker-utils-oss:1.2.3
    otel-container: dummy
"""
    map_ = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "nvcf-api-remote-config"},
        "data": {"nvcf-api.yaml": remote},
    }
    env = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "nvcf-api-env"},
        "data": {"NVCF_SIDECARS_HOSTNAME": "h.example.com", "NVCF_SIDECARS_REPOSITORY": "a/b"},
    }
    templates = tmp_path / "helm-nvcf-api" / "templates"
    templates.mkdir(parents=True)
    (templates / "configmap-remote-config.yaml").write_text(json.dumps(map_))
    (templates / "configmap-env.yaml").write_text(json.dumps(env))
    found = function_images(read_render(str(tmp_path), FUNCTIONS))
    assert {key: image.text for key, image in found.items()} == {
        "inference-container": "nvcr.io/nvidia/tritonserver:23.04-py3",
        "init-container": "h.example.com/a/b/nvcf-worker-init-oss:1.2.1",
        "utils-container-image.go": "h.example.com/a/b/nvcf-worker-utils-oss:1.2.3",
    }
