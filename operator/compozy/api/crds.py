"""The CustomResourceDefinitions, one for each kind, made from the models."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from compozy.api.agent import Agent
from compozy.api.base import CATEGORY, GROUP, VERSION, ApiModel
from compozy.api.catalogentry import CatalogEntry
from compozy.api.humanrequest import HumanRequest
from compozy.api.plan import Plan
from compozy.api.planrun import PlanRun
from compozy.api.rules import RULES
from compozy.api.schema import Schema, structural_schema

MAX_SELECTABLE_FIELDS = 8
"""As many as the API server takes for one version of a kind."""


@dataclass(frozen=True)
class Column:
    """What `kubectl get` shows of an object beside its name. `wide` only with `-o wide`."""

    name: str
    json_path: str
    type: str = "string"
    wide: bool = False

    def manifest(self) -> dict[str, Any]:
        """Return the entry of `additionalPrinterColumns`."""
        entry: dict[str, Any] = {"name": self.name, "type": self.type, "jsonPath": self.json_path}
        if self.wide:
            entry["priority"] = 1
        return entry


AGE = Column("Age", ".metadata.creationTimestamp", type="date")


@dataclass(frozen=True)
class Kind:
    """A kind and how it is named, listed and selected."""

    model: type[ApiModel]
    plural: str
    short_names: tuple[str, ...]
    columns: tuple[Column, ...]
    """They answer the first question that a person has. The age comes last, by kubectl's conventions."""
    selectable: tuple[str, ...] = ()
    """Paths that `--field-selector` takes."""

    def __post_init__(self) -> None:
        if len(self.selectable) > MAX_SELECTABLE_FIELDS:
            raise ValueError(f"{self.plural}: at most {MAX_SELECTABLE_FIELDS} selectable fields")

    @property
    def name(self) -> str:
        """The kind as manifests write it."""
        return self.model.__name__


KINDS: Sequence[Kind] = (
    Kind(
        Plan,
        plural="plans",
        short_names=("plan",),
        columns=(
            Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
            Column("Problem", ".status.problems[0].message"),
            Column("Description", ".spec.description", wide=True),
            Column("Revision", ".status.revision", wide=True),
            AGE,
        ),
    ),
    Kind(
        PlanRun,
        plural="planruns",
        short_names=("run",),
        columns=(
            Column("Phase", ".status.phase"),
            Column("Waiting", ".status.pendingRequests", type="integer"),
            Column("Plan", ".spec.planRef.name"),
            Column("Exit", ".status.exit.message", wide=True),
            Column("StartedBy", ".spec.startedBy", wide=True),
            AGE,
        ),
        selectable=(".status.phase", ".spec.planRef.name"),
    ),
    Kind(
        HumanRequest,
        plural="humanrequests",
        short_names=("hreq",),
        columns=(
            Column("State", ".status.state"),
            Column("Run", ".spec.run"),
            Column("Node", ".spec.node"),
            Column("Item", ".spec.item", type="integer", wide=True),
            Column("Kind", ".spec.kind", wide=True),
            # Not a date: kubectl prints ages, and `<invalid>` for a time to come.
            Column("Expires", ".spec.expiresAt"),
            Column("Responder", ".response.responder", wide=True),
            Column("Generation", ".spec.generation", type="integer", wide=True),
            # What lists are ordered and told apart by, exactly: a Table is far cheaper than the objects.
            Column("Opened", ".metadata.creationTimestamp", wide=True),
            Column("Resolved", ".status.resolvedAt", wide=True),
            Column("Workspace", ".metadata.namespace", wide=True),
            Column("UID", ".metadata.uid", wide=True),
            AGE,
            # The last one: kubectl pads every row to the longest value of all the others.
            Column("Prompt", ".spec.prompt"),
        ),
        selectable=(
            ".status.state",
            ".spec.run",
            ".spec.kind",
            ".spec.node",
            ".spec.generation",
            ".spec.item",
        ),
    ),
    Kind(
        Agent,
        plural="agents",
        short_names=("agent",),
        columns=(
            Column("Description", ".spec.description"),
            Column("ServiceAccount", ".spec.serviceAccountName"),
            AGE,
        ),
    ),
    Kind(
        CatalogEntry,
        plural="catalogentries",
        short_names=("cat",),
        columns=(
            Column("Kind", ".spec.kind"),
            Column("Entry", ".spec.name"),
            Column("Description", ".spec.description"),
            AGE,
        ),
    ),
)
"""Every kind of the group."""

_OBJECT_FIELDS: dict[str, Schema] = {
    "apiVersion": {"type": "string", "description": f"`{GROUP}/{VERSION}`."},
    "kind": {"type": "string", "description": "The kind of the object."},
    "metadata": {"type": "object"},
}
"""What every Kubernetes object has. The API server checks these itself, and lets a CRD say no more of metadata."""


def object_schema(kind: Kind) -> Schema:
    """Return the schema of a whole object of the kind."""
    schema = structural_schema(kind.model, RULES, given=_OBJECT_FIELDS)
    schema["required"] = [name for name in schema["required"] if name not in _OBJECT_FIELDS]
    if not schema["required"]:
        del schema["required"]
    return schema


def crd(kind: Kind) -> dict[str, Any]:
    """Return the CustomResourceDefinition of the kind."""
    schema = object_schema(kind)
    version: dict[str, Any] = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": [column.manifest() for column in kind.columns],
        "schema": {"openAPIV3Schema": schema},
    }
    if kind.selectable:
        version["selectableFields"] = [{"jsonPath": path} for path in kind.selectable]
    if "status" in schema["properties"]:
        version["subresources"] = {"status": {}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": kind.name,
                "listKind": f"{kind.name}List",
                "plural": kind.plural,
                "singular": kind.name.lower(),
                "shortNames": list(kind.short_names),
                "categories": [CATEGORY],
            },
            "versions": [version],
        },
    }


def all_crds() -> list[dict[str, Any]]:
    """Return the CustomResourceDefinition of every kind."""
    return [crd(kind) for kind in KINDS]
