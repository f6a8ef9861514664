"""`branch`: go on, or skip everything that depends on it."""

from compozy.engine.codes import UNDECIDED
from compozy.engine.outcomes import Context, Failed, Outcome, Stopped, Succeeded
from compozy.language.compiled import BranchSpec
from compozy.language.errors import LanguageError


def enter_branch(spec: BranchSpec, context: Context) -> Outcome:
    """Test the condition. One that cannot be decided never counts as false."""
    try:
        taken = spec.condition.test(context.scope)
    except LanguageError as error:
        message = f"`{spec.source}`: {error.message}"
        if spec.on_eval_error == "exit":
            return Stopped("Succeeded", UNDECIDED, message)
        return Failed(UNDECIDED, message)
    return Succeeded({"taken": taken})
