"""Whether what a recipe names can be trusted in a path, a script or a template.

Names and namespaces are DNS-1123 labels, versions SemVer or git references, sources URLs of
known schemes without credentials, files relative paths. Everything is ASCII. All that is wrong is
reported at once.
"""

from __future__ import annotations

import re

from aicr.documents.fields import Problem
from aicr.versions.semver import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aicr.catalog.model import ComponentRef
    from aicr.recipe.model import Recipe

# Helm keeps release names in labels together with its own words, and stops at 53.
LONGEST_RELEASE = 53
LONGEST_LABEL = 63

# Patterns are compiled when they are first used; most recipes need few of them.
_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_GIT_REF = r"[A-Za-z0-9][A-Za-z0-9._/+-]{0,199}"
_CHART = r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)*"
_SEGMENT = r"(?!-)[A-Za-z0-9_@+.-]*[A-Za-z0-9_@+-][A-Za-z0-9_@+.-]*"
_WORD = r"[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?"
_HOST = r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?"
_URL_PATH = r"(?:/+[A-Za-z0-9_~%+-][A-Za-z0-9._~%+-]*)*/?"
_CHART_SOURCE = rf"(?:https?|oci)://{_HOST}{_URL_PATH}"
_GIT_SOURCE = (
    rf"(?:https?|ssh)://(?:git@)?{_HOST}{_URL_PATH}"
    rf"|git@{_HOST}:[A-Za-z0-9_~][A-Za-z0-9._~+-]*{_URL_PATH}"
    rf"|file://{_URL_PATH}"
    r"|[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9-]+)+(?:/+[A-Za-z0-9_][A-Za-z0-9._~+-]*)+/?"
)
_CREDENTIALS = r"[a-z]+://[^/]*@"


def check_recipe(recipe: Recipe, where: str) -> list[Problem]:
    """Everything in ``recipe`` that may not reach a bundle; ``where`` is its file."""
    check = _Check(where)
    for dimension, value in recipe.criteria.stated().items():
        check.matches(f"criteria.{dimension}", value, _WORD, "a lower-case word")
    for ref in recipe.components:
        check.component(ref)
    for index, name in enumerate(recipe.deployment_order):
        check.label(f"deploymentOrder[{index}]", name, LONGEST_LABEL)
    return check.problems


def check_repository(repo: str, revision: str) -> list[Problem]:
    """What is wrong with the repository that is to hold a bundle, and with its revision."""
    check = _Check("command line")
    if repo and re.match(_CREDENTIALS, repo) and not repo.startswith("ssh://git@"):
        message = "holds credentials, which a bundle must not carry"
        check.problems.append(Problem(check.where, 0, "--repo", message))
    elif repo and not is_git_source(repo):
        check.report("--repo", repo, "a Git repository (https://, ssh:// or git@host:path)")
    if revision and not is_version(revision):
        check.report("--target-revision", revision, "a branch, a tag or a commit")
    return check.problems


def shown(text: str) -> str:
    """``text`` quoted for a message, everything outside ASCII as its escape."""
    return ascii(text if len(text) <= 80 else text[:77] + "...")


def is_label(text: str, longest: int = LONGEST_LABEL) -> bool:
    """Whether ``text`` is a DNS-1123 label."""
    return len(text) <= longest and re.fullmatch(_LABEL, text) is not None


def is_relative(path: str) -> bool:
    """Whether ``path`` is relative, plain, and stays below where it starts."""
    return len(path) <= 1024 and all(re.fullmatch(_SEGMENT, part) for part in path.split("/"))


def is_version(text: str) -> bool:
    """Whether ``text`` is SemVer or a git reference."""
    if parse(text) is not None:
        return True
    return (
        re.fullmatch(_GIT_REF, text) is not None
        and not any(part in text for part in ("..", "//", "/."))
        and not text.endswith(("/", ".", ".lock"))
    )


def is_chart_source(text: str) -> bool:
    """Whether ``text`` is a Helm repository or an OCI registry path."""
    return len(text) <= 2048 and re.fullmatch(_CHART_SOURCE, text) is not None


def is_git_source(text: str) -> bool:
    """Whether ``text`` is a Git repository, as git and kustomize know them."""
    return len(text) <= 2048 and re.fullmatch(_GIT_SOURCE, text) is not None


class _Check:
    """Collects what is wrong, field by field."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.problems: list[Problem] = []

    def report(self, field: str, value: str, expected: str) -> None:
        message = f"found {shown(value)}, expected {expected}"
        self.problems.append(Problem(self.where, 0, field, message))

    def matches(self, field: str, value: str, pattern: str, expected: str) -> None:
        if len(value) > 256 or re.fullmatch(pattern, value) is None:
            self.report(field, value, expected)

    def label(self, field: str, value: str, longest: int) -> None:
        if not is_label(value, longest):
            self.report(
                field, value,
                f"at most {longest} lower-case letters, digits and inner dashes (DNS-1123)",
            )  # fmt: skip

    def paths(self, field: str, values: Iterable[str]) -> None:
        for index, value in enumerate(values):
            if not is_relative(value):
                self.report(f"{field}[{index}]", value, "a plain relative path")

    def component(self, ref: ComponentRef) -> None:
        at = f"componentRefs[{ref.name if is_label(ref.name) else ascii(ref.name)}]"
        self.label(f"{at}.name", ref.name, LONGEST_RELEASE)
        if ref.namespace:
            self.label(f"{at}.namespace", ref.namespace, LONGEST_LABEL)
        if ref.chart:
            self.matches(f"{at}.chart", ref.chart, _CHART, "a chart's name")
        is_chart = ref.source != "" and ref.type != "Kustomize"
        for field, value in (("version", ref.version), ("tag", ref.tag)):
            if value and not is_version(value):
                self.report(f"{at}.{field}", value, "SemVer or a git reference")
            elif is_chart and value == ref.pin and parse(value) is None:
                # "1.x" is a git reference too; for Helm, Argo CD and Flux it is a range.
                self.report(f"{at}.{field}", value, "the exact version of a chart (SemVer)")
        if not is_chart and ref.version and ref.tag and ref.version != ref.tag:
            # It would be built from the tag, while an upgrade check compares the version.
            message = f"states {shown(ref.tag)} beside the version {shown(ref.version)}: leave one"
            self.problems.append(Problem(self.where, 0, f"{at}.tag", message))
        self.source(f"{at}.source", ref)
        for field, value in (("path", ref.path), ("valuesFile", ref.values_file)):
            if value and not is_relative(value.removeprefix("./") if field == "path" else value):
                self.report(f"{at}.{field}", value, "a plain relative path")
        self.paths(f"{at}.patches", ref.patches)
        self.paths(f"{at}.manifestFiles", ref.manifest_files)
        self.paths(f"{at}.preManifestFiles", ref.pre_manifest_files)
        for index, name in enumerate(ref.dependency_refs):
            self.label(f"{at}.dependencyRefs[{index}]", name, LONGEST_RELEASE)

    def source(self, field: str, ref: ComponentRef) -> None:
        if not ref.source:
            return
        if re.match(_CREDENTIALS, ref.source) and not ref.source.startswith("ssh://git@"):
            self.problems.append(
                Problem(self.where, 0, field, "holds credentials, which a bundle must not carry")
            )
        elif ref.type == "Kustomize":
            if not is_git_source(ref.source):
                self.report(field, ref.source, "a Git repository (https, ssh or file)")
        elif not is_chart_source(ref.source):
            self.report(field, ref.source, "a chart repository (https://, http:// or oci://)")


def check_releases(names: Sequence[tuple[str, str]], where: str) -> list[Problem]:
    """Release names (each with its component) that are too long or that collide."""
    problems: list[Problem] = []
    owners: dict[str, str] = {}
    for name, component in names:
        field = f"componentRefs[{component}].name"
        if len(name) > LONGEST_RELEASE:
            message = f'its release "{name}" has {len(name)} characters, Helm takes at most '
            problems.append(Problem(where, 0, field, message + str(LONGEST_RELEASE)))
        if name in owners:
            message = f'its release "{name}" has the name of one of "{owners[name]}"'
            problems.append(Problem(where, 0, field, message))
        owners.setdefault(name, component)
    return problems
