"""A plan as a file: a bare document (`steps:` or `graph:` at the top) or a Plan manifest."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from compozy.language.field_order import with_order_in_plan
from compozy.language.keys import camel, read_keys, type_name
from compozy.language.plan_keys import BARE_KEYS, PLAN_KEYS
from compozy.language.problems import PlanInvalid, Problem
from compozy.language.yaml_text import load

_MANIFEST = ("api_version", "kind", "metadata", "spec")


@dataclass(frozen=True, slots=True)
class PlanDocument:
    """A plan as its author wrote it, not yet compiled."""

    name: str | None
    """Name of the Plan, where the document gives one."""
    namespace: str | None
    """Namespace, where the document is a manifest that gives one."""
    spec: dict[str, Any]
    """The `spec` of the Plan, in the spelling of the resource."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """Labels and annotations of a manifest."""
    positions: dict[str, tuple[int, int]] = field(default_factory=dict)
    prefix: str = ""

    def with_positions(self, problems: Iterable[Problem]) -> list[Problem]:
        """The problems with the line and column of the nearest place that the file has."""
        return [self._placed(problem) for problem in problems]

    def _placed(self, problem: Problem) -> Problem:
        path = self.prefix + problem.path
        while True:
            if path in self.positions:
                line, column = self.positions[path]
                return replace(problem, line=line, column=column)
            # Keys are free text, so a path need not be well formed: what cannot be read goes letter by letter.
            if not path:
                return problem
            path = re.sub(r"(\.?[^.\[\]]+|\[[0-9]+\]|.)\Z", "", path, flags=re.DOTALL)


def parse_document(text: str) -> PlanDocument:
    """Read a plan from a file's text.

    Raises:
        PlanInvalid: the text is not YAML, or is neither a bare document nor a Plan manifest; with positions.
    """
    loaded = load(text)
    problems: list[Problem] = []
    if not isinstance(loaded.value, dict):
        message = f"a plan is an object with `steps` or `graph`, not {type_name(loaded.value)}"
        raise PlanInvalid([Problem("", "invalid_type", message, 1, 1)])
    manifest = "kind" in loaded.value and "apiVersion" in loaded.value
    build = _manifest if manifest else _bare
    document = build(loaded.value, problems)
    document = replace(document, positions=loaded.positions)
    if problems:
        bare_prefix = replace(document, prefix="")
        raise PlanInvalid(bare_prefix.with_positions(problems))
    return document


def _manifest(value: dict[str, Any], problems: list[Problem]) -> PlanDocument:
    top = read_keys(value, "", _MANIFEST, problems, required=("spec",))
    if (value["apiVersion"], value["kind"]) != ("compozy.dev/v1alpha1", "Plan"):
        found = f"{value['apiVersion']} {value['kind']}"
        problems.append(Problem("kind", "wrong_kind", f"must be compozy.dev/v1alpha1 Plan, not {found}"))
    metadata = top.get("metadata") or {}
    if not isinstance(metadata, dict):
        problems.append(Problem("metadata", "invalid_type", f"must be an object, not {type_name(metadata)}"))
        metadata = {}
    spec = _spec(top.get("spec") or {}, "spec", PLAN_KEYS, problems)
    kept = {key: metadata[key] for key in ("labels", "annotations") if key in metadata}
    return PlanDocument(metadata.get("name"), metadata.get("namespace"), spec, kept, prefix="spec.")


def _bare(value: dict[str, Any], problems: list[Problem]) -> PlanDocument:
    spec = _spec(value, "", BARE_KEYS, problems)
    identifier, name = spec.pop("identifier", None), spec.pop("name", None)
    return PlanDocument(object_name(identifier or name), None, spec)


def _spec(value: Any, path: str, known: tuple[str, ...], problems: list[Problem]) -> dict[str, Any]:
    values = {camel(name): item for name, item in read_keys(value, path, known, problems).items()}
    if isinstance(values.get("requests"), dict):
        values["requests"] = _respelled(values["requests"])
    return with_order_in_plan(values)


def _respelled(requests: dict[str, Any]) -> dict[str, Any]:
    """The defaults of questions as the resource spells them. A key that is there twice is told of later."""
    both = requests.keys() >= {"expire_after", "expireAfter"}
    return (
        requests if both else {"expireAfter" if key == "expire_after" else key: requests[key] for key in requests}
    )


def object_name(name: Any) -> str | None:
    """A Kubernetes object name made of a plan's own name; None when nothing of it can be used."""
    if not isinstance(name, str):
        return None
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:63].strip("-")
    return slug or None
