"""Names under which secrets stand, however they are spelled."""

import re

_PARTS = (
    *("apikey", "authtoken", "accesstoken", "refreshtoken", "idtoken", "bottoken", "claimtoken", "leasetoken"),
    *("clientsecret", "webhooksecret", "oauthcode", "authorizationcode", "codeverifier", "pkce", "bearer"),
    *("password", "passwd", "passphrase", "credential", "privatekey", "authorization"),
    *("secretref", "secretbinding"),
)
_ENDS = ("token", "secret", "secretkey", "secretaccesskey")
_DIGEST_ENDS = ("hash", "digest", "fingerprint")
_EXEMPT = frozenset(("maxinputtokens", "maxoutputtokens", "tokenpresent"))
_SEPARATORS = re.compile(r"[_.\-\s]")


def is_sensitive_key(key: str) -> bool:
    """Return whether what stands under `key` is a secret: `api_key`, `apiKey` and `API-KEY` are one name."""
    plain = _plain(key)
    if plain in _EXEMPT or plain.endswith(_DIGEST_ENDS):
        return False
    return plain.endswith(_ENDS) or any(part in plain for part in _PARTS)


def is_digest_key(key: str) -> bool:
    """Return whether what stands under `key` is made from something and cannot be turned back into it."""
    return _plain(key).endswith(_DIGEST_ENDS)


def _plain(key: str) -> str:
    return _SEPARATORS.sub("", key).lower()
