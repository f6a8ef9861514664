"""JUnit XML, as CI servers read it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree


@dataclass(frozen=True, slots=True)
class Outcome:
    """One test as a report shows it."""

    group: str
    """The file that it belongs to."""
    name: str
    faults: tuple[str, ...]
    """What is wrong, one line each; nothing where it passed."""


def write_junit(path: Path, suite: str, outcomes: Sequence[Outcome]) -> None:
    """Write a report of outcomes. Raises OSError."""
    failures = sum(bool(outcome.faults) for outcome in outcomes)
    totals = {"tests": str(len(outcomes)), "failures": str(failures), "errors": "0", "skipped": "0"}
    root = ElementTree.Element("testsuites", {"name": suite, **totals})
    for group in dict.fromkeys(outcome.group for outcome in outcomes):
        members = [outcome for outcome in outcomes if outcome.group == group]
        failed = sum(bool(outcome.faults) for outcome in members)
        counts = {"tests": str(len(members)), "failures": str(failed), "errors": "0", "skipped": "0"}
        element = ElementTree.SubElement(root, "testsuite", {"name": group, **counts})
        for outcome in members:
            _add(element, outcome)
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _add(suite: ElementTree.Element, outcome: Outcome) -> None:
    names = {"classname": _plain(outcome.group), "name": _plain(outcome.name)}
    case = ElementTree.SubElement(suite, "testcase", names)
    if outcome.faults:
        failure = ElementTree.SubElement(case, "failure", {"message": _plain(outcome.faults[0])})
        failure.text = _plain("\n".join(outcome.faults))


def _plain(text: str) -> str:
    """Text without the control characters that XML cannot hold."""
    return "".join(letter if letter in "\t\n" or letter >= " " else f"\\x{ord(letter):02x}" for letter in text)
