"""Writes docs/conformance-*.md: which cases and tests hold each sentence of the published pages.

python tools/conformance_table.py            # write the page
python tools/conformance_table.py --check    # fail where it is not current, or names what does not exist
"""

import argparse
import itertools
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Suite:
    """The cases of a dialect, and the page whose sentences they hold."""

    dialect: str
    page: str
    """What the published page is called."""

    @property
    def cases(self) -> Path:
        """Where the cases are."""
        return ROOT / "tests" / "conformance" / self.dialect

    @property
    def table(self) -> Path:
        """The page that is written."""
        return ROOT / "docs" / f"conformance-{self.dialect}.md"

    @property
    def sentences(self) -> Path:
        """What holds which sentence."""
        return self.cases / "sentences.yaml"


STEPS = Suite("steps", "ask-steps")
GRAPH = Suite("graph", "human-requests")
SUITES = (STEPS, GRAPH)

_LONGEST_HEADING = 60
_INTRODUCTION = """\
# The {page} page, sentence by sentence

The sentences are shortened; the page itself is the rule. A case is a YAML document in
`tests/conformance/{dialect}` that a local run and a run on a cluster both pass; it is named with its file.
Tests are named as pytest does.
This table is written by `tools/conformance_table.py` from `tests/conformance/{dialect}/sentences.yaml`.
"""


def sections(suite: Suite) -> list[dict[str, Any]]:
    """What `sentences.yaml` says: sections with their sentences."""
    found: list[dict[str, Any]] = yaml.safe_load(suite.sentences.read_text(encoding="utf-8"))
    return found


def files_of_cases(suite: Suite) -> dict[str, str]:
    """The file of each case, by the case's name. Raises ValueError for a name that is used twice."""
    files: dict[str, str] = {}
    for path in sorted(suite.cases.glob("*.yaml")):
        if path.name == suite.sentences.name:
            continue
        for case in yaml.safe_load(path.read_text(encoding="utf-8"))["cases"]:
            if case["name"] in files:
                raise ValueError(f"{path.name}: the name `{case['name']}` is used twice")
            files[case["name"]] = path.name
    return files


def render(suite: Suite) -> str:
    """The page."""
    files = files_of_cases(suite)
    parts = [_INTRODUCTION.format(page=suite.page, dialect=suite.dialect)]
    for section in sections(suite):
        rows = [f"| {_cell(entry['sentence'])} | {_held_by(entry, files)} |" for entry in section["sentences"]]
        source = "The page says" if "begins" in section["sentences"][0] else "What is known beside the page"
        parts.append("\n".join([f"## {section['section']}\n", f"| {source} | Held by |", "|---|---|", *rows, ""]))
    return "\n".join(parts)


def _held_by(entry: Mapping[str, Any], files: Mapping[str, str]) -> str:
    by_file: dict[str, list[str]] = {}
    for name in entry.get("cases", ()):
        by_file.setdefault(files.get(name, "?"), []).append(_cell(name))
    lines = [f"`{file}`: {'; '.join(names)}" for file, names in by_file.items()]
    lines += [f"`{test}`" for test in entry.get("elsewhere", ())]
    if "later" in entry:
        lines.append(f"not in this version: {entry['later']}")
    if "advice" in entry:
        lines.append("advice to authors: nothing to hold")
    return "<br>".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


def faults(suite: Suite) -> Iterator[str]:
    """What is wrong with a table: names of nothing, and a page that is not current."""
    files = files_of_cases(suite)
    for section in sections(suite):
        for entry in section["sentences"]:
            if not entry.keys() & {"cases", "elsewhere", "later", "advice"}:
                yield f"nothing holds `{entry['sentence']}`"
            yield from (f"there is no case `{name}`" for name in entry.get("cases", ()) if name not in files)
            yield from (f"there is no test {test}" for test in entry.get("elsewhere", ()) if not _is_test(test))
    if not suite.table.is_file() or suite.table.read_text(encoding="utf-8") != render(suite):
        yield f"{suite.table.relative_to(ROOT)} is not current: run `python tools/conformance_table.py`"


def _is_test(name: str) -> bool:
    path, _, function = name.rpartition("::")
    file = ROOT / path
    return file.is_file() and re.search(rf"def {function}\(", file.read_text(encoding="utf-8")) is not None


def sentences_of(page: str) -> list[str]:
    """The sentences of the published page, in order, without its headings and the titles of its tables.

    A printed example and a row of a table are one sentence each.
    """
    found: list[str] = []
    for block in re.split(r"\n\s*\n", page):
        lines = block.strip("\n").splitlines()
        if _is_example(lines):
            found.append(block.strip())
        elif "\t" in lines[0]:
            found += [line.replace("\t", " ") for line in lines[1:]]
        elif len(lines) > 1 or not _is_heading(lines[0]):
            found += [sentence for line in lines for sentence in re.split(r"(?<=[.!?])\s+", line.strip())]
    return found


def _is_example(lines: list[str]) -> bool:
    return any(line.startswith(("  ", "? ")) or line in ("{", "steps:", "graph:") for line in lines)


def _is_heading(line: str) -> bool:
    return len(line) <= _LONGEST_HEADING and line[-1] not in ".:!?"


def main() -> int:
    """The command; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the page is wrong")
    if parser.parse_args().check:
        found = list(itertools.chain.from_iterable(map(faults, SUITES)))
        sys.stderr.writelines(f"{fault}\n" for fault in found)
        return 1 if found else 0
    for suite in SUITES:
        suite.table.write_text(render(suite), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
