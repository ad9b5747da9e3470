"""``aicr fleet check`` over clusters themselves: as ``upgrade-check`` would read each alone."""

from __future__ import annotations

import json
from pathlib import Path

from kube_commands import Aicr, recipe
from kube_servers import Server


def test_an_installed_cluster_is_one_of_a_fleet(aicr: Aicr, server: Server) -> None:
    to = recipe(
        cert_manager="v1.20.2", gpu_operator="v26.7.1", grove="0.1.0", kueue="0.16.0", nfd="0.20.0"
    )
    old = Path(to).read_text().replace("0.20.0", "0.19.0")
    Path("old.yaml").write_text(old)
    kubeconfig = str(server.kubeconfig())
    clusters = [
        {"name": "live", "from": "cluster", "kubeconfig": kubeconfig, "deployer": "helm"},
        {"name": "lost", "from": "cluster", "kubeconfig": kubeconfig, "context": "no-such",
         "deployer": "helm"},
        {"name": "mute", "from": "cluster", "kubeconfig": kubeconfig},
        {"name": "file", "from": "old.yaml", "deployer": "helm"},
    ]  # fmt: skip
    Path("fleet.yaml").write_text(json.dumps({"clusters": clusters}))
    code, out, _ = aicr(
        "fleet", "check", "--clusters", "fleet.yaml", "--to", to, "--format", "json"
    )
    assert code == 2
    found = {one["name"]: one for one in json.loads(out)["clusters"]}
    assert "no-such" in found["lost"]["error"]["message"]
    assert "--deployer is required" in found["mute"]["error"]["message"]
    _, alone, _ = aicr("upgrade-check", "--from", "cluster", "--to", to, "--deployer", "helm",
                       "--format", "json")  # fmt: skip
    assert _undated(found["live"]["report"]) == _undated(json.loads(alone))
    assert found["file"]["report"]["summary"]["components"] == 1


def test_the_plan_from_a_cluster(aicr: Aicr) -> None:
    to = recipe(nfd="0.20.0", kueue="0.16.0")
    code, out, err = aicr("upgrade-plan", "--from", "cluster", "--to", to, "--deployer", "helm",
                          "--format", "json", "-o", "plan")  # fmt: skip
    assert code == 2
    values = json.loads(out)
    assert {held["component"] for held in values["held"]} >= {"nfd"}
    assert not list(Path("plan").glob("stage-*"))
    assert "read from a cluster" in err or not values["stages"]


def _undated(report: dict[str, object]) -> dict[str, object]:
    source = report.get("source")
    if isinstance(source, dict):
        source.pop("readAt", None)
    return report
