"""What a Helm render holds of a service's remote configuration: found by file name in the layout
of the charts, elsewhere by what the ConfigMaps hold."""

from __future__ import annotations

import os

from aicr.documents.nodes import Map, Node
from aicr.documents.reader import read_documents, read_yaml
from aicr.documents.scalars import text_of
from aicr.errors import AicrError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

REMOTE_FILE = "configmap-remote-config.yaml"
ENV_FILE = "configmap-env.yaml"
_NOTHING = ("", "null", "~", "false")


class Service:
    """A service whose render is read: its chart, the key of its remote configuration ("" where
    only what is in it tells), the path to its images, the variables that name the registry."""

    __slots__ = ("chart", "hostname", "key", "name", "repository", "root")

    def __init__(
        self, name: str, *, chart: str, key: str, root: str, hostname: str, repository: str
    ) -> None:
        self.name = name
        self.chart = chart
        self.key = key
        self.root = root
        self.hostname = hostname
        self.repository = repository


TASKS = Service(
    "nvct-api",
    chart="helm-nvcf-nvct-api",
    key="nvct-api.yaml",
    root="nvct",
    hostname="NVCT_SIDECARS_HOSTNAME",
    repository="NVCT_SIDECARS_REPOSITORY",
)
FUNCTIONS = Service(
    "nvcf-api",
    chart="helm-nvcf-api",
    key="",
    root="nvcf",
    hostname="NVCF_SIDECARS_HOSTNAME",
    repository="NVCF_SIDECARS_REPOSITORY",
)


class NoGo(Exception):
    """The render says something that stops the upgrade: a no-go, no bad invocation."""


class Rendered:
    """``sidecars`` is the map below ``<root>.sidecars``, None where it is none. ``settings`` are
    the registry's host name and path by placeholder. ``where`` says which files were read."""

    __slots__ = ("notes", "service", "settings", "sidecars", "where")

    def __init__(
        self,
        service: Service,
        *,
        sidecars: Map | None,
        settings: Mapping[str, str],
        where: str,
        notes: Sequence[str],
    ) -> None:
        self.service = service
        self.sidecars = sidecars
        self.settings = settings
        self.where = where
        self.notes = notes


def read_render(folder: str, service: Service) -> Rendered:
    """What the render in ``folder``, or below it, says for ``service``.

    Raises INVALID_REQUEST for a folder that is not there or that holds two renders, ``NoGo`` for a
    render without the configuration.
    """
    if not os.path.isdir(folder):
        raise invalid(f"--render {folder}: there is no such folder")
    templates = _templates(folder, service)
    if templates:
        return _from_layout(templates, service)
    return _from_search(folder, service)


def _templates(folder: str, service: Service) -> str:
    """The folder with the chart's own file names; "" where there is none."""
    if os.path.isfile(os.path.join(folder, REMOTE_FILE)):
        return folder
    ending = os.path.join(service.chart, "templates")
    found = [
        path
        for path, _, names in _walk(folder)
        if REMOTE_FILE in names and os.path.join("", path).endswith(os.sep + ending)
    ]
    _only_one(folder, found)
    return found[0] if found else ""


def _from_layout(templates: str, service: Service) -> Rendered:
    remote_path = os.path.join(templates, REMOTE_FILE)
    env_path = os.path.join(templates, ENV_FILE)
    maps = [data for data, _ in _config_maps(remote_path)]
    texts = [found for data in maps if (found := _remote_of(data, service)) is not None]
    if len(texts) > 1:
        raise invalid(f"{remote_path}: {len(texts)} ConfigMaps with {service.name}'s configuration")
    if not texts:
        raise NoGo(_no_remote(service, remote_path))
    notes: list[str] = []
    settings: dict[str, str] = {}
    if os.path.isfile(env_path):
        for data, _ in _config_maps(env_path):
            settings |= _settings(data, service, env_path)
    else:
        notes.append(f"{env_path}: is not there, so that no registry setting is known")
    return _rendered(service, texts[0], remote_path, settings, notes)


def _from_search(folder: str, service: Service) -> Rendered:
    remote: list[tuple[str, str, str]] = []
    settings: list[tuple[str, str, dict[str, str]]] = []
    notes: list[str] = []
    for path, _, names in _walk(folder):
        for name in sorted(names):
            if not name.endswith((".yaml", ".yml")):
                continue
            file = os.path.join(path, name)
            try:
                found = list(_config_maps(file))
            except AicrError as error:
                notes.append(f"was not read: {error.message}")
                continue
            for data, called in found:
                text = _remote_of(data, service, with_sidecars=True)
                if text is not None:
                    remote.append((file, called, text))
                if service.hostname in data or service.repository in data:
                    settings.append((file, called, _settings(data, service, file)))
    _only_one(folder, [f"{file} ({called})" for file, called, _ in remote])
    if not remote:
        more = "".join(f"; {note}" for note in notes)
        raise NoGo(_no_remote(service, folder) + more)
    if len({tuple(sorted(found.items())) for _, _, found in settings}) > 1:
        _only_one(folder, [f"{file} ({called})" for file, called, _ in settings])
    chosen = settings[0][2] if settings else {}
    if not settings:
        notes.append(f"{folder}: no ConfigMap has {service.hostname}, no registry setting is known")
    return _rendered(service, remote[0][2], remote[0][0], chosen, notes)


def _rendered(
    service: Service, text: str, path: str, settings: dict[str, str], notes: list[str]
) -> Rendered:
    where = f"{path}: {service.key or 'the remote configuration'}"
    try:
        root = read_yaml(text, where, empty=Map())
    except AicrError as error:
        raise NoGo(f"Missing task image: {error.message}") from None
    below: Node | None = root.get(service.root) if isinstance(root, Map) else None
    sidecars = below.get("sidecars") if isinstance(below, Map) else None
    return Rendered(
        service,
        sidecars=sidecars if isinstance(sidecars, Map) else None,
        settings={
            f"${{{service.root}.sidecars.hostname}}": settings.get(service.hostname, ""),
            f"${{{service.root}.sidecars.repository}}": settings.get(service.repository, ""),
        },
        where=where,
        notes=notes,
    )


def _remote_of(data: Map, service: Service, *, with_sidecars: bool = False) -> str | None:
    """The remote configuration of a ConfigMap's data; None where it has none."""
    keys = [service.key] if service.key else sorted(data)
    for key in keys:
        text = data.get(key)
        if not isinstance(text, str):
            continue
        if service.key and not with_sidecars:
            return text
        if "sidecars" not in text:
            continue
        try:
            root = read_yaml(text, key)
        except AicrError:
            if service.key:
                return text  # what is wrong with it is said when it is read
            continue
        below = root.get(service.root) if isinstance(root, Map) else None
        if isinstance(below, Map) and "sidecars" in below:
            return text
    return None


def _settings(data: Map, service: Service, where: str) -> dict[str, str]:
    """The registry settings as the shell of the runbook gets them: no newlines at the end."""
    found: dict[str, str] = {}
    for name in (service.hostname, service.repository):
        if name not in data:
            continue
        try:
            text = text_of(data[name]) or ""
        except TypeError:
            line = data.lines.get(name, 0)
            raise NoGo(f"{where}:{line}: {name}: expected text") from None
        node = data[name]
        if not isinstance(node, str) and text.lower() in _NOTHING:
            text = ""
        found[name] = text.rstrip("\n")
    return found


def _config_maps(path: str) -> Iterator[tuple[Map, str]]:
    """The data of each ConfigMap in a file, and the ConfigMap's name."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise invalid(f"{path}: {error.strerror or error}") from None
    for document in read_documents(content, path):
        if not isinstance(document, Map) or document.get("kind") != "ConfigMap":
            continue
        data = document.get("data")
        if isinstance(data, Map):
            meta = document.get("metadata")
            name = meta.get("name") if isinstance(meta, Map) else ""
            yield data, f"ConfigMap {name}" if isinstance(name, str) else "ConfigMap"


def _walk(folder: str) -> Iterator[tuple[str, list[str], list[str]]]:
    def fail(error: OSError) -> None:
        raise invalid(f"{error.filename}: {error.strerror or error}")

    for path, folders, names in os.walk(folder, onerror=fail):
        folders.sort()
        yield path, folders, names


def _only_one(folder: str, found: Sequence[str]) -> None:
    if len(found) > 1:
        listed = "".join(f"\n  {one}" for one in found)
        raise invalid(
            f"--render {folder}: {len(found)} renders match, one was expected:{listed}",
            hint="name one of these folders with --render",
        )


def _no_remote(service: Service, where: str) -> str:
    return (
        f"Missing task image: {where}: the render has no remote configuration of {service.name} "
        "(it can be disabled: then the images are the service's own defaults, which no render "
        "shows)"
    )
