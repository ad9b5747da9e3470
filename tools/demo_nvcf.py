"""The incident of the runbook on a real NATS server, and what an operator sees: NATS restarts,
sequence 1 comes again, the old agent skips a new deployment; then the agent is corrected.

    python tools/demo_nvcf.py
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "support")]

from aicr.cli.main import main as aicr  # noqa: E402
from aicr.nvcf import drain  # noqa: E402
from aicr.nvcf.messages import read_message  # noqa: E402
from nats_servers import CREATION  # noqa: E402
from nvcf_cli_double import NvcfCli  # noqa: E402
from nvcf_world import (  # noqa: E402
    EAST,
    WEST,
    World,
    creation,
    recorded,
    request_of,
    started,
    subject_of,
)

ACK_WAIT = 2.0
SETTLE = "1"


class Agent:
    """The agent of the cluster east: up to 3.10.2 it skips a message whose id it has seen."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.corrected = False

    def version(self, version: str) -> None:
        store = self.world.doubles["east"].store
        for group, plural, items in (
            ("", "pods", recorded(f"icms/nvca-pods-{version}")["items"]),
            ("apps", "deployments", [recorded(f"icms/nvca-deployment-{version}")]),
            ("nvcf.nvidia.io", "nvcfbackends", [recorded(f"icms/nvcfbackend-{version}")]),
        ):
            kind = store.kind(group, plural)
            for old in store.all(kind):
                store.delete(kind, old["metadata"]["namespace"], old["metadata"]["name"])
            for item in items:
                for part in ("spec", "status"):
                    if "clusterConfig" in item.get(part, {}):
                        item[part]["clusterConfig"]["clusterID"] = EAST
                store.seed(kind, {key: item[key] for key in ("metadata", "spec", "status")})
        self.corrected = version == "3.10.3"

    def work(self) -> str:
        """Take what the stream delivers; a new request for each message that is not skipped."""
        store = self.world.doubles["east"].store
        labels = {
            one["metadata"]["labels"].get("SQSMessageID")
            for one in store.all(store.kind("nvca.nvcf.nvidia.io", "icmsrequests"))
        }
        said = []
        with self.world.servers.client() as client:
            run = self.world.servers.run
            pull = run(client.jetstream().pull_subscribe_bind(f"{CREATION}-{EAST}", CREATION))
            for message in run(pull.fetch(10, timeout=ACK_WAIT + 2)):
                sequence = message.metadata.sequence.stream
                fields: dict[str, Any] = json.loads(message.data)
                body = {"subject": message.subject, "seq": sequence, "data": ""}
                label = read_message(json.dumps(body).encode()).label
                if label in labels and not self.corrected:
                    said.append(f"message {sequence} skipped: its id is in use")
                    continue
                self.world.request("east", request_of(fields, sequence=sequence, label=label))
                run(message.ack_sync())
                said.append(f"message {sequence} is request {fields['requestId']}")
        return "; ".join(said)


def tell(text: str) -> None:
    print(f"\n### {text}", flush=True)


def show(*words: str) -> int:
    print(f"\n$ aicr {shlex.join(words)}", flush=True)
    code = aicr(list(words))
    print(f"(exit {code})", flush=True)
    return code


def expect(code: int, wanted: int) -> None:
    if code != wanted:
        raise SystemExit(f"demo: exit {code}, {wanted} was expected")


def story(world: World, folder: Path) -> None:
    cli = NvcfCli(folder)
    agent = Agent(world)
    agent.version("3.10.1")
    world.servers.nvca(EAST, WEST, ack_wait=ACK_WAIT)
    world.servers.functions(1)
    old, first = creation("old")
    world.servers.publish(subject_of(), first)
    tell(f"A function is deployed: {agent.work()}. It runs on for weeks.")
    world.servers.all[0].restart()
    world.servers.nvca(EAST, WEST, ack_wait=ACK_WAIT)
    world.servers.functions(1)
    new, second = creation("new")
    world.servers.publish(subject_of(), second)
    details = new["functionDetails"]
    cli.function(
        details["functionId"], details["functionVersionId"], "DEPLOYING",
        new["launchSpecification"]["deploymentId"],
    )  # fmt: skip
    tell(
        "NATS restarted, its memory streams were made again, and a new deployment is sequence 1 "
        f"too. Agent 3.10.1: {agent.work()}."
    )
    world.fleet(accounts=[cli.entry()])
    usual = ["--fleet", "fleet.yaml", "--record", "record"]
    tell("Callers are paused; the gate is asked. (--settle is 1 s here; it is at least 30 s.)")
    expect(show("nvcf", "drain", *usual, "--settle", SETTLE), 2)
    tell("Something is left: what is it?")
    expect(show("nvcf", "recover", "--fleet", "fleet.yaml", "--append", "record"), 2)
    expect(show("nvcf", "analyze", "record"), 2)
    tell("The gate holds, whatever anybody states.")
    gate = ["nvcf", "gate", *usual, "--settle", SETTLE, "--guide-gate-passed", "CHG-4711"]
    expect(show(*gate), 2)
    agent.version("3.10.3")
    time.sleep(ACK_WAIT + 0.5)
    tell(f"The agent is upgraded to 3.10.3, and one ack_wait later: {agent.work()}.")
    expect(show("nvcf", "drain", *usual, "--settle", SETTLE), 0)
    expect(show(*gate), 0)
    assert old["requestId"] != new["requestId"]
    world.servers.all[0].restart()
    world.servers.nvca(EAST, WEST, ack_wait=ACK_WAIT)
    world.servers.functions(1)
    tell(
        "Resume: NATS rolls, here its only server. The gate again: its memory is empty, and only "
        "you can say that nothing came after the last drained reading."
    )
    expect(show(*gate), 2)
    tell("Callers were paused all along, and the operator says so.")
    expect(show(*gate, "--callers-paused"), 0)
    tell("Done. Callers go on, then: aicr nvcf verify.")


def main() -> int:
    drain.LEAST_SETTLE = 1.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.chdir(folder)
        for world in started(folder, 1):
            story(world, folder)
        os.chdir(ROOT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
