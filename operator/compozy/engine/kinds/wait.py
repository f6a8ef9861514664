"""`wait`: let time pass."""

from datetime import UTC, timedelta

from compozy.engine.codes import UNRENDERABLE
from compozy.engine.outcomes import Context, Failed, Outcome, Sleeping
from compozy.engine.times import parse_timestamp, timestamp
from compozy.language.compiled import WaitSpec
from compozy.language.durations import parse_duration
from compozy.language.errors import LanguageError


def enter_wait(spec: WaitSpec, context: Context) -> Outcome:
    """Find out until when, from when it was entered: a restart does not begin anew."""
    try:
        if spec.until is not None:
            moment = parse_timestamp(spec.until.render_text(context.scope).strip())
            return Sleeping(timestamp(moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)))
        text = spec.duration.render_text(context.scope).strip() if spec.duration is not None else ""
        begun = parse_timestamp(context.started_at) if context.started_at is not None else context.now
        return Sleeping(timestamp(begun + timedelta(seconds=parse_duration(text))))
    except LanguageError as error:
        return Failed(UNRENDERABLE, error.message)
    except (ValueError, OverflowError) as error:
        return Failed("duration_invalid", f"cannot tell until when to wait: {error}")
