"""A second, naive reading of the graph dialect, to hold the engine against.

It knows no turns, queues or states. What has happened is a list of events, numbered from 1, and every cell is a
plain function of that list: when it began, when it ended, and as what. Times are numbers of events (0 is the start
of the run, `NEVER` what has not happened), so "as soon as" and "first" are comparisons of numbers. Whatever it is
asked, it works out from the beginning.

A graph is a plain description, `{"nodes": {id: {...}}, "edges": [(from, to), ...]}`. Every node has a `kind` and
`within`, the fan-out in whose lanes it stands, and may have `error_route` and `allow_fail`; the rest is read where
the kind is. Conditions, collections and values are `Expression`s: the text for the plan, and what it means.

Rules marked (page) are those of the human-requests page; the others are those of the graph dialect's reference.
"""

from support.reference.terms import NEVER, Expression, Shown
from support.reference.world import World

__all__ = ["NEVER", "Expression", "Shown", "World"]
