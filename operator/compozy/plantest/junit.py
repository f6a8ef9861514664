"""JUnit XML, as CI servers read it: valid against the schemas of Ant and of Jenkins."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from xml.etree import ElementTree


@dataclass(frozen=True, slots=True)
class Outcome:
    """One test as a report shows it."""

    group: str
    """The file that it belongs to."""
    name: str
    faults: tuple[str, ...]
    """What is wrong, one line each; nothing where it passed."""
    detail: str = ""
    """What a line for people says beside the name."""
    seconds: float = 0.0
    """How long it took."""


def to_junit(suite: str, outcomes: Sequence[Outcome], now: datetime) -> str:
    """A report of outcomes, with one `testsuite` for each group. `now` is when it was made."""
    root = ElementTree.Element("testsuites")
    for index, group in enumerate(dict.fromkeys(outcome.group for outcome in outcomes)):
        members = [outcome for outcome in outcomes if outcome.group == group]
        names = {"name": _plain(group), "package": suite, "id": str(index), "hostname": "localhost"}
        timestamp = {"timestamp": now.strftime("%Y-%m-%dT%H:%M:%S")}
        element = ElementTree.SubElement(root, "testsuite", {**names, **timestamp, **_totals(members)})
        ElementTree.SubElement(element, "properties")
        for outcome in members:
            _add(element, outcome)
        for stream in ("system-out", "system-err"):
            ElementTree.SubElement(element, stream)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n"


def _totals(outcomes: Sequence[Outcome]) -> dict[str, str]:
    failures = sum(bool(outcome.faults) for outcome in outcomes)
    return {
        "tests": str(len(outcomes)),
        "failures": str(failures),
        "errors": "0",
        "time": _seconds(sum(outcome.seconds for outcome in outcomes)),
    }


def _add(suite: ElementTree.Element, outcome: Outcome) -> None:
    names = {"classname": _plain(outcome.group), "name": _plain(outcome.name)}
    case = ElementTree.SubElement(suite, "testcase", {**names, "time": _seconds(outcome.seconds)})
    if outcome.faults:
        told = {"type": "failed", "message": _plain(outcome.faults[0])}
        ElementTree.SubElement(case, "failure", told).text = _plain("\n".join(outcome.faults))


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"


def _plain(text: str) -> str:
    """Text without the characters that XML 1.0 cannot hold."""
    return "".join(letter if _is_allowed(letter) else f"\\x{ord(letter):02x}" for letter in text)


def _is_allowed(letter: str) -> bool:
    return letter in "\t\n" or " " <= letter < "\ud800" or "\ue000" <= letter < "\ufffe" or letter > "\uffff"
