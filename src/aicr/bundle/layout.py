"""The files that every bundle has, around those of its deployer."""

from __future__ import annotations

from aicr.artifact.bundle_info import BundleInfo, BundleRelease, write_bundle_info
from aicr.artifact.checksums import CHECKSUMS, checksums_text
from aicr.artifact.read import INFO_FILE
from aicr.bundle.dynamic import left_open
from aicr.bundle.readme import readme, upgrading
from aicr.bundle.stepwise import stepwise_section
from aicr.documents.digest import sha256_hex
from aicr.recipe.document import write_recipe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from aicr.bundle.guidance import Advice
    from aicr.bundle.namespaces import LeftOut
    from aicr.bundle.plan import DeploymentPlan
    from aicr.bundle.writers import Files, Options

RECIPE_FILE = "recipe.yaml"
README_FILE = "README.md"
UPGRADING_FILE = "UPGRADING.md"

# A folder with this in it was written as a bundle.
SIGN = (INFO_FILE, b"kind: BundleInfo")


def lay_out(
    plan: DeploymentPlan,
    advice: Sequence[Advice],
    *,
    deployer: str,
    settings: Mapping[str, str | list[str]],
    version: str,
    module: ModuleType,
    options: Options,
    left_out: Sequence[LeftOut] = (),
    vendored: Files | None = None,
) -> Files:
    """All files of the bundle, by path; ``module`` is the deployer's writer, ``vendored`` are the
    charts that are put into it."""
    files: Files = {**module.write(plan, options), **(vendored or {})}
    recipe = write_recipe(plan.recipe).encode("utf-8")
    info = BundleInfo(
        version=version,
        deployer=deployer,
        recipe_path=RECIPE_FILE,
        recipe_digest=f"sha256:{sha256_hex(recipe)}",
        recipe_version=plan.recipe.version,
        settings=settings,
        entrypoint=module.ENTRYPOINT,
        releases=[
            BundleRelease(
                release.name,
                component=release.component,
                namespace=release.namespace,
                path=module.release_path(release),
                manifest=release.chart is None,
            )
            for release in plan.releases
        ],
    )
    files[RECIPE_FILE] = (recipe, False)
    files[INFO_FILE] = (write_bundle_info(info), False)
    text = readme(
        plan,
        advice,
        deployer=deployer,
        usage=module.usage(plan, options),
        left_open=[(one, module.install_values(one.release)) for one in left_open(plan)],
        left_out=left_out,
    )
    files[README_FILE] = (text, False)
    if advice:
        section = stepwise_section(plan, advice, module.stepwise(plan, options))
        files[UPGRADING_FILE] = (upgrading(advice, deployer, section), False)
    files[CHECKSUMS] = (checksums_text(files), False)
    return {path: files[path] for path in sorted(files)}
