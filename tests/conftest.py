"""Fixtures that several folders share."""

from hypothesis import settings

pytest_plugins = ("support.operated",)

settings.register_profile("ours", deadline=None)
settings.load_profile("ours")
"""No test measures time: on a loaded machine an example may take long."""
