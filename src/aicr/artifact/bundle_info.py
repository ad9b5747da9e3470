"""What a bundle says about itself: ``bundle-info.yaml``, written and read.

Reading fails closed: an apiVersion, a kind or a field that this version does not know is an error,
and so is a path that leads out of the bundle.
"""

from __future__ import annotations

from aicr.artifact.deployers import DEPLOYERS
from aicr.documents.emit import yaml_text
from aicr.documents.fields import Fields, Problems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

API_VERSION = "aicr.run/v1"
KIND = "BundleInfo"

# What was asked for besides recipe and deployer, by its flag: lists of text, and single texts.
LIST_SETTINGS = (
    "set",
    "setJson",
    "setFile",
    "dynamic",
    "systemNodeSelector",
    "systemNodeToleration",
    "acceleratedNodeSelector",
    "acceleratedNodeToleration",
    "workloadSelector",
)
TEXT_SETTINGS = ("nodes", "storageClass", "workloadGate", "repo", "targetRevision", "vendorCharts")


class BundleRelease:
    """A release of a bundle and where it is in it; ``manifest`` where its chart was generated
    here, which has the component's values under the component's name."""

    __slots__ = ("component", "manifest", "name", "namespace", "path")

    def __init__(
        self, name: str, *, component: str, namespace: str, path: str, manifest: bool = False
    ) -> None:
        self.name = name
        self.component = component
        self.namespace = namespace
        self.path = path
        self.manifest = manifest


class BundleInfo:
    """Which tool, recipe and flags made a bundle, and what is where in it.

    ``settings`` maps the flags that were given (``LIST_SETTINGS``, ``TEXT_SETTINGS``) to what was
    given.
    """

    __slots__ = (
        "deployer",
        "entrypoint",
        "recipe_digest",
        "recipe_path",
        "recipe_version",
        "releases",
        "settings",
        "version",
    )

    def __init__(
        self,
        *,
        version: str,
        deployer: str,
        recipe_path: str,
        recipe_digest: str,
        recipe_version: str,
        settings: Mapping[str, str | list[str]],
        entrypoint: str,
        releases: Sequence[BundleRelease],
    ) -> None:
        self.version = version
        self.deployer = deployer
        self.recipe_path = recipe_path
        self.recipe_digest = recipe_digest
        self.recipe_version = recipe_version
        self.settings = settings
        self.entrypoint = entrypoint
        self.releases = releases


def write_bundle_info(info: BundleInfo) -> bytes:
    """``bundle-info.yaml``: keys sorted, no time stamp; same bundle, same bytes."""
    releases: list[object] = []
    for one in info.releases:
        entry: dict[str, object] = {"component": one.component}
        if one.manifest:
            entry["manifest"] = True
        entry |= {"name": one.name, "namespace": one.namespace, "path": one.path}
        releases.append(entry)
    recipe = {"digest": info.recipe_digest, "path": info.recipe_path}
    if info.recipe_version:
        recipe["version"] = info.recipe_version
    build: dict[str, object] = {"deployer": info.deployer, "recipe": recipe}
    if info.settings:
        build["settings"] = {key: info.settings[key] for key in sorted(info.settings)}
    document = {
        "apiVersion": API_VERSION,
        "build": build,
        "kind": KIND,
        "layout": {"entrypoint": info.entrypoint, "releases": releases},
        "metadata": {"version": info.version},
    }
    return yaml_text(document).encode("utf-8")


def read_bundle_info(data: bytes, where: str) -> BundleInfo:
    """What a ``bundle-info.yaml`` says; ``where`` names it in messages.

    Raises INVALID_REQUEST with every problem found.
    """
    from aicr.documents.nodes import Map
    from aicr.documents.reader import read_yaml

    problems = Problems()
    fields = Fields(read_yaml(data, where), where, "", problems)
    _expect(fields, "apiVersion", (API_VERSION,))
    _expect(fields, "kind", (KIND,))
    problems.raise_any()

    def below(parent: Fields, key: str) -> Fields:
        found = parent.mapping(key)
        if found is None and not parent.has(key):
            parent.problem("is missing", key)
        return found or Fields(Map(), where, key, Problems())

    metadata, build, layout = (below(fields, key) for key in ("metadata", "build", "layout"))
    fields.done()
    recipe = below(build, "recipe")
    _expect(build, "deployer", DEPLOYERS)
    info = BundleInfo(
        version=metadata.required("version"),
        deployer=build.text("deployer"),
        recipe_path=_inside(recipe, "path"),
        recipe_digest=recipe.required("digest"),
        recipe_version=recipe.text("version"),
        settings=_settings(build),
        entrypoint=_inside(layout, "entrypoint"),
        releases=[_release(item) for item in layout.items("releases")],
    )
    for each in (metadata, build, recipe, layout):
        each.done()
    problems.raise_any()
    return info


def _expect(fields: Fields, key: str, allowed: tuple[str, ...]) -> None:
    value = fields.text(key)
    if value not in allowed:
        found = f'"{value}"' if value else "none"
        fields.problem(f"expected {' or '.join(allowed)}, found {found}", key)


def _settings(build: Fields) -> dict[str, str | list[str]]:
    settings = build.mapping("settings")
    if settings is None:
        return {}
    found: dict[str, str | list[str]] = {}
    for key in LIST_SETTINGS:
        if settings.has(key):
            found[key] = settings.texts(key)
    for key in TEXT_SETTINGS:
        if settings.has(key):
            found[key] = settings.text(key)
    settings.done()
    return found


def _release(fields: Fields) -> BundleRelease:
    release = BundleRelease(
        fields.required("name"),
        component=fields.required("component"),
        namespace=fields.required("namespace"),
        path=_inside(fields, "path"),
        manifest=fields.boolean("manifest") is True,
    )
    fields.done()
    return release


def _inside(fields: Fields, key: str) -> str:
    path = fields.required(key)
    if path.startswith("/") or "\\" in path or ".." in path.split("/"):
        fields.problem(f'"{path}" is not a path inside the bundle', key)
    return path
