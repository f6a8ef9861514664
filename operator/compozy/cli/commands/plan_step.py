"""`kubectl compozy plan step`: the group of commands that edit the steps of a plan file."""

from compozy.cli.command import LazyGroup

_MODULE = "compozy.cli.commands.plan_step_edits"

step = LazyGroup(
    "step",
    help_text="Edit the steps of a plan file. A step in a body is named by its path: E1/do/B0.",
    table={
        "add": (f"{_MODULE}:add", "Add a step."),
        "set": (f"{_MODULE}:set_values", "Set fields of a step."),
        "rename": (f"{_MODULE}:rename", "Give a step another id, in all that refers to it."),
        "rm": (f"{_MODULE}:rm", "Remove a step."),
    },
)
