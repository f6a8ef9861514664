"""The table of sentences: it is current, names what exists, and leaves no sentence of the page out."""

from itertools import zip_longest

import pytest

import conformance_table
from support import documents

pytestmark = pytest.mark.unit


def test_the_table_is_current_and_names_what_exists():
    assert list(conformance_table.faults()) == []


def test_every_sentence_of_the_page_is_listed_in_its_order():
    page = conformance_table.sentences_of(documents.document("ask-steps.txt"))
    listed = [entry["begins"] for section in conformance_table.sections() for entry in section["sentences"]]
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
    monkeypatch.setattr(conformance_table, "SENTENCES", table)
    nothing, case, test, page = conformance_table.faults()
    assert nothing == "nothing holds `A`"
    assert case == "there is no case `no such case`"
    assert test == "there is no test tests/conformance/test_sentences.py::test_nothing"
    assert "is not current" in page
