"""The kinds of nodes that a graph can have."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from compozy.language.graph.ask import compile_ask
from compozy.language.graph.branch import compile_branch
from compozy.language.graph.collect import compile_collect
from compozy.language.graph.envelope import ENVELOPE
from compozy.language.graph.fan_out import compile_fan_out
from compozy.language.graph.fields import Fields
from compozy.language.graph.gate import compile_gate
from compozy.language.graph.made import Made
from compozy.language.graph.outline import Outline
from compozy.language.graph.route import compile_route
from compozy.language.graph.run_agent import compile_run_agent
from compozy.language.graph.run_loop import compile_run_loop
from compozy.language.graph.source_input import compile_input
from compozy.language.graph.sub_loop import compile_sub_loop
from compozy.language.graph.tool import compile_tool
from compozy.language.graph.transform import compile_transform
from compozy.language.graph.wait import compile_wait

Compiler = Callable[[Mapping[str, Any], Fields], Made | None]
"""Compiles a node with its values; None where it cannot be right, with the problems recorded."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What the grammar knows of one kind of node."""

    node_class: str
    keys: tuple[str, ...]
    """Every key that a node of the kind may have."""
    compile: Compiler


def _kind(node_class: str, keys: tuple[str, ...], compile_kind: Compiler) -> Kind:
    return Kind(node_class, (*ENVELOPE, *keys), compile_kind)


_FAN_OUT: Final = (
    *("collection", "filter", "batch_size", "max_parallel", "max_fan_out"),
    *("strategy", "bind_as", "index_as"),
)

KINDS: Final[Mapping[str, Kind]] = {
    "ask": _kind("control", ("params",), compile_ask),
    "route": _kind("control", ("routes", "default"), compile_route),
    "branch": _kind("control", ("condition", "on_eval_error"), compile_branch),
    "fan-out": _kind("control", _FAN_OUT, compile_fan_out),
    "collect": _kind("control", (), compile_collect),
    "gate": _kind("control", ("criteria", "verdict_policy", "on_result", "max_revisions"), compile_gate),
    "wait": _kind("control", ("params",), compile_wait),
    "sub-loop": _kind("control", ("body", "contract"), compile_sub_loop),
    "transform": _kind("action", ("params",), compile_transform),
    "run-loop": _kind("action", ("params",), compile_run_loop),
    "run-agent": _kind("action", ("params",), compile_run_agent),
    "input": _kind("source", ("input_ref",), compile_input),
}

TOOL: Final = _kind("action", ("params",), compile_tool)
"""Every action whose kind is none of these."""

CLASSES: Final = ("action", "control", "source")

UNSUPPORTED: Final[Mapping[str, str]] = {
    "goal": "use `run-agent`, or a `sub-loop` with a contract",
    "file-import": "read the files with a tool",
    "watch-source": "start a run when something happens",
    "watch-events": "start a run when something happens",
}
"""Kinds of the published language that there are not here, with what to write instead."""


def kind_of(outline: Outline, fields: Fields) -> Kind | None:
    """The kind of a node; None where there is none such, with the problem recorded.

    Codes: `kind_unknown`, `kind_unsupported`, `class_mismatch`.
    """
    name, node_class = outline.kind, outline.data.get("class")
    if name in UNSUPPORTED:
        fields.report("kind", "kind_unsupported", f"`{name}` is not supported; {UNSUPPORTED[name]}")
        return None
    kind = KINDS.get(name)
    if kind is not None:
        if node_class != kind.node_class:
            message = f"the class of `{name}` is fixed: write `class: {kind.node_class}`"
            fields.report("class", "class_mismatch", message)
        return kind
    if node_class not in CLASSES:
        fields.report("class", "class_mismatch", f"`class` is one of {', '.join(CLASSES)}")
    known = ", ".join(name for name, kind in KINDS.items() if kind.node_class == node_class) or ", ".join(KINDS)
    if not name:
        fields.report("kind", "kind_unknown", f"`kind` is required: {known}")
    elif node_class == "action":
        return TOOL
    elif node_class == "source":
        fields.report("kind", "kind_unsupported", f"there is no source `{name}`; known: {known}")
    else:
        fields.report("kind", "kind_unknown", f"there is no kind `{name}`; known: {known}")
    return None
