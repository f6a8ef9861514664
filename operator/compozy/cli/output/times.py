"""Times as people read them: how long ago, how long until."""

from datetime import UTC, datetime

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 365 * 86400


def parse_time(text: str | None) -> datetime | None:
    """An RFC 3339 time, or None where there is none. Raises ValueError for anything else."""
    if not text:
        return None
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def short_duration(seconds: float) -> str:
    """A duration the way kubectl prints ages: `45s`, `5m30s`, `3h`, `4d2h`, `2y10d`. Never negative."""
    left = max(0, int(seconds))
    if left < 2 * _MINUTE:
        return f"{left}s"
    if left < 10 * _MINUTE:
        return _two(left // _MINUTE, "m", left % _MINUTE, "s")
    if left < 3 * _HOUR:
        return f"{left // _MINUTE}m"
    if left < 8 * _HOUR:
        return _two(left // _HOUR, "h", left % _HOUR // _MINUTE, "m")
    if left < 2 * _DAY:
        return f"{left // _HOUR}h"
    if left < 8 * _DAY:
        return _two(left // _DAY, "d", left % _DAY // _HOUR, "h")
    if left < 2 * _YEAR:
        return f"{left // _DAY}d"
    return _two(left // _YEAR, "y", left % _YEAR // _DAY, "d")


def seconds_only(text: str) -> str:
    """A time as people read it: in UTC, without fractions of a second."""
    moment = parse_time(text)
    return (
        "<unknown>"
        if moment is None
        else f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat('T', 'seconds')}Z"
    )


def age(text: str | None, now: datetime) -> str:
    """How long ago a time was; `<unknown>` where there is none."""
    moment = parse_time(text)
    return "<unknown>" if moment is None else short_duration((now - moment).total_seconds())


def until(text: str | None, now: datetime) -> str:
    """How long until a time, as `in 71h`; `due` once it has come, `<none>` where there is none."""
    moment = parse_time(text)
    if moment is None:
        return "<none>"
    left = (moment - now).total_seconds()
    return f"in {short_duration(left)}" if left > 0 else "due"


def _two(big: int, big_unit: str, small: int, small_unit: str) -> str:
    return f"{big}{big_unit}" + (f"{small}{small_unit}" if small else "")
