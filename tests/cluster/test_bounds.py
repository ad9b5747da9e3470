"""How much time and memory a large cluster may cost."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from kube_double import KubeDouble
from kube_double_helm import record, stored

MIB = 1024 * 1024
pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the peak of a process cannot be read here"
)


class Run(NamedTuple):
    code: int
    out: str
    err: str
    cpu: float
    peak: int


def aicr(double: KubeDouble, *arguments: str) -> Run:
    """A command in a process of its own: CPU seconds and the peak of its memory in bytes."""
    environment = dict(os.environ, KUBECONFIG=str(double.kubeconfig()))
    program = (
        "import resource, sys\n"
        "from aicr.cli.main import main\n"
        "code = main(sys.argv[1:])\n"
        "usage = resource.getrusage(resource.RUSAGE_SELF)\n"
        # ru_maxrss would count the parent too: what was there before exec.
        "peak = next(l.split()[1] for l in open('/proc/self/status') if 'VmHWM' in l)\n"
        "sys.stderr.write(f'\\n{usage.ru_utime + usage.ru_stime} {peak}')\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    said, _, measured = done.stderr.rpartition("\n")
    cpu, peak = measured.split()
    return Run(done.returncode, done.stdout, said, float(cpu), int(peak) * 1024)


def seed(double: KubeDouble, releases: int, revisions: int, size: int) -> None:
    """Releases whose records hold ``size`` bytes that do not compress."""
    secrets = double.store.kind("", "secrets")
    noise = random.Random(7).randbytes(size // 2).hex()
    for number in range(releases):
        name, namespace = f"release-{number:03d}", f"namespace-{number % 20:02d}"
        for revision in range(1, revisions + 1):
            state = "deployed" if revision == revisions else "superseded"
            one = record(name, namespace, revision, status=state, version=f"1.0.{revision}")
            one["manifest"] = noise
            double.store.seed(secrets, stored(one))


def test_two_hundred_releases_of_ten_revisions(bare: KubeDouble) -> None:
    seed(bare, 200, 10, 8 * 1024)
    done = aicr(bare, "inventory", "--format", "json", "--allow-empty")
    found = json.loads(done.out)
    assert done.code == 0, done.err
    assert {one["version"] for one in found["others"]} == {"1.0.10"}
    assert (len(found["others"]), found["source"]["helmRecords"]) == (200, 2000)
    assert len([one for one in bare.requests if one.verb == "get"]) == 200
    print(f"200 releases of ten revisions: {done.cpu:.2f} s of CPU, {done.peak / MIB:.0f} MiB")
    assert done.cpu <= 3.0
    assert done.peak <= 120 * MIB


def test_ten_thousand_secrets_of_which_thirty_are_releases(bare: KubeDouble) -> None:
    secrets = bare.store.kind("", "secrets")
    filler = "x" * 4096
    for number in range(10_000):
        meta = {"name": f"secret-{number:05d}", "namespace": f"namespace-{number % 20:02d}"}
        bare.store.seed(secrets, {"metadata": meta, "data": {"a": filler}, "type": "Opaque"})
    seed(bare, 30, 1, 8 * 1024)
    done = aicr(bare, "inventory", "--format", "json", "--allow-empty")
    assert done.code == 0, done.err
    assert len(json.loads(done.out)["others"]) == 30
    assert {one.query.get("labelSelector") for one in bare.requests if one.verb == "list"} == {
        "owner=helm"
    }
    print(f"30 releases of 10,000 Secrets: {done.cpu:.2f} s of CPU, {done.peak / MIB:.0f} MiB")
    assert done.peak <= 120 * MIB


def test_releases_of_a_mebibyte(bare: KubeDouble) -> None:
    seed(bare, 8, 10, MIB)
    done = aicr(bare, "inventory", "--format", "json", "--allow-empty")
    assert done.code == 0, done.err
    found = json.loads(done.out)["others"]
    assert {one["version"] for one in found} == {"1.0.10"}
    assert len(found) == 8
    print(f"8 releases of a mebibyte: {done.cpu:.2f} s of CPU, {done.peak / MIB:.0f} MiB")
    assert done.peak <= 120 * MIB
