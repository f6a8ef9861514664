"""Where the cases are played on a cluster."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def stages(shared_operator, make_namespace) -> Iterator[object]:
    """As many namespaces as are asked for, with the operator at work."""
    if shared_operator.process is None:
        shared_operator.start()

    def made() -> Iterator[object]:
        while True:
            yield make_namespace()

    return made()
