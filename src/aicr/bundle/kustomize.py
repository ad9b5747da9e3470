"""What kustomize makes of a Kustomize component, with the component's patches applied."""

from __future__ import annotations

from aicr.bundle.charts import literal
from aicr.bundle.namespaces import ALWAYS_THERE, without_namespaces
from aicr.bundle.plan import DEFAULT_NAMESPACE
from aicr.documents.emit import yaml_text
from aicr.errors import TIMEOUT, AicrError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.bundle.namespaces import LeftOut
    from aicr.catalog.layers import Catalog
    from aicr.catalog.model import ComponentRef
    from aicr.recipe.model import Recipe

SECONDS = 300


def build_all(recipe: Recipe, catalog: Catalog) -> tuple[dict[str, bytes], list[LeftOut]]:
    """The built manifests of each Kustomize component of ``recipe`` (in its order), as Helm
    templates that render to them, and the Namespaces that were left out."""
    built: dict[str, bytes] = {}
    left_out: list[LeftOut] = []
    refs = {ref.name: ref for ref in recipe.components}
    # The deployer makes a component's namespace just before it, so earlier ones are there too.
    made = set(ALWAYS_THERE)
    for name in recipe.deployment_order:
        ref = refs[name]
        made.add(ref.namespace or DEFAULT_NAMESPACE)
        if ref.type == "Kustomize" and ref.source:
            data, gone = without_namespaces(build(ref, catalog), name, made)
            built[name] = literal(data)
            left_out += gone
    return built, left_out


def build(ref: ComponentRef, catalog: Catalog) -> bytes:
    """What ``kubectl kustomize`` (or ``kustomize build``) makes of the component's source.

    Raises INVALID_REQUEST where both are missing, a patch is not in the catalog or the build
    fails; TIMEOUT where it takes longer than ``SECONDS``.
    """
    import os
    import subprocess
    import tempfile

    command = _command()
    if not command:
        raise invalid(
            f'the Kustomize component "{ref.name}" has to be built, and neither kubectl nor '
            "kustomize is on PATH",
            hint="install kubectl (it builds with kubectl kustomize), or leave the component out: "
            f"--set {ref.name}:enabled=false",
        )
    doing = " ".join((os.path.basename(command[0]), command[1]))
    with tempfile.TemporaryDirectory(prefix="aicr-kustomize-") as folder:
        patches: list[object] = []
        for index, path in enumerate(ref.patches):
            if not catalog.has(path):
                raise invalid(
                    f'the component "{ref.name}" names the patch "{path}", which is not in the '
                    "catalog"
                )
            patches.append({"path": f"patch-{index}.yaml"})
            with open(os.path.join(folder, f"patch-{index}.yaml"), "wb") as file:
                file.write(catalog.file(path))
        with open(os.path.join(folder, "kustomization.yaml"), "w", encoding="utf-8") as text:
            text.write(yaml_text(_kustomization(ref, patches)))
        try:
            # git must fail rather than ask for a password.
            done = subprocess.run(
                [*command, folder],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
                check=False,
                env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
            )
        except subprocess.TimeoutExpired:
            raise AicrError(
                TIMEOUT, f'{doing} of "{ref.name}" took longer than {SECONDS} s'
            ) from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().replace(folder, "kustomization")
        raise invalid(
            f'{doing} of "{ref.name}" failed: {said}',
            hint=f"its source is {target(ref)}; it needs git on PATH to fetch it",
        )
    _check(done.stdout, ref, doing)
    return done.stdout


def target(ref: ComponentRef) -> str:
    """The component's source as kustomize writes it: ``repository//path?ref=tag``."""
    path = ref.path.removeprefix("./").strip("/")
    pin = ref.tag or ref.version
    text = ref.source.rstrip("/") + (f"//{path}" if path else "")
    return f"{text}?ref={pin}" if pin else text


def _kustomization(ref: ComponentRef, patches: list[object]) -> dict[str, object]:
    values: dict[str, object] = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": [target(ref)],
    }
    if patches:
        values["patches"] = patches
    return values


def _command() -> list[str]:
    """The program that builds, and its first argument; [] where there is none."""
    from shutil import which

    for name, verb in (("kubectl", "kustomize"), ("kustomize", "build")):
        path = which(name)
        if path is not None:
            return [path, verb]
    return []


def _check(data: bytes, ref: ComponentRef, doing: str) -> None:
    from aicr.documents.reader import read_documents

    if not read_documents(data, f'the build of "{ref.name}"'):
        raise invalid(f'{doing} of "{ref.name}" built nothing from {target(ref)}')
