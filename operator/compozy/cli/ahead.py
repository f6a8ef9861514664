"""Something that is found out while something else is done."""

from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

Found = TypeVar("Found")


class Ahead(Generic[Found]):
    """What a function returns, which runs from now on beside the rest. Nobody waits for it who does not ask."""

    def __init__(self, find: Callable[[], Found]) -> None:
        self._find = find
        self._found: list[Found] = []
        self._failed: Exception | None = None
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def result(self) -> Found:
        """What was found, once it is. Raises what the function raised."""
        self._thread.join()
        if self._failed is not None:
            raise self._failed
        return self._found[0]

    def _run(self) -> None:
        try:
            self._found.append(self._find())
        except Exception as error:  # noqa: BLE001 - it is raised again where somebody asks
            self._failed = error
