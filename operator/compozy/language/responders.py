"""Whether there can be anybody who may answer: of a policy alone, or once it is known who has started the run."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from compozy.api.identity import SERVICE_ACCOUNT_PREFIX

_ACCOUNT_GROUPS: Final = "system:serviceaccounts"
"""The group of all ServiceAccounts; those of a namespace are in one that adds its name."""


@dataclass(frozen=True, slots=True)
class Unsatisfiable:
    """Why nobody, or not enough people, may ever answer."""

    field: str
    """The key of the policy to change."""
    message: str


def unsatisfiable(responders: Mapping[str, Any], starters: Collection[str | None] = ()) -> Unsatisfiable | None:
    """Why a policy lets too few answer; None where enough may, or that cannot be known.

    Args:
        responders: the policy, in its right shape.
        starters: who has started the run, its parent and so on, as far as that is known; None where a run does
            not record it, which it never will.
    """
    if None in starters and responders.get("initiator", "allow") == "deny":
        message = "who started the run must not answer, and it does not record who that was in `spec.startedBy`"
        return Unsatisfiable("initiator", message)
    users, groups = responders.get("users"), responders.get("groups")
    if users is None and groups is None:
        return None
    if not users and not groups:
        return Unsatisfiable("groups" if users is None else "users", "nobody is named, so nobody may answer")
    agents = responders.get("agents", "deny") == "allow"
    if any(agents or not _is_of_accounts(group) for group in groups or ()):
        return None
    named = {user for user in users or () if agents or not user.startswith(SERVICE_ACCOUNT_PREFIX)}
    if not named:
        message = "only ServiceAccounts are named, and `agents: deny` lets none of them answer: name people"
        return Unsatisfiable("agents", message)
    return _too_few(named, {user for user in named if not _is_ruled_out(user, responders, starters)}, responders)


def _too_few(named: set[str], left: set[str], responders: Mapping[str, Any]) -> Unsatisfiable | None:
    """Whether those who are left are fewer than must agree."""
    needed = responders.get("approvals", 1)
    if len(left) >= needed:
        return None
    if not left:
        message = "only who started the run is named, and must not answer: name somebody else"
        return Unsatisfiable("initiator", message)
    fewer = ", since who started the run is not one of them" if len(left) < len(named) else ""
    people = "1 user" if len(left) == 1 else f"{len(left)} users"
    return Unsatisfiable("approvals", f"{needed} approvals are needed, and only {people} may approve{fewer}")


def _is_ruled_out(user: str, responders: Mapping[str, Any], starters: Collection[str | None]) -> bool:
    """Whether a user may not answer since they started the run: agents never may."""
    denied = responders.get("initiator", "allow") == "deny" or user.startswith(SERVICE_ACCOUNT_PREFIX)
    return denied and (user in starters or None in starters)


def _is_of_accounts(group: str) -> bool:
    return group == _ACCOUNT_GROUPS or group.startswith(f"{_ACCOUNT_GROUPS}:")
