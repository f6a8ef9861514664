"""The cases of the conformance suite, for the hosts that must pass them."""

from pathlib import Path

import pytest

from compozy.plantest.cases import load_cases
from compozy.plantest.model import Case

STEPS = Path(__file__).parents[1] / "conformance" / "steps"
SENTENCES = "sentences"
"""Not a file of cases: what holds which sentence of the published page."""


def steps_cases() -> list[Case]:
    """Every case of the steps language."""
    files = [path for path in sorted(STEPS.glob("*.yaml")) if path.stem != SENTENCES]
    return [case for path in files for case in load_cases(path)]


def topic_of(case: Case) -> str:
    """The name of the file that a case is in."""
    return Path(case.file).stem


def parameters(cases: list[Case]) -> list[object]:
    """The cases as parameters of a test, named by file and case."""
    return [pytest.param(case, id=f"{topic_of(case)}: {case.name}") for case in cases]
