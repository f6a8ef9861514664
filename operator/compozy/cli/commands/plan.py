"""`kubectl compozy plan`: the group of commands that work on plans themselves."""

from compozy.cli.command import LazyGroup

_COMMANDS = "compozy.cli.commands"

plan = LazyGroup(
    "plan",
    help_text="Check, apply, list and show plans.",
    table={
        "validate": (f"{_COMMANDS}.plan_validate:validate", "Find everything that is wrong with plan files."),
        "apply": (f"{_COMMANDS}.plan_apply:apply", "Create or update a Plan from a file."),
        "list": (f"{_COMMANDS}.plan_list:list_plans", "List Plans."),
        "show": (f"{_COMMANDS}.plan_show:show", "Show a Plan, step by step."),
    },
)
