"""One file for each kind of node: what happens when it is entered, and when what it waited for comes."""

from collections.abc import Callable
from typing import Any

from compozy.engine.kinds.actions import enter_action, resume_action
from compozy.engine.kinds.ask import enter_ask, resume_ask
from compozy.engine.kinds.branch import enter_branch
from compozy.engine.kinds.call import enter_agent, enter_plan_call, resume_agent
from compozy.engine.kinds.decide import enter_decide, resume_decide
from compozy.engine.kinds.exit import enter_exit, resume_exit
from compozy.engine.kinds.fan_out import enter_collect, enter_fan_out
from compozy.engine.kinds.gate import enter_approval, enter_gate, enter_judge, resume_approval, resume_judge
from compozy.engine.kinds.infer import Judgement, enter_judgement, resume_judgement
from compozy.engine.kinds.iterate import enter_filter, enter_map, enter_reduce
from compozy.engine.kinds.route import enter_route
from compozy.engine.kinds.solver import enter_solver, resume_solver
from compozy.engine.kinds.source_input import enter_input
from compozy.engine.kinds.sub_loop import enter_sub_loop
from compozy.engine.kinds.wait import enter_wait
from compozy.engine.outcomes import Context, Outcome
from compozy.language.compiled import (
    AgentSpec,
    ApprovalSpec,
    AskSpec,
    BranchSpec,
    CallSpec,
    CollectSpec,
    DecideSpec,
    ExitSpec,
    FanOutSpec,
    FilterSpec,
    GateSpec,
    InputSpec,
    JudgeSpec,
    MapSpec,
    PlanCallSpec,
    ReduceSpec,
    RouteSpec,
    RunAgentSpec,
    RunLoopSpec,
    SolverSpec,
    SubLoopSpec,
    TransformSpec,
    WaitSpec,
)

ENTER: dict[type, Callable[[Any, Context], Outcome]] = {
    AgentSpec: enter_agent,
    ApprovalSpec: enter_approval,
    AskSpec: enter_ask,
    BranchSpec: enter_branch,
    CallSpec: enter_action,
    CollectSpec: enter_collect,
    DecideSpec: enter_decide,
    ExitSpec: enter_exit,
    FanOutSpec: enter_fan_out,
    FilterSpec: enter_filter,
    GateSpec: enter_gate,
    InputSpec: enter_input,
    JudgeSpec: enter_judge,
    Judgement: enter_judgement,
    MapSpec: enter_map,
    PlanCallSpec: enter_plan_call,
    ReduceSpec: enter_reduce,
    RouteSpec: enter_route,
    RunAgentSpec: enter_action,
    RunLoopSpec: enter_action,
    SolverSpec: enter_solver,
    SubLoopSpec: enter_sub_loop,
    TransformSpec: enter_action,
    WaitSpec: enter_wait,
}
"""How a node of each kind is entered."""

RESUME: dict[type, Callable[[Any, Context, Any], Outcome]] = {
    AgentSpec: resume_agent,
    ApprovalSpec: resume_approval,
    AskSpec: resume_ask,
    CallSpec: resume_action,
    DecideSpec: resume_decide,
    ExitSpec: resume_exit,
    JudgeSpec: resume_judge,
    Judgement: resume_judgement,
    RunAgentSpec: resume_action,
    RunLoopSpec: resume_action,
    SolverSpec: resume_solver,
}
"""What a node of each kind makes of what it waited for."""
