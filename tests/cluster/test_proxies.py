"""Through which proxy a cluster is asked, and when through none."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from aicr.cluster import nodes
from aicr.cluster.connection import Connection, Patience
from aicr.cluster.exec import run
from aicr.cluster.proxies import proxy_for
from aicr.errors import AicrError
from kube_double import KubeDouble
from kube_double_exec import Result, serve_exec
from kube_double_fixtures import fill
from proxy_double import ProxyDouble

NAME = "double.example.com"
BASIC = "Basic " + base64.b64encode(b"who:p@ss").decode()


@pytest.fixture
def tls(tmp_path: Path) -> Iterator[KubeDouble]:
    with KubeDouble(tmp_path, tls=True) as double:
        fill(double)
        yield double


@pytest.fixture
def proxy() -> Iterator[ProxyDouble]:
    with ProxyDouble({NAME: "127.0.0.1", "127.0.0.1": "127.0.0.1"}) as proxy:
        yield proxy


def named(double: KubeDouble) -> str:
    """The double by a name that only the proxy knows."""
    return double.url.replace("127.0.0.1", NAME)


def connected(double: KubeDouble, **cluster: object) -> Connection:
    path = double.kubeconfig(cluster={"server": named(double), **cluster})
    return Connection(str(path), patience=Patience(tries=1))


def asks(connection: Connection) -> None:
    assert len(nodes.read_nodes(connection)) == 3


def test_the_proxy_of_the_kubeconfig(
    tls: KubeDouble, proxy: ProxyDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is for this cluster, so what the environment says of others does not count."""
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    asks(connected(tls, **{"proxy-url": f"http://{proxy.address}"}))
    assert proxy.asked == [(named(tls).removeprefix("https://"), "")]


def test_a_proxy_that_wants_to_know_who_asks(
    tls: KubeDouble, proxy: ProxyDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy.credentials = BASIC
    asks(connected(tls, **{"proxy-url": f"http://who:p%40ss@{proxy.address}"}))
    monkeypatch.setenv("HTTPS_PROXY", f"http://who:p%40ss@{proxy.address}")
    asks(connected(tls))
    assert [given for _, given in proxy.asked] == [BASIC, BASIC]
    with pytest.raises(AicrError) as caught:
        asks(connected(tls, **{"proxy-url": f"http://who:hush@{proxy.address}"}))
    assert caught.value.code == "UNAVAILABLE"
    assert "407" in caught.value.message
    assert "hush" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy"])
def test_the_proxy_of_the_environment(
    name: str, tls: KubeDouble, proxy: ProxyDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, f"http://{proxy.address}")
    asks(connected(tls))
    assert len(proxy.asked) == 1


@pytest.mark.parametrize("passed_over", [NAME, ".example.com", "example.com"])
def test_names_that_no_proxy_is_for(
    passed_over: str, tls: KubeDouble, proxy: ProxyDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://{proxy.address}")
    monkeypatch.setenv("NO_PROXY", f"elsewhere.example.org,{passed_over}")
    with pytest.raises(AicrError) as caught:  # only the proxy knows the name
        asks(connected(tls))
    assert caught.value.code == "UNAVAILABLE"
    assert not proxy.asked


def test_this_machine_is_never_behind_a_proxy_of_the_environment(
    tls: KubeDouble, proxy: ProxyDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for kubectl: a cluster in containers is at 127.0.0.1, proxy of the company or not."""
    monkeypatch.setenv("HTTPS_PROXY", f"http://{proxy.address}")
    asks(Connection(str(tls.kubeconfig())))
    assert not proxy.asked


@pytest.mark.parametrize(
    ("url", "passed_over", "expected"),
    [
        ("https://api.example.com", "", "http://p:1"),
        ("https://api.example.com", "*", ""),
        ("https://api.example.com:6443", "api.example.com", ""),
        ("https://api.example.com:6443", "api.example.com:6443", ""),
        ("https://api.example.com:6443", "api.example.com:443", "http://p:1"),
        ("https://api.example.com", ".example.com", ""),
        ("https://api.example.com", "example.com", ""),
        ("https://api.example.com", "ample.com", "http://p:1"),
        ("https://10.1.2.3:6443", "192.168.0.0/16, 10.0.0.0/8", ""),
        ("https://10.1.2.3:6443", "10.1.2.3", ""),
        ("https://11.1.2.3:6443", "10.0.0.0/8,nonsense/8", "http://p:1"),
        ("https://[fd00::1]:6443", "fd00::/8", ""),
        ("https://[fd00::1]:6443", "fe00::/8", "http://p:1"),
        ("https://localhost:6443", "", ""),
        ("https://127.0.0.7:6443", "", ""),
        ("https://[::1]:6443", "", ""),
        ("http://api.example.com", "", ""),
    ],
)
def test_which_proxy_of_the_environment(
    url: str, passed_over: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://p:1")
    monkeypatch.setenv("NO_PROXY", passed_over)
    assert proxy_for(url) == expected


def test_a_proxy_that_is_not_there(tls: KubeDouble) -> None:
    with pytest.raises(AicrError) as caught:
        asks(connected(tls, **{"proxy-url": "http://who:hush@127.0.0.1:1"}))
    assert caught.value.code == "UNAVAILABLE"
    assert "hush" not in caught.value.message


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://127.0.0.1:1", "ftp:// is no way to a proxy"),
        ("socks5://127.0.0.1:1", "socks5:// needs PySocks, which is not installed"),
    ],
)
def test_what_is_no_proxy(
    url: str, said: str, tls: KubeDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "socks", None)
    with pytest.raises(AicrError) as caught:
        connected(tls, **{"proxy-url": url})
    assert caught.value.code == "INVALID_REQUEST"
    assert said in caught.value.message


def test_exec_goes_the_same_way(
    tls: KubeDouble, proxy: ProxyDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls.namespace("ns")
    kind = tls.store.kind("", "pods")
    tls.store.seed(kind, {"metadata": {"name": "box", "namespace": "ns"}, "spec": {}})
    serve_exec(tls, lambda command: Result(b"said"))

    def says(connection: Connection) -> bytes:
        return run(connection, "ns", "box", ["true"], seconds=60).stdout

    proxy.credentials = BASIC
    url = f"http://who:p%40ss@{proxy.address}"
    monkeypatch.setenv("NO_PROXY", "*")
    assert says(connected(tls, **{"proxy-url": url})) == b"said"
    assert len(proxy.asked) == 1
    monkeypatch.setenv("HTTPS_PROXY", url)
    monkeypatch.setenv("https_proxy", url)
    monkeypatch.delenv("NO_PROXY")
    assert says(Connection(str(tls.kubeconfig()))) == b"said"
    assert len(proxy.asked) == 1
