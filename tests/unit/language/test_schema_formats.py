"""Which text each format takes. What is no text conforms to every format."""

import pytest

from compozy.language.schema import field_errors
from compozy.language.shapes.formats import FORMATS

pytestmark = pytest.mark.unit

LONG_LABEL = "a" * 64
TABLE = {
    "date": (
        ["2026-02-28", "2024-02-29", "0001-01-01"],
        [*("2026-13-40", "2026-02-30", "2025-02-29", "20260228", "2026-2-3", "٢٠٢٦-01-01", "0000-01-01"), ""],
    ),
    "date-time": (
        ["2026-01-31T12:00:00Z", "2026-01-31t12:00:00.123456789+02:00", "2026-01-31T00:00:00-23:59"],
        [
            *("2026-01-31", "2026-01-31T25:00:00Z", "2026-01-31T12:00:00", "2026-01-31 12:00:00Z", "2026-13-40T"),
            *("2026-01-31T12:00:00+24:00", "2026-01-31T12:00:60Z", "2026-01-31T12:00:00Z\n"),
        ],
    ),
    "time": (["12:00:00Z", "23:59:59.5+01:00"], ["25:00:00Z", "12:00", "12:00:00", "12:60:00Z", "noon"]),
    "duration": (
        ["P3D", "P1Y2M3DT4H5M6S", "PT90M", "P2W", "PT0S"],
        [
            "P",
            "PT",
            "P1DT",
            "3D",
            "P1S",
            "PT1D",
            "P1W2D",
            "P1.5D",
            "p1d",
            "P1D ",
            "72h",
            "P-1D",
            "P" + "9" * 99 + "D",
        ],
    ),
    "email": (
        ["a@example.com", "a.b+c@mail.example.com", "o'neil@localhost"],
        [
            "plain",
            "a@",
            "@b",
            "a b@example.com",
            "a@b@c",
            "a@example..com",
            f"{LONG_LABEL}a@b.c",
            "a@b.c\n",
            "a@[::1]",
        ],
    ),
    "hostname": (
        ["a.example", "localhost", "a-1.b-2", "127.0.0.1"],
        ["-a.example", "a-.example", "", "a..b", f"{LONG_LABEL}.com", "a_b", "a b", "é.example", "a." * 127 + "a"],
    ),
    "ipv4": (["127.0.0.1", "0.0.0.0"], ["127.0.0.256", "::1", "1.2.3", "01.2.3.4", "1.2.3.4/8", "\uff11.2.3.4"]),
    "ipv6": (
        ["::1", "2001:db8::8a2e:370:7334", "::ffff:1.2.3.4"],
        ["127.0.0.1", "fe80::1%eth0", ":::", "12345::", "1:2:3", "::1/64", "g::"],
    ),
    "uri": (
        ["https://example.com/a?b=c#d", "mailto:a@b.c", "urn:isbn:1", "http://[::1]:80/"],
        [
            *("example", "/path", "//host", "http://[", "http://x:99999999/", "a b:c", "http://a b", "1a:b", ""),
            *("http://x/%zz", "http://é.example", "http://x/#a#b", "http://x/<y>", "http://x/\n"),
        ],
    ),
    "uri-reference": (
        ["https://example.com/", "/a/b?c#d", "a", "", "#x", "../up", "//host/path"],
        ["a b", "\\\\host", "/%2", "#a#b", "//x:99999999/", "é"],
    ),
    "json-pointer": (["", "/", "/a/0", "/a~0b/~1"], ["a", "#/a", "/~", "/~2"]),
    "uuid": (
        ["123e4567-e89b-12d3-a456-426614174000", "00000000-0000-0000-0000-000000000000"],
        ["123e4567", "123e4567e89b12d3a456426614174000", "{123e4567-e89b-12d3-a456-426614174000}", "g" * 36],
    ),
    "regex": (["a+", "", "^[0-9]{4}$", r"\p{L}"], ["(", "(?=a)", r"(a)\1", "a{2,1}", "*"]),
}


def test_every_format_is_in_the_table():
    assert TABLE.keys() == FORMATS.keys()


@pytest.mark.parametrize("name", TABLE)
def test_formats_are_checked(name):
    good, bad = TABLE[name]
    schema = {"format": name}
    assert [text for text in good if field_errors(schema, text)] == []
    assert [text for text in bad if not field_errors(schema, text)] == []


@pytest.mark.parametrize("name", TABLE)
def test_a_format_says_nothing_about_other_types_and_its_message_says_what_is_wanted(name):
    schema = {"format": name}
    assert [value for value in (3, None, True, [], {}, 1.5) if field_errors(schema, value)] == []
    message = field_errors(schema, TABLE[name][1][0])["payload"]
    assert message.startswith("must be a") and message != f"must be {name}"


@pytest.mark.parametrize("name", ["password", "iri", "uri-template", "of-the-house", "int32"])
def test_other_formats_are_notes(name):
    assert field_errors({"format": name}, "anything { at all") == {}
