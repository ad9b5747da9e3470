"""The commands that ask no cluster, from the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from aicr.cli.main import main
from aicr.nvcf.evidence import create_record
from registry_double import Web, replay

DATA = Path(__file__).parent.parent / "data"
RENDERS = {
    one["name"]: one for one in json.loads((DATA / "nvcf" / "renders.json").read_text())["renders"]
}
DIGEST = "sha256:63a6735a1f9944910425782b7ad86018b4433c568af7a94afb34b0b9f99d346d"


@pytest.fixture
def render(tmp_path: Path) -> Path:
    return written(tmp_path / "templates", "golden")


def written(folder: Path, name: str) -> Path:
    folder.mkdir()
    (folder / "configmap-env.yaml").write_text(RENDERS[name]["env"])
    (folder / "configmap-remote-config.yaml").write_text(RENDERS[name]["remote"])
    return folder


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    artifacts = [
        {
            "type": "container-image",
            "name": name,
            "reference": f"nvcr.io/nvidia/nvcf/{name}:{tag}",
            "digest": digest,
            "sources": [{"release": "nvct-api"}],
        }
        for name, tag, digest in (
            ("nvcf-worker-init-oss", "1.2.4", ""),
            ("nvcf-worker-task-oss", "1.1.6", DIGEST),
            ("nats-box", "1", ""),
        )
    ]
    path = tmp_path / "inventory.json"
    path.write_text(json.dumps({"schema_version": 1, "artifacts": artifacts}))
    return path


def test_two_lines_on_stdout_and_all_else_on_stderr(
    render: Path, inventory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["nvcf", "task-images", "--render", str(render)]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert out == RENDERS["golden"]["stdout"]
    assert "ess-agent:1.4.1" in err
    assert main([*words, "--include-ess-agent"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    assert main([*words, "--inventory", str(inventory)]) == 0
    out, err = capsys.readouterr()
    assert out == RENDERS["golden"]["stdout"]
    assert "digest-not-compared" in err
    inventory.write_text(inventory.read_text().replace("1.1.6", "1.1.7"))
    assert main([*words, "--inventory", str(inventory)]) == 2
    out, err = capsys.readouterr()
    assert "aicr: no-go: the render has nvcr.io/nvidia/nvcf/nvcf-worker-task-oss:1.1.6" in err
    assert "nvcf-worker-task-oss:1.1.7" in err


def test_an_error_begins_with_the_runbooks_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = written(tmp_path / "bad", "no-hostname")
    assert main(["nvcf", "task-images", "--render", str(folder)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("aicr: error: Missing registry setting: ${nvct.sidecars.hostname}")
    assert main(["nvcf", "task-images", "--render", str(folder), "--format", "json"]) == 2
    assert json.loads(capsys.readouterr().out)["outcome"] == "unresolved"
    assert main(["nvcf", "task-images", "--render", str(tmp_path / "no")]) == 1


@pytest.mark.parametrize(
    ("form", "line"),
    [
        (
            "text",
            f"nvcf-worker-task-oss@{DIGEST} -> nvcr.io/nvidia/nvcf/nvcf-worker-task-oss:1.1.6",
        ),
        ("skopeo", "skopeo copy --multi-arch all --preserve-digests docker://nvcr.io"),
        ("regctl", "regctl image copy nvcr.io/nvidia/nvcf/nvcf-worker-init-oss:1.2.4"),
        ("json", '"architectures": ['),
    ],
)
def test_a_plan_for_the_mirror(
    render: Path, inventory: Path, capsys: pytest.CaptureFixture[str], form: str, line: str
) -> None:
    words = ["nvcf", "mirror-plan", "--render", str(render), "--inventory", str(inventory)]
    assert main([*words, "--arch", "amd64", "--arch", "arm64", "--format", form]) == 0
    out = capsys.readouterr().out
    assert line in out
    assert "nats-box" in out


@pytest.fixture
def registry() -> Iterator[Web]:
    web = Web(replay(DATA / "kube" / "registry"))
    yield web
    web.stop()


def test_the_registry_is_asked_before_any_pod(
    registry: Web, inventory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image = f"{registry.host}/nvcf/nvcf-worker-task-oss"
    words = ["nvcf", "mirror-check", "--plain-http", registry.host, "--format", "json"]
    assert main([*words, f"{image}:1.1.6", "--arch", "amd64", "--arch", "arm64"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["outcome"] == "present"
    assert said["facts"][0]["value"]["digest"] == DIGEST
    assert main([*words, f"{image}:1.1.6", "--inventory", str(inventory)]) == 0
    assert main([*words, f"{image}:1.1.6-amd64only", "--arch", "arm64"]) == 2
    assert main([*words, f"{image}:1.1.6", f"{image}:0.0.0"]) == 2
    capsys.readouterr()
    assert main([*words, f"{image}:1.1.5", "--inventory", str(inventory)]) == 2
    assert json.loads(capsys.readouterr().out)["outcome"] == "digest-differs"
    assert main([*words, "NO IMAGE"]) == 1
    before = len(registry.seen)
    assert main([*words, f"{image}:1.1.6", "--plan"]) == 0
    assert len(registry.seen) == before
    assert {method for method, _, _ in registry.seen} == {"GET"}


def test_evidence_can_be_verified_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "record"
    with create_record(str(folder), "uid-cp") as record:
        record.write("message-1.json", b"private", source="nats-0", command="stream get")
        record.log("new-baseline", {"reason": "too late"})
    assert main(["nvcf", "evidence", "verify", str(folder)]) == 0
    assert "verified" in capsys.readouterr().out
    assert main(["nvcf", "evidence", "show", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "message-1.json  nats-0  stream get" in out
    assert "reason=too late" in out
    assert "private" not in out
    (folder / "message-1.json").chmod(0o600)
    (folder / "message-1.json").write_bytes(b"changed")
    (folder / "left.json").write_bytes(b"")
    assert main(["nvcf", "evidence", "verify", str(folder), "--format", "json"]) == 2
    said = json.loads(capsys.readouterr().out)
    assert said["problems"] == ["message-1.json: changed since it was written"]
    assert said["unlisted"] == ["left.json"]
    assert main(["nvcf", "evidence", "verify", str(tmp_path)]) == 1


def test_without_a_client_for_clusters_these_work(render: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys\n"
        "sys.modules['kubernetes'] = sys.modules['msgspec'] = sys.modules['urllib3'] = None\n"
        "from aicr.cli.main import main\n"
        f"sys.exit(main(['nvcf', 'task-images', '--render', {str(render)!r}]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
