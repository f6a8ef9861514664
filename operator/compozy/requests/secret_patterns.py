"""What a secret looks like: names of keys, assignments in text, issuers' prefixes, and randomness.

Every pattern here takes time linear in the text, apart from bounded repetitions.
"""

import math
import re
from collections import Counter
from dataclasses import dataclass

MARKER = "[REDACTED]"
"""What stands in the place of a secret."""

_SENSITIVE_PARTS = (
    *(
        "apikey",
        "authtoken",
        "accesstoken",
        "refreshtoken",
        "idtoken",
        "bottoken",
        "claimtoken",
        "leasetoken",
    ),
    *("clientsecret", "webhooksecret", "oauthcode", "codeverifier", "pkce", "bearer", "password", "passwd"),
    *("passphrase", "credential", "privatekey", "authorization", "secretref", "secretbinding"),
)
_SENSITIVE_ENDS = ("token", "secret")
_EXEMPT_ENDS = ("hash", "digest", "fingerprint")
_EXEMPT = frozenset(("maxinputtokens", "maxoutputtokens", "tokenpresent"))


def _plain_key(key: str) -> str:
    return re.sub(r"[_.\-\s]", "", key).lower()


def is_sensitive_key(key: str) -> bool:
    """Return whether what stands under `key` is a secret, however the name is spelled."""
    plain = _plain_key(key)
    if plain in _EXEMPT or plain.endswith(_EXEMPT_ENDS):
        return False
    return plain.endswith(_SENSITIVE_ENDS) or any(part in plain for part in _SENSITIVE_PARTS)


@dataclass(frozen=True, slots=True)
class Credential:
    """Text that is a credential wherever it stands."""

    pattern: re.Pattern[str]
    replacement: str = MARKER


_PREFIXED = (
    r"AKIA[A-Z0-9]{12,}",  # AWS access keys, then AWS temporary ones
    r"ASIA[A-Z0-9]{12,}",
    r"AGE-SECRET-KEY-1[A-Z0-9]{20,}",
    r"AIza[\w-]{20,}",  # Google
    r"GOCSPX-[\w-]{16,}",
    r"ya29\.[\w-]{16,}",
    r"ATATT3[\w=-]{16,}",  # Atlassian
    r"EAAC[A-Za-z0-9]{20,}",  # Meta
    r"SG\.[\w-]{10,}\.[\w-]{10,}",  # SendGrid
    r"SK[0-9a-f]{32}",  # Twilio
    r"NRAK-[A-Z0-9]{16,}",  # New Relic
    r"PMAK-[\w-]{20,}",  # Postman
    r"compozy_claim_[\w-]+",
    r"dapi[0-9a-f]{32}",  # Databricks
    r"dckr_pat_[\w-]{16,}",
    r"do[opr]_v1_[0-9a-f]{32,}",  # DigitalOcean
    r"dp\.(?:pt|st)\.[\w-]{16,}",  # Doppler
    r"figd_[\w-]{16,}",
    r"gh[oprsu]_[A-Za-z0-9]{16,}",  # GitHub
    r"github_pat_\w{16,}",
    r"gl(?:pat|dt|ptt|rt|ft|soat)-[\w-]{16,}",  # GitLab
    r"glsa_\w{16,}",  # Grafana
    r"gsk_\w{16,}",  # Groq
    r"hf_[A-Za-z0-9]{16,}",  # Hugging Face
    r"hv[bs]\.[\w-]{16,}",  # HashiCorp Vault
    r"lin_(?:api|oauth)_[A-Za-z0-9]{16,}",  # Linear
    r"npm_[A-Za-z0-9]{16,}",
    r"nvapi-[\w-]{16,}",
    r"ops_[\w-]{40,}",  # 1Password
    r"pplx-[A-Za-z0-9]{16,}",
    r"pul-[0-9a-f]{32,}",  # Pulumi
    r"pypi-[\w-]{16,}",
    r"r8_[A-Za-z0-9]{16,}",  # Replicate
    r"rubygems_[0-9a-f]{32,}",
    r"sk-[\w-]{16,}",  # OpenAI, Anthropic and those who copy them
    r"[prs]k_(?:live|test)_[A-Za-z0-9]{10,}",  # Stripe
    r"shp(?:at|ca|pa|ss)_[A-Za-z0-9]{16,}",  # Shopify
    r"sntrys_[\w=+/-]{16,}",  # Sentry
    r"tskey-[\w-]{16,}",  # Tailscale
    r"whsec_[\w+/=-]{16,}",  # webhooks
    r"xai-[\w-]{16,}",
    r"xapp-[\w-]{10,}",  # Slack
    r"xox[a-z]-[\w-]{10,}",
    r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?",  # JSON Web Tokens
)

_PRIVATE_KEY = r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_QUOTE = r"\\?[\"']?"
_HEADER = rf"(?:proxy-)?authorization{_QUOTE}[ \t]*[:=][ \t]*{_QUOTE}"
_SCHEMES = "basic|bearer|digest|negotiate|token|apikey|aws4-hmac-sha256"
_USERINFO = r"[^\s/?#@\"'<>]{1,512}"

CREDENTIALS = (
    Credential(re.compile(rf"{_PRIVATE_KEY}[\s\S]*?(?:{_PRIVATE_KEY.replace('BEGIN', 'END')}|\Z)")),
    Credential(re.compile(rf"(?i)\b({_HEADER})(?:{_SCHEMES})[ \t]+[^\r\n\"'\\]+"), rf"\1{MARKER}"),
    Credential(re.compile(r"(?i)\b(bearer[ \t]+)[\w.~+/=-]{4,}"), rf"\1{MARKER}"),
    Credential(re.compile(rf"(?i)\b([a-z][a-z0-9+.-]{{0,31}}://){_USERINFO}(?:@{_USERINFO})*@"), rf"\1{MARKER}@"),
    Credential(re.compile(r"\bvault:[^\s\"'`,;)\]}]+")),
    Credential(re.compile(r"\benv:[A-Z_][A-Z0-9_]*\b")),
    Credential(re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(_PREFIXED)})")),
)
"""Credentials in the order in which they are taken out: the longest first."""

Span = tuple[int, int]
"""Where a secret begins and ends in a text."""

_WORD_OF_KEY = r"[A-Za-z][\w.-]{0,127}"
_SIGN = r"[ \t]*(?:=>|:=|[:=]=?)[ \t]*"
_ASSIGNMENT = re.compile(
    rf"(?<![\w.-])(?:--?(?P<flag>{_WORD_OF_KEY})(?:{_SIGN}|[ \t]+(?!-))"
    rf"|{_QUOTE}(?P<key>{_WORD_OF_KEY}(?: {_WORD_OF_KEY})?){_QUOTE}{_SIGN})"
)
_VALUE = re.compile(
    r"""\\"(?P<escaped>[^"\\]+)\\"|"(?P<double>(?:[^"\\]|\\.)+)"|'(?P<single>[^']+)'|[\\"']*(?P<bare>[^\s&"'`\\]+)"""
)
_FLAG = re.compile(r"--?([A-Za-z][\w-]{0,127})")


def assignments(text: str) -> list[Span]:
    """Return where values are given to sensitive names: `key=value`, `"key": "value"`, `--flag value`."""
    spans: list[Span] = []
    position = 0
    while match := _ASSIGNMENT.search(text, position):
        position = match.end()
        if not is_sensitive_key(match["flag"] or match["key"]):
            continue
        start, end = _value_span(text, position)
        if end > start:
            spans.append((start, end))
            position = end
    return spans


def _value_span(text: str, position: int) -> Span:
    """Return where the value that begins at `position` is; nothing where it is gone already."""
    value = _VALUE.match(text, position)
    if value is None or value.lastgroup is None:
        return position, position
    start, end = value.span(value.lastgroup)
    if text.startswith(MARKER, start):
        return start, start
    if value.lastgroup == "bare":
        end = start + len(text[start:end].rstrip(",;.)]}>"))
    return start, end


def is_flag(argument: str) -> bool:
    """Return whether a command-line argument announces a secret as the next argument."""
    match = _FLAG.fullmatch(argument)
    return match is not None and is_sensitive_key(match[1])


_RUN = re.compile(r"[A-Za-z0-9_+/=-]{28,}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEX = re.compile(r"[0-9a-fA-F]+")
_WORD = re.compile(r"[a-z0-9_-]*|[A-Z0-9_-]+|(?:[A-Z][a-z0-9]+)+")
_MIN_ENTROPY = 3.6
"""Bits a character: words and numbers stay below, random text of 28 characters and more stays above."""


def looks_random(text: str) -> list[Span]:
    """Return the long runs of mixed case and digits that are no UUID, no hexadecimal number and no path."""
    return [match.span() for match in _RUN.finditer(text) if _is_random(match[0])]


def _is_random(run: str) -> bool:
    mixed = any(map(str.islower, run)) and any(map(str.isupper, run)) and any(map(str.isdigit, run))
    if not mixed or _UUID.fullmatch(run) or _HEX.fullmatch(run) or _is_path(run):
        return False
    counts = Counter(run).values()
    return -sum(count / len(run) * math.log2(count / len(run)) for count in counts) >= _MIN_ENTROPY


def _is_path(run: str) -> bool:
    """A path has slashes between words; base64 has them between anything."""
    segments = run.split("/")
    words = sum(_WORD.fullmatch(segment) is not None for segment in segments)
    return len(segments) > 1 and words * 2 >= len(segments)
