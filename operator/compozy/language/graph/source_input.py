"""`input` in a graph plan: a declared input as a node's output."""

from collections.abc import Mapping
from typing import Any

from compozy.language.compiled import InputSpec
from compozy.language.graph.fields import Fields
from compozy.language.graph.made import Made
from compozy.language.graph.places import UnresolvedError
from compozy.language.graph.shapes import nullable


def compile_input(values: Mapping[str, Any], fields: Fields) -> Made | None:
    """Compile an input; None where there is none of that name, with the problem recorded."""
    name = values.get("input_ref")
    if not isinstance(name, str) or not name:
        fields.report("input_ref", "missing_key", "`input_ref` is required: the name of an input")
        return None
    try:
        shape = fields.place.resolve(("inputs", name))
    except UnresolvedError as error:
        fields.report("input_ref", error.code, error.message)
        return None
    return Made(InputSpec(name), nullable(shape))
