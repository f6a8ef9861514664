"""The TLS context of the server: its certificate can be changed while it serves."""

import os
import ssl
import tempfile
from pathlib import Path


class Tls:
    """A context, and the certificate that it has now. Connections that are open keep the one they began with."""

    def __init__(self) -> None:
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._loaded: tuple[bytes, bytes] | None = None

    def use(self, certificate: bytes, key: bytes) -> bool:
        """Serve this certificate (PEM) from now on; returns whether it is another one. Raises ssl.SSLError."""
        if self._loaded == (certificate, key):
            return False
        # The library reads files only: this one is our own, is never seen by others, and is gone at once.
        descriptor, name = tempfile.mkstemp(prefix="compozy-webhook-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(key + b"\n" + certificate)
            # Where the two do not fit each other, it is another context that is left half changed.
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(name)
            self.context.load_cert_chain(name)
        finally:
            Path(name).unlink()
        self._loaded = certificate, key
        return True
