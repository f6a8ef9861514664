"""Codes of failures that several kinds of nodes share."""

UNRENDERABLE = "action_materialization_failed"
"""Whatever keeps a node of a graph from being made."""

UNDECIDED = "predicate_evaluation_failed"
"""A condition could not be decided."""

NOT_CONFORMING = "request_validation_failed"
"""An answer does not have the shape that was asked for."""

UNSATISFIABLE = "responders_unsatisfiable"
"""Nobody, or not enough people, may ever answer a question."""

CAP_REACHED = "iteration_cap_reached"
"""A sub-loop has not stopped."""
