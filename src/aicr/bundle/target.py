"""Where a bundle is written to: a folder, a ``.tar.gz`` file, or a tag of a registry."""

from __future__ import annotations

import os

from aicr.bundle.layout import SIGN
from aicr.errors import AicrError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.artifact.image_ref import ImageRef
    from aicr.bundle.writers import Files

OCI = "oci://"


def check_target(output: str) -> None:
    """Whether ``output`` can be meant at all, before anything is done. Raises INVALID_REQUEST."""
    if output.startswith(OCI):
        _tag(output)
    elif "://" in output:
        scheme = output.partition("://")[0]
        raise invalid(f"--output {output}: {scheme}:// is not written to, only oci://")


def write_bundle(
    files: Files, output: str, *, overwrite: bool = False, plain_http: bool = False
) -> str:
    """Write the files of a bundle, all or nothing, and say where they are.

    What is there is replaced where it is a bundle: without a flag where it is as it was written,
    else with ``overwrite``. Raises INVALID_REQUEST for anything else that is there.
    """
    if output.startswith(OCI):
        return _push(files, output, plain_http=plain_http)
    from aicr.artifact.tarball import is_tarball, pack

    if is_tarball(output):
        from aicr.artifact.atomic import write_file

        _check_file(output, overwrite=overwrite)
        write_file(output, pack(files))
        return output
    from aicr.artifact.atomic import replace_directory

    replace_directory(output, files, sign=SIGN, overwrite=overwrite)
    return output


def _push(files: Files, output: str, *, plain_http: bool) -> str:
    from aicr.artifact.oci import OciArtifact
    from aicr.artifact.tarball import pack
    from aicr.bundle.contents import ARCHIVE_NAME, ARTIFACT_TYPE

    artifact = OciArtifact(_tag(output), f"--output {output}", plain_http=plain_http)
    there = artifact.type()
    if there not in (None, ARTIFACT_TYPE):
        raise invalid(
            f'--output {output}: is there already, and is no bundle but "{there or "unknown"}"',
            hint="nothing was changed; name another tag or repository",
        )
    digest = artifact.push(pack(files), artifact_type=ARTIFACT_TYPE, title=ARCHIVE_NAME)
    return f"{output}@{digest}"


def _tag(output: str) -> ImageRef:
    from aicr.artifact.oci import parse_oci

    ref = parse_oci(output, "--output")
    if ref.digest:
        raise invalid(f"--output {output}: a bundle is pushed to a tag, its digest is its own")
    return ref


def _check_file(path: str, *, overwrite: bool) -> None:
    from aicr.bundle.contents import open_contents
    from aicr.bundle.verify import verify

    if not os.path.isfile(path) or os.path.getsize(path) == 0:
        return
    try:
        contents = open_contents(path)
        ours = SIGN[0] in contents.paths and SIGN[1] in contents.read(SIGN[0], 1024 * 1024)
    except AicrError:
        ours = False
    if not ours:
        raise invalid(
            f"{path}: is a file that this tool did not write",
            hint="nothing was changed; move it away, or write to another file",
        )
    if not overwrite and not verify(contents).intact:
        raise invalid(
            f"{path}: changed since it was written",
            hint="nothing was changed; aicr verify says where, --overwrite replaces it",
        )
