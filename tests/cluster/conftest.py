"""Doubles of a cluster, filled from recordings of a real one."""

from __future__ import annotations

from kube_commands import aicr
from kube_double_fixtures import bare, connect, double, no_cluster_of_the_user, patience
from kube_servers import empty, kind_of_server, real, server

__all__ = [
    "aicr", "bare", "connect", "double", "empty", "kind_of_server", "no_cluster_of_the_user",
    "patience", "real", "server",
]  # fmt: skip
