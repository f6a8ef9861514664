"""Where the API server of this machine finds the operator's webhook: on loopback, at a port chosen once."""

import random
import socket
from pathlib import Path
from urllib.parse import urlsplit

from compozy.api.webhook import CONFIGURATION, PATH
from localcluster.kubectl import kubectl

LOOPBACK = "127.0.0.1"
PORTS = range(20_000, 32_000)
"""Below those that Linux gives to connections, of which tests make thousands."""


def new_url() -> str:
    """A URL with a port that is free now. An operator that is started again later must find it free then too."""
    while True:
        port = random.choice(PORTS)
        with socket.socket() as tried:
            if tried.connect_ex((LOOPBACK, port)) != 0:
                return f"https://{LOOPBACK}:{port}{PATH}"


def installed_url(kubeconfig: Path) -> str | None:
    """The URL that the API server was told; None where it was told of a Service, or of no webhook."""
    field = "jsonpath={.webhooks[0].clientConfig.url}"
    command = ("get", "validatingwebhookconfiguration", CONFIGURATION, "--ignore-not-found", "-o", field)
    return kubectl(kubeconfig, *command).stdout.strip() or None


def variables(kubeconfig: Path) -> dict[str, str]:
    """The settings of an operator that is to answer there; none where nobody would call it."""
    url = installed_url(kubeconfig)
    return {} if url is None else {"COMPOZY_WEBHOOK_LISTEN": urlsplit(url).netloc}
