"""Small upstream charts, and where they can be had: a folder, a Helm repository, a registry."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import socket
import subprocess
import tarfile
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tools import tool

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  selector: {matchLabels: {app: x}}
  template:
    metadata: {labels: {app: x}}
    spec:
      initContainers:
        - {name: init, image: busybox}
      containers:
        - name: main
          image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default "9.8.7" }}"
          args: ["--reloader={{ .Values.reloader.repository }}:{{ .Chart.AppVersion }}"]
"""
VALUES = {
    "image": {"repository": "quay.example/team/app", "tag": ""},
    "reloader": {"repository": "quay.example/team/reloader", "tag": ""},
    "replicas": 1,
    "nodeSelector": {},
    "tolerations": [],
    "exporter": {"enabled": False, "image": "quay.example/team/exporter:1.0"},
}
SCHEMA = {"properties": {"logLevel": {"type": "string"}}}


def chart_files(
    name: str, version: str = "1.0.0", files: Mapping[str, object] | None = None
) -> dict[str, bytes]:
    """A chart by path below its folder. Text and bytes as they are, all else as JSON."""
    content: dict[str, object] = {
        "Chart.yaml": {"apiVersion": "v2", "name": name, "version": version, "appVersion": "9.8.7"},
        "values.yaml": VALUES,
        "values.schema.json": SCHEMA,
        "templates/deployment.yaml": DEPLOYMENT,
        **(files or {}),
    }
    found: dict[str, bytes] = {}
    for path, item in content.items():
        text = item if isinstance(item, str | bytes) else json.dumps(item)
        found[path] = text.encode() if isinstance(text, str) else text
    return found


def packed(name: str, files: Mapping[str, bytes]) -> bytes:
    """The chart as an archive, written with nothing of the project."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for path, data in files.items():
            member = tarfile.TarInfo(f"{name}/{path}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def chart(name: str, version: str = "1.0.0", files: Mapping[str, object] | None = None) -> bytes:
    """A chart archive."""
    return packed(name, chart_files(name, version, files))


def write_chart(
    folder: Path, name: str, version: str = "1.0.0", files: Mapping[str, object] | None = None
) -> Path:
    """A chart archive in ``folder``; ``files`` are further or other files, by path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{version}.tgz"
    path.write_bytes(chart(name, version, files))
    return path


def index(archives: Mapping[str, bytes]) -> bytes:
    """``index.yaml`` of a Helm repository; ``archives`` by their file name."""
    entries: dict[str, list[dict[str, object]]] = {}
    for file, data in archives.items():
        name, _, version = file.removesuffix(".tgz").rpartition("-")
        entry = {"apiVersion": "v2", "name": name, "version": version, "urls": [file]}
        entries.setdefault(name, []).append({**entry, "digest": hashlib.sha256(data).hexdigest()})
    return json.dumps({"apiVersion": "v1", "entries": entries}).encode()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextlib.contextmanager
def helm_repository(folder: Path, archives: Mapping[str, bytes]) -> Iterator[str]:
    """A Helm repository on loopback; its address."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.yaml").write_bytes(index(archives))
    for file, data in archives.items():
        (folder / file).write_bytes(data)
    handler = functools.partial(_Quiet, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def registry(folder: Path) -> Iterator[str]:
    """Debian's docker-registry on loopback, without TLS and without logins; host and port."""
    program = tool("docker-registry")
    folder.mkdir(parents=True, exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = {
        "version": 0.1,
        "log": {"level": "error"},
        "storage": {"filesystem": {"rootdirectory": str(folder / "storage")}},
        "http": {"addr": f"127.0.0.1:{port}", "secret": "x"},
    }
    (folder / "config.yml").write_text(json.dumps(config))
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [program, "serve", str(folder / "config.yml")], stdout=subprocess.DEVNULL, stderr=log
        )
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        else:
            raise AssertionError((folder / "log").read_text())
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=10)
