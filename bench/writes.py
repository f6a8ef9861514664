"""How many writes the API server has taken: what a life costs whatever else the machine is doing."""

import re
from collections import Counter

from bench.connection import Connection

VERBS = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_UNRELATED = frozenset({"leases", "selfsubjectaccessreviews", "tokenreviews", "serviceaccounts"})
"""What the servers write for themselves."""
_REQUESTS = re.compile(r"^apiserver_request_total\{(.*)\} (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')


async def writes_so_far(connection: Connection) -> Counter[str]:
    """Writes since the API server started, such as `POST planruns`; subresources count by themselves."""
    counted: Counter[str] = Counter()
    for labels, value in _REQUESTS.findall(await connection.text("/metrics")):
        given = dict(_LABEL.findall(labels))
        if given["verb"] in VERBS and given["resource"] and given["resource"] not in _UNRELATED:
            name = "/".join(filter(None, (given["resource"], given["subresource"])))
            counted[f"{given['verb']} {name}"] += int(float(value))
    return counted
