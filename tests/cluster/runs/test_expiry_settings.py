"""The operator's own expiry, the plan's, the run's and the author's, on a real API server."""

import pytest

from support.apiserver import plan
from support.plans import spec

pytestmark = pytest.mark.cluster

ASK = """
{top}
graph:
  nodes:
    - id: ask
      class: control
      kind: ask
      params:
        prompt: Which?
        expect: {{ type: object }}
        {params}
"""
AUTHORED = "expires: { after: 1h, route: late }"
LATE = "    - { id: late, class: action, kind: transform, params: { map: { late: { value: true } } } }\n"
EDGE = "  edges: [{ from: ask, to: late }]\n"


@pytest.fixture
def seeding_operator(operator):
    """The operator, with an expiry for each profile."""
    variables = {
        "COMPOZY_DELIVERY_REQUESTS_EXPIRE_AFTER": "4h",
        "COMPOZY_WATCH_REQUESTS_EXPIRE_AFTER": "5h",
    }
    operator.stop()
    operator.variables |= variables
    try:
        yield operator.start()
    finally:
        operator.stop()
        for name in variables:
            del operator.variables[name]


def hours(request):
    """How long a question was given, from what is frozen on it."""
    from datetime import datetime

    opened = datetime.fromisoformat(request["metadata"]["creationTimestamp"])
    return round((datetime.fromisoformat(request["spec"]["expiresAt"]) - opened).total_seconds() / 3600, 2)


def test_who_says_so_first_decides(seeding_operator, make_namespace):
    stage = make_namespace()
    ask = ASK.format(top="", params="")
    of_plan = ASK.format(top="requests: { expireAfter: 3h }", params="")
    stage.author.create("plans", plan("watched", **spec(ASK.format(top="profile: watch", params="")))).object()
    runs = {
        1: stage.start(ASK.format(top="", params=AUTHORED) + LATE + EDGE, requestExpireAfter="2h"),
        2: stage.start(of_plan, requestExpireAfter="2h"),
        3: stage.start(of_plan),
        4: stage.start(ask),
        5: stage.start(None, planRef={"name": "watched"}),
    }
    assert {expected: hours(stage.question(run)) for expected, run in runs.items()} == {
        expected: expected for expected in runs
    }
