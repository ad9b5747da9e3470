"""What every test stands on: a cache of its own, and the cases where they are there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# A deadline for one example would fail on a busy machine, and says nothing of the code.
settings.register_profile("aicr", deadline=None)
settings.load_profile("aicr")


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The tests, and the commands that they start, use nothing of the user's surroundings."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        for name in os.environ:
            if name.startswith("AICR_") and name != "AICR_CASES":
                patch.delenv(name)
        yield folder


@pytest.fixture
def cache_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache for one test."""
    folder = tmp_path / "cache-home"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def cases() -> Path:
    """The folder of cases that were not written here (environment variable AICR_CASES)."""
    folder = os.environ.get("AICR_CASES")
    if not folder:
        pytest.skip("AICR_CASES is not set: the cases of another implementation are not here")
    return Path(folder)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Bytes are named by their length: archives carry the time, and workers must agree on names."""
    return f"{len(val)}-bytes" if isinstance(val, bytes) and len(val) > 20 else None
