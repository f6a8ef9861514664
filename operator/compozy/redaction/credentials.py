"""Text that is a credential wherever it stands: headers, user information of URLs, references, tokens."""

import re
from dataclasses import dataclass

from compozy.redaction.issuers import PREFIXED

MARKER = "[REDACTED]"
"""What stands in the place of a secret."""


@dataclass(frozen=True, slots=True)
class Credential:
    """A form of credential, and what is written in its place."""

    pattern: re.Pattern[str]
    replacement: str = MARKER


_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9A-Fa-f]{4})|(?<=%[0-9A-Fa-f]{2}))"
"""Where a word begins, also behind an escape of JSON or of a URL: in `\\nghp_…` the token is not `nghp_`."""
_PRIVATE_KEY = r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_QUOTE = r"\\{0,15}[\"']?"
_HEADER = rf"(?:proxy-)?authorization{_QUOTE}[ \t]*[:=][ \t]*{_QUOTE}"
_COOKIE = rf"(?:set-)?cookie{_QUOTE}[ \t]*:[ \t]*{_QUOTE}"
_SCHEMES = "basic|bearer|digest|negotiate|token|apikey|aws4-hmac-sha256"
_NO_BEARER = r"(?!(?:tokens?|auth|authentication|authorization|schemes?|headers?|credentials?|bonds?|shares?)\b)"
_USERINFO = r"[^\s/?#@\"'<>]{1,512}"
_HOOKS = r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/]+|discord(?:app)?\.com/api/webhooks/[\w/-]+"

CREDENTIALS = (
    Credential(re.compile(rf"{_PRIVATE_KEY}[\s\S]*?(?:{_PRIVATE_KEY.replace('BEGIN', 'END')}|\Z)")),
    Credential(re.compile(rf"(?i){_START}({_HEADER})(?:{_SCHEMES})[ \t]+[^\r\n\"'\\]+"), rf"\1{MARKER}"),
    Credential(re.compile(rf"(?i){_START}({_COOKIE})(?=[^\s=;]{{1,256}}=)[^\r\n\"'\\]+"), rf"\1{MARKER}"),
    Credential(re.compile(rf"(?i){_START}(bearer[ \t]+){_NO_BEARER}[\w.~+/=-]{{4,}}"), rf"\1{MARKER}"),
    Credential(re.compile(rf"(?i)\b([a-z][a-z0-9+.-]{{0,31}}://){_USERINFO}(?:@{_USERINFO})*@"), rf"\1{MARKER}@"),
    Credential(re.compile(rf"{_START}(?:{_HOOKS})")),
    Credential(re.compile(_START + r"vault:[^\s\"'`,;)\]}]+")),
    Credential(re.compile(_START + r"env:[A-Z_][A-Z0-9_]*\b")),
    Credential(re.compile(rf"{_START}(?:{'|'.join(PREFIXED)})")),
)
"""Credentials in the order in which they are taken out: the longest first."""
