"""Measures the cold commands and the hot loops, as ratios in one run.

A cold command is a whole process: its CPU time is divided by that of ``python -c pass`` of the
same environment, run in turn with it, and the median of the ratios is printed. Run it with the
interpreter of the environment that has aicr installed: ``make bench``.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from statistics import median

from aicr.artifact.deployers import DEPLOYERS
from aicr.recipe.model import Recipe

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RUNS = int(os.environ.get("AICR_BENCH_RUNS", "15"))
EXAMPLE = os.path.join(ROOT, "examples", "eks-h100-training-v0.20.0.yaml")
CRITERIA = ["--service", "eks", "--accelerator", "h100", "--intent", "training"]


def spent(command: list[str], folder: str) -> tuple[float, float]:
    """CPU seconds and peak memory (MiB) of one run."""
    pid = os.fork()
    if pid == 0:
        os.chdir(folder)
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        os.execv(command[0], command)
    _, _, usage = os.wait4(pid, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def cold(name: str, command: list[str], bound: str, folder: str, *, makes: str = "") -> None:
    """Print the ratio of a command to a bare interpreter; what it ``makes`` is removed before."""
    bare = [sys.executable, "-c", "pass"]
    spent(command, folder)
    ratios, seconds, peaks = [], [], []
    for _ in range(RUNS):
        base, _ = spent(bare, folder)
        if makes:
            shutil.rmtree(os.path.join(folder, makes))
        own, peak = spent(command, folder)
        ratios.append(own / base)
        seconds.append(own)
        peaks.append(peak)
    print(
        f"| `{name}` | {median(ratios):.2f} | {bound} | {median(seconds) * 1000:.0f} ms "
        f"| {max(peaks):.1f} MiB |"
    )


def cold_table(aicr: str) -> None:
    print("| cold command | CPU / bare python | bound | CPU | peak memory |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        new = os.path.join(folder, "new-recipe.yaml")
        subprocess.run([aicr, "recipe", *CRITERIA, "-o", new], check=True)
        cold("aicr --help", [aicr, "--help"], "2.5", folder)
        cold("aicr recipe", [aicr, "recipe", *CRITERIA], "4", folder)
        check = [aicr, "upgrade-check", "--from", EXAMPLE, "--to", new, "--deployer", "helm"]
        cold("aicr upgrade-check", check, "5", folder)
        for name in DEPLOYERS:
            bundle = [aicr, "bundle", "-r", new, "--deployer", name, "-o", "bundles"]
            shutil.rmtree(os.path.join(folder, "bundles"), ignore_errors=True)
            cold(f"aicr bundle --deployer {name}", bundle, "5", folder, makes="bundles")
        cold("the same over the bundle that is there", bundle, "-", folder)
        public = os.environ.get("AICR_PUBLIC_TOOL")
        if public:
            cold("public tool: recipe", [public, "recipe", *CRITERIA], "-", folder)


def rate(action: Callable[[], int], seconds: float = 1.0) -> float:
    """How many a second, where ``action`` says how many it did."""
    action()
    done, start = 0, time.process_time()
    while (spent_so_far := time.process_time() - start) < seconds:
        done += action()
    return done / spent_so_far


def hot_table() -> None:
    from aicr.catalog.open import open_catalog
    from aicr.recipe.listing import resolvable
    from aicr.recipe.resolve import resolve
    from aicr.upgrade.check import Rules, compare
    from aicr.upgrade.inventory import inventory_of
    from aicr.upgrade.records import load_records

    catalog = open_catalog()
    criteria = [found for found, _ in resolvable(catalog)]

    def resolutions() -> int:
        for one in criteria:
            resolve(catalog, one)
        return len(criteria)

    old, new = _past(), resolve(catalog, next(c for c in criteria if _is_demo(c.stated())))
    before, after = inventory_of(old.components), inventory_of(new.components)
    rules = Rules(load_records(catalog, sorted(after)), catalog.releases)

    def comparisons() -> int:
        for _ in range(100):
            compare(before, after, rules, deployer="helm")
        return 100 * len(before.keys() | after.keys())

    print("\n| hot loop, one process | a CPU second | bound |")
    print("|---|---|---|")
    count = len(criteria)
    print(f"| resolutions over {count} criteria | {rate(resolutions):,.0f} | 2,000 |")
    print(f"| component comparisons | {rate(comparisons):,.0f} | 100,000 |")


def _is_demo(stated: dict[str, str]) -> bool:
    return stated == {"service": "eks", "accelerator": "h100", "intent": "training"}


def _past() -> Recipe:
    from aicr.recipe.document import read_recipe

    with open(EXAMPLE, "rb") as file:
        return read_recipe(file.read(), EXAMPLE)


def sizes_table() -> None:
    """Loading is linear: seconds and memory as the input doubles."""
    from aicr.recipe.document import read_recipe

    print("\n| recipe of | CPU | peak of the parsed tree / size |")
    print("|---|---|---|")
    for target in (1, 2, 5):
        text = _large_recipe(target * 1_000_000)
        start = time.process_time()
        read_recipe(text, "large.yaml")
        seconds = time.process_time() - start
        tracemalloc.start()
        read_recipe(text, "large.yaml")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(f"| {len(text) / 1e6:.1f} MB | {seconds:.2f} s | {peak / len(text):.1f} |")
    catalogs_table()


def _large_recipe(size: int) -> bytes:
    head = "kind: RecipeResult\ncriteria: {service: eks}\ncomponentRefs:\n"
    parts, length, index = [head], len(head), 0
    while length < size:
        parts.append(
            f"  - name: component-{index}\n    namespace: space-{index}\n    chart: chart\n"
            f"    type: Helm\n    source: https://charts.example.com/stable\n"
            f"    version: 1.{index}.0\n    overrides:\n      replicas: {index}\n"
            f"      image: {{repository: registry.example.com/a/b, tag: v{index}}}\n"
        )
        length += len(parts[-1])
        index += 1
    return "".join(parts).encode()


def catalogs_table() -> None:
    from aicr.catalog.open import open_catalog

    print("\n| catalog of | size | CPU, first | CPU, compiled | peak memory / size |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        for count in (1250, 2500, 5000):
            root = os.path.join(folder, str(count))
            size = _large_catalog(root, count)
            times = []
            for _ in range(2):
                start = time.process_time()
                assert len(open_catalog(catalog=root).registry) == count
                times.append(time.process_time() - start)
            tracemalloc.start()
            opened = open_catalog(catalog=root)
            assert len(opened.registry) == count
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            print(
                f"| {count:,} components | {size / 1e6:.1f} MB | {times[0]:.2f} s "
                f"| {times[1]:.2f} s | {peak / size:.1f} |"
            )


def _large_catalog(root: str, count: int) -> int:
    """A catalog of ``count`` components with values and records; gives its size in bytes."""
    files = {
        "registry.yaml": "kind: ComponentRegistry\ncomponents:\n" + "".join(
            f"  - name: c{i}\n    helm:\n      defaultRepository: https://charts.example.com\n"
            f"      defaultChart: c{i}\n      defaultVersion: 1.{i}.0\n"
            f"      defaultNamespace: n{i}\n    upgrades: {{file: components/c{i}/upgrades.yaml}}\n"
            for i in range(count)
        ),
        "overlays/base.yaml": "kind: RecipeMetadata\nmetadata: {name: base}\nspec:\n"
        "  criteria: {service: eks}\n  componentRefs:\n" + "".join(
            f"    - {{name: c{i}, valuesFile: components/c{i}/values.yaml}}\n"
            for i in range(count)
        ),
    }  # fmt: skip
    for i in range(count):
        files[f"components/c{i}/values.yaml"] = f"replicas: {i}\nimage: {{tag: v{i}}}\n"
        files[f"components/c{i}/upgrades.yaml"] = (
            f"apiVersion: aicr.run/v1beta1\nkind: ComponentUpgrades\ncomponent: c{i}\n"
            "transitions:\n  - from: '<1.0.0'\n    to: '>=1.0.0 <=1.9.0'\n    verdict: safe\n"
            "    summary: none\n    verifiedBy: nobody\n"
        )
    for path, text in files.items():
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)
    return sum(len(text) for text in files.values())


def main() -> None:
    if len(sys.argv) != 3 or sys.argv[1] != "--aicr":
        sys.exit("usage: bench.py --aicr PATH-OF-THE-COMMAND")
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} processors, median of {RUNS} runs\n")
    cold_table(os.path.abspath(sys.argv[2]))
    hot_table()
    sizes_table()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nPeak memory of this whole run: {peak:.0f} MiB")


if __name__ == "__main__":
    main()
