"""One server for all tests that do no harm to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from live_server import LiveServer, live_server

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="session")
def server(own_cache: Path) -> Iterator[LiveServer]:
    with live_server() as found:
        yield found


@pytest.fixture(scope="session")
def old_recipe() -> Path:
    return EXAMPLES / "eks-h100-training-v0.20.0.yaml"
