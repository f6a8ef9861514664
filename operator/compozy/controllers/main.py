"""The operator process: `compozy-operator`."""

import asyncio
import logging
import sys

import kopf

from compozy.api.base import GROUP
from compozy.controllers.api_client import ApiClient, ApiError, load_configuration
from compozy.controllers.app import App
from compozy.controllers.handlers import register
from compozy.controllers.kopf_storage import NoDiffBase
from compozy.controllers.settings import Settings, SettingsInvalid, from_environment

log = logging.getLogger(__name__)


def main() -> None:
    """Run the operator until it is told to stop. Settings come from the environment."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("kopf").setLevel(logging.WARNING)
    try:
        asyncio.run(serve(from_environment()))
    except SettingsInvalid as error:
        sys.exit(f"compozy-operator: {error}")
    except ApiError as error:
        sys.exit(f"compozy-operator: the API server refused: {error}. Are the CRDs and the RBAC rules installed?")


async def serve(settings: Settings) -> None:
    """Run the operator until SIGTERM or SIGINT, which kopf listens for."""
    async with ApiClient(await load_configuration()) as api, App(api, settings, await api.whoami()) as app:
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
