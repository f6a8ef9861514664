"""Names of requests follow from what asks, and are names that Kubernetes takes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.requests.naming import request_name

pytestmark = pytest.mark.unit

DNS_1123 = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
UID = "0b1c2d3e-0000-4000-8000-000000000001"

KEYS = st.tuples(
    st.text(),
    st.text(max_size=40),
    st.integers(1, 10**6),
    st.text(max_size=300),
    st.none() | st.integers(0, 10**6),
)


@pytest.mark.parametrize(
    ("arguments", "readable"),
    [
        (("release-7k2p", UID, 1, "choose_environment"), "release-7k2p-choose-environment-"),
        (("release-7k2p", UID, 2, "choose_environment"), "release-7k2p-choose-environment-g2-"),
        (("release-7k2p", UID, 1, "ask", 3), "release-7k2p-ask-3-"),
        (("release-7k2p", UID, 12, "E3/do.2/E10", 0), "release-7k2p-e3-do-2-e10-g12-0-"),
        (("r", UID, 1, "日本"), "r-"),
    ],
)
def test_names_are_readable(arguments, readable):
    name = request_name(*arguments)
    assert name.startswith(readable)
    assert re.fullmatch(r"[0-9a-f]{8}", name.removeprefix(readable))


def test_the_name_of_a_question_never_changes():
    # Requests that are open while the operator is upgraded keep the names they were given.
    assert request_name("release-7k2p", UID, 1, "choose_environment") == "release-7k2p-choose-environment-6cb6e602"


@given(KEYS)
def test_names_are_valid_and_repeatable(key):
    name = request_name(*key)
    assert DNS_1123.fullmatch(name)
    assert len(name) <= 253
    assert request_name(*key) == name


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("r", "u1", 1, "a"), ("r", "u2", 1, "a")),
        (("r", UID, 1, "a_b"), ("r", UID, 1, "a-b")),
        (("r", UID, 2, "a"), ("r", UID, 1, "a-g2")),
        (("r", UID, 1, "a", 2), ("r", UID, 1, "a-2")),
        (("r", UID, 1, "a", 0), ("r", UID, 1, "a")),
        (("r", UID, 1, "x" * 200 + "1"), ("r", UID, 1, "x" * 200 + "2")),
        (("a-b", UID, 1, "c"), ("a", UID + "-", 1, "b-c")),
    ],
)
def test_different_questions_have_different_names(one, other):
    assert request_name(*one) != request_name(*other)


@pytest.mark.parametrize(("generation", "item"), [(0, None), (-1, None), (1, -1)])
def test_impossible_questions_have_no_name(generation, item):
    with pytest.raises(ValueError, match="must be at least"):
        request_name("r", UID, generation, "a", item)
