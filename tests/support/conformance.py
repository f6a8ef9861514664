"""The cases of the conformance suites, for the hosts that must pass them."""

from pathlib import Path
from typing import Literal

import pytest

from compozy.plantest.cases import load_cases
from compozy.plantest.model import Case

SUITES = Path(__file__).parents[1] / "conformance"
SENTENCES = "sentences"
"""Not a file of cases: what holds which sentence of the published page."""


def cases_of(dialect: Literal["steps", "graph"]) -> list[Case]:
    """Every case of a dialect."""
    files = [path for path in sorted((SUITES / dialect).glob("*.yaml")) if path.stem != SENTENCES]
    return [case for path in files for case in load_cases(path)]


def cluster_cases_of(dialect: Literal["steps", "graph"]) -> list[Case]:
    """The cases of a dialect that a cluster can play.

    No tool and no model can be called there yet, so cases with stubs for them are held to in this process only,
    and so are those that the API server itself refuses before anybody of ours sees them.
    """
    return [case for case in cases_of(dialect) if not case.tools and topic_of(case) != "document"]


def topic_of(case: Case) -> str:
    """The name of the file that a case is in."""
    return Path(case.file).stem


def parameters(cases: list[Case]) -> list[object]:
    """The cases as parameters of a test, named by file and case."""
    return [pytest.param(case, id=f"{topic_of(case)}: {case.name}") for case in cases]
