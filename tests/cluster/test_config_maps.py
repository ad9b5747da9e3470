from __future__ import annotations

import pytest

from aicr.cluster.config_maps import Location, parse_location, read_document, write_document
from aicr.cluster.connection import Connection
from aicr.errors import AicrError
from kube_double import KubeDouble
from kube_double_faults import Run
from kube_double_fixtures import Connect, recording
from kube_servers import Server

HERE = Location("gpu-operator", "aicr-recipe")
KEYS = ("recipe.yaml", "recipe.json")


def put(connection: Connection, text: str = "a: 1\n", where: Location = HERE) -> str:
    return write_document(
        connection, where, text, key="recipe.yaml", component="recipe", version="0.1.0+dev"
    )


def code_of(connection: Connection, text: str = "a: 1\n", where: Location = HERE) -> str:
    with pytest.raises(AicrError) as caught:
        put(connection, text, where)
    return caught.value.code


def test_written_and_read(server: Server, connect: Connect) -> None:
    connection = connect(server)
    assert put(connection) == "created"
    assert put(connection, "a: 2\n") == "updated"
    assert read_document(connection, HERE, KEYS).text == "a: 2\n"
    stored = server.store.get(server.store.kind("", "configmaps"), "gpu-operator", "aicr-recipe")
    assert stored["data"] == {"recipe.yaml": "a: 2\n", "format": "yaml"}
    assert stored["metadata"]["labels"] == {
        "app.kubernetes.io/name": "aicr",
        "app.kubernetes.io/component": "recipe",
        "app.kubernetes.io/version": "0.1.0_dev",
        "app.kubernetes.io/managed-by": "aicr",
    }
    assert server.verbs() == {
        ("get", "configmaps"),
        ("create", "configmaps"),
        ("update", "configmaps"),
    }


def test_labels_and_annotations_of_others_stay(server: Server, connect: Connect) -> None:
    recorded = recording("configmap/get-200")["response"]["body"]
    recorded["metadata"]["labels"]["team"] = "ours"
    recorded["metadata"]["annotations"] = {"note": "keep"}
    kind = server.store.kind("", "configmaps")
    server.store.seed(kind, recorded)
    assert put(connect(server)) == "updated"
    stored = server.store.get(kind, "gpu-operator", "aicr-recipe")["metadata"]
    assert (stored["labels"]["team"], stored["annotations"]) == ("ours", {"note": "keep"})


def test_what_the_public_tool_wrote(server: Server, connect: Connect) -> None:
    kind = server.store.kind("", "configmaps")
    server.store.seed(kind, recording("configmap/get-200")["response"]["body"])
    assert read_document(connect(server), HERE, KEYS).text.startswith("apiVersion: aicr.run/")
    meta = {"name": "other", "namespace": "gpu-operator"}
    data = {"bundle.json": "{}", "format": "json", "timestamp": "2026"}
    server.store.seed(kind, {"metadata": meta, "data": data})
    found = read_document(connect(server), Location("gpu-operator", "other"), KEYS)
    assert (found.key, found.text) == ("bundle.json", "{}")


def test_what_is_not_there(server: Server, connect: Connect) -> None:
    kind = server.store.kind("", "configmaps")
    server.store.seed(kind, recording("configmap/get-200-foreign")["response"]["body"])
    connection = connect(server)
    for name, said in (("nothing", "no such ConfigMap"), ("aicr-foreign", "its keys are config")):
        with pytest.raises(AicrError) as caught:
            read_document(connection, Location("gpu-operator", name), KEYS)
        assert caught.value.code == "NOT_FOUND"
        assert said in caught.value.message


def test_nobody_elses_write_is_lost(double: KubeDouble, connect: Connect) -> None:
    connection = connect(double)
    kind = double.store.kind("", "configmaps")

    def somebody_else(text: str) -> None:
        double.store.update(
            kind, "gpu-operator", "aicr-recipe", {"metadata": {}, "data": {"recipe.yaml": text}}
        )

    double.faults.add(
        Run(lambda: put(connect(double), "first")), lambda request: request.method == "POST"
    )
    assert code_of(connection) == "CONFLICT"
    double.faults.add(Run(lambda: somebody_else("b")), lambda request: request.method == "PUT")
    assert code_of(connection) == "CONFLICT"
    assert double.store.get(kind, "gpu-operator", "aicr-recipe")["data"]["recipe.yaml"] == "b"
    double.store.delete(kind, "gpu-operator", "aicr-recipe")
    put(connection)
    double.faults.add(
        Run(lambda: double.store.delete(kind, "gpu-operator", "aicr-recipe")),
        lambda request: request.method == "PUT",
    )
    assert code_of(connection) == "CONFLICT"


def test_what_is_not_ours_is_left_alone(server: Server, connect: Connect) -> None:
    kind = server.store.kind("", "configmaps")
    foreign = recording("configmap/get-200-foreign")["response"]["body"]
    locked = recording("configmap/get-200")["response"]["body"] | {"immutable": True}
    server.store.seed(kind, foreign, locked)
    connection = connect(server)
    assert code_of(connection, where=Location("gpu-operator", "aicr-foreign")) == "CONFLICT"
    assert code_of(connection) == "CONFLICT"
    assert server.verbs() == {("get", "configmaps")}


def test_too_large_is_said_before_anything_is_sent(server: Server, connect: Connect) -> None:
    connection = connect(server)
    most = "x" * (1_048_576 - len("yaml"))
    assert code_of(connection, most + "x") == "INVALID_REQUEST"
    assert not server.requests
    assert put(connection, most) == "created"


def test_a_namespace_that_is_not_there(server: Server, connect: Connect) -> None:
    with pytest.raises(AicrError) as caught:
        put(connect(server), where=Location("no-such-namespace", "x"))
    assert caught.value.code == "NOT_FOUND"
    assert "there is no namespace no-such-namespace" in caught.value.message


@pytest.mark.parametrize(
    "text",
    ["cm://", "cm://a", "cm://a/", "cm:///b", "cm://A/b", "cm://a/b/c", "cm://a/B", "cm://a.b/c"],
)
def test_locations_that_are_none(text: str) -> None:
    with pytest.raises(AicrError) as caught:
        parse_location(text, "--from")
    assert caught.value.code == "INVALID_REQUEST"
    assert text in caught.value.message


def test_locations() -> None:
    found = parse_location("cm://gpu-operator/aicr.recipe-1", "--from")
    assert (found.namespace, found.name) == ("gpu-operator", "aicr.recipe-1")
