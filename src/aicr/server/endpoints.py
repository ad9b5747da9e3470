"""What each address of the API answers: fields in, an ``Answer`` out; no HTTP, no event loop."""

from __future__ import annotations

from aicr.documents.emit import json_text, yaml_text
from aicr.errors import AicrError, invalid, not_found
from aicr.library import Recipe, again, bundle, check, plan
from aicr.server.asks import CRITERIA, Ask, Asked
from aicr.server.json_bytes import json_bytes
from aicr.server.negotiation import (
    ARCHIVE,
    DOCUMENT,
    MIRROR,
    PLAN,
    RECIPE,
    REPORT,
    VALUE,
    media_type,
)
from aicr.server.service import Answer, Service

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from aicr.bundle.scheduling import Scheduling

NO_CHARTS = "this server was given no charts to render, and fetches none for a request"
RESOLVING_FIELDS = (*CRITERIA, "criteria", "criteriaStrict")
RECIPE_FIELDS = (*RESOLVING_FIELDS, "from", "fromName")
QUERY_FIELDS = (*RESOLVING_FIELDS, "selector")
SCHEDULING_LISTS = ("systemNodeSelector", "systemNodeToleration", "acceleratedNodeSelector",
                    "acceleratedNodeToleration", "workloadSelector")  # fmt: skip
SCHEDULING_TEXTS = ("workloadGate", "nodes", "storageClass")
BUNDLE_FIELDS = (
    "from",
    "fromName",
    "recipe",
    "recipeName",
    "criteria",
    "criteriaStrict",
    "deployer",
    "set",
    "setJson",
    "dynamic",
    *SCHEDULING_LISTS,
    *SCHEDULING_TEXTS,
    "repo",
    "targetRevision",
)
SIDES_FIELDS = ("from", "fromName", "to", "toName", "criteria", "criteriaStrict", "deployer",
                "allowDifferentCriteria")  # fmt: skip
CHECK_FIELDS = (*SIDES_FIELDS, "why")
PLAN_FIELDS = (*SIDES_FIELDS, "stages", "includeUnplanned")
MIRROR_FIELDS = ("from", "fromName", "recipe", "recipeName", "criteria", "criteriaStrict", "set",
                 "format", "platforms", "allowIncomplete")  # fmt: skip


def recipe(service: Service, ask: Ask) -> Answer:
    """``/v1/recipe``: criteria in, recipe out."""
    asked = Asked(ask, RECIPE_FIELDS)
    before = asked.recipe("from")
    if before is None:
        found = service.recipe(asked.criteria(service))
    else:
        beside = [name for name in RESOLVING_FIELDS if asked.has(name)]
        if beside:
            raise invalid(
                f"from and {beside[0]}: the criteria are those of the recipe, or given, not both"
            )
        found = again(before, service.catalog)
    if ask.form == "html":
        from aicr.server.recipe_html import recipe_html

        return _answer(recipe_html(found), ask, RECIPE)
    return _answer(found.yaml() if ask.form == "yaml" else found.json(), ask, RECIPE)


def query(service: Service, ask: Ask) -> Answer:
    """``/v1/query``: one value of a recipe."""
    asked = Asked(ask, QUERY_FIELDS)
    selector = asked.required("selector")
    found = service.recipe(asked.criteria(service)).query(selector, service.catalog)
    if ask.form == "text" and isinstance(found, str):
        return _answer(found + "\n", ask, VALUE)
    return _document(found, ask, VALUE)


def make_bundle(service: Service, ask: Ask) -> Answer:
    """``/v1/bundle``: a recipe in, an archive of what the deployer applies out."""
    asked = Asked(ask, BUNDLE_FIELDS, main="recipe")
    found = _recipe_or_criteria(asked, service)
    deployer = asked.required("deployer")
    _check_built_here(found)
    made = bundle(
        found,
        catalog=service.catalog,
        deployer=deployer,
        sets=asked.texts("set"),
        set_json=asked.texts("setJson"),
        dynamic=asked.texts("dynamic"),
        scheduling=_scheduling(asked),
        repo=asked.text("repo"),
        target_revision=asked.text("targetRevision"),
    )
    warnings = [*found.warnings, *(f"{kind}: {said}" for kind, said in made.notices)]
    name = f'attachment; filename="bundle-{deployer}.{ask.form}"'
    return Answer(
        made.archive(ask.form),
        media_type(ask.form, ARCHIVE),
        headers={"content-disposition": name},
        warnings=warnings,
    )


def _scheduling(asked: Asked) -> Scheduling:
    from aicr.bundle.scheduling import Scheduling

    return Scheduling(
        system_node_selector=asked.texts("systemNodeSelector"),
        system_node_toleration=asked.texts("systemNodeToleration"),
        accelerated_node_selector=asked.texts("acceleratedNodeSelector"),
        accelerated_node_toleration=asked.texts("acceleratedNodeToleration"),
        workload_selector=asked.texts("workloadSelector"),
        workload_gate=asked.text("workloadGate"),
        nodes=asked.text("nodes"),
        storage_class=asked.text("storageClass"),
    )


def upgrade_check(service: Service, ask: Ask) -> Answer:
    """``/v1/upgrade-check``: the report of ``aicr upgrade-check``, or why one row reads so."""
    asked = Asked(ask, CHECK_FIELDS, main="from")
    before, after = _both_sides(asked, service)
    report = check(
        before,
        after,
        catalog=service.catalog,
        deployer=asked.text("deployer"),
        allow_different_criteria=asked.boolean("allowDifferentCriteria"),
    )
    said = [*before.warnings, *(after.warnings if after else ()), *report.warnings]
    if asked.has("why"):
        return _answer(report.why(asked.text("why"), ask.form), ask, REPORT, said)
    if ask.form == "json":
        return Answer(json_bytes(report.values()), media_type("json", REPORT), warnings=said)
    return _answer(report.text(ask.form), ask, REPORT, said)


def upgrade_plan(service: Service, ask: Ask) -> Answer:
    """``/v1/upgrade-plan``: the plan of ``aicr upgrade-plan``, or its folder as an archive."""
    asked = Asked(ask, PLAN_FIELDS, main="from")
    before, after = _both_sides(asked, service)
    stages = asked.text("stages") or "hops"
    found = plan(
        before,
        after,
        catalog=service.catalog,
        deployer=asked.text("deployer"),
        stages=stages,
        include_unplanned=asked.boolean("includeUnplanned"),
        allow_different_criteria=asked.boolean("allowDifferentCriteria"),
    )
    said = [*before.warnings, *(after.warnings if after else ()), *found.warnings]
    if ask.form not in ARCHIVE.values():
        return _answer(found.text(ask.form), ask, PLAN, said)
    return Answer(
        found.archive(ask.form),
        media_type(ask.form, PLAN),
        headers={"content-disposition": f'attachment; filename="plan.{ask.form}"'},
        warnings=[*said, *found.notes],
    )


def mirror_list(service: Service, ask: Ask) -> Answer:
    """``/v1/mirror-list``: the images and charts of a recipe, from the charts of this server.

    Without charts it knows the charts, and not what they run: an answer that says so is given to
    who asks for an incomplete one.
    """
    from aicr.bundle.build import catalog_notice
    from aicr.charts.source import Charts
    from aicr.mirror.collect import collect, unrendered
    from aicr.mirror.formats import FORMATS, checked_platforms, written

    asked = Asked(ask, MIRROR_FIELDS, main="recipe")
    form = asked.text("format") or ask.form
    if form not in FORMATS:
        raise invalid(f'format: expected {", ".join(FORMATS)}, found "{form}"')
    platforms = checked_platforms(asked.texts("platforms"), "platforms")
    found = _recipe_or_criteria(asked, service)
    _check_built_here(found)
    layers, sets = service.catalog.layers, asked.texts("set")
    if service.charts_dir:
        # Opened for this request alone: what it finds is kept by names that the client chooses.
        charts = Charts(service.charts_dir)
        listed = collect(found.model, layers, charts, sets=sets, where=found.name)
    else:
        listed = unrendered(found.model, layers, sets=sets, where=found.name, why=NO_CHARTS)
    if not asked.boolean("allowIncomplete"):
        listed.check_complete(
            hint="allowIncomplete lists what could be found: the charts, and the images that are "
            "known; aicr mirror list, or a server with --charts-dir, finds the others"
        )
    warnings = [
        *found.warnings,
        *(notice.message for notice in catalog_notice(found.model, layers)),
        *listed.notes,
        *(f"incomplete: {reason}" for reason in listed.reasons),
    ]
    answer = _answer(written(listed, form, platforms), ask, MIRROR, warnings)
    answer.media = "application/json" if form == "json" else "application/yaml"
    return answer


def criteria(service: Service, ask: Ask) -> Answer:
    """``/v1/criteria``: the valid values, and the combinations that resolve."""
    Asked(ask, ())
    recipes = [{"criteria": one.values(), "components": many} for one, many in service.resolvable]
    values = {"values": service.catalog.criteria, "recipes": recipes}
    return _document(values, ask, DOCUMENT)


def components(service: Service, ask: Ask) -> Answer:
    """``/v1/components``: what the registry knows."""
    Asked(ask, ())
    listed: list[object] = []
    for name, entry in sorted(service.catalog.layers.registry.items()):
        fields = {
            "name": name,
            "displayName": entry.display_name,
            "type": "Kustomize" if entry.is_kustomize else "Helm",
            "chart": entry.chart,
            "source": entry.source or entry.repository,
            "version": entry.version or entry.tag,
            "namespace": entry.namespace,
            "path": entry.path,
        }
        values: dict[str, object] = {key: value for key, value in fields.items() if value}
        values["hasRecords"] = bool(entry.upgrades_file)
        listed.append(values)
    return _document({"components": listed}, ask, DOCUMENT)


def records(service: Service, ask: Ask, component: str) -> Answer:
    """``/v1/records/{component}``: as ``aicr records show --format json``."""
    from aicr.upgrade.model import Records
    from aicr.upgrade.shown import records_values

    Asked(ask, ())
    if component not in service.catalog.layers.registry:
        raise not_found(
            f'the registry has no component "{component[:200]}"',
            hint="/v1/components lists them",
        )
    found = service.catalog.records.get(component)
    transitions = found.transitions if found is not None else ()
    return _document(records_values(found or Records(component), transitions), ask, DOCUMENT)


def _recipe_or_criteria(asked: Asked, service: Service) -> Recipe:
    """The one of ``recipe``, ``criteria`` and ``from`` (its criteria, resolved again) that is
    there."""
    found = asked.recipe("recipe")
    given = [name for name in ("criteria", "from") if asked.has(name)]
    if len(given) + (found is not None) > 1:
        names = " and ".join((["recipe"] if found is not None else []) + given)
        raise invalid(f"{names}: a recipe is given or resolved, not both")
    if found is not None:
        return found
    if asked.has("criteria"):
        return service.recipe(asked.criteria(service))
    before = asked.recipe("from")
    if before is None:
        raise invalid("recipe: is missing", hint="send a recipe, or criteria to resolve")
    return again(before, service.catalog)


def _both_sides(asked: Asked, service: Service) -> tuple[Recipe, Recipe | None]:
    before = asked.recipe("from")
    if before is None:
        raise invalid("from: is missing", hint="send the recipe or bundle that is deployed")
    after = asked.recipe("to")
    if asked.has("criteria"):
        if after is not None:
            raise invalid("to and criteria: a recipe is given or resolved, not both")
        after = service.recipe(asked.criteria(service))
    return before, after


def _check_built_here(found: Recipe) -> None:
    """Whether it takes no program and no network to make a bundle of it."""
    names = [
        ref.name for ref in found.components if ref.type.lower() == "kustomize" and ref.enabled
    ]
    if names:
        raise invalid(
            f"{', '.join(names)}: a Kustomize component is built from its source, and this server "
            "fetches nothing",
            hint="use the command aicr where kubectl is",
        )


def _answer(
    text: str, ask: Ask, offered: Mapping[str, str], warnings: list[str] | None = None
) -> Answer:
    return Answer(text.encode("utf-8"), media_type(ask.form, offered), warnings=warnings)


def _document(value: object, ask: Ask, offered: Mapping[str, str]) -> Answer:
    if ask.form != "json":
        return _answer(yaml_text(value), ask, offered)
    try:
        return _answer(json_text(value), ask, offered)
    except ValueError:
        raise AicrError(
            "INVALID_REQUEST", "a value of this has no JSON form", hint="ask for application/yaml"
        ) from None
