"""What is taken out of text and what stays, row by row: `cases.yaml`."""

import re
from pathlib import Path

import pytest
import yaml

from compozy.redaction.credentials import MARKER
from compozy.redaction.keys import is_sensitive_key
from compozy.redaction.redactor import PLAIN, redact_text

pytestmark = pytest.mark.unit

CASES = yaml.safe_load(Path(__file__).with_name("cases.yaml").read_text())
USUAL_REST = "abcdefghijklmnopqrstuvwx"


def spellings(name):
    """One name in every spelling that people use, by itself and as the end of a longer one."""
    words = name.split()
    camel = words[0] + "".join(map(str.capitalize, words[1:]))
    for spelled in (
        "_".join(words),
        "-".join(words),
        ".".join(words),
        "_".join(words).upper(),
        "-".join(map(str.capitalize, words)),
        camel,
        camel[0].upper() + camel[1:],
        "".join(words),
    ):
        yield spelled
        yield f"my_{spelled}"


SENSITIVE = sorted({key for name in CASES["sensitive_names"] for key in spellings(name)})
PLAIN_NAMES = sorted({key for name in CASES["plain_names"] for key in spellings(name)})


@pytest.mark.parametrize("key", SENSITIVE)
def test_a_sensitive_name_hides_what_stands_under_it(key):
    assert is_sensitive_key(key)
    assert PLAIN.json({key: {"a": ["plain"]}}) == {key: MARKER}
    assert redact_text(f"{key}=plain x") == f"{key}={MARKER} x"
    assert redact_text(f'{{"{key}": "plain words"}}') == f'{{"{key}": "{MARKER}"}}'
    assert redact_text(f"--{key} plain x") == f"--{key} {MARKER} x"


@pytest.mark.parametrize("key", PLAIN_NAMES)
def test_a_name_that_only_looks_sensitive_hides_nothing(key):
    assert not is_sensitive_key(key)
    assert PLAIN.json({key: "plain"}) == {key: "plain"}
    for text in (f"{key}=plain x", f'{{"{key}": "plain words"}}', f"--{key} plain x"):
        assert redact_text(text) == text


def unescaped(row):
    return [part.replace("§", MARKER) for part in row]


@pytest.mark.parametrize(
    ("text", "shown"), [unescaped(row) for row in CASES["assignments"] + CASES["credentials"]]
)
def test_credentials_in_free_text(text, shown):
    assert redact_text(text) == shown
    assert redact_text(f"see: {text}") == f"see: {shown}"


@pytest.mark.parametrize("row", CASES["tokens"], ids="".join)
def test_tokens_of_known_issuers(row):
    mark, rest = (*row, USUAL_REST)[:2]
    token = mark + rest
    for before, after in (("use ", ", please"), ('"', '"'), ("x=", " y"), ("(", ")"), ("a\n", "\nb")):
        assert redact_text(f"{before}{token}{after}") == f"{before}{MARKER}{after}"
    assert redact_text(token) == MARKER


def test_there_are_tokens_of_many_issuers():
    assert len({re.sub(r"[^a-z]", "", row[0].lower())[:3] for row in CASES["tokens"]}) >= 35


@pytest.mark.parametrize("run", CASES["random"])
def test_what_is_drawn_by_lot_is_hidden(run):
    assert redact_text(f"use {run} now") == f"use {MARKER} now"
    assert PLAIN.json({"note": [f"({run})"]}) == {"note": [f"({MARKER})"]}
    assert redact_text(f"/etc/{run}/x" if "/" not in run else run).count(MARKER) == 1


@pytest.mark.parametrize("text", CASES["readable"])
def test_what_people_have_to_read_stays(text):
    assert redact_text(text) == text
    assert PLAIN.json({"note": [text]}) == {"note": [text]}
    assert redact_text(f"{text}\n{text}") == f"{text}\n{text}"


def test_the_table_is_large():
    assert len(SENSITIVE) + len(PLAIN_NAMES) > 500
    assert len(CASES["readable"]) > 100
