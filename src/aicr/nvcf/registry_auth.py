"""Who asks a registry, for the modules of this floor (``aicr.artifact.registry_auth``)."""

from __future__ import annotations

from aicr.artifact.registry_auth import (
    CERTS_D,
    DockerConfig,
    Login,
    read_docker_config,
    tls_context,
)

__all__ = ["CERTS_D", "DockerConfig", "Login", "read_docker_config", "tls_context"]
