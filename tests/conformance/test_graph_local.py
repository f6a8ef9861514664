"""The graph language, case by case, in this process."""

import pytest

from compozy.plantest.runner import run_case
from support.conformance import cases_of, parameters

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("case", parameters(cases_of("graph")))
def test_graph_language(case):
    differences = run_case(case).differences
    assert not differences, "\n".join([case.rule or case.name, *differences])
