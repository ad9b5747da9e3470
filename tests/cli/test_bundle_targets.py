"""``aicr bundle`` into archives and registries, with charts, and ``aicr verify``."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import subprocess
import tarfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from aicr.artifact.oci import OciArtifact, parse_oci
from bundles import stack
from command import assert_fails, run_aicr
from small_catalog import SmallCatalog, helm
from small_charts import chart, helm_repository, registry, write_chart
from tools import tool


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with registry(tmp_path_factory.mktemp("registry")) as address:
        yield address


@pytest.fixture
def work(tmp_path: Path) -> Path:
    stack().write(tmp_path / "catalog")
    done = run_aicr(
        "recipe", "--service", "eks", "--catalog", "catalog", "-o", "r.yaml", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    write_chart(tmp_path / "charts", "chart", "1.2.3")
    write_chart(tmp_path / "charts", "oci-chart", "26.10")
    return tmp_path


def bundle(work: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    common = ["bundle", "-r", "r.yaml", "--deployer", "helm", "--catalog", "catalog"]
    return run_aicr(*common, *arguments, cwd=work)


def contents(root: Path) -> dict[str, tuple[bytes, bool]]:
    return {
        str(path.relative_to(root)): (path.read_bytes(), os.access(path, os.X_OK))
        for path in root.rglob("*")
        if path.is_file()
    }


def test_an_archive_is_the_folder(work: Path) -> None:
    assert bundle(work, "-o", "b").returncode == 0
    done = bundle(work, "-o", "b.tar.gz")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("b.tar.gz: 5 releases")
    assert "Next: unpack it and read README.md" in done.stdout
    (work / "out").mkdir()
    subprocess.run(["tar", "-xzf", "../b.tar.gz"], cwd=work / "out", check=True)
    assert contents(work / "out") == contents(work / "b")
    before = (work / "b.tar.gz").read_bytes()
    assert bundle(work, "-o", "b.tar.gz").returncode == 0
    assert (work / "b.tar.gz").read_bytes() == before
    assert run_aicr("verify", "b.tar.gz", cwd=work).returncode == 0


def test_a_file_of_others_is_refused(work: Path) -> None:
    (work / "b.tgz").write_bytes(gzip.compress(b"thesis"))
    assert_fails(bundle(work, "-o", "b.tgz", "--overwrite"), 2, "this tool did not write")
    assert gzip.decompress((work / "b.tgz").read_bytes()) == b"thesis"


def test_a_changed_archive_needs_overwrite(work: Path) -> None:
    assert bundle(work, "-o", "b.tgz").returncode == 0
    (work / "out").mkdir()
    subprocess.run(["tar", "-xzf", "../b.tgz"], cwd=work / "out", check=True)
    (work / "out" / "deploy.sh").write_text("mine")
    subprocess.run(["tar", "-czf", "../b.tgz", "."], cwd=work / "out", check=True)
    assert_fails(bundle(work, "-o", "b.tgz"), 2, "b.tgz: changed since it was written")
    assert bundle(work, "-o", "b.tgz", "--overwrite").returncode == 0


def test_a_registry(work: Path, host: str) -> None:
    target = f"oci://{host}/gpu/bundle:v1"
    done = bundle(work, "-o", target, "--plain-http")
    assert done.returncode == 0, done.stderr
    digest = done.stdout.partition("@")[2].partition(": ")[0]
    assert len(digest) == len("sha256:") + 64
    again = bundle(work, "-o", target, "--plain-http")
    assert again.stdout == done.stdout
    kind = {"Accept": "application/vnd.oci.image.manifest.v1+json"}
    tag = urllib.request.Request(f"http://{host}/v2/gpu/bundle/manifests/v1", headers=kind)
    with urllib.request.urlopen(tag) as answer:
        manifest = answer.read()
        assert answer.headers["Docker-Content-Digest"] == digest
    assert f"sha256:{hashlib.sha256(manifest).hexdigest()}" == digest
    document = json.loads(manifest)
    assert document["artifactType"] == "application/vnd.aicr.bundle.v1"
    layer = document["layers"][0]["digest"]
    with urllib.request.urlopen(f"http://{host}/v2/gpu/bundle/blobs/{layer}") as answer:
        data = answer.read()
    assert bundle(work, "-o", "b.tar.gz").returncode == 0
    assert data == (work / "b.tar.gz").read_bytes()
    for location in (target, f"oci://{host}/gpu/bundle@{digest}"):
        verified = run_aicr("verify", location, "--plain-http")
        assert verified.returncode == 0, verified.stderr
        assert "intact" in verified.stdout
    other = bundle(work, "-o", target, "--plain-http", "--set", "oci:enabled=false")
    assert other.returncode == 0
    assert digest not in other.stdout


def test_what_is_no_bundle_in_a_registry_stays(work: Path, host: str) -> None:
    location = f"oci://{host}/other/image:v1"
    other = OciArtifact(parse_oci(location, ""), location, plain_http=True)
    other.push(b"layer", artifact_type="application/vnd.example", title="x")
    done = bundle(work, "-o", location, "--plain-http")
    assert_fails(done, 2, "is there already, and is no bundle")
    read = run_aicr("verify", location, "--plain-http")
    assert_fails(read, 2, "expected an artifact of the type")


@pytest.mark.parametrize(
    ("output", "code", "says"),
    [
        ("oci://{host}/gpu/bundle", 2, "has no tag"),
        ("oci://gpu/Bundle:v1", 2, "expected oci://HOST/REPOSITORY:TAG"),
        ("s3://bucket/x", 2, "s3:// is not written to"),
        ("oci://127.0.0.1:1/gpu/bundle:v1", 6, "cannot be reached"),
    ],
)
def test_wrong_targets(work: Path, host: str, output: str, code: int, says: str) -> None:
    done = bundle(work, "-o", output.format(host=host), "--plain-http")
    assert_fails(done, code, says)
    assert sorted(path.name for path in work.iterdir()) == ["catalog", "charts", "r.yaml"]


def test_without_plain_http_the_hint_says_so(work: Path, host: str) -> None:
    done = bundle(work, "-o", f"oci://{host}/gpu/bundle:v1")
    assert_fails(done, 6, "--plain-http")


def test_nothing_of_that_name(host: str) -> None:
    done = run_aicr("verify", f"oci://{host}/gpu/nothing:v1", "--plain-http")
    assert_fails(done, 3, "there is nothing of that name")


def test_vendoring_from_a_folder_needs_no_helm_and_no_network(work: Path, tmp_path: Path) -> None:
    common = ["bundle", "-r", "r.yaml", "--deployer", "helm", "--catalog", "catalog"]
    vendor = ["--vendor-charts", "--charts-dir", "charts", "-o", "b"]
    (tmp_path / "bin").mkdir()
    done = run_aicr(*common, *vendor, cwd=work, env={"PATH": str(tmp_path / "bin")})
    assert done.returncode == 0, done.stderr
    assert (work / "b" / "vendor" / "chart-1.2.3.tgz").is_file()
    assert "vendorCharts" in (work / "b" / "bundle-info.yaml").read_text()
    assert run_aicr("verify", "b", cwd=work).returncode == 0
    archive = work / "b" / "vendor" / "chart-1.2.3.tgz"
    archive.write_bytes(archive.read_bytes() + b"\0")
    changed = run_aicr("verify", "b", cwd=work)
    assert changed.returncode == 2
    assert "changed  vendor/chart-1.2.3.tgz" in changed.stdout
    assert "provenance.yaml: vendor/chart-1.2.3.tgz has not the digest" in changed.stdout


def test_vendoring_from_a_helm_repository(tmp_path: Path) -> None:
    archive = chart("app")
    path = os.path.dirname(tool("helm", "HELM_BIN")) + os.pathsep + os.environ["PATH"]
    with helm_repository(tmp_path / "repo", {"app-1.0.0.tgz": archive}) as address:
        entry = helm("app")
        where = {"defaultRepository": address, "defaultChart": "app", "defaultVersion": "1.0.0"}
        catalog = SmallCatalog().registry({**entry, "helm": where})
        catalog.overlay("base", componentRefs=[])
        catalog.overlay("eks", criteria={"service": "eks"}, componentRefs=[{"name": "app"}])
        catalog.write(tmp_path / "catalog")
        ask = ("recipe", "--service", "eks", "--catalog", "catalog", "-o", "r.yaml")
        assert run_aicr(*ask, cwd=tmp_path).returncode == 0
        common = ["bundle", "-r", "r.yaml", "--deployer", "helm", "--catalog", "catalog"]
        done = run_aicr(*common, "--vendor-charts", cwd=tmp_path, env={"PATH": path})
    assert done.returncode == 0, done.stderr
    vendor = tmp_path / "bundles" / "vendor" / "app-1.0.0.tgz"
    assert vendor.read_bytes() == archive
    (listed,) = yaml.safe_load((tmp_path / "bundles" / "provenance.yaml").read_text())["charts"]
    assert listed["source"] == listed["origin"] == address
    assert listed["sha256"] == hashlib.sha256(archive).hexdigest()
    # The repository is gone now.
    again = run_aicr(*common, "--vendor-charts", "-o", "c", cwd=tmp_path, env={"PATH": path})
    assert_fails(again, 6, "helm pull failed")
    assert not (tmp_path / "c").exists()


def escaping() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        tar.addfile(tarfile.TarInfo("chart/../../../tmp/escaped"))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (escaping(), "leads out of the archive"),
        (gzip.compress(bytes(200_000_000), 9, mtime=0), "unpacks to more than"),
    ],
    ids=["traversal", "bomb"],
)
def test_hostile_charts_are_refused_and_named(work: Path, data: bytes, says: str) -> None:
    (work / "charts" / "chart-1.2.3.tgz").write_bytes(data)
    done = bundle(work, "--vendor-charts", "--charts-dir", "charts", "-o", "b")
    assert_fails(done, 2, "chart-1.2.3.tgz", says)
    assert not (work / "b").exists()


def test_a_huge_values_file_is_refused_and_named(work: Path) -> None:
    values = work / "catalog" / "components" / "chart" / "values.yaml"
    values.write_bytes(b"x: " + b"y" * 50_000_000)
    assert_fails(bundle(work, "-o", "b"), 2, "components/chart/values.yaml", "larger than")
    assert not (work / "b").exists()


def test_overrides_that_the_chart_does_not_know(work: Path) -> None:
    sets = ["--set", "chart:image.tga=1", "--set", "chart:replicas=2", "--set", "plain:any=1"]
    done = bundle(work, "--charts-dir", "charts", *sets, "-o", "b")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "does not know" in line]
    (line,) = lines
    assert line.startswith("aicr: warning: --set chart:image.tga=1: the chart chart 1.2.3 does not")
    assert line.endswith("know the value image.tga; the nearest one is image.tag")
    assert not (work / "b" / "vendor").exists()
    assert bundle(work, *sets, "-o", "c").stderr.count("does not know") == 0


def test_verify_as_json(work: Path) -> None:
    assert bundle(work, "-o", "b").returncode == 0
    (work / "b" / "extra").write_text("x")
    done = run_aicr("verify", "b", "--format", "json", cwd=work)
    assert done.returncode == 2
    found = json.loads(done.stdout)
    assert found["intact"] is False
    assert found["extra"] == ["extra"]
    assert_fails(run_aicr("verify", "nowhere"), 2, "there is no such folder or file")
