"""Why a benchmark could not be run."""


class BenchFailed(RuntimeError):
    """The benchmark itself did not work. A missed target is no such failure."""
