"""OIDC: an id-token that is over is replaced by the issuer, safely, or the reason is said."""

from __future__ import annotations

import base64
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from aicr.cli.main import main
from aicr.cluster import nodes
from aicr.cluster.connection import Connection
from aicr.errors import AicrError
from issuer_double import Asked, IssuerDouble, jwt
from kube_double import KubeDouble
from kube_double_rbac import ADMINS, User

OVER = jwt("over", 1_000_000_000)
GOOD = jwt("good", 4_000_000_000)
NEXT = jwt("next", 4_100_000_000)


@pytest.fixture
def issuer(tmp_path: Path, double: KubeDouble) -> Iterator[IssuerDouble]:
    double.tokens = {GOOD: User("admin", (ADMINS,)), NEXT: User("admin", (ADMINS,))}
    folder = tmp_path / "issuer"
    folder.mkdir()
    with IssuerDouble(folder, lambda asked: (200, {"id_token": GOOD})) as issuer:
        yield issuer


def names(path: Path) -> Connection:
    connection = Connection(str(path))
    assert len(nodes.read_nodes(connection)) == 3
    return connection


def refused(double: KubeDouble, user: dict[str, Any]) -> AicrError:
    with pytest.raises(AicrError) as caught:
        names(double.kubeconfig(user))
    shown = caught.value.message + caught.value.hint
    assert "hush" not in shown
    assert OVER not in shown
    assert not double.requests
    return caught.value


def test_a_token_that_is_good_is_used(double: KubeDouble, issuer: IssuerDouble) -> None:
    names(double.kubeconfig(issuer.user(**{"id-token": GOOD})))
    assert not issuer.asked


@pytest.mark.parametrize("token", [OVER, ""])
def test_a_token_that_is_over_is_replaced(
    token: str, double: KubeDouble, issuer: IssuerDouble
) -> None:
    path = double.kubeconfig(issuer.user(**{"id-token": token, "refresh-token": f"hush{token}"}))
    before = path.read_bytes()
    connection = names(path)
    names(path)
    [asked] = issuer.asked  # once for a process
    assert asked.form == {"grant_type": "refresh_token", "refresh_token": f"hush{token}"}
    basic = base64.b64encode(b"kube:client-hush").decode()
    assert asked.authorization == f"Basic {basic}"
    assert path.read_bytes() == before
    assert not connection.notes


def test_a_client_without_a_secret_and_one_that_says_it_in_the_form(
    double: KubeDouble, issuer: IssuerDouble
) -> None:
    public = {"client-secret": "", "id-token": OVER, "refresh-token": "hush-public"}
    names(double.kubeconfig(issuer.user(**public)))
    issuer.discovery = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    posts = {"id-token": OVER, "refresh-token": "hush-post"}
    names(double.kubeconfig(issuer.user(**posts)))
    first, second = issuer.asked
    assert (first.authorization, second.authorization) == ("", "")
    assert first.form["client_id"] == second.form["client_id"] == "kube"
    assert "client_secret" not in first.form
    assert second.form["client_secret"] == "client-hush"


def test_the_authority_as_data(double: KubeDouble, issuer: IssuerDouble) -> None:
    data = base64.b64encode(issuer.authority.certificate.read_bytes()).decode()
    names(
        double.kubeconfig(
            issuer.user(
                **{
                    "id-token": OVER,
                    "refresh-token": "hush-data",
                    "idp-certificate-authority": "",
                    "idp-certificate-authority-data": data,
                }
            )
        )
    )
    assert len(issuer.asked) == 1


def test_a_new_refresh_token_is_kept_where_the_old_one_was(
    double: KubeDouble, issuer: IssuerDouble
) -> None:
    """The old one is worth nothing from now on, for kubectl neither."""
    issuer.answer = lambda asked: (200, {"id_token": GOOD, "refresh_token": "refresh-new_2"})
    path = double.kubeconfig(issuer.user(**{"id-token": OVER, "refresh-token": "refresh-old"}))
    text = path.read_text() + "# a remark, and refresh-older\n"
    path.write_text(text)
    path.chmod(0o600)
    connection = names(path)
    assert path.read_text() == text.replace("refresh-old\n", "refresh-new_2\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not connection.notes
    assert sorted(one.name for one in path.parent.iterdir() if one.name.startswith(".aicr")) == []


def test_a_new_refresh_token_that_cannot_be_kept_is_said(
    double: KubeDouble, issuer: IssuerDouble
) -> None:
    issuer.answer = lambda asked: (200, {"id_token": GOOD, "refresh_token": 'hush: "3"'})
    path = double.kubeconfig(issuer.user(**{"id-token": OVER, "refresh-token": "refresh-lost"}))
    before = path.read_bytes()
    connection = names(path)
    assert path.read_bytes() == before
    [note] = connection.notes
    assert "could not be put into" in note
    assert "will need a new login" in note
    assert "hush" not in note


def test_a_token_that_the_server_refuses_is_replaced_once(
    double: KubeDouble, issuer: IssuerDouble
) -> None:
    """This machine's clock may be behind."""
    issuer.answer = lambda asked: (200, {"id_token": NEXT})
    del double.tokens[GOOD]
    path = double.kubeconfig(issuer.user(**{"id-token": GOOD, "refresh-token": "hush-clock"}))
    names(path)
    double.tokens = {}
    with pytest.raises(AicrError) as caught:
        names(path)
    assert "does not accept the credentials" in caught.value.message


def test_a_token_that_ends_half_way(
    double: KubeDouble, issuer: IssuerDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuer.answer = lambda asked: (200, {"id_token": NEXT})
    user = issuer.user(**{"id-token": GOOD, "refresh-token": "hush-half"})
    connection = names(double.kubeconfig(user))
    monkeypatch.setattr(time, "time", lambda: 4_000_000_000.0)
    before = len(double.requests)
    nodes.read_nodes(connection)
    assert len(double.requests) == before + 1
    assert double.requests[-1].headers["Authorization"] == f"Bearer {NEXT}"


# What is refused


def test_the_issuer_is_never_asked_unverified(double: KubeDouble, issuer: IssuerDouble) -> None:
    """Not even where the kubeconfig says so of the cluster: it is sent the refresh token."""
    user = issuer.user(**{"id-token": OVER, "idp-certificate-authority": ""})
    with pytest.raises(AicrError) as caught:
        names(double.kubeconfig(user, cluster={"insecure-skip-tls-verify": True}))
    assert caught.value.code == "UNAVAILABLE"
    assert f"the OIDC issuer {issuer.url} cannot be asked" in caught.value.message
    assert "certificate verify failed" in caught.value.message
    assert not issuer.asked
    plain = issuer.user(**{"id-token": OVER, "idp-issuer-url": "http://127.0.0.1:1"})
    assert "expected an https:// address" in refused(double, plain).message
    issuer.discovery = {"token_endpoint": "http://127.0.0.1:1/token"}
    error = refused(double, issuer.user(**{"id-token": OVER}))
    assert f"token_endpoint of {issuer.url}: expected an https:// address" in error.message


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (
            {"id-token": OVER, "refresh-token": ""},
            "its id-token is over, and the kubeconfig has no",
        ),
        ({"id-token": "", "refresh-token": ""}, "it has no id-token, and the kubeconfig has no"),
        ({"id-token": "no.jwt"}, "its id-token is no JWT"),
        ({"id-token": "a.!.b"}, "its id-token is no JWT"),
        ({"id-token": OVER, "client-id": ""}, "has no client-id"),
        ({"id-token": OVER, "idp-issuer-url": ""}, "has no idp-issuer-url"),
        ({"id-token": OVER, "idp-certificate-authority": "/not/there"}, "/not/there holds no"),
        ({"id-token": OVER, "idp-certificate-authority-data": "!"}, "is no base64"),
    ],
)
def test_kubeconfigs_that_cannot_get_a_token(
    config: dict[str, str], said: str, double: KubeDouble, issuer: IssuerDouble
) -> None:
    error = refused(double, issuer.user(**config))
    assert said in error.message
    assert not issuer.asked


@pytest.mark.parametrize(
    ("status", "body", "code", "said"),
    [
        (400, {"error": "invalid_grant", "error_description": "the session is over"},
         "UNAUTHORIZED", "refused it a new one (400 invalid_grant: the session is over)"),
        (401, "no", "UNAUTHORIZED", "refused it a new one (401"),
        (200, {"access_token": "hush"}, "UNAUTHORIZED", "holds no id_token"),
        (200, {"id_token": "hush"}, "UNAUTHORIZED", "its id-token is no JWT"),
        (200, "<html>hush", "UNAVAILABLE", "answered 200 to POST"),
        (500, "hush", "UNAVAILABLE", "answered 500 to POST"),
        (302, {}, "UNAVAILABLE", "answered 302 to POST"),
    ],
)  # fmt: skip
def test_an_issuer_that_gives_none(
    status: int, body: object, code: str, said: str, double: KubeDouble, issuer: IssuerDouble
) -> None:
    def answer(_: Asked) -> tuple[int, object]:
        return status, body

    issuer.answer = answer
    error = refused(double, issuer.user(**{"id-token": OVER, "refresh-token": f"hush-{said}"}))
    assert error.code == code
    assert said in error.message
    assert (code != "UNAUTHORIZED") or "log in again" in error.hint


def test_an_issuer_that_is_not_there(double: KubeDouble, issuer: IssuerDouble) -> None:
    user = issuer.user(**{"id-token": OVER, "idp-issuer-url": "https://127.0.0.1:1"})
    error = refused(double, user)
    assert error.code == "UNAVAILABLE"
    assert "the OIDC issuer https://127.0.0.1:1 cannot be asked for a token" in error.message


@pytest.mark.parametrize("name", ["gcp", "azure", "openstack"])
def test_other_providers_are_refused_and_never_passed_over(
    name: str, double: KubeDouble, capsys: pytest.CaptureFixture[str]
) -> None:
    path = double.kubeconfig({"auth-provider": {"name": name, "config": {"access-token": "hush"}}})
    assert main(["snapshot", "-k", str(path)]) == 4
    said = capsys.readouterr().err
    assert f"context double: the auth-provider {name} is not supported" in said
    assert "kubectl has dropped it too" in said
    assert not double.requests


def test_the_kubeconfig_of_the_user_stays_valid(double: KubeDouble, issuer: IssuerDouble) -> None:
    issuer.answer = lambda asked: (200, {"id_token": GOOD, "refresh_token": "aB0-._~+/="})
    path = double.kubeconfig(issuer.user(**{"id-token": OVER, "refresh-token": "refresh-valid"}))
    names(path)
    user = yaml.safe_load(path.read_text())["users"][0]["user"]
    assert user["auth-provider"]["config"]["refresh-token"] == "aB0-._~+/="
