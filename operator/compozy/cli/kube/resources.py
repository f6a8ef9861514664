"""The resources that the plugin reads and writes, with their places in the API.

The group and version repeat those of `compozy.api`, which would import pydantic; a test holds them equal.
"""

from dataclasses import dataclass
from urllib.parse import quote

from compozy.cli.kube.access import ConfigError

GROUP = "compozy.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind of object and where the API server keeps it."""

    api_version: str
    """`v1`, or group and version, such as `compozy.dev/v1alpha1`."""
    plural: str
    kind: str
    namespaced: bool = True

    @property
    def singular(self) -> str:
        """The kind in lower case, as in `humanrequest/x answered`."""
        return self.kind.lower()

    def path(self, namespace: str | None = None, name: str | None = None, subresource: str = "") -> str:
        """The URL path of a collection, an object or a subresource. `namespace=None` means all of them.

        Raises ConfigError for a name that would turn the path into another.
        """
        for part in (namespace, name):
            if part is not None and part in ("", ".", ".."):
                raise ConfigError(f"{part!r} cannot be the name of anything")
        parts = ["api" if "/" not in self.api_version else "apis", self.api_version]
        if self.namespaced and namespace is not None:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        if name is not None:
            parts.append(quote(name, safe=""))
        if subresource:
            parts.append(subresource)
        return "/" + "/".join(parts)


PLANS = Resource(API_VERSION, "plans", "Plan")
PLAN_RUNS = Resource(API_VERSION, "planruns", "PlanRun")
HUMAN_REQUESTS = Resource(API_VERSION, "humanrequests", "HumanRequest")
AGENTS = Resource(API_VERSION, "agents", "Agent")
CATALOG_ENTRIES = Resource(API_VERSION, "catalogentries", "CatalogEntry")
CONTROLLER_REVISIONS = Resource("apps/v1", "controllerrevisions", "ControllerRevision")
NAMESPACES = Resource("v1", "namespaces", "Namespace", namespaced=False)
SELF_SUBJECT_REVIEWS = Resource(
    "authentication.k8s.io/v1", "selfsubjectreviews", "SelfSubjectReview", namespaced=False
)
