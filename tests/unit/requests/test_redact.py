"""Secrets are taken out of what people are shown; everything else stays as it is."""

import json
import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.requests.redact import MAX_BYTES, bounded_prompt, preview, redact_json, redact_text
from compozy.requests.secret_patterns import MARKER, is_sensitive_key

pytestmark = pytest.mark.unit


def _random(length, alphabet=string.ascii_letters + string.digits, seed=7):
    chosen = random.Random(seed)
    return "".join(chosen.choice(alphabet) for _ in range(length))


@pytest.mark.parametrize(
    "key",
    [
        "api_key",
        "apiKey",
        "API-KEY",
        "x.api.key",
        "OPENAI_API_KEY",
        "auth_token",
        "accessToken",
        "refresh_token",
        "id_token",
        "bot_token",
        "claim_token",
        "lease_token",
        "client_secret",
        "webhook_secret",
        "oauth_code",
        "code_verifier",
        "pkce",
        "bearer",
        "password",
        "DB_PASSWORD",
        "passwordConfirmation",
        "credentials",
        "private_key",
        "Authorization",
        "secret_ref",
        "secretBinding",
        "token",
        "secret",
        "github_token",
        "app.secret",
        "passphrase",
    ],
)
def test_sensitive_keys(key):
    assert is_sensitive_key(key)
    assert redact_json({key: {"a": ["plain"]}}) == {key: MARKER}


@pytest.mark.parametrize(
    "key",
    [
        "password_hash",
        "tokenDigest",
        "private_key_fingerprint",
        "max_input_tokens",
        "maxOutputTokens",
        "token_present",
        "tokens",
        "secretary",
        "keyboard",
        "author",
        "release",
        "monkey",
        "code",
        "",
    ],
)
def test_keys_that_only_look_sensitive(key):
    assert not is_sensitive_key(key)
    assert redact_json({key: "plain"}) == {key: "plain"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("password=hunter2", f"password={MARKER}"),
        ("password = hunter2 and on", f"password = {MARKER} and on"),
        ("export DB_PASSWORD=hunter2;next", f"export DB_PASSWORD={MARKER}"),
        ('{"password": "hun\\"ter 2", "a": 1}', f'{{"password": "{MARKER}", "a": 1}}'),
        ('{\\"apiKey\\": \\"hunter2\\"}', f'{{\\"apiKey\\": \\"{MARKER}\\"}}'),
        ("token: 'two words', a", f"token: '{MARKER}', a"),
        ("client_secret: hunter2", f"client_secret: {MARKER}"),
        ("API key: 1234", f"API key: {MARKER}"),
        ('password="unfinished', f'password="{MARKER}'),
        ("token=A token=B", f"token={MARKER} token={MARKER}"),
        ("(token=abc).", f"(token={MARKER})."),
        ('if token == "abc"', f'if token == "{MARKER}"'),
        ("--password hunter2 --user me", f"--password {MARKER} --user me"),
        ("--token=hunter2", f"--token={MARKER}"),
        ("-token hunter2", f"-token {MARKER}"),
        ("Authorization: Basic dXNlcjpwYXNz\nnext", f"Authorization: {MARKER}\nnext"),
        ("Proxy-Authorization: Digest a=b, c=d", f"Proxy-Authorization: {MARKER}"),
        ("authorization: opaque", f"authorization: {MARKER}"),
        ('-H "Authorization: Bearer abc" x', f'-H "Authorization: {MARKER}" x'),
        ("send Bearer abcdef123", f"send Bearer {MARKER}"),
        ("https://me:hunter2@example.com/x", f"https://{MARKER}@example.com/x"),
        ("postgres://me:hun@ter2@db/x", f"postgres://{MARKER}@db/x"),
        ("https://x/?access_token=abc&y=1", f"https://x/?access_token={MARKER}&y=1"),
        ("read env:API_KEY first", f"read {MARKER} first"),
        ("read vault:secret/data/app#key, then", f"read {MARKER}, then"),
        ("compozy_claim_abc123", MARKER),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nok", f"{MARKER}\nok"),
        ("-----BEGIN PRIVATE KEY-----\ncut off", MARKER),
    ],
)
def test_credentials_in_free_text(text, shown):
    assert redact_text(text) == shown


@pytest.mark.parametrize(
    "prefix",
    [
        "sk-",
        "sk-proj-",
        "sk-ant-api03-",
        "ghp_",
        "gho_",
        "ghs_",
        "github_pat_",
        "glpat-",
        "xoxb-",
        "xoxp-",
        "xapp-",
        "hf_",
        "npm_",
        "pypi-",
        "dckr_pat_",
        "gsk_",
        "hvs.",
        "whsec_",
        "AIza",
        "ya29.",
        "sk_live_",
        "rk_test_",
        "shpat_",
        "pplx-",
        "xai-",
        "r8_",
        "nvapi-",
        "lin_api_",
        "glsa_",
        "tskey-",
        "figd_",
        "dp.pt.",
        "PMAK-",
    ],
)
def test_tokens_of_known_issuers(prefix):
    token = prefix + "abcdefghijklmnopqrstuvwx"
    assert redact_text(f"use {token}, please") == f"use {MARKER}, please"


@pytest.mark.parametrize(
    "token",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "ASIAIOSFODNN7EXAMPLE",
        f"SG.{'a' * 22}.{'b' * 43}",
        f"eyJ{'a' * 20}.eyJ{'b' * 20}.{'c' * 20}",
        f"SK{'0a' * 16}",
    ],
)
def test_tokens_of_a_known_form(token):
    assert redact_text(f'"{token}"') == f'"{MARKER}"'


@pytest.mark.parametrize("length", [28, 40, 64])
def test_long_random_runs(length):
    assert redact_text(f"use {_random(length)} now") == f"use {MARKER} now"
    base64 = _random(length, string.ascii_letters + string.digits + "+/", seed=length)
    assert redact_text(f"use {base64}== now") == f"use {MARKER} now"


@pytest.mark.parametrize(
    "text",
    [
        "Which channel should this release go to?",
        "Deploy release-7k2p of registry.example.com/Team/app:1.27.3 to staging?",
        "123e4567-E89B-12d3-a456-426614174000",
        "sha256:" + "0123456789abcdef" * 4,
        "DEADBEEFdeadbeef" * 3,
        "Users/Bob/Projects/Version2/Sources/Main/Handlers",
        "a-very-long-name-of-a-kubernetes-object-with-7k2p9",
        "https://example.com/a/b?page=2#c",
        "me@example.com",
        "2026-01-31T12:00:00Z",
        "password_hash=abc",
        "max_input_tokens: 4096",
        "env:prod and env:Staging",
        "the secretary: Ms. Smith",
        "x" * 100,
        _random(27),
        "",
    ],
)
def test_plain_text_stays_as_it_is(text):
    assert redact_text(text) == text


def test_variables_arguments_and_headers_are_pairs():
    container = {
        "env": [{"name": "DB_PASSWORD", "value": "hunter2"}, {"name": "STAGE", "value": "prod"}],
        "args": ["--password", "hunter2", "--stage", "prod", "--token"],
        "headers": [{"key": "Authorization", "value": "opaque"}],
    }
    assert redact_json(container) == {
        "env": [{"name": "DB_PASSWORD", "value": MARKER}, {"name": "STAGE", "value": "prod"}],
        "args": ["--password", MARKER, "--stage", "prod", "--token"],
        "headers": [{"key": "Authorization", "value": MARKER}],
    }


def test_what_is_not_text_stays_and_an_absent_secret_is_seen_to_be_absent():
    value = {"replicas": 3, "share": 0.5, "on": True, "none": None, "password": None, "token": 12}
    assert redact_json(value) == {**value, "token": MARKER}


def test_names_can_be_secrets_too():
    assert redact_json({"ghp_abcdefghijklmnopqrst": 1}) == {MARKER: 1}


def test_what_lies_too_deep_is_replaced():
    value = "plain"
    for _ in range(5000):
        value = [value]
    shown = redact_json(value)
    for _ in range(101):
        shown = shown[0]
    assert shown == MARKER


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "a=",
        'password="',
        "http://",
        "a.",
        "--a ",
        " ",
        "-----BEGIN PRIVATE KEY-----",
        "a@",
        '"\\',
        "A1b",
        "a/",
        "token='",
    ],
)
def test_hostile_text_is_dealt_with(piece):
    assert len(redact_text(piece * 20_000)) > 0


TEXTS = st.text() | st.lists(
    st.sampled_from(
        [
            "password",
            "token",
            "=",
            ": ",
            '"',
            "'",
            "\\",
            " ",
            "--",
            "Bearer ",
            "abc123",
            "https://",
            "@",
            MARKER,
            "\n",
            ";",
            "sk-abcdefghijklmnopqrst",
        ]
    )
).map("".join)


@given(TEXTS)
def test_redacting_twice_changes_nothing(text):
    once = redact_text(text)
    assert redact_text(once) == once


@given(
    st.recursive(
        st.none() | st.integers() | TEXTS,
        lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
        max_leaves=6,
    )
)
def test_any_context_is_redacted_to_json(value):
    once = redact_json(value)
    assert redact_json(once) == once
    json.dumps(once)


# -- bounds -------------------------------------------------------------------------------------------------


def test_a_prompt_is_redacted_and_trimmed():
    assert bounded_prompt("  use password=hunter2 ?\n\n") == f"use password={MARKER} ?"


@pytest.mark.parametrize("letter", ["a ", "é", "日", "🙂"])
def test_a_long_prompt_says_how_much_is_missing(letter):
    prompt = letter * 20_000
    shown = bounded_prompt(prompt)
    assert len(shown.encode()) <= MAX_BYTES
    kept, cut = shown.removesuffix(" more bytes]").split("… [truncated: ")
    assert prompt.startswith(kept)
    assert len(kept.encode()) + int(cut) == len(prompt.strip().encode())


def test_a_prompt_of_exactly_the_limit_is_kept_whole():
    assert bounded_prompt("a" * MAX_BYTES) == "a" * MAX_BYTES
    assert "truncated" in bounded_prompt("a" * (MAX_BYTES + 1))


def test_a_secret_is_gone_before_anything_is_cut():
    shown = bounded_prompt("a " * 8185 + "ghp_abcdefghijklmnopqrstuvwxyz" + " b" * 100)
    assert "ghp_" not in shown


def test_half_a_character_cannot_be_stored():
    assert bounded_prompt("a\ud800b") == "a?b"


def test_a_preview_is_the_context_or_its_size():
    assert preview({"a": [1, "é"]}) == {"a": [1, "é"]}
    exact = {"a": "x" * (MAX_BYTES - len('{"a":""}'))}
    assert preview(exact) == exact
    assert preview({"a": exact["a"] + "x"}) == {"truncated": True, "byte_size": MAX_BYTES + 1}
