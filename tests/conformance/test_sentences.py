"""The tables of sentences: they are current, name what exists, and leave no sentence of the pages out."""

import dataclasses
from itertools import zip_longest

import pytest

import conformance_table
from conformance_table import GRAPH, STEPS, SUITES
from support import documents

pytestmark = pytest.mark.unit
PAGES = {STEPS: "ask-steps.txt", GRAPH: "human-requests.txt"}


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.dialect)
def test_the_table_is_current_and_names_what_exists(suite):
    assert list(conformance_table.faults(suite)) == []


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.dialect)
def test_every_sentence_of_the_page_is_listed_in_its_order(suite):
    page = conformance_table.sentences_of(documents.document(PAGES[suite]))
    entries = [entry for section in conformance_table.sections(suite) for entry in section["sentences"]]
    listed = [entry["begins"] for entry in entries if "begins" in entry]
    pairs = zip_longest(page, listed, fillvalue="")
    assert [(sentence, begins) for sentence, begins in pairs if not (begins and sentence.startswith(begins))] == []


def test_a_table_that_names_nothing_is_found_out(tmp_path, monkeypatch):
    table = tmp_path / "sentences.yaml"
    table.write_text(
        "- section: S\n  sentences:\n"
        "    - { begins: a, sentence: A }\n"
        "    - { begins: b, sentence: B, cases: [no such case] }\n"
        "    - { begins: c, sentence: C, elsewhere: ['tests/conformance/test_sentences.py::test_nothing'] }\n"
    )
    monkeypatch.setattr(conformance_table.Suite, "sentences", table)
    nothing, case, test, page = conformance_table.faults(dataclasses.replace(STEPS))
    assert nothing == "nothing holds `A`"
    assert case == "there is no case `no such case`"
    assert test == "there is no test tests/conformance/test_sentences.py::test_nothing"
    assert "is not current" in page
