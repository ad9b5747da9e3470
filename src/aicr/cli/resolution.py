"""The flags that say which recipe is meant, and the recipe: for every verb that resolves one."""

from __future__ import annotations

from aicr.cli.connect import cluster_of
from aicr.cli.flags import (
    add_bool,
    add_catalog_flags,
    add_cluster_flags,
    add_config_flag,
    add_criteria_flags,
    open_catalog_of,
    stated_criteria,
    whole,
)
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from aicr.artifact.read import Artifact
    from aicr.catalog.layers import Catalog
    from aicr.recipe.criteria import Criteria
    from aicr.recipe.inherit import Prior
    from aicr.recipe.model import Recipe


class Resolution:
    """A recipe, the catalog that it came from, and what decided it besides.

    ``origins`` says where each stated criterion came from; ``resolved`` is the recipe before it
    inherited from ``artifact`` (the same one where it did not).
    """

    __slots__ = ("artifact", "catalog", "origins", "recipe", "resolved")

    def __init__(
        self,
        catalog: Catalog,
        recipe: Recipe,
        *,
        resolved: Recipe,
        origins: Mapping[str, str],
        artifact: Artifact | None,
    ) -> None:
        self.catalog = catalog
        self.recipe = recipe
        self.resolved = resolved
        self.origins = origins
        self.artifact = artifact


def configure(
    parser: argparse.ArgumentParser, *, platform: str | type[argparse.Action] = "store"
) -> None:
    """Declare the resolution flags."""
    add_criteria_flags(parser, platform=platform)
    parser.add_argument(
        "--nodes",
        type=whole(0, 999_999_999),
        default=0,
        metavar="N",
        help="how many GPU nodes (advisory)",
    )
    add_bool(parser, "--criteria-strict", help="admit only the values that this version ships")
    parser.add_argument(
        "--snapshot",
        metavar="FILE|URL|cm://",
        help="a snapshot of the cluster: shows criteria, and leaves out overlays that do not fit",
    )
    parser.add_argument(
        "--inherit-from",
        metavar="ARTIFACT",
        help="keep the namespaces, charts and object names of this recipe or bundle folder",
    )
    add_config_flag(parser)
    add_catalog_flags(parser)
    add_cluster_flags(parser)


def resolved(args: argparse.Namespace) -> Resolution:
    """The recipe that the flags ask for. Warnings and notes go to stderr."""
    artifact = prior = None
    if args.inherit_from is not None:
        artifact, prior = _prior(args)
    catalog = open_catalog_of(args)
    if args.snapshot is not None:
        recipe, origins = _on_snapshot(args, catalog)
    else:
        from aicr.recipe.resolve import resolve

        recipe, origins = resolve(catalog, _criteria(args, catalog, {})), _origins(args)
    final = recipe
    if prior is not None:
        final = _inherited(catalog, recipe, prior)
    return Resolution(catalog, final, resolved=recipe, origins=origins, artifact=artifact)


def _criteria(args: argparse.Namespace, catalog: Catalog, detected: Mapping[str, str]) -> Criteria:
    from aicr.recipe.criteria import make_criteria

    stated = {**detected, **stated_criteria(args)}
    return make_criteria(stated, catalog, nodes=args.nodes, strict=args.criteria_strict)


def _origins(args: argparse.Namespace) -> dict[str, str]:
    """Where each stated criterion came from."""
    stated = [*stated_criteria(args), *(["nodes"] if args.nodes else [])]
    return {name: args.sources.get(name, f"--{name}") for name in stated}


def _on_snapshot(args: argparse.Namespace, catalog: Catalog) -> tuple[Recipe, dict[str, str]]:
    from aicr.artifact.fetch import read_location, shown
    from aicr.cli.output import note, warn
    from aicr.recipe.criteria import admitted
    from aicr.recipe.fit import resolve_on
    from aicr.recipe.snapshot import detect, read_snapshot

    where = shown(args.snapshot) if "://" in args.snapshot else args.snapshot
    snapshot = read_snapshot(
        read_location(args.snapshot, "--snapshot", cluster=cluster_of(args)), where
    )
    found = detect(snapshot, admitted(catalog, strict=args.criteria_strict))
    stated = stated_criteria(args)
    detected = {key: value for key, value in found.criteria.items() if key not in stated}
    for doubt in found.doubts:
        if not any(doubt.startswith(f"the {dimension} ") for dimension in stated):
            warn(f"{where}: {doubt}")
    if detected:
        shown_by = ", ".join(f"{key}={value}" for key, value in detected.items())
        note(f"{where} shows {shown_by}")
    fitted = resolve_on(catalog, _criteria(args, catalog, detected), snapshot, detected)
    for warning in fitted.warnings:
        warn(warning)
    return fitted.recipe, {**dict.fromkeys(detected, where), **_origins(args)}


def _prior(args: argparse.Namespace) -> tuple[Artifact, Prior]:
    from aicr.artifact.read import open_artifact
    from aicr.artifact.values import bundle_values
    from aicr.cli.output import warn
    from aicr.recipe.document import recipe_from
    from aicr.recipe.inherit import Prior

    location: str = args.inherit_from
    if location.startswith("cm://"):
        raise invalid(
            f"--inherit-from {location}: a ConfigMap is not inherited from yet",
            hint="write it to a file first: kubectl get configmap",
        )
    artifact = open_artifact(location, "--inherit-from")
    recipe = recipe_from(
        artifact.document, artifact.where, on_warning=lambda problem: warn(str(problem))
    )
    values, missing = bundle_values(artifact)
    return artifact, Prior(
        location,
        recipe,
        is_bundle=artifact.kind == "bundle",
        values=None if missing else values,
        values_missing=missing,
    )


def _inherited(catalog: Catalog, recipe: Recipe, prior: Prior) -> Recipe:
    from aicr.cli.output import note, warn
    from aicr.recipe.inherit import inherit

    found = inherit(catalog, recipe, prior)
    for warning in found.warnings:
        warn(warning)
    for one in found.notes:
        note(one)
    return found.recipe
