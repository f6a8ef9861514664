"""The keys of the graph grammar, as tables: what the JSON Schema of graphs is made of."""

from collections.abc import Mapping
from typing import Final

from compozy.language.authoring.grammar import Field, Kind, Table

_PARAMS: Final = Field(Kind.PLAIN, "What the node works on.", required=True)

ENVELOPE: Final[Table] = {
    "id": Field(Kind.PLAIN, "Later nodes refer to the output by this name.", required=True),
    "class": Field(Kind.PLAIN, "What sort of node it is; the kind fixes it.", required=True),
    "kind": Field(Kind.PLAIN, "What the node does; of an action also the name of a tool.", required=True),
    "timeout": Field(Kind.PLAIN, "The longest that one attempt may take, such as 30s."),
    "deadline": Field(Kind.PLAIN, "The longest that all attempts together may take."),
    "retry": Field(Kind.PLAIN, "How often a failed attempt is made again."),
    "on_error": Field(Kind.PLAIN, "Where a failure leads, instead of ending the run."),
    "produces": Field(Kind.SCHEMA, "JSON Schema of the output, or a map of field types."),
}
"""What every node may say."""

REVIEWED: Final = Field(Kind.PLAIN, "Lets a person decide before the action runs.")

NODES: Final[Mapping[str, Table]] = {
    "ask": {"params": _PARAMS},
    "route": {
        "routes": Field(Kind.PLAIN, "The ways in order; the first whose condition holds is taken.", required=True),
        "default": Field(Kind.PLAIN, "Where it goes when no condition holds.", required=True),
    },
    "branch": {
        "condition": Field(Kind.TEXT, "CEL; where it is false what depends on it is skipped.", required=True),
        "on_eval_error": Field(Kind.PLAIN, "What a condition that cannot be decided does; `fail` when absent."),
    },
    "fan-out": {
        "collection": Field(Kind.VALUE, "The list to go through.", required=True),
        "max_fan_out": Field(Kind.PLAIN, "How many elements there may be at most.", required=True),
        "filter": Field(Kind.TEXT, "CEL over `item` and `index`: which elements are kept."),
        "batch_size": Field(Kind.PLAIN, "How many elements go into one lane; 1 when absent."),
        "max_parallel": Field(Kind.PLAIN, "How many lanes are open at a time."),
        "strategy": Field(Kind.PLAIN, "When the fan-out is decided; `wait_all` when absent."),
        "bind_as": Field(Kind.PLAIN, "A further name of `item`."),
        "index_as": Field(Kind.PLAIN, "A further name of `index`."),
    },
    "collect": {},
    "gate": {
        "criteria": Field(Kind.PLAIN, "What is looked into.", required=True),
        "verdict_policy": Field(Kind.PLAIN, "How the gate decides."),
        "on_result": Field(Kind.PLAIN, "What follows on each verdict."),
        "max_revisions": Field(Kind.PLAIN, "How often the run is revised at most; 10 when absent."),
    },
    "wait": {"params": _PARAMS},
    "sub-loop": {
        "body": Field(Kind.PLAIN, "A graph of its own.", required=True),
        "contract": Field(Kind.PLAIN, "Lets the body run again until a condition holds."),
    },
    "transform": {"params": _PARAMS},
    "run-loop": {
        "params": _PARAMS,
        "on_parent_close": Field(
            Kind.PLAIN, "What the other run does when this one ends; `terminate` when absent."
        ),
    },
    "run-agent": {"params": _PARAMS},
    "input": {"input_ref": Field(Kind.PLAIN, "The name of a declared input.", required=True)},
}
"""By kind: the keys beside the envelope."""

PARAMS: Final[Mapping[str, Table]] = {
    "ask": {
        "prompt": Field(Kind.TEXT, "The question, as a person sees it.", required=True),
        "expect": Field(Kind.SCHEMA, "Shape of the answer, which is the output.", required=True),
        "context": Field(Kind.VALUE, "What a person should know; redacted."),
        "responders": Field(Kind.PLAIN, "Who may answer."),
        "expires": Field(Kind.PLAIN, "How long the question stays open."),
        "when_unanswered": Field(Kind.PLAIN, "What happens when nobody answers; `fail` when absent."),
        "default": Field(Kind.VALUE, "The answer when nobody gives one."),
    },
    "wait": {
        "for": Field(Kind.TEXT, "How long, such as 1h30m."),
        "until": Field(Kind.TEXT, "A moment of RFC 3339."),
    },
    "transform": {"map": Field(Kind.PLAIN, "The output, key by key.", required=True)},
    "run-loop": {
        "loop": Field(Kind.TEXT, "The name of the other plan.", required=True),
        "inputs": Field(Kind.VALUE, "Its inputs."),
        "mode": Field(Kind.PLAIN, "Whether its end is waited for; `await` when absent."),
    },
    "run-agent": {
        "agent": Field(Kind.TEXT, "The name of the agent.", required=True),
        "prompt": Field(Kind.TEXT, "The task.", required=True),
        "output_schema": Field(Kind.SCHEMA, "Shape of the output."),
        "allowed_tools": Field(Kind.PLAIN, "The tools that it may use."),
        "max_turns": Field(Kind.PLAIN, "Most rounds."),
    },
}
"""By kind: the keys of `params`."""

CRITERIA: Final[Mapping[str, Table]] = {
    "command": {
        "check": Field(Kind.TEXT, "A command; every value in it ends with `| shellQuote`.", required=True),
        "expect": Field(Kind.PLAIN, "How it must end; `exit_zero` when absent."),
        "contains": Field(Kind.PLAIN, "With `stdout_contains`: what it must print."),
    },
    "agent-judge": {
        "agent": Field(Kind.TEXT, "Who judges; the role `judge` when absent."),
        "rubric": Field(Kind.TEXT, "What is judged by."),
        "prompt": Field(Kind.TEXT, "Another word for `rubric`."),
    },
    "human": {
        "prompt": Field(Kind.TEXT, "What a person approves or rejects.", required=True),
        "responders": Field(Kind.PLAIN, "Who may decide."),
        "expires": Field(Kind.PLAIN, "How long the question stays open."),
    },
    "extension": {
        "tool": Field(Kind.PLAIN, "The tool that finds out.", required=True),
        "inputs": Field(Kind.VALUE, "What it works on."),
    },
}
"""By type: the keys of a criterion beside `id` and `type`."""

CRITERION: Final[Table] = {
    "id": Field(Kind.PLAIN, "Name of the criterion in this gate.", required=True),
    "type": Field(Kind.PLAIN, "Who or what finds out.", required=True),
}

REVIEW: Final[Table] = {
    "when": Field(Kind.TEXT, "CEL: whether a person decides; always when absent."),
    "prompt": Field(Kind.TEXT, "The question; `Review <node>` when absent."),
    "decisions": Field(Kind.PLAIN, "What a person may decide; approve and reject when absent."),
    "responders": Field(Kind.PLAIN, "Who may decide."),
    "on_reject": Field(Kind.PLAIN, "Where a rejection leads, instead of failing the node."),
    "expires": Field(Kind.PLAIN, "How long the question stays open."),
}

RESPONDERS: Final[Table] = {
    "agents": Field(Kind.PLAIN, "Whether agents may answer; `deny` when absent."),
    "initiator": Field(Kind.PLAIN, "Whether who started the run may answer; `allow` when absent."),
    "users": Field(Kind.PLAIN, "Users who may answer."),
    "groups": Field(Kind.PLAIN, "Groups whose members may answer."),
}

DECIDERS: Final[Table] = {
    **RESPONDERS,
    "approvals": Field(Kind.PLAIN, "How many different people must approve; 1 when absent."),
}
"""Who may approve or reject."""

EXPIRES: Final[Table] = {
    "after": Field(Kind.PLAIN, "How long, such as 72h.", required=True),
    "route": Field(Kind.PLAIN, "The node that it leads to when time is up."),
}

TOOL: Final[Table] = {"params": Field(Kind.PLAIN, "The input of the tool."), "review": REVIEWED}
"""Beside the envelope: the keys of an action whose kind is the name of a tool."""

RESULTS: Final[Table] = {
    "pass": Field(Kind.PLAIN, "What follows when every criterion passes; `continue` when absent."),
    "fail": Field(Kind.PLAIN, "What follows when one does not; `revise` when absent."),
    "error": Field(Kind.PLAIN, "What follows when that cannot be found out; `halt` when absent."),
    **dict.fromkeys(("blocked", "timeout", "invalid_output"), Field(Kind.PLAIN, "The same as `error`.")),
    "approval": Field(Kind.PLAIN, "While a person has not decided, the gate waits."),
}

RETRY: Final[Table] = {
    "max_attempts": Field(Kind.PLAIN, "All attempts, the first included; 3 when absent."),
    "backoff": Field(Kind.PLAIN, "The pauses between attempts: from `base` on doubled, up to `max`."),
    "non_retryable": Field(Kind.PLAIN, "Codes of failures that are not tried again."),
}
