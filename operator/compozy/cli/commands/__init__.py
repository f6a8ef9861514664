"""The commands of `kubectl compozy`, one file each. A command is imported only when it is called."""
