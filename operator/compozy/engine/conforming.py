"""Whether what a node is given has the shape that its plan demands."""

from collections.abc import Mapping
from typing import Any

from compozy.engine.codes import NOT_CONFORMING
from compozy.engine.outcomes import Failed
from compozy.language.problems import faults_line
from compozy.language.schema import SchemaInvalid, field_errors


def misfit(schema: Mapping[str, Any], value: Any, code: str, what: str) -> Failed | None:
    """How a node fails with a value that does not conform; None where it does."""
    try:
        faults = field_errors(schema, value)
    except SchemaInvalid as error:
        faults = {"payload": f"cannot be checked: {error}"}
    return Failed(code, f"{what}: {faults_line(faults)}") if faults else None


def misfit_answer(schema: Mapping[str, Any], payload: Any) -> Failed | None:
    """How an answer that does not conform fails the node, whatever host produced it."""
    return misfit(schema, payload, NOT_CONFORMING, "the answer does not conform")


def misfit_of_agent(schema: Mapping[str, Any], output: Any) -> Failed | None:
    """How an agent's output that does not conform fails the node."""
    return misfit(schema, output, "agent_output_invalid", "the agent's output does not conform")
