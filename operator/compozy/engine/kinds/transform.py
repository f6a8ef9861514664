"""`transform`: an object made of values, paths and templates."""

from compozy.engine.outcomes import Context, Failed, Outcome, Succeeded
from compozy.language.compiled import TransformSpec
from compozy.language.errors import LanguageError


def enter_transform(spec: TransformSpec, context: Context) -> Outcome:
    """Render every entry."""
    output = {}
    for key, value in spec.values.items():
        try:
            output[key] = value.render(context.scope)
        except LanguageError as error:
            return Failed("action_materialization_failed", f"`{key}`: {error.message}")
    return Succeeded(output)
