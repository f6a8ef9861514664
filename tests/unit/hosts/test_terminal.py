"""The terminal prompt, over streams in memory."""

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.hosts.dialogue import Streams
from compozy.hosts.terminal import Question, ask, can_ask
from compozy.language.schema import SchemaInvalid, field_errors
from compozy.requests.choices import Choice
from compozy.requests.outcome import Answered, Declined, Unavailable
from compozy.requests.proposed import Proposed
from support.proposals import put_for_review

pytestmark = pytest.mark.unit

RELEASE = {
    "type": "object",
    "required": ["channel", "confirm"],
    "properties": {
        "channel": {"enum": ["stable", "beta", "nightly"], "description": "Release channel"},
        "confirm": {"type": "boolean", "description": "Really cut it?"},
    },
}


def exchange(schema, typed, prompt="Which?", columns=80, **question):
    """The outcome and everything that was written; typed lines are not echoed."""
    shown = io.StringIO()
    streams = Streams(shown, io.StringIO("".join(f"{line}\n" for line in typed)), columns)
    return ask(Question(prompt, "E0", schema, **question), streams), shown.getvalue()


def outcome(schema, *typed, **question):
    return exchange(schema, typed, **question)[0]


def test_the_prompt_is_written_as_the_page_shows_it():
    found, shown = exchange(RELEASE, ["nightly", "y"], prompt="  Which channel should this release go to?\n")
    assert found == Answered({"channel": "nightly", "confirm": True})
    assert shown == (
        "\n"
        "? Which channel should this release go to? [E0]\n"
        "  (blank cancels)\n"
        "  channel — Release channel [stable | beta | nightly]: "
        "  confirm — Really cut it? [y/n]: "
    )


def test_a_field_without_a_description_has_only_its_hint():
    _, shown = exchange({"properties": {"a": {"type": "string"}}}, ["x"])
    assert shown.endswith("\n  a [text]: ")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["NIGHTLY", "Yes"], Answered({"channel": "nightly", "confirm": True})),
        (["beta ", "0"], Answered({"channel": "beta", "confirm": False})),
        # three that do not fit, then one that does, on each field
        (["x", "y", "z", "beta", "maybe", "2", "si", "n"], Answered({"channel": "beta", "confirm": False})),
        (["x", "y", "z", "w", "beta", "y"], Declined()),
        (["beta", "x", "x", "x", "x"], Declined()),
        ([""], Declined()),
        (["   "], Declined()),
        (["beta", ""], Declined()),
        (["x", ""], Declined()),
        ([], Unavailable()),
        (["beta"], Unavailable()),
        (["x", "x"], Unavailable()),
    ],
)
def test_the_life_of_a_question(typed, expected):
    assert outcome(RELEASE, *typed) == expected


def test_three_times_a_person_is_told_to_try_again():
    _, shown = exchange(RELEASE, ["x"] * 4)
    assert shown.count("  must be one of stable | beta | nightly; try again\n") == 3
    assert shown.endswith("  must be one of stable | beta | nightly\n")
    assert shown.count("channel — ") == 4


def test_a_blank_line_leaves_an_optional_field_out():
    schema = {"required": ["b"], "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
    assert outcome(schema, "", "3") == Answered({"b": 3})
    assert outcome(schema, "3", "3") == Answered({"a": "3", "b": 3})


def test_enter_takes_a_default_and_it_is_shown():
    schema = {
        "required": ["channel", "sure"],
        "properties": {
            "channel": {"enum": ["stable", "beta"], "default": "beta"},
            "sure": {"type": "boolean", "default": True},
            "n": {"type": "integer", "default": 0},
        },
    }
    found, shown = exchange(schema, ["", "", ""])
    assert found == Answered({"channel": "beta", "sure": True, "n": 0})
    assert "  channel [stable | beta] (Enter = beta): " in shown
    assert "  sure [y/n] (Enter = true): " in shown
    assert outcome(schema, "stable", "n", "1") == Answered({"channel": "stable", "sure": False, "n": 1})


def test_a_default_that_does_not_fit_is_asked_about_again():
    schema = {"properties": {"n": {"type": "integer", "minimum": 3, "default": 1}}}
    assert outcome(schema, "", "4") == Answered({"n": 4})
    assert outcome(schema, "", "", "", "") == Declined()


def test_every_keyword_counts_at_once():
    schema = {
        "properties": {
            "email": {"type": "string", "format": "email"},
            "count": {"type": "integer", "minimum": 1, "maximum": 3},
            "code": {"type": "string", "pattern": "^[0-9]{4}$"},
        }
    }
    found, shown = exchange(schema, ["nobody", "me@example.com", "4", "0", "2", "a12345", "1234"])
    assert found == Answered({"email": "me@example.com", "count": 2, "code": "1234"})
    for told in ("an e-mail address", "at most 3", "at least 1", "match the pattern"):
        assert told in shown


EVERY = {
    "type": "object",
    "required": ["name", "email", "site", "day", "moment", "count", "share", "sure", "size", "tags", "more"],
    "properties": {
        "name": {"type": "string", "title": "Name", "description": "Yours", "minLength": 2, "maxLength": 9},
        "email": {"type": "string", "format": "email", "default": "a@example.com"},
        "site": {"type": "string", "format": "uri", "pattern": "^https:"},
        "day": {"type": "string", "format": "date"},
        "moment": {"type": "string", "format": "date-time"},
        "count": {"type": "integer", "minimum": 1, "maximum": 3, "default": 2},
        "share": {"type": "number", "minimum": 0, "maximum": 1},
        "sure": {"type": "boolean", "default": True},
        "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
        "tags": {
            "type": "array",
            "minItems": 1,
            "maxItems": 2,
            "items": {"type": "string", "enum": ["a", "b", "c"]},
        },
        "more": {"type": "array", "items": {"anyOf": [{"const": "x", "title": "X-ray"}]}, "default": ["x"]},
    },
}


def test_each_keyword_of_a_form_of_programs_is_shown_and_kept():
    good = {"name": "bob", "site": "https://example.com/", "day": "2026-01-31", "moment": "2026-01-31T12:00:00Z"}
    wrong = {"name": "b", "site": "http://example.com/", "day": "2026-13-40", "moment": "now"}
    typed = [wrong["name"], good["name"], "", wrong["site"], good["site"], wrong["day"], good["day"]]
    typed += [wrong["moment"], good["moment"], "", "2", "0.5", "", "medium", "SMALL", "a,b,c", "b, c", ""]
    found, shown = exchange(EVERY, typed, columns=200)
    answer = {**good, "email": "a@example.com", "count": 2, "share": 0.5, "sure": True}
    answer |= {"size": "s", "tags": ["b", "c"], "more": ["x"]}
    assert found == Answered(answer)
    for line in (
        "  name — Name: Yours [text, 2 to 9 characters]: ",
        "  email [email] (Enter = a@example.com): ",
        "  day [date]: ",
        "  count [integer, 1 to 3] (Enter = 2): ",
        "  share [number, 0 to 1]: ",
        "  sure [y/n] (Enter = true): ",
        "  size [s (Small) | l (Large)]: ",
        "  tags [1 to 2 of a | b | c, with commas between]: ",
        "  more [any of x (X-ray), with commas between] (Enter = x): ",
    ):
        assert line in shown
    # whoever judges an answer keeps to each of them too
    refused = {
        **wrong,
        "email": "b",
        "count": 4,
        "share": 2,
        "sure": "true",
        "size": "m",
        "tags": [],
        "more": ["y"],
    }
    assert sorted(field_errors(EVERY, refused)) == sorted(path if path != "more" else "more.0" for path in refused)


def test_nested_objects_have_dotted_names():
    schema = {
        "required": ["environment", "assignment"],
        "properties": {
            "environment": {"enum": ["staging", "production"]},
            "assignment": {
                "type": "object",
                "required": ["reviewer"],
                "properties": {"reviewer": {"type": "string"}},
            },
        },
    }
    found, shown = exchange(schema, ["staging", "bob"])
    assert found == Answered({"environment": "staging", "assignment": {"reviewer": "bob"}})
    assert "  assignment.reviewer [text]: " in shown


def test_what_is_missing_from_an_optional_group_is_asked_for_again():
    group = {"required": ["name"], "properties": {"name": {"type": "string"}, "note": {"type": "string"}}}
    schema = {"properties": {"backup": group}}
    assert outcome(schema, "", "") == Answered({})
    found, shown = exchange(schema, ["", "urgent", "bob"])
    assert found == Answered({"backup": {"name": "bob", "note": "urgent"}})
    assert "  backup.name is required\n" in shown
    assert outcome(schema, "", "urgent", "") == Declined()


def test_what_no_form_can_ask_for_is_one_line_of_json():
    items = {"type": "string", "enum": ["a", "b"]}
    schema = {"required": ["tags"], "properties": {"tags": {"type": ["array", "null"], "items": items}}}
    found, shown = exchange(schema, ["a", '["c"]', '["a", "b"]'])
    assert found == Answered({"tags": ["a", "b"]})
    assert "  tags [json]\n  | as one line of JSON, by this schema: " in shown
    assert "  is not JSON: Expecting value at line 1, column 1; try again\n" in shown
    assert '  tags.0 must be one of "a", "b"; try again\n' in shown


def test_several_options_are_one_field():
    tag = {"oneOf": [{"const": "fix", "title": "Bug fix"}, {"const": "docs"}, {"const": "perf"}]}
    schema = {
        "required": ["tags"],
        "properties": {
            "tags": {"type": "array", "items": tag, "minItems": 1, "maxItems": 2, "uniqueItems": True},
            "more": {"type": "array", "items": tag, "default": ["docs", "perf"]},
        },
    }
    found, shown = exchange(schema, ["[]", "fix, docs, perf", "fix, fix", "bug FIX,perf", ""])
    assert found == Answered({"tags": ["fix", "perf"], "more": ["docs", "perf"]})
    assert "  tags [1 to 2 of fix (Bug fix) | docs | perf, with commas between]: " in shown
    for told in ("have at least 1 item", "have at most 2 items", "not hold the same item twice"):
        assert f"  must {told}; try again\n" in shown
    assert "(Enter =\n  | docs, perf): " in shown
    assert outcome(schema, "nothing", "fix", "[]") == Answered({"tags": ["fix"], "more": []})


BACKUP = {
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "urgent": {"type": "boolean", "default": True},
        "notes": {"properties": {"text": {"type": "string"}}},
    },
}


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["", "", "", "3"], {"count": 3}),
        (["bob", "", "", "3"], {"backup": {"name": "bob", "urgent": True}, "count": 3}),
        # what was typed counts, even if it is the default
        (["", "y", "", "3", "bob"], {"backup": {"name": "bob", "urgent": True}, "count": 3}),
        (
            ["", "", "x", "3", "bob"],
            {"backup": {"name": "bob", "urgent": True, "notes": {"text": "x"}}, "count": 3},
        ),
        (["", "n", "", "3", ""], None),
    ],
)
def test_an_optional_group_with_defaults_can_be_left_out(typed, expected):
    schema = {"required": ["count"], "properties": {"backup": BACKUP, "count": {"type": "integer"}}}
    assert outcome(schema, *typed) == (Declined() if expected is None else Answered(expected))


def test_an_optional_group_of_which_nothing_is_missing_has_its_defaults():
    group = {"required": ["on"], "properties": {"on": {"type": "boolean", "default": False}}}
    assert outcome({"properties": {"group": group}}, "") == Answered({"group": {"on": False}})


def test_a_required_object_is_there_even_if_nothing_is_typed_into_it():
    notes = {"type": "object", "properties": {"text": {"type": "string"}}}
    schema = {"required": ["notes"], "properties": {"notes": notes}}
    assert outcome(schema, "") == Answered({"notes": {}})
    assert outcome(schema, "x") == Answered({"notes": {"text": "x"}})
    outer = {"required": ["notes", "name"], "properties": {"notes": notes, "name": {"type": "string"}}}
    optional = {"properties": {"outer": {**outer, "default": {"notes": {}}}}}
    assert outcome(optional, "", "") == Answered({})
    assert outcome(optional, "", "bob") == Answered({"outer": {"name": "bob", "notes": {}}})
    assert outcome({"required": ["a"], "properties": {"a": {**schema, "type": "object"}}}, "") == Answered(
        {"a": {"notes": {}}}
    )


def test_a_constant_is_agreed_to_by_typing_it():
    schema = {"required": ["agree"], "properties": {"agree": {"const": True, "description": "I have read it"}}}
    assert outcome(schema, "n", "yes") == Answered({"agree": True})
    assert outcome(schema, "") == Declined()


def test_bounds_of_numbers_are_shown_and_kept():
    schema = {
        "required": ["n", "share"],
        "properties": {
            "n": {"type": "integer", "minimum": 10, "maximum": 30, "multipleOf": 5},
            "share": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.25},
        },
    }
    found, shown = exchange(schema, ["5", "12", "35", "15", "0", "0.3", "19.75"])
    assert found == Answered({"n": 15, "share": 19.75})
    assert "  n [integer, 10 to 30, a multiple of 5]: " in shown
    assert "  share [number, more than 0, a multiple of 0.25]: " in shown


def test_the_whole_answer_can_be_one_line():
    assert outcome({"oneOf": [{"type": "string"}, {"type": "integer"}]}, "true", "3") == Answered(3)
    assert outcome({"type": "integer"}, "3") == Answered(3)
    assert outcome({"type": "object", "minProperties": 1}, "{}", '{"a": 1}') == Answered({"a": 1})


def test_a_form_without_fields_is_a_plain_confirmation():
    schema = {"type": "object", "properties": {}}
    found, shown = exchange(schema, ["y"])
    assert found == Answered({})
    assert shown.endswith("  confirm [y/n]: ")
    assert outcome(schema, "n") == Declined()
    assert outcome(schema, "") == Declined()


def test_a_schema_that_nothing_conforms_to_ends_the_question():
    assert outcome({"required": ["a"], "properties": {"a": False}}, *["1"] * 9) == Declined()
    with pytest.raises(SchemaInvalid):
        outcome({"properties": {"a": {"type": "strin"}}}, "1")


@pytest.mark.parametrize("line", ["\x1b[D", "a\x00b", "a\x07", "a\x85b"])
def test_keys_that_typed_control_characters_are_a_mistake(line):
    assert outcome({"properties": {"a": {"type": "string"}}}, line, "b") == Answered({"a": "b"})


# -- reviews ------------------------------------------------------------------------------------------------

PUBLISH = {
    "decisions": ("approve", "edit", "reject", "respond"),
    "edit_schema": {"required": ["tag"], "properties": {"tag": {"type": "string"}}},
    "context": {"tag": "v1"},
}
URL = {"required": ["url"], "properties": {"url": {"type": "string"}}}


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["approve"], Answered(None, "approve")),
        (["REJECT"], Answered(None, "reject")),
        (["edit", "v2"], Answered({"tag": "v2"}, "edit")),
        (["respond", "https://example.com/"], Answered({"url": "https://example.com/"}, "respond")),
        (["publish", "approve"], Answered(None, "approve")),
        ([""], Declined()),
        (["a"] * 4, Declined()),
        (["edit", ""], Declined()),
        ([], Unavailable()),
    ],
)
def test_a_review_asks_for_the_decision_first(typed, expected):
    found, shown = exchange(URL, typed, **PUBLISH)
    assert found == expected
    assert '  |   "tag": "v1"\n' in shown
    assert "  decision [approve | edit | reject | respond]: " in shown


def edited(proposal, *typed):
    """An edit of a proposal, as it is put at a terminal."""
    shown = put_for_review(proposal)["spec"]
    return exchange(
        URL,
        ["edit", *typed],
        decisions=("approve", "edit"),
        edit_schema=shown["editSchema"],
        proposed=Proposed(shown["proposedPreview"], shown["proposalDigest"]),
    )


def test_an_edit_starts_from_what_is_proposed():
    found, shown = edited({"tag": "v1", "force": False, "labels": {"team": "web"}}, "v2", "", "")
    assert found == Answered({"tag": "v2", "force": False, "labels": {"team": "web"}}, "edit")
    assert "  tag [text] (Enter = v1): " in shown
    assert "  force [y/n] (Enter = false): " in shown
    assert "  labels.team [text] (Enter = web): " in shown


def test_an_edit_asks_anew_for_what_is_not_shown_in_full():
    found, shown = edited({"tag": "v1", "password": "hunter2"}, "", "swordfish")
    assert found == Answered({"tag": "v1", "password": "swordfish"}, "edit")
    assert "  password [text] (not shown in full: give it anew): " in shown
    assert edited({"tag": "v1", "password": "hunter2"}, "", "")[0] == Declined()


def test_declining_is_no_choice_but_a_blank_line():
    found, shown = exchange(RELEASE, ["beta", "y"], decisions=("respond", "decline", "unavailable"))
    assert found == Answered({"channel": "beta", "confirm": True})
    assert "decision" not in shown


# -- nothing can be made to look like something else --------------------------------------------------------


def test_prompt_text_cannot_imitate_a_field():
    prompt = "Sure?\n  (blank cancels)\n  channel — Release channel [stable | beta]: stable\r\n\x1b[8m\u202e"
    _, shown = exchange(RELEASE, [], prompt=prompt)
    lines = shown.split("\n")
    assert [line for line in lines if line.startswith("  channel")] == [
        "  channel — Release channel [stable | beta | nightly]: "
    ]
    assert [line for line in lines if line.startswith("  (blank")] == ["  (blank cancels)"]
    assert "  | \\x1b[8m\\u202e [E0]" in lines


@pytest.mark.parametrize(
    ("prompt", "head"),
    [
        ("a" * 4996 + "tail", "? aaaa"),
        ("word " * 1000 + "tail", "? word"),
        ("head" + "\n" * 500 + "tail", "? head"),
        ("head" + "\n|" * 500 + "tail", "? head"),
        ("head" + " " * 5000 + "tail", "? head"),
        ("日" * 2500 + "tail", "? 日日"),
    ],
)
def test_the_tail_of_a_long_prompt_is_next_to_the_fields(prompt, head):
    _, shown = exchange(RELEASE, [], prompt=prompt)
    lines = shown.strip("\n").split("\n")
    assert lines[0].startswith(head)
    end = next(index for index, line in enumerate(lines) if line.endswith("tail [E0]"))
    after = lines[end + 1 :]
    if end >= 20:
        assert after.pop(0) == f"  (that was {end + 1} lines: scroll up to read them all)"
    assert after[0] == "  (blank cancels)"
    assert all(len(line) <= 80 for line in lines)


TERMINAL_TEXT = st.text(st.characters(exclude_categories=["Cs"])) | st.text("a \n\r\t\x1b[]:—|\u202e\u200b日")


@given(TERMINAL_TEXT, TERMINAL_TEXT, st.lists(TERMINAL_TEXT, min_size=1, max_size=3))
def test_no_plan_can_steer_the_terminal(prompt, description, options):
    schema = {
        "required": ["a"],
        "properties": {"a": {"enum": options, "description": description, "default": options[0]}},
    }
    question = Question(prompt, "E0", schema)
    shown = io.StringIO()
    found = ask(question, Streams(shown, io.StringIO("\n")))
    assert found == Answered({"a": options[0]})
    categories = {unicodedata.category(character) for character in shown.getvalue() if character != "\n"}
    assert categories.isdisjoint({"Cc", "Cf", "Cs", "Zl", "Zp"})
    lines = shown.getvalue().split("\n")
    assert [line[:2] for line in lines if line.startswith("? ")] == ["? "]
    assert [line[:4] for line in lines if line.startswith("  a")] == ["  a "] or lines[-1].startswith("  | ")


LINES = st.lists(
    st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))
    | st.sampled_from(["y", "beta", "", "3"]),
    max_size=12,
)


@given(LINES)
def test_whatever_is_typed_an_answer_conforms(typed):
    schema = {
        "required": ["channel"],
        "properties": {
            "channel": {"enum": ["stable", "beta"]},
            "count": {"type": "integer", "minimum": 2},
            "sure": {"type": "boolean"},
            "more": {"properties": {"x": {}}, "required": ["x"]},
        },
    }
    found = outcome(schema, *typed)
    if isinstance(found, Answered):
        assert field_errors(schema, found.payload) == {}


# -- whether there is anybody -------------------------------------------------------------------------------


class Tty:
    def __init__(self, yes):
        self.yes = yes

    def isatty(self):
        return self.yes


@pytest.mark.parametrize(
    ("stdin", "stderr", "environ", "expected"),
    [
        (True, True, {}, True),
        (True, True, {"GRAPH_EVENTS": "github"}, True),
        (True, True, {"COMPOZY_EVENTS": ""}, True),
        (True, True, {"GRAPH_EVENTS": "jsonl"}, False),
        (True, True, {"COMPOZY_EVENTS": "jsonl"}, False),
        (False, True, {}, False),
        (True, False, {}, False),
        (False, False, {}, False),
    ],
)
def test_who_can_be_asked(stdin, stderr, environ, expected):
    assert can_ask(Tty(stdin), Tty(stderr), environ) is expected


NAMED = {
    "type": "object",
    "required": ["who"],
    "properties": {
        "who": {"type": "string", "x-compozy-kind": "agent", "description": "Reviewer"},
        "also": {"type": "array", "items": {"type": "string", "x-compozy-kind": "skill"}},
    },
}


def names_of(**known):
    return lambda kind: None if kind not in known else [Choice(name) for name in known[kind]]


def test_names_that_there_are_can_be_chosen_and_others_are_refused_at_once():
    typed = ["bob", "rita ", '["sql", "cooking"]', '["sql"]']
    found, shown = exchange(NAMED, typed, names=names_of(agent=["rita", "sue"], skill=["sql"]))
    assert found == Answered({"who": "rita", "also": ["sql"]})
    assert "  who — Reviewer [rita | sue]: " in shown
    assert "  there is no agent of that name here; try again\n" in shown
    assert "  also.1 there is no skill of that name here; try again\n" in shown


def test_names_are_looked_up_anew_for_every_line():
    """What was made while a person thought about it counts."""
    known = []

    def names(kind):
        known.append(f"{kind}-{len(known)}")
        return [Choice(name) for name in known]

    assert outcome({"properties": {"who": NAMED["properties"]["who"]}}, "agent-1", names=names) == Answered(
        {"who": "agent-1"}
    )


@pytest.mark.parametrize(
    ("names", "hint"),
    [
        (names_of(), "agent name"),
        (names_of(agent=[f"a-{number}" for number in range(21)]), "agent name"),
        (names_of(agent=[]), "agent name"),
        (names_of(agent=["a"]), "a"),
    ],
)
def test_names_that_are_too_many_or_not_known_are_told_by_their_kind(names, hint):
    _, shown = exchange({"properties": {"who": NAMED["properties"]["who"]}}, [""], names=names)
    assert f"who — Reviewer [{hint}]: " in shown


def test_where_names_cannot_be_known_any_is_taken():
    assert outcome(NAMED, "whoever", "") == Answered({"who": "whoever"})


def test_an_enum_wins_over_names():
    field = {"type": "string", "enum": ["x"], "x-compozy-kind": "agent"}
    assert outcome({"properties": {"who": field}}, "x", names=names_of(agent=["rita"])) == Answered({"who": "x"})
