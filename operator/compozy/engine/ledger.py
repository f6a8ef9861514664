"""What is stored of a run, cell by cell: in its status as long as it fits, then in pages of their own.

A status has to stay small whatever a run does: every write of it is a write of all of it. So it holds the
cells that have not ended, and of those that have the latest; when these become too many they go to a page.
A page never changes. Outputs over 16 KiB are kept apart from the beginning.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from compozy.engine.nodes import Nodes, by_name, by_path
from compozy.engine.snapshot import cell_status
from compozy.engine.state import FINAL_STATUSES, Cell
from compozy.language.compiled import CompiledPlan

MAX_INLINE_OUTPUT = 16 * 1024
"""Longest output in a status, in bytes of JSON (published default of the graph dialect)."""

MAX_INLINE_CELLS = 256
"""How many cells that have ended a status holds."""

MAX_PAGE_BYTES = 512 * 1024
"""How long the cells of one page may be together, in bytes of JSON; the store takes about three times that."""

MAX_INLINE_BYTES = 128 * 1024
"""How long the cells that have ended may be together in a status, in bytes of JSON."""


@dataclass(slots=True)
class Ledger:
    """What a status tells of the cells of a run."""

    told: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By path: what the status itself holds."""
    pages: list[dict[str, Any]] = field(default_factory=list)
    """Name and number of cells of each page, in the order in which they were written."""
    _sizes: dict[str, int] = field(default_factory=dict)
    _bytes: int = 0

    @classmethod
    def of(cls, plan: CompiledPlan, status: Mapping[str, Any]) -> Ledger:
        """What a stored status tells."""
        ledger = cls(pages=[dict(page) for page in status.get("pages") or ()])
        for path, told in by_path(plan, status.get("nodes") or {}):
            ledger.put(path, told)
        return ledger

    def put(self, path: str, told: dict[str, Any]) -> None:
        """Tell of a cell."""
        self.discard(path)
        self.told[path] = told
        if told["status"] in FINAL_STATUSES:
            size = self._sizes[path] = len(json.dumps(told, separators=(",", ":")))
            self._bytes += size

    def discard(self, path: str) -> None:
        """Tell of a cell no more."""
        self.told.pop(path, None)
        self._bytes -= self._sizes.pop(path, 0)

    def told_of(self, path: str, cell: Cell, more: Mapping[str, Any]) -> dict[str, Any]:
        """What there is to tell of a cell as it is now. What only an earlier status knew of it stays."""
        known = self.told.get(path) or {}
        kept: dict[str, Any] = {key: known[key] for key in ("request", "run") if key in known}
        return {**kept, **cell_status(cell), **more}

    def nodes(self, plan: CompiledPlan) -> Nodes:
        """`status.nodes`."""
        return by_name(plan, self.told.items())

    def overflow(self, block_nodes: Iterable[str]) -> list[str]:
        """The paths of cells that have to go to a page now; empty while everything fits.

        What is inside of nodes goes first: the nodes of the plan itself are what people look at.
        """
        if len(self._sizes) <= MAX_INLINE_CELLS and self._bytes <= MAX_INLINE_BYTES:
            return []
        return self._page_of(self._too_many(block_nodes))

    def _page_of(self, paths: list[str]) -> list[str]:
        """As many of the cells as fit one page."""
        sizes = itertools.accumulate(self._sizes[path] for path in paths)
        count = sum(1 for size in sizes if size <= MAX_PAGE_BYTES)
        return paths[: max(count, 1)]

    def _too_many(self, block_nodes: Iterable[str]) -> list[str]:
        top = set(block_nodes)
        inner = [path for path in self._sizes if path not in top]
        left_bytes = self._bytes - sum(self._sizes[path] for path in inner)
        if len(self._sizes) - len(inner) <= MAX_INLINE_CELLS and left_bytes <= MAX_INLINE_BYTES:
            return inner
        return list(self._sizes)

    def move(self, paths: list[str], name: str) -> None:
        """The cells at these paths are on a page now."""
        for path in paths:
            self.discard(path)
        self.pages.append({"name": name, "cells": len(paths)})

    def page(self, plan: CompiledPlan, paths: Iterable[str]) -> Nodes:
        """What a page holds, in the shape of `status.nodes`."""
        return by_name(plan, ((path, self.told[path]) for path in paths))


def is_large(output: Any) -> int | None:
    """The size of an output that is kept apart, in bytes of JSON; None where it stays in the status."""
    if output is None or isinstance(output, bool | int | float):
        return None
    size = len(json.dumps(output, ensure_ascii=False, separators=(",", ":")).encode(errors="replace"))
    return size if size > MAX_INLINE_OUTPUT else None
