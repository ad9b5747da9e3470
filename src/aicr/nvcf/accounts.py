"""What the owning account still wants: nvcf-cli asked once for each function version or task.

The client runs with a throw-away home that holds copies of its state files, and without any
``NVCF_*`` variable. Its configuration must be there and be readable: without one it would ask the
hosted service instead.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile

from aicr.documents.nodes import Map
from aicr.documents.reader import read_yaml
from aicr.errors import AicrError
from aicr.nvcf import allow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from aicr.nvcf.fleet import Account

_STATUS = re.compile(r"API error (\d{3}): ?(.*)", re.DOTALL)
_WANTED_FUNCTION = frozenset(("ACTIVE", "DEPLOYING", "DEGRADED", "DEGRADING"))
_WANTED_TASK = frozenset(("QUEUED", "LAUNCHED", "RUNNING"))
_WORD = re.compile(r"[A-Z_]{1,40}")
_SCRUBBED = "the client ran without any NVCF_* variable; a credential may have been in one"
_MOST = 8 * 1024 * 1024


class AccountAnswer:
    """``state`` is ``wanted``, ``absent`` (a verified 404), ``unwanted`` (it is there and ended) or
    ``unverified``; ``said`` is why, in words without content; ``deployment`` is the account's own.
    """

    __slots__ = ("deployment", "said", "state")

    def __init__(self, state: str, said: str, deployment: str = "") -> None:
        self.state = state
        self.said = said
        self.deployment = deployment


class Ran:
    """A finished client: exit code (None where it did not end in time) and what it said."""

    __slots__ = ("code", "stderr", "stdout")

    def __init__(self, code: int | None, stdout: bytes, stderr: bytes) -> None:
        self.code = code
        self.stdout = stdout
        self.stderr = stderr


class Client:
    """One account's nvcf-cli. Use it in a ``with`` block. ``problem`` says why it cannot be used,
    "" where it can."""

    def __init__(self, account: Account, *, seconds: float = 30.0) -> None:
        self.account = account
        self._seconds = seconds
        self._home = ""
        self.problem = _unusable(account)

    def __enter__(self) -> Client:
        if not self.problem:
            self._home = tempfile.mkdtemp(prefix="aicr-nvcf-cli-")
            self.problem = _copy_state(self._home)
        return self

    def __exit__(self, *_: object) -> None:
        if self._home:
            shutil.rmtree(self._home, ignore_errors=True)

    def run(self, words: Sequence[str], *, invoke: bool = False) -> Ran:
        """Run it. Raises INTERNAL for words that are not on the list; nothing else."""
        allow.account(words, invoke=invoke)
        environment = {
            key: value for key, value in os.environ.items() if not key.startswith("NVCF_")
        }
        environment["HOME"] = self._home
        command = [self.account.nvcf_cli, "--config", self.account.config, *words]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                cwd=self._home,
                start_new_session=True,
            )
        except OSError as error:
            return Ran(126, b"", (error.strerror or "cannot be started").encode())
        try:
            stdout, stderr = process.communicate(timeout=self._seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            return Ran(None, b"", b"")
        except BaseException:
            _end(process)
            raise
        return Ran(process.returncode, stdout[:_MOST], stderr[:_MOST])


def ask_accounts(
    subjects: Iterable[tuple[str, ...]],
    accounts: Sequence[Account],
    *,
    seconds: float = 30.0,
    known: Mapping[str, Sequence[tuple[str, ...]]] | None = None,
    keep: Callable[[str, Ran, str], None] | None = None,
) -> dict[tuple[str, ...], AccountAnswer]:
    """The answer for each subject (see ``matching.subject_of``) from the account of its own ncaId.

    ``known`` are further subjects that are known to exist (the recorded function or task): one that
    is found shows that a 404 of the same run comes from the account. ``keep`` gets each answer.
    """
    found: dict[tuple[str, ...], AccountAnswer] = {}
    by_account: dict[str, list[tuple[str, ...]]] = {}
    for subject in dict.fromkeys(subjects):
        by_account.setdefault(subject[1], []).append(subject)
    entries = {one.nca_id: one for one in accounts}
    for nca_id, wanted in by_account.items():
        entry = entries.get(nca_id)
        if entry is None:
            why = "the fleet file has no entry for this account"
            found |= {subject: AccountAnswer("unverified", why) for subject in wanted}
            continue
        extra = [one for one in (known or {}).get(nca_id, ()) if one not in wanted]
        with Client(entry, seconds=seconds) as client:
            found |= _of_account(client, [*extra, *wanted], keep)
    return found


def _of_account(
    client: Client,
    subjects: Sequence[tuple[str, ...]],
    keep: Callable[[str, Ran, str], None] | None,
) -> dict[tuple[str, ...], AccountAnswer]:
    if client.problem:
        return {one: AccountAnswer("unverified", client.problem) for one in subjects}
    found = {}
    good = False
    for subject in subjects:
        words = words_of(subject)
        ran = client.run(words)
        answer = read_answer(subject, ran)
        if keep is not None:
            keep("-".join(subject), ran, " ".join(words))
        good = good or answer.state in ("wanted", "unwanted")
        found[subject] = answer
    if not good:
        for subject, answer in found.items():
            if answer.state == "absent":
                found[subject] = AccountAnswer(
                    "unverified",
                    "a 404, and nothing of this account was found in the same run: it may come "
                    "from another account or endpoint",
                )
    return found


def words_of(subject: tuple[str, ...]) -> list[str]:
    """The words that ask for a subject."""
    if subject[0] == "task":
        return ["task", "get", subject[2], "--json"]
    return [
        "function", "deploy", "get",
        "--function-id", subject[2], "--version-id", subject[3], "--json",
    ]  # fmt: skip


def read_answer(subject: tuple[str, ...], ran: Ran) -> AccountAnswer:
    """What a finished client says of the subject; nothing of its content goes on from here."""
    if ran.code is None:
        return AccountAnswer("unverified", "nvcf-cli did not end in time")
    if ran.code:
        return _refusal(subject, ran)
    try:
        found = json.loads(ran.stdout)
    except ValueError:
        return AccountAnswer("unverified", "nvcf-cli printed no JSON")
    key = "task" if subject[0] == "task" else "deployment"
    one = found.get(key) if isinstance(found, dict) else None
    if not isinstance(one, dict):
        return AccountAnswer("unverified", f"nvcf-cli's answer has no {key}")
    names = ("id",) if subject[0] == "task" else ("functionId", "functionVersionId")
    for name, wanted in zip(names, subject[2:], strict=True):
        if str(one.get(name, "")).lower() != wanted:
            return AccountAnswer("unverified", f"the answer is about another {name}")
    owner = one.get("ncaId")
    if owner and owner != subject[1]:
        return AccountAnswer("unverified", "the answer is of another account")
    status = str(one.get("status" if subject[0] == "task" else "functionStatus") or "")
    shown = status if _WORD.fullmatch(status) else "a status that is not known"
    wanted_now = status in (_WANTED_TASK if subject[0] == "task" else _WANTED_FUNCTION)
    deployment = str(one.get("deploymentId") or "").lower()
    if not allow.UUID.fullmatch(deployment):
        deployment = ""
    return AccountAnswer("wanted" if wanted_now else "unwanted", shown, deployment)


def _refusal(subject: tuple[str, ...], ran: Ran) -> AccountAnswer:
    found = _STATUS.search(ran.stderr.decode("utf-8", "replace"))
    if found is None:
        return AccountAnswer("unverified", f"nvcf-cli ended with {ran.code}")
    status = found[1]
    if status in ("401", "403"):
        return AccountAnswer("unverified", f"the account answered {status} ({_SCRUBBED})")
    if status != "404":
        return AccountAnswer("unverified", f"the account answered {status}")
    ids = subject[2:] if subject[0] == "task" else subject[3:]
    if _is_own_404(found[2], ids):
        return AccountAnswer("absent", "the service's own 404, which names the ids")
    return AccountAnswer("unverified", "a 404 that is not the service's own about these ids")


def _is_own_404(body: str, ids: Sequence[str]) -> bool:
    """A problem document of the service that names what was asked for; a gateway's has none."""
    try:
        found, _ = json.JSONDecoder().raw_decode(body.strip())
    except ValueError:
        return False
    if not isinstance(found, dict) or found.get("status") != 404:
        return False
    detail = str(found.get("detail") or "").lower()
    return all(one in detail for one in ids)


def _unusable(account: Account) -> str:
    if not os.access(account.nvcf_cli, os.X_OK) or not os.path.isfile(account.nvcf_cli):
        return "its nvcf-cli is not there, or cannot be run"
    try:
        with open(account.config, "rb") as file:
            parsed = read_yaml(file.read(), account.config)
    except OSError:
        return "the configuration of its nvcf-cli cannot be read"
    except AicrError:
        return "the configuration of its nvcf-cli cannot be parsed"
    if not isinstance(parsed, Map) or "base_http_url" not in parsed:
        return "the configuration of its nvcf-cli names no base_http_url"
    return ""


def _copy_state(home: str) -> str:
    source = os.path.expanduser("~")
    try:
        for name in os.listdir(source):
            if re.fullmatch(r"\.nvcf-cli(?:\.[\w.-]+)?(?:\.state|\.ya?ml)", name):
                target = os.path.join(home, name)
                shutil.copyfile(os.path.join(source, name), target)
                os.chmod(target, 0o600)
    except OSError:
        return "the state files of nvcf-cli cannot be copied"
    return ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the client and whatever it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        process.kill()
    process.communicate()
