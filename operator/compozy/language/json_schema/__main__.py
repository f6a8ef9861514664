"""Writes the schema for editors: `python -m compozy.language.json_schema`. `--check` only says what differs."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from compozy.language.json_schema.document import plan_schema

COMMAND = "python -m compozy.language.json_schema"


def render() -> str:
    """The text of the file. It is always the same for the same grammar."""
    return json.dumps(plan_schema(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Returns 1 when `--check` found a difference, else 0."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Generate the JSON Schema of plan files.")
    parser.add_argument("--file", type=Path, default=Path("docs/plan.schema.json"), help="where it is written")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the file differs")
    options = parser.parse_args(arguments)
    file: Path = options.file
    if not options.check:
        file.write_text(render(), encoding="utf-8")
        return 0
    if file.is_file() and file.read_text(encoding="utf-8") == render():
        return 0
    print(f"{file}: differs from the grammar: run `{COMMAND}`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
