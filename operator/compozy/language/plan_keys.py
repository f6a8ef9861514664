"""The keys of a plan, in the spelling of a plan file."""

PLAN_KEYS = (
    "description",
    "profile",
    "input_schema",
    "inputs",
    "steps",
    "graph",
    "output",
    "solver",
    "requests",
    "exemplars",
    "requires_servers",
)
"""What the `spec` of a Plan may hold."""

BARE_KEYS = ("identifier", "name", *PLAN_KEYS)
"""What a bare document may hold at its top: its names beside the rest."""
