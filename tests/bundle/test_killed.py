"""``kill -9`` while a bundle is written: the old bundle or the new one, whole."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from pathlib import Path

from bundles import stack
from command import COMMAND, run_aicr

KILLS = 20
DEADLINE = 60.0


def test_twenty_kills_at_random_moments(tmp_path: Path) -> None:
    stack().write(tmp_path / "catalog")
    ask = ("recipe", "--service", "eks", "--catalog", "catalog", "-o", "r.yaml")
    assert run_aicr(*ask, cwd=tmp_path).returncode == 0
    common = ["bundle", "-r", "r.yaml", "--deployer", "helm", "--catalog", "catalog", "-o", "b"]
    begun = time.monotonic()
    assert run_aicr(*common, "--set", "oci:turn=start", cwd=tmp_path).returncode == 0
    whole_run = time.monotonic() - begun
    choose = random.Random(20)
    current = "start"
    finished = 0
    for turn in range(KILLS):
        words = [*COMMAND, *common, "--set", f"oci:turn=t{turn}"]
        process = subprocess.Popen(
            words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        # A file of the new bundle, or the end, tells that it writes; then a moment more.
        until = time.monotonic() + DEADLINE
        if choose.random() < 0.75:
            while not writing(tmp_path) and process.poll() is None and time.monotonic() < until:
                time.sleep(0.0005)
            time.sleep(choose.uniform(0, whole_run / 10))
        else:
            time.sleep(choose.uniform(0, whole_run))
        process.send_signal(signal.SIGKILL)
        finished += process.wait(DEADLINE) == 0
        verified = run_aicr("verify", "b", cwd=tmp_path)
        assert verified.returncode == 0, verified.stdout + verified.stderr
        (said,) = (
            line for line in (tmp_path / "b" / "001-oci" / "values.yaml").read_text().splitlines()
            if line.startswith("turn: ")
        )  # fmt: skip
        assert said in (f"turn: {current}", f"turn: t{turn}")
        current = said.removeprefix("turn: ")
    assert finished < KILLS
    assert run_aicr(*common, cwd=tmp_path).returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "catalog", "r.yaml"]


def writing(folder: Path) -> bool:
    """Whether there is something beside the bundle, which will be put into its place."""
    return any(path.name.startswith(".b.") for path in folder.iterdir())
