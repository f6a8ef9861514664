"""A run and its questions as they change, from two watches in one queue.

The watches run in threads, because the main one may be waiting for a person to type; `wake_descriptor`
becomes readable whenever there is something new, so that whoever reads a terminal can listen to both.
"""

import os
import queue
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from compozy.cli.kube.client import Client, Object, ObjectList
from compozy.cli.kube.resources import HUMAN_REQUESTS, PLAN_RUNS
from compozy.cli.kube.watch import Change, watch
from compozy.cli.listing import asking_order
from compozy.cli.states import ENDED
from compozy.requests.state import is_open


def phase_of(run: Mapping[str, Any]) -> str:
    """The phase of a run; `Pending` before the operator has seen it."""
    return str((run.get("status") or {}).get("phase") or "Pending")


@dataclass(slots=True)
class Picture:
    """What is known of a run: itself and its questions by name."""

    run: Object
    questions: dict[str, Object] = field(default_factory=dict)
    deleted: bool = False

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.deleted or phase_of(self.run) in ENDED

    def open_questions(self) -> list[Object]:
        """The questions that wait for an answer, in the order in which to ask them."""
        return asking_order([question for question in self.questions.values() if is_open(question)])

    def still_open(self, name: str) -> bool:
        """Whether a question still waits for an answer."""
        return any(item["metadata"]["name"] == name for item in self.open_questions())

    def apply(self, change: Change) -> None:
        """Takes in one change."""
        item = change.object
        if item["kind"] == PLAN_RUNS.kind:
            self.run, self.deleted = item, change.deleted
        elif change.deleted:
            self.questions.pop(item["metadata"]["name"], None)
        else:
            self.questions[item["metadata"]["name"]] = item


class Feed:
    """The changes of one run, until it is closed."""

    def __init__(self, client: Client, run: Object) -> None:
        """Begins to listen. The threads end with the process."""
        self._queue: queue.SimpleQueue[Change | Exception] = queue.SimpleQueue()
        self.wake_descriptor, self._wake = os.pipe()
        os.set_blocking(self.wake_descriptor, False)
        os.set_blocking(self._wake, False)
        namespace, name = run["metadata"]["namespace"], run["metadata"]["name"]
        since = ObjectList([run], run["metadata"]["resourceVersion"])
        watches = (
            watch(client, PLAN_RUNS, namespace, field_selector=f"metadata.name={name}", since=since),
            watch(client, HUMAN_REQUESTS, namespace, field_selector=f"spec.run={name}"),
        )
        for changes in watches:
            threading.Thread(target=self._listen, args=(changes,), daemon=True).start()

    def drain(self, seconds: float) -> list[Change]:
        """What is new, waiting at most `seconds` for the first. Raises what ended a watch."""
        self._quiet()
        found: list[Change] = []
        try:
            item = self._queue.get(timeout=seconds) if seconds > 0 else self._queue.get_nowait()
            while True:
                if isinstance(item, Exception):
                    raise item
                found.append(item)
                item = self._queue.get_nowait()
        except queue.Empty:
            pass
        return found

    def _listen(self, changes: Iterator[Change]) -> None:
        try:
            for change in changes:
                self._put(change)
        except Exception as error:  # noqa: BLE001 - whatever it was, the main thread must hear of it
            self._put(error)

    def _put(self, item: Change | Exception) -> None:
        self._queue.put(item)
        # A full pipe is readable, which is all that it has to be.
        with suppress(BlockingIOError):
            os.write(self._wake, b"!")

    def _quiet(self) -> None:
        """Empties the pipe, before the queue: what comes in between wakes once too often, never too late."""
        with suppress(BlockingIOError):
            while os.read(self.wake_descriptor, 4096):
                pass
