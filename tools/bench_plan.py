"""Measures plans and fleets: functions for the benchmark, and a table by itself.

A synthetic catalog has components with recorded boundaries and a history of releases; fleets are
recipes of 40 of them. Run it with the interpreter of the environment that has aicr installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

COMPONENTS = 40
RELEASES = 30
FLEETS = (10, 100, 1000, 10000)


def write_catalog(root: str) -> None:
    """A catalog of 40 components whose records have a boundary at every fifth minor version."""
    names = [f"component-{i:02}" for i in range(COMPONENTS)]
    files = {
        "registry.yaml": "kind: ComponentRegistry\napiVersion: aicr.run/v1beta1\ncomponents:\n"
        + "".join(
            f"  - name: {name}\n    helm:\n      defaultRepository: https://charts.example.com\n"
            f"      defaultChart: {name}\n      defaultVersion: 1.{RELEASES}.0\n"
            f"      defaultNamespace: {name}\n"
            f"    upgrades: {{file: components/{name}/upgrades.yaml}}\n"
            for name in names
        ),
        "overlays/base.yaml": "kind: RecipeMetadata\napiVersion: aicr.run/v1beta1\n"
        "metadata: {name: base}\nspec:\n  criteria: {service: eks}\n  componentRefs:\n"
        + "".join(f"    - {{name: {name}}}\n" for name in names),
        "releases.yaml": "apiVersion: aicr.run/v1beta1\nkind: ReleaseHistory\nreleases:\n"
        + "".join(
            f"  - name: v0.{r}.0\n    pins:\n"
            + "".join(f'      {name}: "1.{r}.0"\n' for name in names)
            for r in range(1, RELEASES + 1)
        ),
    }
    for name in names:
        files[f"components/{name}/upgrades.yaml"] = (
            f"apiVersion: aicr.run/v1beta1\nkind: ComponentUpgrades\ncomponent: {name}\n"
            "transitions:\n"
            + "".join(
                f"  - from: '>=1.{r - 5}.0 <1.{r}.0'\n    to: '>=1.{r}.0 <=1.{r + 4}.9'\n"
                "    verdict: manual\n    summary: A boundary.\n"
                "    stepsByDeployer: [{steps: [{id: look, description: Look.}]}]\n"
                for r in range(5, RELEASES + 1, 5)
            )
        )
    for path, text in files.items():
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)


def recipe_text(seed: int) -> str:
    """A recipe of all components, each at what some release pinned."""
    head = (
        "kind: RecipeResult\napiVersion: aicr.run/v1beta1\nmetadata:\n  version: v0.1.0\n"
        "criteria:\n  service: eks\ncomponentRefs:\n"
    )
    parts = [head]
    for i in range(COMPONENTS):
        name = f"component-{i:02}"
        parts.append(
            f"  - name: {name}\n    namespace: {name}\n    chart: {name}\n    type: Helm\n"
            f"    source: https://charts.example.com\n"
            f"    version: 1.{(seed * (i + 1) + seed // 7) % RELEASES}.0\n"
        )
    return "".join(parts)


def write_fleet(folder: str, count: int) -> None:
    os.makedirs(folder, exist_ok=True)
    for seed in range(count):
        with open(os.path.join(folder, f"c{seed:05}.yaml"), "w", encoding="utf-8") as file:
            file.write(recipe_text(seed))


def spent(command: list[str]) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak memory (MiB) of one run."""
    start = time.monotonic()
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        os.execv(command[0], command)
    _, _, usage = os.wait4(pid, 0)
    wall = time.monotonic() - start
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def fleet_curve(aicr: list[str], folder: str) -> list[tuple[int, float, float, float]]:
    """(recipes, wall, CPU, MiB) of ``fleet check`` for each size, cold."""
    catalog = os.path.join(folder, "catalog")
    write_catalog(catalog)
    found = []
    for count in FLEETS:
        recipes = os.path.join(folder, f"fleet-{count}")
        write_fleet(recipes, count)
        command = [*aicr, "fleet", "check", recipes, "--deployer", "helm", "--catalog", catalog]
        if count == FLEETS[0]:
            subprocess.run(command, check=False, capture_output=True)  # compiles the catalog
        found.append((count, *spent(command)))
    return found


def plan_seconds(folder: str) -> dict[str, float]:
    """CPU seconds of each kind of plan on top of the check, 40 components over 30 releases."""
    from aicr.catalog.open import open_catalog
    from aicr.recipe.criteria import Criteria
    from aicr.recipe.document import read_recipe
    from aicr.recipe.resolve import resolve
    from aicr.upgrade.check import check
    from aicr.upgrade.plan import MODES, make_plan
    from aicr.upgrade.sides import Side

    catalog = open_catalog(catalog=os.path.join(folder, "catalog"))
    old = Side("old", read_recipe(recipe_text(0), "old.yaml"))
    new = Side("new", resolve(catalog, Criteria.of({"service": "eks"})))
    report = check(old, new, catalog, deployer="helm")
    found: dict[str, float] = {}
    for mode in MODES:
        times = []
        for _ in range(5):
            start = time.process_time()
            plan = make_plan(report, old, new, catalog, mode=mode)
            times.append(time.process_time() - start)
            assert len(plan.stages) > 1, (mode, plan.closed)
        found[mode] = sorted(times)[2]
    return found


def main(arguments: list[str]) -> None:
    aicr = arguments or [sys.executable, "-m", "aicr"]
    with tempfile.TemporaryDirectory() as folder:
        print("| recipes of 40 components | wall | CPU | peak memory |")
        print("|---|---|---|---|")
        for count, wall, cpu, peak in fleet_curve(aicr, folder):
            print(f"| {count:,} | {wall:.2f} s | {cpu:.2f} s | {peak:.0f} MiB |")
        print("\n| plan, 40 components over 30 releases | on top of the check | bound |")
        print("|---|---|---|")
        for mode, seconds in plan_seconds(folder).items():
            print(f"| `--stages {mode}` | {seconds * 1000:.1f} ms | 50 ms |")


if __name__ == "__main__":
    main(sys.argv[1:])
