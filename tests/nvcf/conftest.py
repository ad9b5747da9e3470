"""Small worlds for the tests of queues: one NATS server, or three."""

from __future__ import annotations

from kube_servers import real
from nvcf_fixtures import quick, small_world, wide_world, world

__all__ = ["quick", "real", "small_world", "wide_world", "world"]
