"""A bundle as one file: a ``.zip`` or a ``.tar.gz``; same bundle, same bytes."""

from __future__ import annotations

from aicr.artifact.tarball import pack
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.bundle.writers import Files

FORMS = ("zip", "tar.gz")


def archived(files: Files, form: str) -> bytes:
    """The archive of ``files`` in one of ``FORMS``. Raises INVALID_REQUEST for another one."""
    if form not in FORMS:
        raise invalid(f'there is no archive of the form "{form}", expected {" or ".join(FORMS)}')
    return pack(files) if form == "tar.gz" else _zipped(files)


def _zipped(files: Files) -> bytes:
    """Stored, not compressed: compressors of different versions give different bytes."""
    import io
    import zipfile

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(files):
            data, executable = files[path]
            member = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            member.create_system = 3  # Unix, wherever this runs
            member.external_attr = (0o100755 if executable else 0o100644) << 16
            archive.writestr(member, data)
    return buffer.getvalue()
