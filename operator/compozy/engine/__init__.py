"""What a run does next: a pure function over data. No I/O, no clock, no randomness.

`advance(plan, state, events, now)` gives the next state and the effects to perform. It is total and
idempotent: events that do not apply any more change nothing, so they may come twice, late or out of order.
"""
