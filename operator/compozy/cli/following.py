"""Follows a run to its end, telling what happens and, on a terminal, asking its questions."""

from compozy.cli.errors import CliError
from compozy.cli.feed import Feed, Picture
from compozy.cli.interview import Interview
from compozy.cli.kube.client import Object
from compozy.cli.progress import Progress
from compozy.cli.session import Session

_POLL_SECONDS = 1.0
_SETTLE_SECONDS = 0.05
_SETTLE_ROUNDS = 10
_PATIENCE_SECONDS = 10


def follow(session: Session, run: Object, progress: Progress, *, asks: bool) -> Object:
    """The run once it has ended. Raises CliError when it is gone, NobodyHere when the input has ended."""
    feed, picture = Feed(session.client, run), Picture(run)
    interview = Interview(session, feed, picture) if asks else None
    silent = 0
    while not picture.ended:
        changes = feed.drain(_POLL_SECONDS)
        for change in changes:
            picture.apply(change)
        if interview is not None and changes:
            _settle(feed, picture)
        progress.update(picture)
        if interview is not None:
            interview.ask_due()
        silent += not changes
        if silent == _PATIENCE_SECONDS and not (picture.run.get("status") or {}).get("phase"):
            session.note("The operator has not taken the run up yet: is it running? Still waiting.")
    progress.update(picture)
    if picture.deleted:
        raise CliError("run_not_found", f"run {run['metadata']['name']} was deleted while it was followed")
    return picture.run


def _settle(feed: Feed, picture: Picture) -> None:
    """Lets a fan-out open its questions, so that they are asked in item order from the first one on."""
    for _ in range(_SETTLE_ROUNDS):
        changes = feed.drain(_SETTLE_SECONDS)
        for change in changes:
            picture.apply(change)
        if not changes:
            return
