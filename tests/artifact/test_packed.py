"""A bundle in an archive: read in memory, within bounds, without harm."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import pytest

from aicr.artifact.packed import open_packed
from aicr.artifact.tarball import pack
from aicr.bundle.archived import archived
from aicr.errors import AicrError
from bundles import build, stack, stack_recipe

LARGEST = 1024 * 1024


@pytest.mark.parametrize("form", ["zip", "tar.gz"])
@pytest.mark.parametrize("below", ["", "bundle/"])
def test_a_bundle_comes_back(tmp_path: Path, form: str, below: str) -> None:
    catalog = stack().open(tmp_path)
    bundle = build(stack_recipe(catalog), catalog)
    data = archived({below + path: found for path, found in bundle.files.items()}, form)
    assert data == archived({below + path: found for path, found in bundle.files.items()}, form)
    packed = open_packed(data, "b", largest=LARGEST)
    assert packed.artifact.kind == "bundle"
    assert packed.artifact.deployer == "helm"
    assert packed.values is not None
    assert set(packed.values) == {"chart", "oci", "plain"}


def zipped(**files: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def linked() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        link = zipfile.ZipInfo("recipe.yaml")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (zipped(readme="x"), "without recipe.yaml"),
        (zipped(**{"../recipe.yaml": "x"}), "no plain file"),
        (zipped(**{"/recipe.yaml": "x"}), "no plain file"),
        (zipped(**{"recipe.yaml": " " * (LARGEST + 1)}), "unpacks to more"),
        (gzip.compress(b"\0" * (4 * LARGEST)), "unpacks to more"),
        (linked(), "no plain file"),
        (zipped(**{"recipe.yaml": "x"})[:-30], "zip"),
        (b"PK\x03\x04", "zip"),
        (pack({"other": (b"", False)}), "without recipe.yaml"),
    ],
)
def test_what_is_refused(data: bytes, part: str) -> None:
    with pytest.raises(AicrError, match=part) as caught:
        open_packed(data, "sent", largest=LARGEST)
    assert caught.value.message.startswith("sent")
