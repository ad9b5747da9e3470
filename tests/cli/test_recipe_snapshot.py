from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from aicr.cli.main import main
from snapshots import EKS_H100, constrained_stack


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    file = tmp_path / "snapshot.yaml"
    file.write_text(EKS_H100)
    return file


@pytest.fixture
def catalog(tmp_path: Path) -> str:
    return str(constrained_stack().write(tmp_path / "catalog"))


def test_exclusions_and_relaxations_are_said_and_written(
    snapshot: Path, catalog: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    snapshot.write_text(EKS_H100.replace("v1.33.5-eks-ba24e9c", "v1.30.1-eks-1"))
    out = tmp_path / "recipe.yaml"
    words = ["recipe", "--catalog", catalog, "--snapshot", str(snapshot)]
    assert main([*words, "-o", str(out)]) == 0
    said = capsys.readouterr().err
    recipe = yaml.safe_load(out.read_text())
    assert recipe["metadata"]["appliedOverlays"] == ["base", "eks"]
    assert recipe["metadata"]["excludedOverlays"] == ["h100-eks", "h100-eks-ubuntu"]
    for warning in recipe["metadata"]["constraintWarnings"]:
        assert warning["reason"] in said
    assert "accelerator=h100 is what the snapshot shows" in said
    assert recipe["criteria"] == {"service": "eks"}
    assert main([*words, "--gpu", "h100"]) == 2
    assert "left out by the snapshot" in capsys.readouterr().err


def test_flags_win_over_the_snapshot(
    snapshot: Path, catalog: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--catalog", catalog, "--snapshot", str(snapshot), "--os", "any"]
    assert main(["recipe", *words]) == 0
    assert yaml.safe_load(capsys.readouterr().out)["criteria"] == {
        "service": "eks", "accelerator": "h100",
    }  # fmt: skip


def test_the_same_snapshot_gives_the_same_bytes(
    snapshot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["recipe", "--snapshot", str(snapshot), "--intent", "training"]
    assert main(words) == 0
    first = capsys.readouterr().out
    assert main(words) == 0
    assert capsys.readouterr().out == first


def test_what_it_shows_and_cannot_be_used_is_said(
    snapshot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    snapshot.write_text(EKS_H100.replace("ID: ubuntu", "ID: gentoo"))
    assert main(["recipe", "--snapshot", str(snapshot), "--intent", "training"]) == 0
    assert 'the os is left open, since "gentoo"' in capsys.readouterr().err
    words = ["recipe", "--snapshot", str(snapshot), "--intent", "training", "--os", "ubuntu"]
    main(words)
    assert "gentoo" not in capsys.readouterr().err.split("error")[0]
