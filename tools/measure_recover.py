"""How long a capture of many retained messages takes, and how much memory: a real loopback server,
as many requests in a cluster double, account answers aside.

    python tools/measure_recover.py [MESSAGES] [BYTES]
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "support")]

from kube_double_store import Page  # noqa: E402
from nvcf_world import EAST, WEST, World, creation, request_of, started, subject_of  # noqa: E402

# The command, and at its end its own peak (the caller's would count at the start) and CPU.
_COMMAND = """
import re, sys, time
from aicr.cli.main import main
main(sys.argv[1:])
with open("/proc/self/status") as file:
    peak = re.search(r"VmHWM:\\s+(\\d+)", file.read())[1]
print(peak, time.process_time(), file=sys.stderr)
"""
MOST_SECONDS = 60
MOST_MEBIBYTES = 250


def fill(world: World, count: int, size: int) -> None:
    """``count`` messages of about ``size`` bytes, and a request for each in the cluster east."""
    import nats

    async def publish() -> None:
        client: Any = await nats.connect(world.servers.all[0].url)
        subject = subject_of()
        for number in range(count):
            await client.publish(subject, message(number, size))
            if number % 1000 == 999:
                await client.flush(30)
        await client.flush(30)
        await client.close()

    asyncio.run(publish())
    store = world.doubles["east"].store
    kind = store.kind("nvca.nvcf.nvidia.io", "icmsrequests")
    for number in range(count):
        store.seed(kind, request_of(creation(str(number))[0], sequence=number + 1))
    end = time.monotonic() + 60
    while (
        world.servers.api("STREAM.INFO.CreateNvcaFunctionTaskStream")["state"]["messages"] < count
    ):
        assert time.monotonic() < end
        time.sleep(0.2)


def serve_pages(world: World) -> None:
    """The double sorts its whole store for each page; here pages are slices of a sorted list."""
    store = world.doubles["east"].store
    kind = store.kind("nvca.nvcf.nvidia.io", "icmsrequests")
    items = sorted(store.all(kind), key=lambda item: str(item["metadata"]["name"]))
    real = store.list

    def pages(of: Any, *more: Any, limit: int = 0, token: str = "", **others: Any) -> Page:
        if of != kind:
            return real(of, *more, limit=limit, token=token, **others)
        at = int(token or 0)
        after = str(at + limit) if at + limit < len(items) else ""
        return Page(items[at : at + limit], {"resourceVersion": "1", "continue": after})

    store.list = pages  # type: ignore[method-assign, assignment]


def message(number: int, size: int) -> bytes:
    fields, data = creation(str(number))
    fields["launchSpecification"]["environment"] = "x" * max(0, size - len(data))
    return json.dumps(fields).encode()


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 800
    folder = Path(tempfile.mkdtemp())
    for world in started(folder, 1):
        world.servers.nvca(EAST, WEST)
        print(f"{count} messages of {size} bytes, {count} requests", flush=True)
        fill(world, count, size)
        serve_pages(world)
        command = [
            sys.executable, "-c", _COMMAND, "nvcf", "recover", "--fleet", str(world.fleet()),
            "--record", str(folder / "record"), "--format", "json",
        ]  # fmt: skip
        start = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.monotonic() - start
        said = json.loads(done.stdout)
        peak, spent = done.stderr.splitlines()[-1].split()
        used = int(peak) / 1024
        print(f"capture: {said['capture']}, {said['problems']}, {said['counts']}")
        print(
            f"{seconds:.1f} s (at most {MOST_SECONDS}), {used:.0f} MiB (at most {MOST_MEBIBYTES})"
        )
        print(f"CPU of the command: {float(spent):.1f} s")
        good = seconds <= MOST_SECONDS and used <= MOST_MEBIBYTES
        return 0 if good and said["counts"] == {"in-progress": count} else 1
    return 1


if __name__ == "__main__":
    sys.exit(main())
