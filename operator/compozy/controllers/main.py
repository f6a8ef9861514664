"""The operator process: `compozy-operator`."""

import asyncio
import logging
import os
import sys

import kopf

from compozy.api.base import GROUP
from compozy.api.depth import read_deep_objects, reads_deep_objects
from compozy.controllers.api_client import ApiClient, ApiError, load_configuration
from compozy.controllers.app import App
from compozy.controllers.handlers import register
from compozy.controllers.kopf_storage import NoDiffBase
from compozy.controllers.secrecy import LogFilter, Secrecy, secrets_of
from compozy.controllers.settings import Settings, SettingsInvalid, from_environment

log = logging.getLogger(__name__)


def main() -> None:
    """Run the operator until it is told to stop. Settings come from the environment."""
    secrecy = Secrecy(secrets_of(os.environ))
    log_safely(secrecy)
    read_deep_objects()
    if not reads_deep_objects():
        log.warning("this Python cannot read deeply nested objects, and one of them would stop the operator")
    try:
        asyncio.run(serve(from_environment(), secrecy))
    except SettingsInvalid as error:
        sys.exit(secrecy.text(f"compozy-operator: {error}"))
    except ApiError as error:
        refused = f"the API server refused: {error}. Are the CRDs and the RBAC rules installed?"
        sys.exit(secrecy.text(f"compozy-operator: {refused}"))
    except Exception:
        log.exception("the operator has stopped")
        sys.exit(1)


def log_safely(secrecy: Secrecy) -> None:
    """Log to stderr, whoever logs, with secrets taken out."""
    handler = logging.StreamHandler()
    handler.addFilter(LogFilter(secrecy))
    form = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    logging.basicConfig(level=logging.INFO, format=form, handlers=[handler])
    logging.getLogger("kopf").setLevel(logging.WARNING)


async def serve(settings: Settings, secrecy: Secrecy) -> None:
    """Run the operator until SIGTERM or SIGINT, which kopf listens for."""
    async with (
        ApiClient(await load_configuration(), secrecy) as api,
        App(api, settings, await api.whoami(), secrecy) as app,
    ):
        registry = kopf.OperatorRegistry()
        register(registry, app)
        log.info("watching; people can be asked: %s", settings.attendance == "Attended")
        await kopf.operator(registry=registry, settings=_kopf_settings(), standalone=True, clusterwide=True)


def _kopf_settings() -> kopf.OperatorSettings:
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    settings.persistence.finalizer = f"{GROUP}/operator"
    settings.persistence.progress_storage = kopf.AnnotationsProgressStorage(prefix=GROUP, v1=False)
    settings.persistence.diffbase_storage = NoDiffBase()
    settings.watching.server_timeout = 300
    settings.watching.client_timeout = 330
    return settings
