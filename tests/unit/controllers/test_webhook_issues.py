"""When certificates take over from one another, by a clock of our own."""

from collections import deque
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compozy.controllers.webhook.issues import (
    POLL,
    Issue,
    hosts_to_name,
    is_due,
    pause,
    served,
    trusted,
    with_another,
)
from compozy.controllers.webhook.issuing import make_issue, read_issue
from compozy.controllers.webhook.kept import hosts_in, issues_in, with_issues, with_trust

pytestmark = pytest.mark.unit

START = datetime(2030, 1, 1, tzinfo=UTC)
HOSTS = frozenset({"compozy-webhook.compozy-system.svc"})
QUARTER = timedelta(days=90)


def issue(made_at=START, lifetime=QUARTER, hosts=HOSTS):
    name = f"{made_at}".encode()
    return Issue(b"ca " + name, name, b"key", frozenset(hosts), made_at, made_at + lifetime)


def test_the_first_is_served_at_once_and_renewed_after_two_thirds():
    first = issue()
    assert served([first], HOSTS, START) == first
    assert trusted([first], HOSTS, START) == [first]
    assert not is_due([first], HOSTS, START + timedelta(days=59))
    assert is_due([first], HOSTS, START + timedelta(days=60))


def test_one_takes_over_from_the_other_in_steps():
    old, at = issue(), START + timedelta(days=60)
    new = issue(at)
    both = with_another([old], HOSTS, at, new)
    assert both == [new, old]
    for hours, serves, trusts in (
        (0, old, [new, old]),
        (0.9, old, [new, old]),
        (1, new, [new, old]),
        (1.9, new, [new, old]),
        (2, new, [new]),
        (24 * 59, new, [new]),
    ):
        now = at + timedelta(hours=hours)
        assert (served(both, HOSTS, now), trusted(both, HOSTS, now)) == (serves, trusts), hours
        assert not is_due(both, HOSTS, now)


def test_none_that_has_expired_is_served_or_trusted():
    late = START + QUARTER
    assert served([issue()], HOSTS, late) is None
    assert trusted([issue()], HOSTS, late) == []
    assert is_due([issue()], HOSTS, late)


def test_one_for_other_hosts_is_replaced_at_once_and_its_hosts_are_named_too():
    other = issue(hosts={"127.0.0.1"})
    now = START + timedelta(hours=1)
    assert is_due([other], HOSTS, now)
    assert hosts_to_name([other], HOSTS, now) == HOSTS | {"127.0.0.1"}
    both = with_another([other], HOSTS, now, issue(now))
    assert served(both, HOSTS, now) == both[0]


def test_whoever_looks_again_in_time_misses_nothing():
    assert pause([issue()], START) == POLL
    assert pause([issue()], START + timedelta(days=60) - timedelta(seconds=3)) == timedelta(seconds=3)
    assert pause([issue(lifetime=timedelta(seconds=12))], START) == timedelta(seconds=0.5)
    assert pause([], START) == POLL


@settings(max_examples=40, deadline=None)
@given(
    lifetime=st.sampled_from([timedelta(seconds=12), timedelta(minutes=10), timedelta(hours=2)]),
    replicas=st.lists(st.floats(0, 1), min_size=1, max_size=3),
)
def test_what_any_replica_serves_is_trusted_by_api_servers_that_are_a_while_behind(lifetime, replicas):
    """Each replica looks when it is told to, or somewhat later; so it may serve for long what it saw then."""
    stored, makers, serving = [], 0, {}
    told = deque(maxlen=200)
    late = lifetime / 12 / 4
    looks_at = {index: START + fraction * late for index, fraction in enumerate(replicas)}
    end = START + 2 * lifetime
    while True:
        index = min(looks_at, key=looks_at.get)
        now = looks_at[index]
        if now >= end:
            break
        if is_due(stored, HOSTS, now):
            stored, makers = with_another(stored, HOSTS, now, issue(now, lifetime)), makers + 1
        told.append((now, trusted(stored, HOSTS, now)))
        serving[index] = served(stored, HOSTS, now)
        began = START + 2 * late  # nothing was trusted before
        for chosen in serving.values():
            assert chosen.expires_at > now
            assert all(chosen in bundle for at, bundle in told if at >= max(began, now - late))
        looks_at[index] = now + pause(stored, now) + replicas[index] * late
    assert makers in (3, 4), "one for the beginning, and one for each two thirds of a life"


# -- what is stored ------------------------------------------------------------------------------------------


def test_what_is_made_can_be_read_again():
    made = make_issue([*HOSTS, "127.0.0.1"], START + timedelta(microseconds=7), QUARTER)
    assert (made.made_at, made.expires_at) == (START, START + QUARTER)
    assert made.hosts == HOSTS | {"127.0.0.1"}
    assert read_issue(made.authority, made.certificate, made.key) == made
    assert "PRIVATE" not in repr(made)
    secret = with_issues({"metadata": {"name": "s"}, "data": {"left": "over"}}, [made, made])
    assert issues_in(secret) == [made, made]
    assert "left" not in secret["data"]


@pytest.mark.parametrize(
    "damage",
    [
        {"newest.ca.crt": None},
        {"newest.tls.crt": "bm8="},
        {"newest.tls.key": "%%"},
        {"newest.tls.key": "other"},
    ],
    ids=str,
)
def test_what_cannot_be_read_is_made_again(damage):
    made, other = (make_issue(HOSTS, START, QUARTER) for _ in range(2))
    secret = with_issues({"metadata": {"name": "s"}}, [made])
    others = with_issues({"metadata": {"name": "s"}}, [other])["data"]
    data = secret["data"] | {key: others[key] if value == "other" else value for key, value in damage.items()}
    assert issues_in({**secret, "data": {key: value for key, value in data.items() if value}}) == []


@pytest.mark.parametrize("secret", [{}, {"data": None}, {"data": {}}])
def test_an_empty_secret_holds_nothing(secret):
    assert issues_in({"metadata": {"name": "s"}, **secret}) == []


def test_the_configuration_says_who_is_called_and_learns_whom_to_trust():
    service = {"clientConfig": {"service": {"name": "compozy-webhook", "namespace": "compozy-system"}}}
    direct = {"clientConfig": {"url": "https://127.0.0.1:9443/answers", "caBundle": "b2xk"}}
    configuration = {"webhooks": [service, direct]}
    assert hosts_in(configuration) == HOSTS | {"127.0.0.1"}
    changed = with_trust(configuration, [issue(), issue(START + QUARTER)])
    bundles = {webhook["clientConfig"]["caBundle"] for webhook in changed["webhooks"]}
    assert len(bundles) == 1
    assert configuration["webhooks"][1]["clientConfig"]["caBundle"] == "b2xk"
    assert with_trust(changed, [issue(), issue(START + QUARTER)]) == changed
