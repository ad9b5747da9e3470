"""What a ``--config`` file says about the flags of a verb: ``kind: AICRConfig``.

The public schema. Of each section a verb reads its own; the keys of ``spec.recipe`` and
``spec.bundle`` are checked whichever verb reads the file. A key that asks for something which
this tool does not do is an error; one that asks for nothing (empty, false, 0) is not.
"""

from __future__ import annotations

from aicr.artifact.read import read_path
from aicr.catalog.schema import open_document
from aicr.cli.output import note
from aicr.documents.fields import Fields, Problem, Problems
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

KIND = "AICRConfig"
SECTIONS = {
    "recipe": "recipe",
    "query": "recipe",
    "recipe explain": "recipe",
    "mirror list": "recipe",
    "bundle": "bundle",
}
OTHER_SECTIONS = ("snapshot", "validate", "verify")


class Key:
    """A key of the schema: how its value is read, and the flag that it stands for.

    ``flag`` is "" where this tool has none. The result of a query is not that of a recipe, so
    keys that are ``only_for`` one verb are read by that one alone.
    """

    __slots__ = ("flag", "kind", "only_for")

    def __init__(self, kind: str, flag: str = "", only_for: str = "") -> None:
        self.kind = kind
        self.flag = flag
        self.only_for = only_for


Schema = dict[str, "Key | Schema"]

RECIPE: Schema = {
    "criteria": {
        "service": Key("text", "--service"),
        "accelerator": Key("text", "--accelerator"),
        "intent": Key("text", "--intent"),
        "os": Key("text", "--os"),
        "platform": Key("text", "--platform"),
        "nodes": Key("integer", "--nodes"),
    },
    "input": {"snapshot": Key("text", "--snapshot")},
    "output": {
        "path": Key("text", "--output", only_for="recipe"),
        "format": Key("text", "--format", only_for="recipe"),
    },
    "data": Key("text", "--data"),
    "criteriaStrict": Key("boolean", "--criteria-strict"),
    "profile": Key("text"),
    "artifacts": {"inventory": Key("text")},
}
BUNDLE: Schema = {
    "input": {"recipe": Key("text", "--recipe")},
    "output": {"target": Key("text", "--output"), "imageRefs": Key("text")},
    "deployment": {
        "deployer": Key("text", "--deployer"),
        "repo": Key("text", "--repo"),
        "set": Key("list", "--set"),
        "dynamic": Key("list", "--dynamic"),
        "vendorCharts": Key("boolean", "--vendor-charts"),
        "appName": Key("text"),
    },
    "scheduling": {
        "systemNodeSelector": Key("map", "--system-node-selector"),
        "systemNodeTolerations": Key("list", "--system-node-toleration"),
        "acceleratedNodeSelector": Key("map", "--accelerated-node-selector"),
        "acceleratedNodeTolerations": Key("list", "--accelerated-node-toleration"),
        "workloadSelector": Key("map", "--workload-selector"),
        "nodes": Key("integer", "--nodes"),
        "storageClass": Key("text", "--storage-class"),
        "workloadGate": Key("text", "--workload-gate"),
        "sharedStorageClass": Key("text"),
    },
    "attestation": {
        "enabled": Key("boolean"),
        "certificateIdentityRegexp": Key("text"),
        "oidcDeviceFlow": Key("boolean"),
        "fulcioURL": Key("text"),
        "rekorURL": Key("text"),
        "signingKey": Key("text"),
    },
    "registry": {"insecureTLS": Key("boolean"), "plainHTTP": Key("boolean", "--plain-http")},
}


class Setting:
    """What a file asks for at one key: the values, one for each time that the flag is given."""

    __slots__ = ("key", "line", "path", "values")

    def __init__(self, key: Key, path: str, line: int, values: list[str]) -> None:
        self.key = key
        self.path = path
        self.line = line
        self.values = values


def configured_words(
    path: str,
    verb: str,
    parser: argparse.ArgumentParser,
    given: set[str],
    sources: dict[str, str],
) -> list[str]:
    """The words of a command line that the file stands for, without flags that are ``given``.

    Where each came from is added to ``sources``. Raises INVALID_REQUEST with all problems.
    """
    own = SECTIONS.get(verb, "")
    problems = Problems()
    settings = _read(path, own, problems)
    words: list[str] = []
    found: dict[str, str] = {}
    for setting in settings:
        key = setting.key
        if key.only_for and key.only_for != verb:
            continue
        action = parser._option_string_actions.get(key.flag)
        if action is None:
            problems.errors.append(_unsupported(path, setting))
            continue
        if action.dest not in given and action.dest not in sources:
            found[action.dest] = f"{path}:{setting.line}"
            # One word each: a line break in a value is part of it.
            words += [f"{key.flag}={value}" for value in setting.values]
    problems.raise_any()
    sources |= found
    return words


def _read(path: str, own: str, problems: Problems) -> list[Setting]:
    from aicr.documents.reader import read_yaml

    if "://" in path:
        raise invalid(f"--config {path}: a file was expected, not an address")
    fields = open_document(read_yaml(read_path(path, "--config"), path), path, (KIND,), problems)
    metadata = fields.mapping("metadata")
    if metadata is not None:
        metadata.text("name")
        metadata.done()
    spec = fields.mapping("spec")
    fields.done()
    settings: list[Setting] = []
    if spec is None:
        fields.problem("is missing", "spec")
    else:
        for section, schema in (("recipe", RECIPE), ("bundle", BUNDLE)):
            below = spec.mapping(section)
            if below is not None:
                found = _settings(below, schema)
                settings += found if section == own else []
        unused = [section for section in OTHER_SECTIONS if spec.mapping(section) is not None]
        spec.done()
        if not any(spec.has(section) for section in ("recipe", "bundle", *OTHER_SECTIONS)):
            spec.problem("has none of the sections recipe, bundle, snapshot, validate, verify")
        if unused:
            note(f"{path}: not used by this tool: {', '.join(f'spec.{one}' for one in unused)}")
    problems.raise_any()
    return settings


def _settings(fields: Fields, schema: Schema) -> list[Setting]:
    """What is asked for below ``fields``; unknown keys are problems."""
    found: list[Setting] = []
    for name, key in schema.items():
        if isinstance(key, Key):
            values = _values(fields, name, key.kind)
            if values:
                path = f"{fields.at}.{name}"
                found.append(Setting(key, path, fields.line(name), values))
        else:
            below = fields.mapping(name)
            if below is not None:
                found += _settings(below, key)
    fields.done()
    return found


def _values(fields: Fields, name: str, kind: str) -> list[str]:
    """The values at a key; [] where it asks for nothing."""
    if kind == "boolean":
        return ["true"] if fields.boolean(name) else []
    if kind == "integer":
        number = fields.integer(name)
        return [str(number)] if number else []
    if kind == "list":
        return [item for item in fields.texts(name) if item]
    if kind == "map":
        below = fields.mapping(name)
        if below is None:
            return []
        return [f"{key}={below.text(key)}" for key in below.node]
    text = fields.text(name)
    return [text] if text else []


def _unsupported(path: str, setting: Setting) -> Problem:
    return Problem(
        path, setting.line, setting.path, "is a key of the public schema for which this tool has "
        "no counterpart; take it out, or leave it empty"
    )  # fmt: skip


def known_keys(schema: Mapping[str, Key | Schema], at: str) -> dict[str, str]:
    """Every key of a section with the flag that it stands for, for the documentation."""
    found: dict[str, str] = {}
    for name, key in schema.items():
        path = f"{at}.{name}"
        if isinstance(key, Key):
            found[path] = key.flag
        else:
            found |= known_keys(key, path)
    return found
