"""The steps language, case by case, on a real API server with the operator at work.

Nothing can be called on a cluster yet, so cases with stubs for tools and models are held to in this process only,
and so are those that the API server itself refuses before anybody of ours sees them.
"""

from collections.abc import Iterator

import pytest

from support.conformance import cases_of, parameters, topic_of
from support.plays import play_all, told_differently

pytestmark = pytest.mark.cluster

CASES = [case for case in cases_of("steps") if not case.tools and topic_of(case) != "document"]


@pytest.fixture(scope="module")
def plays(shared_operator, make_namespace):
    """Every case, played."""
    if shared_operator.process is None:
        shared_operator.start()

    def stages() -> Iterator[object]:
        while True:
            yield make_namespace()

    return play_all(CASES, stages())


@pytest.mark.parametrize("case", parameters(CASES))
def test_steps_language(case, plays):
    differences = told_differently(plays[case.name])
    assert not differences, "\n".join([case.rule or case.name, *differences])
