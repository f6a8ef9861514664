"""The TLS side of a connection: whom we trust and which certificate we show."""

import os
import ssl
from contextlib import ExitStack
from pathlib import Path

from compozy.cli.kube.access import Access, ConfigError


def ssl_context(access: Access, exec_certificate: tuple[bytes, bytes] | None) -> ssl.SSLContext:
    """A context that trusts the cluster's own authority, or the system's where the cluster names none.

    `exec_certificate` is the certificate and key that a credential plugin gave; it wins over the
    kubeconfig's. Raises ConfigError when a certificate cannot be used.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        _trust(context, access)
        _show_certificate(context, access, exec_certificate)
    except ConfigError:
        raise
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot use the certificates for {access.server}: {error}") from error
    return context


def _trust(context: ssl.SSLContext, access: Access) -> None:
    if access.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif access.ca_data:
        context.load_verify_locations(cadata=_ascii(access.ca_data))
    elif access.ca_file:
        context.load_verify_locations(cafile=_readable(access.ca_file, "certificate authority"))
    else:
        context.load_default_certs()


def _ascii(pem: bytes) -> str:
    """PEM as `ssl` takes it: comments may have any character. In a certificate `?` is wrong, as that was."""
    return pem.decode("latin-1").encode("ascii", "replace").decode("ascii")


def _readable(path: Path, what: str) -> str:
    """The path of a file that can be read. Raises ConfigError with its name, which `ssl` does not tell."""
    try:
        # What a pipe has in it can be read only once.
        if not path.is_fifo():
            path.open("rb").close()
    except OSError as error:
        raise ConfigError(f"cannot read the {what} {path}: {error.strerror}") from error
    return str(path)


def _show_certificate(
    context: ssl.SSLContext, access: Access, exec_certificate: tuple[bytes, bytes] | None
) -> None:
    """Loads the client certificate. OpenSSL reads files only, so data lives in a private one for a moment."""
    cert: Path | bytes | None = access.client_cert_data or access.client_cert_file
    key: Path | bytes | None = access.client_key_data or access.client_key_file
    if exec_certificate is not None:
        cert, key = exec_certificate
    if cert is None and key is None:
        return
    if cert is None or key is None:
        raise ConfigError("a client certificate and its key are of use only together: one of them is missing")
    with ExitStack() as stack:
        cert_file = _as_file(cert, "client certificate", stack)
        # Without a phrase of ours OpenSSL would ask for one, whoever reads this terminal.
        context.load_cert_chain(cert_file, _as_file(key, "client key", stack), password="")


def _as_file(content: Path | bytes, what: str, stack: ExitStack) -> str:
    if isinstance(content, Path):
        return _readable(content, what)
    return _in_memory(content, stack) or _on_disk(content, stack)


def _in_memory(content: bytes, stack: ExitStack) -> str | None:
    """A file that nobody else can see and no disk ever holds; None where the system has no such files."""
    if not hasattr(os, "memfd_create"):
        return None
    descriptor = os.memfd_create("compozy")
    stack.callback(os.close, descriptor)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    path = f"/proc/self/fd/{descriptor}"
    return path if os.access(path, os.R_OK) else None


def _on_disk(content: bytes, stack: ExitStack) -> str:
    # Only here: it is slow to load, and Linux does without.
    import tempfile

    file = stack.enter_context(tempfile.NamedTemporaryFile(prefix="compozy-"))  # noqa: SIM115
    file.write(content)
    file.flush()
    return file.name
