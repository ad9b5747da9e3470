from __future__ import annotations

from pathlib import Path

import pytest

from aicr.cluster.connection import Patience
from aicr.errors import INTERNAL, AicrError
from aicr.nvcf import kube as kubes
from aicr.nvcf.fleet_file import read_fleet
from aicr.nvcf.kube import open_fleet
from fleets import fleet_of

QUICK = Patience(tries=1, connect=1.0, request=2.0, sleep=lambda seconds: None)


def plugin(folder: Path, script: str) -> dict[str, object]:
    path = folder / "plugin"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": str(path),
            "interactiveMode": "IfAvailable",
        }
    }


@pytest.mark.parametrize("script", ["read answer || exit 1", "exec sleep 300"])
def test_a_plugin_that_wants_somebody_does_not_hang(
    tmp_path: Path, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kubes, "PLUGIN_SECONDS", 0.5)
    with fleet_of(tmp_path, ("east", "west")) as fleet:
        config = fleet.clusters["west"].kubeconfig(plugin(tmp_path, script), name="asks")
        fleet.entry("west").update(kubeconfig=str(config), context="asks")
        fleet.write()
        opened = open_fleet(read_fleet(str(fleet.path)).compute, patience=QUICK)
    assert list(opened.found) == ["east"]
    assert list(opened.failed) == ["west"]


def test_no_entries_are_no_fault() -> None:
    assert open_fleet([]).found == {}


def test_what_is_not_on_the_list_is_not_sent(tmp_path: Path) -> None:
    with fleet_of(tmp_path) as fleet:
        opened = open_fleet(read_fleet(str(fleet.path)).compute, patience=QUICK)
        east = opened.found["east"]
        before = len(fleet.clusters["east"].requests)
        with pytest.raises(AicrError) as caught:
            east.get("secrets", "nvcf-backend", "task-registry-secret")
        assert caught.value.code == INTERNAL
        assert len(fleet.clusters["east"].requests) == before
