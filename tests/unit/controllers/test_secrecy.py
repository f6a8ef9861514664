"""What the operator tells others holds no secret: its log, its statuses, the labels of its metrics."""

import io
import logging
from typing import get_args

import pytest

from compozy.api.humanrequest import RequestState
from compozy.controllers.metrics import Metrics
from compozy.controllers.secrecy import MAX_CONDITION, MAX_PROBLEM, LogFilter, Secrecy, secrets_of
from compozy.engine.state import FINAL_PHASES
from compozy.requests.verdict import Code

pytestmark = pytest.mark.unit

TOKEN = "ghp_" + "abcdefghijklmnopqrstuvwxyz"
OWN = "own-plain-looking-credential"


@pytest.fixture
def secrecy():
    return Secrecy(secrets_of({"SOME_TOKEN": OWN, "HOME": "/home/somebody", "EMPTY_TOKEN": ""}))


@pytest.fixture
def logged(secrecy):
    """A logger, and what its handler has written."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    handler.addFilter(LogFilter(secrecy))
    logger = logging.Logger("test")
    logger.addHandler(handler)
    return logger, stream.getvalue


@pytest.mark.parametrize("secret", [TOKEN, OWN, "hunter2"])
def test_nothing_secret_is_logged(logged, secret):
    logger, written = logged
    logger.info("password=%s", secret)
    logger.info({"password": secret})
    logger.info("%s and %d", f"password={secret}", "no number")
    logger.warning("stack", stack_info=True, extra={"password": secret})
    try:
        raise ValueError(f"cause: password={secret}")
    except ValueError as cause:
        try:
            raise RuntimeError(f"password={secret}") from cause
        except RuntimeError:
            logger.exception("it failed")
    text = written()
    assert secret not in text
    assert text.count("[REDACTED]") >= 5
    assert "RuntimeError" in text
    assert "/home/somebody" not in text


def test_a_log_stays_readable(logged):
    logger, written = logged
    logger.info("run %s failed; trying again in %.1f s", ("team", "release-x7k2p"), 0.2)
    assert written() == "INFO run ('team', 'release-x7k2p') failed; trying again in 0.2 s\n"


def test_a_credential_that_is_renewed_is_secret_from_then_on(secrecy):
    assert secrecy.text("use rotated-value") == "use rotated-value"
    secrecy.learn(["Bearer rotated-value"])
    assert secrecy.text(f"use rotated-value or {OWN}") == "use [REDACTED] or [REDACTED]"


def test_messages_of_a_status_are_redacted_and_then_cut(secrecy):
    long = "x " * (MAX_CONDITION // 2 - 10) + TOKEN
    shown = secrecy.status(
        {
            "conditions": [{"type": "Ready", "message": long}],
            "problems": [{"path": "a", "code": "b", "message": "y " * (MAX_PROBLEM // 2 - 10) + OWN}],
            "lastRejection": {"code": "c", "fields": {"token": "is required", TOKEN: f"must not be {OWN}"}},
            "output": {"token": TOKEN},
            "nodes": {"a": {"output": TOKEN}},
        }
    )
    (condition,), (problem,) = shown["conditions"], shown["problems"]
    assert len(condition["message"]) == MAX_CONDITION - 10
    assert condition["message"].endswith("[REDACTED]")
    assert len(problem["message"]) <= MAX_PROBLEM
    assert OWN[:8] not in problem["message"]
    assert shown["lastRejection"]["fields"] == {"token": "is required", "[REDACTED]": "must not be [REDACTED]"}
    assert shown["output"] == {"token": TOKEN}
    assert shown["nodes"] == {"a": {"output": TOKEN}}


def test_labels_take_values_of_closed_sets():
    closed = {
        "state": set(get_args(RequestState)) - {"Pending"},
        "code": set(get_args(Code)),
        "phase": set(FINAL_PHASES),
    }
    found = {}
    for family in Metrics(lambda: 0).registry.collect():
        for sample in family.samples:
            for label, value in sample.labels.items():
                found.setdefault(label, set()).add(value)
    found.pop("le")
    assert found == closed
