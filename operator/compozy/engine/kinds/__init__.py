"""One file for each kind of node: what happens when it is entered, and when an answer comes."""

from collections.abc import Callable
from typing import Any

from compozy.engine.kinds.ask import enter_ask
from compozy.engine.kinds.exit import enter_exit
from compozy.engine.kinds.route import enter_route
from compozy.engine.kinds.transform import enter_transform
from compozy.engine.outcomes import Context, Outcome
from compozy.language.compiled import AskSpec, ExitSpec, RouteSpec, TransformSpec

ENTER: dict[type, Callable[[Any, Context], Outcome]] = {
    AskSpec: enter_ask,
    ExitSpec: enter_exit,
    RouteSpec: enter_route,
    TransformSpec: enter_transform,
}
"""How a node of each kind is entered."""
