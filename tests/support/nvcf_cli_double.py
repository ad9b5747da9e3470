"""A double of nvcf-cli: a script that says what a file tells it, and notes how it was called."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from aicr.nvcf.fleet import Account
from nvcf_world import NCA

_SCRIPT = """\
#!{python}
import json, os, sys, time
folder = {folder!r}
with open(folder + "/asked.jsonl", "a") as file:
    environment = {{key: value for key, value in os.environ.items()}}
    environment["files"] = sorted(os.listdir(os.environ["HOME"]))
    file.write(json.dumps({{"words": sys.argv[1:], "environment": environment}}) + "\\n")
with open(folder + "/answers.json") as file:
    answers = json.load(file)
key = next((word for word in reversed(sys.argv) if word in answers), "")
answer = answers.get(key, {{"code": 1, "stderr": "API error 500: unknown to the double"}})
time.sleep(answer.get("hang", 0))
sys.stdout.write(answer.get("stdout", ""))
sys.stderr.write(answer.get("stderr", ""))
sys.exit(answer.get("code", 0))
"""


class NvcfCli:
    """Answers by the last word of the command that it knows: a version id, a task id, a status."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "nvcf-cli-double"
        self.folder.mkdir()
        self.path = self.folder / "nvcf-cli"
        self.path.write_text(_SCRIPT.format(python=sys.executable, folder=str(self.folder)))
        self.path.chmod(0o755)
        self.config = self.folder / "account.yaml"
        self.config.write_text("base_http_url: https://nvcf.example.com\n")
        self._answers: dict[str, Any] = {}
        self._write()
        for status in ("QUEUED", "LAUNCHED", "RUNNING"):
            self.tasks(status, 0)

    def account(self, invocation: object = None) -> Account:
        return Account(
            nca_id=NCA, nvcf_cli=str(self.path), config=str(self.config), invocation=invocation
        )

    def entry(self, **more: object) -> dict[str, object]:
        """The account's entry in a fleet file."""
        return {"ncaId": NCA, "nvcfCli": str(self.path), "config": str(self.config), **more}

    def says(self, key: str, stdout: str, *, code: int = 0, stderr: str = "") -> None:
        self._answers[key] = {"stdout": stdout, "code": code, "stderr": stderr}
        self._write()

    def refuse(self, key: str, stderr: str) -> None:
        self.says(key, "", code=1, stderr=stderr)

    def hang(self, key: str, seconds: float = 30) -> None:
        self._answers[key] = {"hang": seconds}
        self._write()

    def function(self, function: str, version: str, status: str, deployment: str = "") -> None:
        deployed = {"functionId": function, "functionVersionId": version, "ncaId": NCA,
                    "functionStatus": status, "deploymentId": deployment or None}  # fmt: skip
        self.says(version, json.dumps({"deployment": deployed}))

    def task(self, task: str, status: str) -> None:
        self.says(task, json.dumps({"task": {"id": task, "ncaId": NCA, "status": status}}))

    def tasks(self, status: str, count: int) -> None:
        found = [{"id": str(number), "status": status} for number in range(count)]
        self.says(status, json.dumps({"tasks": found}))

    def missing(self, function: str, version: str) -> None:
        detail = (
            f"Function id '{function}', version '{version}': Function deployment not found in "
            f"account '{NCA}'"
        )
        problem = {"type": "about:blank", "title": "Not Found", "status": 404, "detail": detail}
        self.refuse(
            version, f"failed to get deployment details: API error 404: {json.dumps(problem)}"
        )

    def asked(self) -> list[list[str]]:
        """The words of every call."""
        return [one["words"] for one in self._calls()]

    def environments(self) -> list[dict[str, Any]]:
        return [one["environment"] for one in self._calls()]

    def _calls(self) -> list[dict[str, Any]]:
        path = self.folder / "asked.jsonl"
        if not path.exists():
            return []
        return [json.loads(line) for line in path.read_text().splitlines()]

    def _write(self) -> None:
        (self.folder / "answers.json").write_text(json.dumps(self._answers))
