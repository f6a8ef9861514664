"""Which certificate is served, which authorities are trusted and when to make another: functions of the time.

Every replica reads the same two issues from one Secret and works out the rest from the clock, so nothing has to
be written or agreed upon when one takes over from the other. For an issue of lifetime L, made at 0:

    0      its authority is trusted; the one before it is still served
    s      it is served, by every replica: each API server has long heard of its authority
    2s     the authority before it is no longer trusted
    2L/3   the next one is made

s is an hour, or L/12 where that is less.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

LONGEST_SETTLE = timedelta(hours=1)
POLL = timedelta(minutes=5)
"""How often to look whether somebody else has changed anything."""


@dataclass(frozen=True, slots=True)
class Issue:
    """An authority, and the one certificate that it has ever signed. Its key is not kept."""

    authority: bytes
    """PEM."""
    certificate: bytes
    """PEM."""
    key: bytes = field(repr=False)
    """PEM: the private key of the certificate."""
    hosts: frozenset[str]
    """What the server may be called."""
    made_at: datetime
    expires_at: datetime

    @property
    def lifetime(self) -> timedelta:
        """How long it is good for."""
        return self.expires_at - self.made_at

    @property
    def settle(self) -> timedelta:
        """How long everybody gets to hear of it."""
        return min(LONGEST_SETTLE, self.lifetime / 12)

    @property
    def is_due_at(self) -> datetime:
        """When to make the next one."""
        return self.made_at + self.lifetime * 2 / 3

    def moments(self) -> tuple[datetime, ...]:
        """When something changes because of it."""
        settled = self.made_at + self.settle
        return settled, settled + self.settle, self.is_due_at, self.expires_at


def served(issues: Sequence[Issue], hosts: Iterable[str], now: datetime) -> Issue | None:
    """Return the issue to serve: the newest that everybody has heard of, else the oldest; None: make one."""
    good = sorted(_good(issues, hosts, now), key=_made_at)
    settled = [issue for issue in good if issue.made_at + issue.settle <= now]
    return next(iter(settled[-1:] or good[:1]), None)


def trusted(issues: Sequence[Issue], hosts: Iterable[str], now: datetime) -> list[Issue]:
    """Return the issues whose authorities are trusted, the newest first."""
    chosen = served(issues, hosts, now)
    if chosen is None:
        return []
    is_alone = chosen.made_at + 2 * chosen.settle <= now
    later = (issue for issue in issues if issue.expires_at > now)
    kept = [issue for issue in later if issue.made_at >= chosen.made_at or not is_alone]
    return sorted(kept, key=_made_at, reverse=True)


def is_due(issues: Sequence[Issue], hosts: Iterable[str], now: datetime) -> bool:
    """Return whether to make another issue now."""
    newest = max(_good(issues, hosts, now), key=_made_at, default=None)
    return newest is None or newest.is_due_at <= now


def with_another(issues: Sequence[Issue], hosts: Iterable[str], now: datetime, made: Issue) -> list[Issue]:
    """Return what to store once another was made, the newest first: it, and what is served until it settles."""
    chosen = served(issues, hosts, now)
    return [made] if chosen is None else [made, chosen]


def hosts_to_name(issues: Sequence[Issue], hosts: Iterable[str], now: datetime) -> frozenset[str]:
    """Return the names for another issue: those of the last too, so that replicas that differ come to agree."""
    known = (issue.hosts for issue in issues if issue.expires_at > now)
    return frozenset(hosts).union(*known)


def pause(issues: Sequence[Issue], now: datetime) -> timedelta:
    """Return how long to wait before looking again."""
    coming = [moment - now for issue in issues for moment in issue.moments() if moment > now]
    return min([POLL, *coming, *(issue.settle / 2 for issue in issues)])


def _good(issues: Sequence[Issue], hosts: Iterable[str], now: datetime) -> Iterator[Issue]:
    wanted = frozenset(hosts)
    return (issue for issue in issues if issue.expires_at > now and issue.hosts >= wanted)


def _made_at(issue: Issue) -> datetime:
    return issue.made_at
