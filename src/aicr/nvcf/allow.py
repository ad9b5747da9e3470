"""What ``aicr nvcf`` may ask of anybody: every request passes one of these functions first.

Each returns where the request is on the list and raises INTERNAL where it is not: a request that is
not listed is a fault of the tool, and is never sent. Nothing here purges, acknowledges, deletes or
publishes a message, changes a consumer or a request, or restarts anything.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

from aicr.errors import INTERNAL, AicrError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# (group, resource): the verbs. Secrets are read as metadata only; see ``kubernetes``.
_READ = frozenset(("get", "list", "watch"))
_RESOURCES: Mapping[tuple[str, str], frozenset[str]] = {
    ("", "namespaces"): _READ,
    ("", "nodes"): _READ,
    ("", "pods"): _READ | {"create", "delete"},
    ("", "pods/exec"): frozenset(("get", "create")),
    ("", "pods/proxy"): frozenset(("get",)),
    ("", "events"): _READ,
    ("", "configmaps"): _READ,
    ("", "secrets"): frozenset(("get", "list")),
    ("", "serviceaccounts"): _READ,
    ("apps", "deployments"): _READ,
    ("apps", "replicasets"): _READ,
    ("apps", "statefulsets"): _READ,
    ("nvcf.nvidia.io", "nvcfbackends"): _READ,
    ("nvca.nvcf.nvidia.io", "icmsrequests"): _READ,
    # A question about one's own rights; the server keeps nothing of it.
    ("authorization.k8s.io", "selfsubjectaccessreviews"): frozenset(("create",)),
    ("authorization.k8s.io", "selfsubjectrulesreviews"): frozenset(("create",)),
}
_PROBE_NAME = b'"generateName":"task-image-check-"'
_METHODS = {"POST": "create", "DELETE": "delete", "PUT": "update", "PATCH": "patch"}
_PATH = re.compile(
    r"/(?:api/v1|apis/(?P<group>[^/]+)/[^/]+)(?:/namespaces/(?P<namespace>[^/]+))?"
    r"/(?P<resource>[a-z]+)(?:/(?P<name>[^/]+)(?:/(?P<sub>[a-z]+)(?P<rest>/.*)?)?)?"
)
_ONE_NAMESPACE = re.compile(r"/api/v1/namespaces(?:/[^/]+)?")

_MONITOR: Mapping[str, frozenset[str]] = {
    "/varz": frozenset(),
    "/jsz": frozenset(("accounts", "streams", "consumers", "config", "acc", "limit", "offset")),
    "/healthz": frozenset(("js-server-only", "js-enabled-only")),
}

_TOKEN = r"[^\s.*>/\\$]+"
_SUBJECTS = re.compile(
    r"\$JS\.API\.(?:INFO"
    rf"|STREAM\.(?:NAMES|LIST|INFO\.{_TOKEN}|MSG\.GET\.{_TOKEN})"
    rf"|CONSUMER\.(?:NAMES\.{_TOKEN}|LIST\.{_TOKEN}|INFO\.{_TOKEN}\.{_TOKEN}))"
)
_PAYLOAD_KEYS = frozenset(
    ("offset", "subject", "deleted_details", "subjects_filter", "seq", "next_by_subj")
)

_NAME = re.compile(r"[^\s.*>/\\$-][^\s.*>/\\$]*")
_CONTEXT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_NUMBER = re.compile(r"[0-9]{1,20}")
_SECONDS = re.compile(r"[0-9]{1,4}s?")
# The words of a nats command, how many names follow them, and which flags may.
_NATS: Mapping[tuple[str, str], tuple[int, frozenset[str]]] = {
    ("stream", "info"): (1, frozenset(("--json", "--no-select"))),
    ("stream", "ls"): (0, frozenset(("--json", "--all", "--names"))),
    ("stream", "get"): (2, frozenset(("--json",))),
    ("consumer", "info"): (2, frozenset(("--json", "--no-select"))),
    ("consumer", "ls"): (1, frozenset(("--json", "--names", "--no-select"))),
}

UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_TASK_STATUSES = frozenset(("QUEUED", "LAUNCHED", "RUNNING"))


def kubernetes(
    method: str,
    path: str,
    *,
    accept: str = "",
    body: bytes = b"",
    query: Sequence[tuple[str, str]] = (),
) -> None:
    """A request to an API server. ``query`` is needed where a command is run (``pods/exec``)."""
    what = f"{method} {path}"
    if path == "/version":
        _must(method == "GET", what)
        return
    group, resource, named, rest = _resource(path)
    verb = _METHODS.get(method, "get" if named else "list")
    verbs = _RESOURCES.get((group, resource), frozenset())
    _must(method in ("GET", "POST", "DELETE") and verb in verbs, what)
    if resource == "secrets":
        _must("as=PartialObjectMetadata" in accept, f"{what} with its content")
    elif resource == "pods/exec":
        command([value for key, value in query if key == "command"])
        _must(all(value != "true" for key, value in query if key in ("stdin", "tty")), what)
    elif resource == "pods/proxy":
        monitor(rest + ("?" + "&".join(f"{k}={v}" for k, v in query) if query else ""))
    elif verb == "create" and resource == "pods":
        _must(not named and _PROBE_NAME in body.replace(b'": "', b'":"'), f"{what} of another pod")
    elif verb == "delete":
        _must(named and b'"uid"' in body, f"{what} without the pod's UID")


def _resource(path: str) -> tuple[str, str, bool, str]:
    """Group, resource with its subresource, whether one object is named, what follows."""
    if _ONE_NAMESPACE.fullmatch(path):
        return "", "namespaces", path.count("/") > 3, ""
    found = _PATH.fullmatch(path)
    if found is None:
        return "", path, False, ""
    below = f"/{found['sub']}" if found["sub"] else ""
    return found["group"] or "", found["resource"] + below, bool(found["name"]), found["rest"] or ""


def command(arguments: Sequence[str]) -> None:
    """What is run in nats-box: a read of the nats client, or ``wget`` of a monitor."""
    what = f"run {' '.join(arguments[:6])}"
    words = list(arguments)
    if words[:2] == ["wget", "-qO-"]:
        if words[2:3] == ["-T"]:
            _must(len(words) == 5 and bool(_NUMBER.fullmatch(words[3])), what)
            del words[2:4]
        _must(len(words) == 3, what)
        url = urlsplit(words[2])
        _must(url.scheme == "http" and "@" not in url.netloc and bool(url.hostname), what)
        monitor(url.path + (f"?{url.query}" if url.query else ""))
        return
    _must(words[:2] == ["nats", "--context"] and len(words) > 4, what)
    _must(bool(_CONTEXT.fullmatch(words[2])), what)
    rest = words[3:]
    if rest[0] == "--timeout":
        _must(len(rest) > 3 and bool(_SECONDS.fullmatch(rest[1])), what)
        rest = rest[2:]
    names, flags = _NATS.get((rest[0], rest[1]), (-1, frozenset()))
    given = [word for word in rest[2:] if not word.startswith("-")]
    _must(len(given) == names and all(_NAME.fullmatch(name) for name in given), what)
    _must({word for word in rest[2:] if word.startswith("-")} <= flags and "--json" in rest, what)
    if rest[1] == "get":
        _must(bool(_NUMBER.fullmatch(given[1])), what)


def monitor(path: str) -> None:
    """A path of a NATS server's monitor."""
    url = urlsplit(path)
    keys = {key for key, _ in parse_qsl(url.query, keep_blank_values=True)}
    _must(not url.scheme and not url.netloc and keys <= _MONITOR.get(url.path, frozenset(("",))),
          f"GET {path[:80]}")  # fmt: skip
    _must(url.path in _MONITOR, f"GET {path[:80]}")


def jetstream(subject: str, payload: Mapping[str, object]) -> None:
    """A request to the JetStream API."""
    what = f"send to {subject[:80]}"
    _must(bool(_SUBJECTS.fullmatch(subject)), what)
    _must(set(payload) <= _PAYLOAD_KEYS, f"{what} with {', '.join(sorted(payload))}")


def registry(method: str) -> None:
    """A request to a container registry."""
    _must(method in ("GET", "HEAD"), f"{method} to a registry")


def account(arguments: Sequence[str], *, invoke: bool = False) -> None:
    """The words of an ``nvcf-cli`` command after its ``--config``; ``invoke`` is for ``verify``."""
    words = list(arguments)
    what = f"run nvcf-cli {' '.join(words[:4])}"
    if words[:3] == ["function", "deploy", "get"]:
        _must(words[3::2] == ["--function-id", "--version-id", "--json"], what)
        _must(all(UUID.fullmatch(word) for word in words[4::2]), what)
    elif words[:2] == ["task", "get"]:
        _must(len(words) == 4 and words[3] == "--json" and bool(UUID.fullmatch(words[2])), what)
    elif words[:2] == ["task", "list"]:
        _must(words[2::2] == ["--status", "--limit", "--json"], what)
        _must(words[3] in _TASK_STATUSES and bool(_NUMBER.fullmatch(words[5])), what)
    else:
        _must(invoke and words[:2] == ["function", "invoke"], what)


def _must(holds: bool, what: str) -> None:
    if not holds:
        raise AicrError(
            INTERNAL,
            f"not on the list of what aicr nvcf may do, and not done: {what}",
            hint="this is a fault of aicr; nothing was changed. Please report it",
        )
