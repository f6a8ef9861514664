"""Limits that the language has in common with the kinds: apart from these, since models take long to load."""

MAX_NOTE = 4096
"""Longest note of an answer, in characters."""
MAX_APPROVALS = 20
"""As many different people as a question can need."""
