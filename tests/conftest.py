"""Fixtures that several folders share."""

pytest_plugins = ("support.operated",)
