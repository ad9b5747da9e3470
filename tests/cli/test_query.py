from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from aicr.cli.main import main
from small_catalog import simple
from snapshots import EKS_H100

EKS = ["--service", "eks"]


@pytest.fixture
def catalog(tmp_path: Path) -> str:
    return str(
        simple(
            {
                "name": "a",
                "version": "1.10",
                "overrides": {
                    "on": True, "none": None, "port": 8080, "text": "1.10", "list": ["x"],
                    "labels": {"a.b/c": "y"}, "empty": "",
                },
            }
        ).write(tmp_path / "catalog")
    )  # fmt: skip


@pytest.mark.parametrize(
    ("selector", "output"),
    [
        ("components.a.version", "1.10\n"),
        ("components.a.values.on", "true\n"),
        ("components.a.values.port", "8080\n"),
        ("components.a.values.text", "1.10\n"),
        ("components.a.values.empty", "\n"),
        ("components.a.values.list[0]", "x\n"),
        ('components.a.values.labels."a.b/c"', "y\n"),
        ("components.a.values.list", "- x\n"),
        (".deploymentOrder", "- a\n"),
        ("criteria", "service: eks\n"),
    ],
)
def test_scalars_bare_the_rest_as_yaml(
    catalog: str, capsys: pytest.CaptureFixture[str], selector: str, output: str
) -> None:
    assert main(["query", *EKS, "--catalog", catalog, "--selector", selector]) == 0
    assert capsys.readouterr().out == output


def test_json_and_a_file(catalog: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "out.json"
    words = ["query", *EKS, "--catalog", catalog, "-t", "json", "-o", str(file)]
    assert main([*words, "-s", "components.a.values.labels"]) == 0
    assert json.loads(file.read_text()) == {"a.b/c": "y"}
    assert main([*words, "-s", "components.a.version"]) == 0
    assert file.read_text() == "1.10\n"
    assert capsys.readouterr().out == ""


def test_nothing_there_exits_3_with_the_keys(
    catalog: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["query", *EKS, "--catalog", catalog, "-s", "components.a.values.prt"]) == 3
    done = capsys.readouterr()
    assert done.out == ""
    assert "available keys: empty, labels, list, on, port, text" in done.err
    assert 'did you mean "port"?' in done.err


@pytest.mark.parametrize("words", [["-s", "a..b"], [], ["-s", "components.a", "--os", "nowhere"]])
def test_a_bad_invocation_exits_2(
    catalog: str, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert main(["query", *EKS, "--catalog", catalog, *words]) == 2


@pytest.fixture
def address() -> Iterator[str]:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/snapshot.yaml" else 503)
            self.end_headers()
            self.wfile.write(EKS_H100.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_snapshot_from_an_address(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["query", "--intent", "training", "-s", "criteria", "-t", "json", "--snapshot"]
    assert main([*words, f"{address}/snapshot.yaml"]) == 0
    done = capsys.readouterr()
    assert json.loads(done.out) == {
        "service": "eks", "accelerator": "h100", "intent": "training", "os": "ubuntu",
    }  # fmt: skip
    assert "shows service=eks, accelerator=h100, os=ubuntu" in done.err
    assert main([*words, f"{address}/other"]) == 6
