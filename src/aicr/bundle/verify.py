"""Whether a bundle is what was written: checksums, layout, recipe digest, vendored charts.

Nothing is signed: who can write to a bundle can write its checksums too. What this finds is what
was changed, lost or added by accident, or by somebody who did not cover it up.
"""

from __future__ import annotations

from aicr.artifact.bundle_info import BundleInfo, read_bundle_info
from aicr.artifact.checksums import CHECKSUMS
from aicr.artifact.read import INFO_FILE
from aicr.bundle.plan import DEFAULT_NAMESPACE
from aicr.bundle.vendor import PROVENANCE_FILE, read_provenance
from aicr.documents.reader import MAX_BYTES
from aicr.documents.safe import cell
from aicr.errors import AicrError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.bundle.contents import Contents
    from aicr.recipe.model import Recipe

_HEX = frozenset("0123456789abcdef")
_DIGEST_LENGTH = 64


class Changed:
    """A file whose content is not what was written; both are SHA-256 digests."""

    __slots__ = ("expected", "found", "path")

    def __init__(self, path: str, *, expected: str, found: str) -> None:
        self.path = path
        self.expected = expected
        self.found = found


class Verification:
    """What was found. ``problems`` are what is wrong besides single files."""

    __slots__ = ("changed", "count", "deployer", "extra", "missing", "problems", "recipe_digest")

    def __init__(
        self,
        *,
        count: int,
        changed: Sequence[Changed],
        missing: Sequence[str],
        extra: Sequence[str],
        problems: Sequence[str],
        info: BundleInfo | None,
    ) -> None:
        self.count = count
        self.changed = changed
        self.missing = missing
        self.extra = extra
        self.problems = problems
        self.deployer = info.deployer if info is not None else ""
        self.recipe_digest = info.recipe_digest if info is not None else ""

    @property
    def intact(self) -> bool:
        return not (self.changed or self.missing or self.extra or self.problems)


def verify(contents: Contents) -> Verification:
    """A bundle compared with what it says of itself. INVALID_REQUEST for what is no bundle."""
    present = set(contents.paths)
    known = present | set(contents.odd)
    if CHECKSUMS not in known and INFO_FILE not in known:
        raise invalid(
            f"{contents.location}: has neither {CHECKSUMS} nor {INFO_FILE}, so it is no bundle",
            hint="name a folder, a .tar.gz or an oci:// that aicr bundle wrote",
        )
    problems = [f"{path}: is {what}" for path, what in sorted(contents.odd.items())]
    listed = _checksums(contents, present, problems)
    changed: list[Changed] = []
    for path in sorted(set(listed) & present):
        found = contents.digest(path)
        if found != listed[path]:
            changed.append(Changed(path, expected=listed[path], found=found))
    missing = sorted(set(listed) - known)
    extra = sorted(present - set(listed) - {CHECKSUMS})
    info = None
    if INFO_FILE in present:
        info = _info(contents, problems)
    elif INFO_FILE not in listed:
        problems.append(f"{INFO_FILE}: is missing, and {CHECKSUMS} does not list it")
    if info is not None:
        _check_layout(contents, info, present, problems)
    if PROVENANCE_FILE in present:
        _check_provenance(contents, present, problems)
    return Verification(
        count=len(listed),
        changed=changed,
        missing=missing,
        extra=extra,
        problems=problems,
        info=info,
    )


def _checksums(contents: Contents, present: set[str], problems: list[str]) -> dict[str, str]:
    """Path -> digest as ``checksums.txt`` has it; lines that are none are problems."""
    if CHECKSUMS not in present:
        problems.append(f"{CHECKSUMS}: is missing, so no file can be compared")
        return {}
    try:
        text = contents.read(CHECKSUMS, MAX_BYTES).decode("utf-8")
    except UnicodeDecodeError:
        problems.append(f"{CHECKSUMS}: is no UTF-8 text")
        return {}
    found: dict[str, str] = {}
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else [], start=1):
        digest, path = line[:_DIGEST_LENGTH], line[_DIGEST_LENGTH + 2 :]
        plain = path and not path.startswith("/") and ".." not in path.split("/")
        if not (_is_digest(digest) and line[_DIGEST_LENGTH:][:2] == "  " and plain):
            problems.append(f'{CHECKSUMS}:{number}: "{cell(line[:100])}" is no digest and path')
        elif path in found:
            problems.append(f'{CHECKSUMS}:{number}: "{cell(path)}" is there twice')
        else:
            found[path] = digest
    return found


def _info(contents: Contents, problems: list[str]) -> BundleInfo | None:
    try:
        return read_bundle_info(contents.read(INFO_FILE, MAX_BYTES), INFO_FILE)
    except AicrError as error:
        problems.append(error.message)
        return None


def _check_layout(
    contents: Contents, info: BundleInfo, present: set[str], problems: list[str]
) -> None:
    """What ``bundle-info.yaml`` names is there, and the recipe is the one that it names."""
    if info.entrypoint not in present:
        problems.append(f"{INFO_FILE}: layout.entrypoint: {info.entrypoint} is not there")
    folders = {path[:at] for path in present for at in _slashes(path)}
    names: set[str] = set()
    for release in info.releases:
        at = f"{INFO_FILE}: layout.releases[{cell(release.name)}]"
        if release.name in names:
            problems.append(f"{at}: is there twice")
        names.add(release.name)
        if release.path not in folders and release.path not in present:
            problems.append(f"{at}: {release.path} is not there")
    if info.recipe_path not in present:
        problems.append(f"{INFO_FILE}: build.recipe.path: {info.recipe_path} is not there")
        return
    digest = f"sha256:{contents.digest(info.recipe_path)}"
    if digest != info.recipe_digest:
        problems.append(
            f"{info.recipe_path}: has the digest {digest}, and {INFO_FILE} was written for "
            f"{info.recipe_digest}"
        )
    try:
        from aicr.recipe.document import read_recipe

        recipe = read_recipe(contents.read(info.recipe_path, MAX_BYTES), info.recipe_path)
    except AicrError as error:
        problems.append(error.message)
        return
    _check_releases(info, recipe, problems)


def _check_releases(info: BundleInfo, recipe: Recipe, problems: list[str]) -> None:
    """The releases are those of the recipe's components, in its order and its namespaces."""
    refs = {ref.name: ref for ref in recipe.components}
    order: list[str] = []
    for release in info.releases:
        at = f"{INFO_FILE}: layout.releases[{cell(release.name)}]"
        ref = refs.get(release.component)
        if ref is None:
            problems.append(f"{at}: the recipe has no component {cell(release.component)}")
            continue
        if release.component not in order:
            order.append(release.component)
        namespace = ref.namespace or DEFAULT_NAMESPACE
        if release.namespace != namespace:
            problems.append(
                f"{at}: is for the namespace {cell(release.namespace)}, the recipe's is {namespace}"
            )
    without = [name for name in refs if name not in order]
    if without:
        problems.append(f"{INFO_FILE}: layout.releases: none is for {', '.join(without)}")
    elif recipe.deployment_order and order != list(recipe.deployment_order):
        problems.append(
            f"{INFO_FILE}: layout.releases: the order is {', '.join(order)}, the recipe's is "
            f"{', '.join(recipe.deployment_order)}"
        )


def _check_provenance(contents: Contents, present: set[str], problems: list[str]) -> None:
    """Each vendored chart has the digest that ``provenance.yaml`` says."""
    try:
        charts = read_provenance(contents.read(PROVENANCE_FILE, MAX_BYTES), PROVENANCE_FILE)
    except AicrError as error:
        problems.append(error.message)
        return
    by_path: Mapping[str, str] = {one.path: one.sha256 for one in charts}
    for path, digest in by_path.items():
        if path not in present:
            problems.append(f"{PROVENANCE_FILE}: the chart {path} is not there")
        elif contents.digest(path) != digest:
            problems.append(f"{PROVENANCE_FILE}: {path} has not the digest {digest}")
    problems += [
        f"{PROVENANCE_FILE}: does not say where {path} is from"
        for path in sorted(present)
        if path.endswith(".tgz") and path not in by_path and "/charts/" not in path
    ]


def _slashes(path: str) -> list[int]:
    return [at for at, char in enumerate(path) if char == "/"]


def _is_digest(text: str) -> bool:
    return len(text) == _DIGEST_LENGTH and _HEX.issuperset(text)
