"""Charts in a folder on disk."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from aicr.charts.source import Charts
from aicr.errors import AicrError
from small_charts import chart_files, write_chart

SOURCE = "https://charts.example/x"


def get(folder: Path, name: str = "app", version: str = "1.0.0") -> object:
    return Charts(str(folder)).get(SOURCE, name, version)


def test_an_archive(tmp_path: Path) -> None:
    path = write_chart(tmp_path, "app")
    found = Charts(str(tmp_path)).get(SOURCE, "app", "v1.0.0")
    assert (found.name, found.version) == ("app", "1.0.0")
    assert found.data == path.read_bytes()
    assert found.digest == f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    assert "templates/deployment.yaml" in found.files
    assert found.origin == "charts folder"


def test_under_another_name(tmp_path: Path) -> None:
    write_chart(tmp_path, "app").rename(tmp_path / "whatever.tgz")
    (tmp_path / "broken.tgz").write_bytes(b"no archive")
    (tmp_path / "notes.txt").write_text("x")
    assert Charts(str(tmp_path)).get(SOURCE, "app", "1.0.0").name == "app"


def test_a_folder_is_packed_alike_each_time(tmp_path: Path) -> None:
    data = []
    for turn in ("one", "two"):
        for path, content in chart_files("app").items():
            file = tmp_path / turn / "app" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        (tmp_path / turn / "app" / ".git").mkdir()
        (tmp_path / turn / "app" / ".git" / "HEAD").write_text(turn)
        found = Charts(str(tmp_path / turn)).get(SOURCE, "app", "1.0.0")
        assert found.origin == "charts folder (packed from a folder)"
        data.append(found.data)
    assert data[0] == data[1]
    names = tarfile.open(fileobj=io.BytesIO(data[0])).getnames()  # noqa: SIM115
    assert names == sorted(f"app/{path}" for path in chart_files("app"))


def test_what_is_not_there_is_said_with_what_is(tmp_path: Path) -> None:
    write_chart(tmp_path, "app", "2.0.0")
    with pytest.raises(AicrError, match=r"app 1\.0\.0 is not in .*: it has app 2\.0\.0"):
        get(tmp_path)
    with pytest.raises(AicrError, match="it has no chart other"):
        get(tmp_path, "other")
    with pytest.raises(AicrError, match=r"--charts-dir .*nowhere: there is no such folder"):
        Charts(str(tmp_path / "nowhere"))


def test_bad_charts_are_named(tmp_path: Path) -> None:
    path = tmp_path / "app-1.0.0.tgz"
    path.write_bytes(gzip.compress(bytes(200_000_000), 9))
    with pytest.raises(AicrError, match=r"app-1\.0\.0\.tgz: unpacks to more"):
        get(tmp_path)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        tar.addfile(tarfile.TarInfo("app/../../../etc/cron.d/x"))
    path.write_bytes(buffer.getvalue())
    with pytest.raises(AicrError, match=r"app-1\.0\.0\.tgz: .*leads out"):
        get(tmp_path)
    write_chart(tmp_path, "app", files={"values.yaml": b"x: " + b"y" * 50_000_000})
    with pytest.raises(AicrError, match=r'"app/values\.yaml" has 50000003 bytes'):
        get(tmp_path)
    write_chart(tmp_path, "app", files={"Chart.yaml": {"name": "../x", "version": "1.0.0"}})
    with pytest.raises(AicrError, match=r"Chart\.yaml: has no name and version"):
        get(tmp_path)


def test_a_link_in_a_chart_folder_is_not_followed(tmp_path: Path) -> None:
    for path, content in chart_files("app").items():
        file = tmp_path / "app" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    (tmp_path / "app" / "secret").symlink_to("/etc/passwd")
    with pytest.raises(AicrError, match="secret: is a link"):
        get(tmp_path)
