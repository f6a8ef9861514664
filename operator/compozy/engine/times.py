"""Times as the API server writes them: RFC 3339, UTC, microseconds."""

from datetime import UTC, datetime


def timestamp(moment: datetime) -> str:
    """The text of a moment; the moment must carry a time zone."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def parse_timestamp(text: str) -> datetime:
    """The moment of an RFC 3339 text. Raises ValueError."""
    return datetime.fromisoformat(text)
