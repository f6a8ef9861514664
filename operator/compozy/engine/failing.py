"""What follows when a node has failed: another attempt, another way, nothing at all, or the end of what it is in.

In this order; failures that are no fault of the attempt itself are never tried again.
"""

from datetime import datetime, timedelta

from compozy.engine.outcomes import Failed
from compozy.engine.state import Cell
from compozy.engine.times import parse_timestamp, timestamp
from compozy.language.compiled import Policy

TRANSPORT = "transport"
TIMEOUT = "attempt_timeout"
DEADLINE = "deadline_exceeded"
_LONGEST_EXPONENT = 30


def next_attempt(policy: Policy, cell: Cell | None, failed: Failed, now: datetime) -> Cell | None:
    """The cell that waits for another attempt; None where there is none."""
    retry = policy.retry
    if retry is None or cell is None or not is_retryable(failed.reason) or failed.reason in retry.non_retryable:
        return None
    if cell.attempt >= retry.max_attempts:
        return None
    pause = min(retry.base * 2 ** min(cell.attempt - 1, _LONGEST_EXPONENT), retry.max)
    again = now + timedelta(seconds=pause)
    started = cell.started_at or timestamp(now)
    if policy.deadline is not None and again >= parse_timestamp(started) + timedelta(seconds=policy.deadline):
        return None
    return Cell(
        "Ready",
        reason=failed.reason,
        message=failed.message,
        started_at=started,
        attempt=cell.attempt + 1,
        until=timestamp(again),
    )


def is_retryable(code: str) -> bool:
    """Whether another attempt may come to something else: the way there failed, or the time was up."""
    return code == TRANSPORT or code.endswith("_timeout")


def absorbed(policy: Policy, failed: Failed, now: str) -> Cell | None:
    """The cell of a failure that the author has foreseen; None where nobody has."""
    if policy.error_route is not None or policy.allow_fail:
        return Cell("Succeeded", None, failed.reason, failed.message, policy.error_route, now)
    return None


def time_is_up_at(policy: Policy, started_at: str, now: datetime) -> str | None:
    """When an attempt that begins now has to end; None where nothing says so."""
    ends = []
    if policy.timeout is not None:
        ends.append(now + timedelta(seconds=policy.timeout))
    if policy.deadline is not None:
        ends.append(parse_timestamp(started_at) + timedelta(seconds=policy.deadline))
    return timestamp(min(ends)) if ends else None


def time_was_up(policy: Policy, cell: Cell, now: datetime) -> Failed:
    """How an attempt whose time is up has failed."""
    if policy.deadline is not None and _is_past_deadline(policy.deadline, policy, cell, now):
        return Failed(DEADLINE, f"not done within its deadline of {policy.deadline:g} s")
    return Failed(TIMEOUT, f"attempt {cell.attempt} was not done within its timeout of {policy.timeout or 0:g} s")


def _is_past_deadline(deadline: float, policy: Policy, cell: Cell, now: datetime) -> bool:
    """Whether it is all attempts together whose time is up. The first has as much as its own timeout."""
    if policy.timeout is None or policy.timeout == deadline:
        return True
    started = parse_timestamp(cell.started_at) if cell.started_at is not None else now
    return cell.attempt > 1 and started + timedelta(seconds=deadline) <= now
