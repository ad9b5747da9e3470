"""Measures many bundles in one process: time, and whether memory stays flat, for each deployer.

The recipe is read once; each bundle is built and written over the one before, as ``aicr bundle``
does it. Memory is what Python's own objects take after ten bundles and after all of them.
"""

from __future__ import annotations

import gc
import os
import resource
import tempfile
import time
import tracemalloc
from collections.abc import Callable

from aicr.artifact.atomic import replace_directory
from aicr.bundle.build import Request, build_bundle
from aicr.bundle.layout import SIGN
from aicr.bundle.writers import WRITERS
from aicr.catalog.open import open_catalog
from aicr.recipe.criteria import Criteria
from aicr.recipe.resolve import resolve

COUNT = 200
ROUNDS = 10


def bundler(deployer: str, target: str) -> Callable[[], None]:
    """What writes one bundle."""
    catalog = open_catalog()
    recipe = resolve(catalog, Criteria(service="eks", accelerator="h100", intent="training"))
    request = Request(deployer)

    def write() -> None:
        bundle = build_bundle(recipe, catalog, request, where="recipe.yaml")
        replace_directory(target, bundle.files, sign=SIGN)

    return write


def measured(write: Callable[[], None]) -> tuple[float, float, float]:
    """CPU and wall seconds of ``COUNT`` bundles, and CPU where all rounds are as the lowest one:
    other work on the machine makes some of them slow."""
    rounds: list[float] = []
    begun = time.perf_counter()
    for _ in range(ROUNDS):
        cpu = time.process_time()
        for _ in range(COUNT // ROUNDS):
            write()
        rounds.append(time.process_time() - cpu)
    return sum(rounds), time.perf_counter() - begun, min(rounds) * ROUNDS


def growth(write: Callable[[], None]) -> float:
    """KiB that are held after ``COUNT`` bundles and were not after ten."""
    tracemalloc.start()
    held: list[int] = []
    for number in range(1, COUNT + 1):
        write()
        if number in (10, COUNT):
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    return (held[1] - held[0]) / 1024


def main() -> None:
    print(f"\n| {COUNT} bundles in one process | CPU | lowest | wall | bound | memory held more |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for deployer in WRITERS:
            write = bundler(deployer, os.path.join(folder, deployer))
            write()
            cpu, wall, lowest = measured(write)
            more = growth(write)
            print(
                f"| {deployer} | {cpu:.1f} s | {lowest:.1f} s | {wall:.1f} s | 10 s "
                f"| {more:.0f} KiB |"
            )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nPeak memory of this whole run: {peak:.0f} MiB")


if __name__ == "__main__":
    main()
