"""`route`: the first condition that holds chooses the way; an error never chooses the default."""

from compozy.engine.codes import UNDECIDED
from compozy.engine.outcomes import Context, Failed, Outcome, Succeeded
from compozy.language.compiled import RouteSpec
from compozy.language.errors import LanguageError


def enter_route(spec: RouteSpec, context: Context) -> Outcome:
    """Choose a destination. A condition that cannot be decided fails the node."""
    for source, condition, destination in spec.routes:
        try:
            holds = condition.test(context.scope)
        except LanguageError as error:
            return Failed(UNDECIDED, f"`{source}`: {error.message}")
        if holds:
            output = {"to": destination, "cause": "matched_when", "matched_when": source}
            return Succeeded(output, route=destination)
    return Succeeded({"to": spec.default, "cause": "default"}, route=spec.default)
