"""`kubectl compozy plan`: the group of commands that work on plans themselves."""

from compozy.cli.command import LazyGroup

_COMMANDS = "compozy.cli.commands"

plan = LazyGroup(
    "plan",
    help_text="Check, edit, test, apply, list and show plans.",
    table={
        "validate": (f"{_COMMANDS}.plan_validate:validate", "Find everything that is wrong with plan files."),
        "fmt": (f"{_COMMANDS}.plan_fmt:fmt", "Rewrite plan files in normal form; comments stay."),
        "set": (f"{_COMMANDS}.plan_set:set_values", "Set fields of a plan file."),
        "unset": (f"{_COMMANDS}.plan_set:unset", "Remove fields of a plan file."),
        "step": (f"{_COMMANDS}.plan_step:step", "Add, change, rename or remove steps of a plan file."),
        "test": (f"{_COMMANDS}.plan_test:test", "Run the cases beside plans, without a cluster."),
        "explore": (f"{_COMMANDS}.plan_explore:explore", "Follow every path that answers can open."),
        "apply": (f"{_COMMANDS}.plan_apply:apply", "Create or update a Plan from a file."),
        "list": (f"{_COMMANDS}.plan_list:list_plans", "List Plans."),
        "show": (f"{_COMMANDS}.plan_show:show", "Show a Plan, step by step."),
    },
)
