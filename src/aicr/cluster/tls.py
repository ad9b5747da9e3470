"""Whom a connection trusts, and by which certificate it is known.

Certificates are loaded here, once: the kubernetes client would leave a key that the kubeconfig
holds as data in a temporary file.
"""

from __future__ import annotations

from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ssl import SSLContext
    from typing import Any

    from aicr.cluster.kubeconfig import Place
    from aicr.cluster.plugin import Credential


def tls_of(place: Place, configuration: Any, credential: Credential | None) -> SSLContext:
    """TLS to the cluster as its entry and the user's say, or the ``credential`` of a plugin."""
    cluster, user = place.cluster, place.user
    authority = str(cluster.get("certificate-authority") or configuration.ssl_ca_cert or "")
    data = decoded(place, cluster, "certificate-authority-data")
    tls = trusting(authority, data, f"context {place.context}")
    if not configuration.verify_ssl:
        import ssl

        tls.check_hostname = False
        tls.verify_mode = ssl.CERT_NONE
    if credential is not None and credential.certificate:
        _identify(place, tls, credential.certificate.encode(), credential.key.encode())
    elif user.get("client-certificate") or user.get("client-certificate-data"):
        certificate, key = (
            decoded(place, user, f"{name}-data") or str(user.get(name) or "")
            for name in ("client-certificate", "client-key")
        )
        _identify(place, tls, certificate, key)
    return tls


def certificate_of(place: Place, credential: Credential | None) -> bytes:
    """The certificate that is shown, as it is now; empty where none is."""
    if credential is not None and credential.certificate:
        return credential.certificate.encode()
    held = decoded(place, place.user, "client-certificate-data")
    path = str(place.user.get("client-certificate") or "")
    if held or not path:
        return held
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:  # said where it is loaded
        return b""


def trusting(authority: str, data: bytes, whose: str) -> SSLContext:
    """TLS that trusts this authority, in a file or in bytes; without one, those of the system."""
    import ssl

    try:
        text = data.decode("ascii", "replace") if data else None
        tls = ssl.create_default_context(cafile=None if text else authority or None, cadata=text)
    except (OSError, ValueError):
        raise invalid(
            f"{whose}: {authority if not data else 'certificate-authority-data'} holds no "
            "certificate that can be read"
        ) from None
    # As strict as kubectl: many clusters' own authorities lack an extension that RFC 5280 wants.
    tls.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
    return tls


def _identify(place: Place, tls: SSLContext, certificate: bytes | str, key: bytes | str) -> None:
    """Show this certificate to the server; bytes are in a file only while they are loaded."""
    import os
    from tempfile import TemporaryDirectory

    def no_passphrase() -> str:
        raise ValueError("the client key is encrypted")

    with TemporaryDirectory(prefix="aicr-") as folder:
        paths: list[str] = []
        for name, held in (("certificate", certificate), ("key", key)):
            if isinstance(held, bytes):
                path = os.path.join(folder, name)
                with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    file.write(held)
                held = path
            paths.append(held)
        try:
            tls.load_cert_chain(paths[0], paths[1] or None, password=no_passphrase)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, FileNotFoundError) else str(error)
            raise invalid(
                f"context {place.context}: its client certificate and key cannot be used: {why}"
            ) from None


def decoded(place: Place, held: Any, name: str) -> bytes:
    """What an entry holds as base64; empty where it holds nothing."""
    from base64 import b64decode
    from binascii import Error

    try:
        return b64decode("".join(str(held.get(name) or "").split()), validate=True)
    except (Error, ValueError):
        raise invalid(f"{place}: {name} of context {place.context} is no base64") from None
