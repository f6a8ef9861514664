"""How many lanes there may be of fan-outs inside one another: as many as one fan-out alone may have."""

from compozy.language.compiled import Block, FanOutSpec, SubLoopSpec
from compozy.language.graph.fan_out import MAX_LANES, MAX_PARALLEL
from compozy.language.problems import Problem


def check_lanes(block: Block, problems: list[Problem], lanes: int = 1, parallel: int = 1) -> None:
    """Report fan-outs whose lanes multiply beyond the bounds. Code: `fan_out_unbounded`.

    Args:
        block: nodes, with their bodies.
        problems: receives what is wrong.
        lanes: how many lanes the fan-outs around the block have at most.
        parallel: how many of these are open at a time.
    """
    for node in block.nodes.values():
        match node.spec:
            case FanOutSpec() as spec:
                within = lanes * spec.max_fan_out, parallel * spec.max_parallel
                _check(f"{node.path}.max_fan_out", "in all", within[0], MAX_LANES, problems)
                _check(f"{node.path}.max_parallel", "open at a time", within[1], MAX_PARALLEL, problems)
                check_lanes(spec.body, problems, *within)
            case SubLoopSpec() as spec:
                check_lanes(spec.body, problems, lanes, parallel)


def _check(path: str, what: str, number: int, most: int, problems: list[Problem]) -> None:
    if number > most:
        message = f"with the fan-outs around it that is {number} lanes {what}; at most {most} are possible"
        problems.append(Problem(path, "fan_out_unbounded", message))
