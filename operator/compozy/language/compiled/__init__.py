"""The one form that both dialects compile to: nodes, what they come after, and what each does.

The engine knows only this. What differs between the dialects, their templates and conditions, is behind
`Renderable` and `Condition`; how results are named in a scope is behind `Dialect`.
"""

from compozy.language.compiled.common import (
    AskSpec,
    CallSpec,
)
from compozy.language.compiled.graph import (
    ApprovalSpec,
    BranchSpec,
    CollectSpec,
    Criterion,
    FanOutSpec,
    GateRoute,
    GateSpec,
    InputSpec,
    JudgeSpec,
    RouteSpec,
    RunAgentSpec,
    RunLoopSpec,
    Strategy,
    SubLoopSpec,
    TransformSpec,
    WaitSpec,
)
from compozy.language.compiled.nodes import (
    Block,
    Node,
    NodeSpec,
    block_of,
    dependents_of,
)
from compozy.language.compiled.plan import (
    SOLVER,
    CompiledPlan,
)
from compozy.language.compiled.policy import (
    NO_POLICY,
    Policy,
    Retry,
    ReviewSpec,
)
from compozy.language.compiled.protocols import (
    Condition,
    Dialect,
    Renderable,
    Scope,
    Table,
    TextTemplate,
)
from compozy.language.compiled.steps import (
    AgentSpec,
    DecideSpec,
    ExitSpec,
    FilterSpec,
    InferSpec,
    MapSpec,
    PlanCallSpec,
    ReduceSpec,
    SolverSpec,
)

__all__ = [
    "NO_POLICY",
    "SOLVER",
    "AgentSpec",
    "ApprovalSpec",
    "AskSpec",
    "Block",
    "BranchSpec",
    "CallSpec",
    "CollectSpec",
    "CompiledPlan",
    "Condition",
    "Criterion",
    "DecideSpec",
    "Dialect",
    "ExitSpec",
    "FanOutSpec",
    "FilterSpec",
    "GateRoute",
    "GateSpec",
    "InferSpec",
    "InputSpec",
    "JudgeSpec",
    "MapSpec",
    "Node",
    "NodeSpec",
    "PlanCallSpec",
    "Policy",
    "ReduceSpec",
    "Renderable",
    "Retry",
    "ReviewSpec",
    "RouteSpec",
    "RunAgentSpec",
    "RunLoopSpec",
    "Scope",
    "SolverSpec",
    "Strategy",
    "SubLoopSpec",
    "Table",
    "TextTemplate",
    "TransformSpec",
    "WaitSpec",
    "block_of",
    "dependents_of",
]
