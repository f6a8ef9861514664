"""Field selectors: which objects of a collection the API server is asked for."""

_ESCAPED = str.maketrans({"\\": "\\\\", ",": "\\,", "=": "\\="})


def equal(path: str, value: object) -> str:
    """Those with this value at a path; with no text, those that have none. What steers a selector is escaped."""
    return f"{path}={str(value).translate(_ESCAPED)}"


def unequal(path: str, value: object) -> str:
    """Those with another value at a path, or none."""
    return f"{path}!={str(value).translate(_ESCAPED)}"


def every(*terms: str) -> str:
    """Those that all of the terms select. Empty terms select everything."""
    return ",".join(term for term in terms if term)
