"""Which names objects can have: DNS subdomains, as in RFC 1123.

Apart from the models, which take long to load. Whoever asks for an object by a name of somebody else's asks here
first: such a name becomes a part of a path.
"""

import re

_OBJECT_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)


def is_object_name(text: str) -> bool:
    """Return whether an object can have this name."""
    return _OBJECT_NAME.fullmatch(text) is not None
