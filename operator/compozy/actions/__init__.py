"""What a run can have done: one file for each way, behind one small protocol."""

from collections.abc import Callable

from compozy.engine.effects import Call
from compozy.engine.events import CallFailed, CallFinished

Perform = Callable[[Call], CallFinished | CallFailed]
"""Does what a step calls for, and says what came of it."""
