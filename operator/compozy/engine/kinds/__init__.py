"""One file for each kind of node: what happens when it is entered, and when what it waited for comes."""

from collections.abc import Callable
from typing import Any

from compozy.engine.kinds.ask import enter_ask, resume_ask
from compozy.engine.kinds.call import enter_agent, enter_call, enter_plan_call, resume_agent, resume_call
from compozy.engine.kinds.decide import enter_decide, resume_decide
from compozy.engine.kinds.exit import enter_exit, resume_exit
from compozy.engine.kinds.infer import Judgement, enter_judgement, resume_judgement
from compozy.engine.kinds.iterate import enter_filter, enter_map, enter_reduce
from compozy.engine.kinds.route import enter_route
from compozy.engine.kinds.solver import enter_solver, resume_solver
from compozy.engine.kinds.transform import enter_transform
from compozy.engine.outcomes import Context, Outcome
from compozy.language.compiled import (
    AgentSpec,
    AskSpec,
    CallSpec,
    DecideSpec,
    ExitSpec,
    FilterSpec,
    MapSpec,
    PlanCallSpec,
    ReduceSpec,
    RouteSpec,
    SolverSpec,
    TransformSpec,
)

ENTER: dict[type, Callable[[Any, Context], Outcome]] = {
    AgentSpec: enter_agent,
    AskSpec: enter_ask,
    CallSpec: enter_call,
    DecideSpec: enter_decide,
    ExitSpec: enter_exit,
    FilterSpec: enter_filter,
    Judgement: enter_judgement,
    MapSpec: enter_map,
    PlanCallSpec: enter_plan_call,
    ReduceSpec: enter_reduce,
    RouteSpec: enter_route,
    SolverSpec: enter_solver,
    TransformSpec: enter_transform,
}
"""How a node of each kind is entered."""

RESUME: dict[type, Callable[[Any, Context, Any], Outcome]] = {
    AgentSpec: resume_agent,
    AskSpec: resume_ask,
    CallSpec: resume_call,
    DecideSpec: resume_decide,
    ExitSpec: resume_exit,
    Judgement: resume_judgement,
    SolverSpec: resume_solver,
}
"""What a node of each kind makes of what it waited for."""
