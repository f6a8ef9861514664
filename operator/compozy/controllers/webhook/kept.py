"""How issues are kept in a Secret, and how the API server is told what to trust: functions over objects."""

import base64
import binascii
import copy
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from compozy.controllers.webhook.issues import Issue
from compozy.controllers.webhook.issuing import read_issue

PLACES = ("newest", "previous")
PARTS = ("ca.crt", "tls.crt", "tls.key")

log = logging.getLogger(__name__)


def issues_in(secret: Mapping[str, Any]) -> list[Issue]:
    """Return what a Secret holds, the newest first. What cannot be read there is not there."""
    data = secret.get("data") or {}
    found = []
    for place in PLACES:
        names = [f"{place}.{part}" for part in PARTS]
        if not any(name in data for name in names):
            continue
        try:
            authority, certificate, key = (base64.b64decode(data[name], validate=True) for name in names)
            found.append(read_issue(authority, certificate, key))
        except (KeyError, ValueError, binascii.Error) as error:
            log.warning("what the Secret %s holds as %s is unusable: %s", secret["metadata"]["name"], place, error)
    return found


def with_issues(secret: Mapping[str, Any], issues: Sequence[Issue]) -> dict[str, Any]:
    """Return the Secret with these issues, at most two, and nothing else."""
    data = {}
    for place, issue in zip(PLACES, issues, strict=False):
        for part, content in zip(PARTS, (issue.authority, issue.certificate, issue.key), strict=True):
            data[f"{place}.{part}"] = base64.b64encode(content).decode()
    return {**secret, "data": data}


def hosts_in(configuration: Mapping[str, Any]) -> set[str]:
    """Return the names by which the API server calls the webhook."""
    hosts = set()
    for webhook in configuration.get("webhooks") or ():
        client = webhook["clientConfig"]
        if "url" in client:
            hosts.add(urlsplit(client["url"]).hostname or "")
        else:
            hosts.add(f"{client['service']['name']}.{client['service']['namespace']}.svc")
    return hosts - {""}


def with_trust(configuration: Mapping[str, Any], issues: Iterable[Issue]) -> dict[str, Any]:
    """Return the configuration in which the authorities of these issues are trusted, and no other."""
    bundle = base64.b64encode(b"".join(issue.authority for issue in issues)).decode()
    changed = copy.deepcopy(dict(configuration))
    for webhook in changed.get("webhooks") or ():
        webhook["clientConfig"]["caBundle"] = bundle
    return changed
