"""Reports hold what the JUnit schema of Ant demands; that of Jenkins demands less."""

from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest

from compozy.plantest.junit import Outcome, to_junit

pytestmark = pytest.mark.unit

SUITE = {"name", "package", "id", "hostname", "timestamp", "tests", "failures", "errors", "time"}
OUTCOMES = [
    Outcome("a.test.yaml", "passes", (), seconds=0.25),
    Outcome("a.test.yaml", 'fails with <tags> & "quotes"', ("output: expected 1, got 2", "more"), seconds=1.5),
    Outcome("b.test.yaml", "passes", ()),
]


def report(outcomes=OUTCOMES):
    return ElementTree.fromstring(to_junit("plan test", outcomes, datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)))


def test_suites_have_every_attribute_and_part_in_their_order():
    root = report()
    assert (root.tag, root.attrib) == ("testsuites", {})
    assert [suite.get("id") for suite in root] == ["0", "1"]
    for suite in root:
        assert set(suite.attrib) == SUITE
        tests = ["testcase"] * int(suite.get("tests"))
        assert [part.tag for part in suite] == ["properties", *tests, "system-out", "system-err"]
        assert suite.get("timestamp") == "2030-01-02T03:04:05"


def test_failures_and_times_are_counted():
    first, second = report()
    assert (first.get("tests"), first.get("failures"), first.get("time")) == ("2", "1", "1.750")
    assert (second.get("tests"), second.get("failures"), second.get("time")) == ("1", "0", "0.000")
    passing, failing = first.findall("testcase")
    assert (passing.attrib, len(passing)) == ({"classname": "a.test.yaml", "name": "passes", "time": "0.250"}, 0)
    assert failing.get("name") == 'fails with <tags> & "quotes"'
    [failure] = failing
    assert failure.attrib == {"type": "failed", "message": "output: expected 1, got 2"}
    assert failure.text == "output: expected 1, got 2\nmore"


@pytest.mark.parametrize("letter", ["\0", "\x1b", "\x08", "\ud800", "\uffff"])
def test_what_xml_cannot_hold_is_written_out(letter):
    [suite] = report([Outcome("x", f"a{letter}b", (f"got {letter}",))])
    escape = f"\\x{ord(letter):02x}"
    assert suite.find("testcase").get("name") == f"a{escape}b"
    assert suite.find("testcase/failure").text == f"got {escape}"


@pytest.mark.parametrize("letter", ["\t", "é", "漢", "😀"])
def test_what_xml_can_hold_stays(letter):
    [suite] = report([Outcome("x", "a", (f"got {letter}",))])
    assert suite.find("testcase/failure").text == f"got {letter}"
