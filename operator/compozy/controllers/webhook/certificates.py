"""Where the certificate of the server comes from: made by ourselves, or put into a directory by others."""

import asyncio
import logging
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

import aiohttp

from compozy.api.webhook import CONFIGURATION, SECRET
from compozy.controllers.api_client import ApiClient, ApiError
from compozy.controllers.paths import secret_path, webhook_configuration_path
from compozy.controllers.webhook.issues import Issue, hosts_to_name, is_due, pause, served, trusted, with_another
from compozy.controllers.webhook.issuing import make_issue
from compozy.controllers.webhook.kept import hosts_in, issues_in, with_issues, with_trust
from compozy.controllers.webhook.tls import Tls

RETRY = timedelta(seconds=10)
FILES_POLL = timedelta(seconds=2)

log = logging.getLogger(__name__)


class Certificates(Protocol):
    """Keeps a server's certificate up to date."""

    async def refresh(self, tls: Tls) -> timedelta:
        """See to the certificate; returns after what time to do so again."""


class FromDirectory:
    """`tls.crt` and `tls.key` of a directory, as cert-manager keeps them. Others see to the CA bundle."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._told = ""

    async def refresh(self, tls: Tls) -> timedelta:
        """Use what is there now; while it is unusable, the last that was good."""
        try:
            certificate, key = ((self._directory / name).read_bytes() for name in ("tls.crt", "tls.key"))
            if tls.use(certificate, key):
                log.info("the webhook serves the certificate in %s", self._directory)
            self._told = ""
        except (OSError, ssl.SSLError) as error:
            if str(error) != self._told:
                log.warning("the certificate in %s cannot be used: %s", self._directory, error)
                self._told = str(error)
        return FILES_POLL


class SelfMade:
    """Certificates of our own, in a Secret that all replicas share: see `issues` for when they change."""

    def __init__(self, api: ApiClient, namespace: str, lifetime: timedelta) -> None:
        self._api = api
        self._secret = secret_path(namespace, SECRET)
        self._lifetime = lifetime

    async def refresh(self, tls: Tls) -> timedelta:
        """Make what is due, tell the API server whom to trust, serve what it trusts."""
        try:
            return await self._refresh(tls)
        except ApiError as error:
            hint = ": is crds/webhook.yaml installed?" if error.status in (403, 404) else ""
            log.warning("the webhook's certificates cannot be seen to: %s%s", error, hint)
        except (OSError, ValueError, aiohttp.ClientError) as error:
            log.warning("the webhook's certificates cannot be seen to: %r", error)
        return RETRY

    async def _refresh(self, tls: Tls) -> timedelta:
        configuration = await self._api.get(webhook_configuration_path(CONFIGURATION))
        hosts = hosts_in(configuration)
        issues = await self._issues(hosts)
        now = datetime.now(UTC)
        # First trust, then use: the other way round nobody would trust what is served.
        changed = with_trust(configuration, trusted(issues, hosts, now))
        if changed != configuration:
            await self._write(webhook_configuration_path(CONFIGURATION), changed)
            log.info("the API server trusts what the webhook serves, and serves next")
        chosen = served(issues, hosts, now)
        if chosen is not None and tls.use(chosen.certificate, chosen.key):
            log.info("the webhook serves a certificate until %s", chosen.expires_at)
        return pause(issues, now)

    async def _issues(self, hosts: set[str]) -> list[Issue]:
        """What is stored, once what is due has been made, by us or by another replica."""
        while True:
            secret = await self._api.get(self._secret)
            issues, now = issues_in(secret), datetime.now(UTC)
            if not is_due(issues, hosts, now):
                return issues
            names = hosts_to_name(issues, hosts, now)
            made = await asyncio.to_thread(make_issue, names, now, self._lifetime)
            wanted = with_another(issues, hosts, now, made)
            if await self._write(self._secret, with_issues(secret, wanted)):
                return wanted

    async def _write(self, path: str, item: dict[str, object]) -> bool:
        """Replace an object; whether nobody else was first."""
        try:
            await self._api.replace(path, item)
        except ApiError as error:
            if error.status != 409:
                raise
            return False
        return True
