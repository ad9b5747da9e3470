"""A bundle is deployed with a real Helm: its scripts, its charts, its values, once and again.

On the Kubernetes double, and on a real API server where ``KUBEBUILDER_ASSETS`` names one. Charts
are vendored and make ConfigMaps, since nothing runs pods there.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from aicr.bundle.build import Request, build_bundle
from aicr.catalog.layers import Catalog
from aicr.charts.source import Charts
from aicr.recipe.model import Recipe
from bundles import STACK_RELEASES, write_out
from kube_double import KubeDouble
from kube_double_faults import Answer
from kube_double_kinds import BUILT_IN, StatusError
from kube_servers import Server, empty, kind_of_server, real
from small_charts import write_chart
from tools import tool

__all__ = ["empty", "kind_of_server", "real"]

CONFIG_MAPS = next(kind for kind in BUILT_IN if kind.plural == "configmaps")
OBJECT = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}-upstream"}
data: {values: {{ omit .Values "global" | toJson | quote }}}
"""
# What a server says of itself, for clients that let it check fields: kinds, and that they are
# patched with a check.
FIELD_VALIDATION = {"name": "fieldValidation", "in": "query", "schema": {"type": "string"}}


def schemas() -> dict[str, object]:
    paths = {
        f"/api/v1/{kind.plural}/{{name}}": {
            "patch": {
                "parameters": [FIELD_VALIDATION],
                "x-kubernetes-group-version-kind": {
                    "group": "",
                    "version": "v1",
                    "kind": kind.kind,
                },
            }
        }
        for kind in BUILT_IN
        if kind.api_version == "v1"
    }
    return {"openapi": "3.0.0", "info": {"title": "x", "version": "1"}, "paths": paths}


@pytest.fixture
def cluster(
    kind_of_server: str, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Server]:
    """A cluster with nothing in it, over TLS: Helm sends no token without."""
    if kind_of_server != "double":
        yield request.getfixturevalue("empty")
        return
    head = {"Content-Type": "application/json"}
    listed = {"paths": {"api/v1": {"serverRelativeURL": "/openapi/v3/api/v1"}}}
    (tmp_path / "double").mkdir()
    with KubeDouble(tmp_path / "double", tls=True) as double:
        for path, body in (("/openapi/v3", listed), ("/openapi/v3/api/v1", schemas())):
            double.faults.add(
                Answer(200, json.dumps(body), head),
                lambda request, path=path: request.path == path,  # type: ignore[misc]
                times=1000,
            )
        yield double


class Deployed:
    """A bundle on disk, and its scripts run against a cluster."""

    def __init__(self, root: Path, cluster: Server, home: Path) -> None:
        self.root = root
        path = f"{os.path.dirname(tool('helm', 'HELM_BIN'))}:/usr/bin:/bin"
        self.env = {"PATH": path, "HOME": str(home), "KUBECONFIG": str(cluster.kubeconfig())}
        self.cluster = cluster

    def run(self, *command: str) -> str:
        done = subprocess.run(
            list(command), cwd=self.root, env=self.env, capture_output=True, encoding="utf-8",
            timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def revisions(self) -> dict[str, str]:
        listed = json.loads(self.run("helm", "list", "--all-namespaces", "--output", "json"))
        assert {one["status"] for one in listed} <= {"deployed"}
        return {f"{one['namespace']}/{one['name']}": one["revision"] for one in listed}

    def data(self, namespace: str, name: str) -> dict[str, str]:
        found: dict[str, str] = self.cluster.store.get(CONFIG_MAPS, namespace, name)["data"]
        return found


@pytest.fixture
def deployed(recipe: Recipe, catalog: Catalog, cluster: Server, tmp_path: Path) -> Deployed:
    files = {"templates/deployment.yaml": OBJECT, "values.yaml": {"size": 1, "replicas": 1}}
    write_chart(tmp_path / "charts", "chart", "1.2.3", files)
    write_chart(tmp_path / "charts", "oci-chart", "26.10", files)
    request = Request("helm", charts=Charts(str(tmp_path / "charts")), vendor_charts=True)
    bundle = build_bundle(recipe, catalog, request, where="r.yaml")
    found = Deployed(write_out(bundle, tmp_path / "b"), cluster, tmp_path)
    found.env["AICR_HELM_TIMEOUT"] = "120s"
    return found


def test_a_bundle_is_deployed_twice_and_taken_away(deployed: Deployed) -> None:
    deployed.run("./deploy.sh")
    namespaces = ["oci-system", *["chart-system"] * 3, "plain-system"]
    names = [f"{space}/{name}" for space, name in zip(namespaces, STACK_RELEASES, strict=True)]
    assert deployed.revisions() == dict.fromkeys(names, "1")
    assert deployed.data("chart-system", "chart-before") == {"size": "3"}
    assert deployed.data("chart-system", "chart-after") == {"size": "3"}
    assert deployed.data("plain-system", "plain-only") == {"size": "large"}
    upstream = json.loads(deployed.data("chart-system", "chart-upstream")["values"])
    assert upstream == {"names": ["on", "1:30"], "replicas": 1, "size": 3, "x": None}
    deployed.run("./deploy.sh")
    assert deployed.revisions() == dict.fromkeys(names, "2")
    deployed.run("./undeploy.sh")
    assert deployed.revisions() == {}
    with pytest.raises(StatusError):
        deployed.data("plain-system", "plain-only")
    deployed.run("./undeploy.sh")


def test_dry_run_changes_nothing(deployed: Deployed) -> None:
    deployed.run("./deploy.sh", "--dry-run=server")
    assert deployed.revisions() == {}
