"""The graph language, case by case, on a real API server with the operator at work."""

import pytest

from support.conformance import cluster_cases_of, parameters
from support.plays import play_all, told_differently

pytestmark = pytest.mark.cluster

CASES = cluster_cases_of("graph")


@pytest.fixture(scope="module")
def plays(stages):
    """Every case, played."""
    return play_all(CASES, stages)


@pytest.mark.parametrize("case", parameters(CASES))
def test_graph_language(case, plays):
    differences = told_differently(plays[case.name])
    assert not differences, "\n".join([case.rule or case.name, *differences])
