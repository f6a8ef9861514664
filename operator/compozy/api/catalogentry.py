"""CatalogEntry: a name that `x-compozy-kind` may refer to."""

from typing import Annotated, Any, Literal

from pydantic import Field

from compozy.api.base import ApiModel


class CatalogEntrySpec(ApiModel):
    """What kind of thing the name stands for."""

    kind: Literal["skill", "worktree", "session", "secret"]
    """A secret is a reference, never a value."""
    name: Annotated[str, Field(max_length=253, min_length=1)] | None = None
    """The name that an answer gives, where it cannot be the name of this object."""
    description: Annotated[str, Field(max_length=4096)] | None = None
    """What it is, shown where an entry is chosen."""


class CatalogEntry(ApiModel):
    """A named skill, worktree, session or secret reference of the namespace."""

    api_version: str
    kind: Literal["CatalogEntry"]
    metadata: dict[str, Any]
    spec: CatalogEntrySpec
