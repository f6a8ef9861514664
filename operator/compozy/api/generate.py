"""Writes the manifests into `crds/`: `python -m compozy.api.generate`. `--check` only says what differs."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from compozy.api.manifests import Manifest, manifest_files
from compozy.api.webhook import PATH

COMMAND = "python -m compozy.api.generate"
HEADER = f"# Generated from operator/compozy/api by `{COMMAND}`. Do not edit.\n"


class _Dumper(yaml.SafeDumper):
    """Block style without aliases, and lists indented below their key."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        """Never write an alias: readers of manifests expect none."""
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        """Indent the items of a list."""
        super().increase_indent(flow, False)


def render(manifests: Sequence[Manifest]) -> str:
    """Return the text of a file of manifests. The same manifests always give the same text."""
    documents = yaml.dump_all(
        manifests, Dumper=_Dumper, explicit_start=True, sort_keys=False, width=110, allow_unicode=True
    )
    return HEADER + documents


def differences(directory: Path) -> dict[Path, str]:
    """Return what is wrong with the files of the directory, by file. Nothing is wrong when it is empty."""
    expected = {directory / name: render(manifests) for name, manifests in manifest_files().items()}
    problems = {}
    for path, text in expected.items():
        if not path.is_file():
            problems[path] = f"missing: run `{COMMAND}`"
        elif path.read_text(encoding="utf-8") != text:
            problems[path] = f"differs from the models: run `{COMMAND}`"
    for path in sorted(directory.glob("*.yaml")):
        if path not in expected:
            problems[path] = "not generated from any model: delete it"
    return problems


def write(directory: Path, webhook_url: str | None = None) -> None:
    """Write every file of manifests into the directory, which is made if need be."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, manifests in manifest_files(webhook_url=webhook_url).items():
        (directory / name).write_text(render(manifests), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Returns 1 when `--check` found a difference, else 0."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Generate the manifests from the models.")
    parser.add_argument("--directory", type=Path, default=Path("crds"), help="where the files are (default: crds)")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file differs")
    parser.add_argument(
        "--webhook-url",
        metavar="URL",
        help="for an operator outside of the cluster: where the API server finds its webhook, https://HOST:PORT"
        f"{PATH} (give another --directory)",
    )
    options = parser.parse_args(arguments)
    if not options.check:
        write(options.directory, options.webhook_url)
        return 0
    problems = differences(options.directory)
    for path, problem in problems.items():
        print(f"{path}: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
