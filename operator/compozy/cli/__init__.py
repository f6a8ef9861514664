"""The kubectl plugin: one file per command in `commands`, everything they share beside it."""
