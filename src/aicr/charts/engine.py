"""What Helm does for us: render a chart, and fetch one from a Helm repository or an OCI registry.

``helm`` on PATH, else the ``charts`` extra, which is Helm in this process.
"""

from __future__ import annotations

from aicr.documents.safe import cell
from aicr.errors import TIMEOUT, UNAVAILABLE, AicrError, install, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

SECONDS = 300


class HelmBinary:
    """The program."""

    def __init__(self, path: str) -> None:
        self._path = path

    def render(
        self, chart: str, release: str, namespace: str, values: Mapping[str, object]
    ) -> bytes:
        """What ``helm template`` gives for the chart at the path ``chart``."""
        from aicr.documents.emit import yaml_text

        command = ["template", release, chart, "--namespace", namespace, "--values", "-"]
        return self._run(command, yaml_text(values).encode("utf-8"))

    def pull(
        self, repository: str, name: str, version: str, folder: str, *, plain_http: bool
    ) -> None:
        """Put the archive of the chart into ``folder``."""
        if repository.startswith("oci://"):
            command = ["pull", f"{repository}/{name}"]
            if plain_http:
                command.append("--plain-http")
        else:
            command = ["pull", name, "--repo", repository]
        self._run([*command, "--version", version, "--destination", folder], b"")

    def _run(self, arguments: Sequence[str], given: bytes) -> bytes:
        import subprocess

        try:
            done = subprocess.run(
                [self._path, *arguments],
                input=given,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise AicrError(TIMEOUT, f"helm {arguments[0]}: longer than {SECONDS} s") from None
        except OSError as error:
            raise invalid(f"{self._path}: cannot be run: {error.strerror}") from None
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip().removeprefix("Error: ")
            code = UNAVAILABLE if arguments[0] == "pull" else "INVALID_REQUEST"
            raise AicrError(code, f"helm {arguments[0]} failed: {cell(said)}")
        return done.stdout


class HelmLibrary:
    """Helm in this process, from the ``charts`` extra."""

    def __init__(self, module: ModuleType) -> None:
        self._helm = module

    def render(
        self, chart: str, release: str, namespace: str, values: Mapping[str, object]
    ) -> bytes:
        """What the templates of the chart at the path ``chart`` give."""
        try:
            with self._helm.Chart.load(chart) as loaded:
                loaded.validate_schema(dict(values))
                files = loaded.render(dict(values), name=release, namespace=namespace)
        except self._helm.HelmError as error:
            raise invalid(f"helm failed: {cell(str(error))}") from None
        parts = [
            text for path, text in sorted(files.items())
            if path.endswith((".yaml", ".yml", ".json", ".tpl")) and text.strip()
        ]  # fmt: skip
        return "\n---\n".join(parts).encode("utf-8")

    def pull(
        self, repository: str, name: str, version: str, folder: str, *, plain_http: bool
    ) -> None:
        """Put the archive of the chart into ``folder``."""
        is_oci = repository.startswith("oci://")
        try:
            self._helm.pull(
                f"{repository}/{name}" if is_oci else name,
                repo_url=None if is_oci else repository,
                version=version,
                destination=folder,
                plain_http=plain_http,
            )
        except self._helm.HelmError as error:
            raise AicrError(UNAVAILABLE, f"helm pull failed: {cell(str(error))}") from None


def helm(purpose: str) -> HelmBinary | HelmLibrary:
    """The Helm that is there. Raises INVALID_REQUEST, with its ``purpose``, where none is."""
    from shutil import which

    path = which("helm")
    if path is not None:
        return HelmBinary(path)
    try:
        from importlib import import_module

        module = import_module("helm_python")
    except ImportError:
        raise invalid(
            f"{purpose} needs Helm, and helm is not on PATH",
            hint=f"put helm on PATH, or {install('charts')}",
        ) from None
    return HelmLibrary(module)
