"""What a Secret holds beside the record's own fields appears nowhere."""

from __future__ import annotations

import base64
import gzip
import json
import logging
from pathlib import Path

import pytest

from aicr.cli.main import main
from kube_double import ADMIN_TOKEN, KubeDouble
from kube_double_faults import Cut
from kube_double_helm import record, stored

HUSH = "hush-hush-do-not-tell"


def forms(text: str) -> list[str]:
    """The text, and what base64 makes of it at each offset."""
    found = [text]
    for shift in range(3):
        encoded = base64.b64encode(b"x" * shift + text.encode()).decode()
        found.append(encoded[4:-4])
    return found


@pytest.fixture
def secretive(bare: KubeDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KubeDouble:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(bare.kubeconfig()))
    secrets = bare.store.kind("", "secrets")
    plain = base64.b64encode(json.dumps({"name": HUSH, "version": HUSH}).encode())
    cut = base64.b64encode(gzip.compress(HUSH.encode() * 100, 0)[:-20])
    bare.store.seed(
        secrets,
        stored(record("nfd", "nfd", padding=HUSH, annotations={"other": HUSH})),
        stored(record("no-base64", "ns"), payload=f"!{HUSH}".encode()),
        stored(record("no-json", "ns"), payload=base64.b64encode(HUSH.encode())),
        stored(record("no-release", "ns"), payload=plain),
        stored(record("no-end", "ns"), payload=cut),
        {
            "metadata": {"name": "another", "namespace": "ns", "labels": {"owner": "helm"}},
            "data": {"password": base64.b64encode(HUSH.encode()).decode()},
            "type": "Opaque",
        },
    )
    return bare


@pytest.mark.parametrize(
    ("form", "cut"), [("table", False), ("json", False), ("recipe", False), ("json", True)]
)
def test_nothing_of_a_secret_is_shown(
    form: str,
    cut: bool,
    secretive: KubeDouble,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    if cut:
        secretive.faults.add(Cut(400), lambda request: request.verb == "get", times=99)
    code = main(["inventory", "--format", form, "--debug"])
    assert code == (6 if cut else 0)
    shown = capsys.readouterr()
    everything = shown.out + shown.err + caplog.text
    assert len(everything) > 100
    for text in forms(HUSH):
        assert text not in everything
    assert ADMIN_TOKEN not in everything


def test_a_fault_of_the_tool_does_not_tell_either(
    secretive: KubeDouble,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from aicr.upgrade import cluster_side

    def fails(*_: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(cluster_side, "installs_of_releases", fails)
    assert main(["inventory", "--debug"]) == 8
    shown = capsys.readouterr()
    assert "a fault" in shown.err
    for text in forms(HUSH):
        assert text not in shown.out + shown.err
