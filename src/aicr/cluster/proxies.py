"""Which proxy of the environment an address is asked through, as for kubectl.

``HTTPS_PROXY`` and ``HTTP_PROXY`` by the address's scheme, in either case; ``NO_PROXY`` lists names
(with what is below them), addresses and networks. This machine is behind no proxy.
"""

from __future__ import annotations


def proxy_for(url: str) -> str:
    """The proxy's address; "" for none."""
    from urllib.parse import urlsplit
    from urllib.request import getproxies_environment

    parts = urlsplit(url)
    proxies = getproxies_environment()
    proxy = proxies.get(parts.scheme, "")
    host = parts.hostname or ""
    if not proxy or host == "localhost":
        return ""
    rules = [rule.strip().lower() for rule in proxies.get("no", "").split(",")]
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return "" if _is_local(host) or any(_means(rule, host, port) for rule in rules) else proxy


def _is_local(host: str) -> bool:
    from ipaddress import ip_address

    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _means(rule: str, host: str, port: int) -> bool:
    """Whether one entry of ``NO_PROXY`` is about this host."""
    from ipaddress import ip_address, ip_network

    if rule == "*":
        return True
    name, colon, wanted = rule.rpartition(":")
    if colon and wanted.isdecimal() and ":" not in name:
        if int(wanted) != port:
            return False
        rule = name
    try:
        address = ip_address(host)
    except ValueError:
        rule = rule.lstrip(".")
        return bool(rule) and (host == rule or host.endswith(f".{rule}"))
    try:
        return address in ip_network(rule, strict=False)
    except ValueError:
        return False
