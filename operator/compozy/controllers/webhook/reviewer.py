"""Judges what the API server asks about."""

from collections import Counter
from functools import partial
from typing import Any

from compozy.controllers.api_client import ApiClient, ApiError
from compozy.controllers.cache import Cache, Item, run_of
from compozy.controllers.judges import Judges
from compozy.controllers.lineage import starters
from compozy.controllers.paths import list_of
from compozy.requests.admission import Answering, read_review, reply
from compozy.requests.respond import judge_approval
from compozy.requests.verdict import Verdict

_SMALL = 16 * 1024
"""Bytes of a body that is read at once: to change the thread takes longer."""

MOST_OF_ONE = 16
"""How many answers of one user may wait: whoever sends more leaves room for others."""


class TooMany(Exception):
    """One user has sent more answers than are judged at once."""


class Reviewer:
    """From the body of an AdmissionReview to the one that answers it."""

    def __init__(self, api: ApiClient, cache: Cache, judges: Judges) -> None:
        self._api = api
        self._cache = cache
        self._judges = judges
        self._of_user: Counter[str] = Counter()

    async def review(self, body: bytes) -> tuple[Verdict | None, dict[str, Any]]:
        """Return the verdict, None where there was nothing to say against the write, and the reply.

        Raises ReviewInvalid, or TooMany.
        """
        review = await self._judges.work(partial(read_review, body)) if len(body) > _SMALL else read_review(body)
        verdict = None if review.answering is None else await self._admitted(review.answering)
        return verdict, reply(review, verdict)

    async def _admitted(self, answering: Answering) -> Verdict | None:
        user = answering.identity.user
        if self._of_user[user] >= MOST_OF_ONE:
            raise TooMany(f"too many answers of {user!r} at once")
        self._of_user[user] += 1
        try:
            return await self._verdict(answering)
        finally:
            self._of_user[user] -= 1
            self._of_user += Counter()  # without those that have none

    async def _verdict(self, answering: Answering) -> Verdict | None:
        run = await self._run_of(answering.request)
        started_by = [None] if run is None else starters(self._cache, run)
        if answering.response is None:
            return judge_approval(answering.request, answering.identity, started_by)
        return await self._judges.verdict(answering.request, answering.response, answering.identity, started_by)

    async def _run_of(self, request: Item) -> Item | None:
        """The run that asks. A watch may be a moment behind whoever answers at once."""
        key = run_of(request)
        known = self._cache.get("PlanRun", key)
        if known is not None:
            return known
        try:
            return await self._api.get(f"{list_of('PlanRun', key.namespace)}/{key.name}")
        except ApiError as error:
            if error.status != 404:
                raise
            return None
