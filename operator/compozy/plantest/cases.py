"""Files of cases: `release.test.yaml` beside `release.yaml`.

A file names its plan (`plan:` with a path beside it, or the plan itself), else it is that of the same name. A
case may bring its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from compozy.language.calls import source_of
from compozy.language.document import PlanDocument, object_name, parse_document
from compozy.language.keys import type_name
from compozy.language.problems import PlanInvalid, Problem
from compozy.language.steps.context import PlanSource
from compozy.language.yaml_text import YamlText, load
from compozy.plantest.answers import read_answers, read_tools
from compozy.plantest.expectation import read_expectation
from compozy.plantest.files import plans_beside
from compozy.plantest.model import Case, CasesInvalid, Stubs
from compozy.plantest.reader import Reader

SUFFIX = ".test.yaml"

_FILE = ("plan", "cases")
_CASE = ("name", "rule", "plan", "attended", "inputs", "answers", "tools", "plans", "expect")


def load_cases(path: Path | str) -> tuple[Case, ...]:
    """Every case of a file.

    Raises:
        CasesInvalid: the file, or the plan that it names, cannot be read, or something in the file is wrong;
            with every problem and its line.
    """
    loaded, reader = _loaded(path), Reader()
    cases = _Reading(Path(path), loaded.positions, reader).cases(loaded.value)
    _check(path, loaded, reader)
    return cases


def load_stubs(path: Path | str) -> dict[str, Stubs]:
    """What calls give, by name: a file that holds what `tools` of a case holds. Raises CasesInvalid."""
    loaded, reader = _loaded(path), Reader()
    stubs = read_tools(loaded.value, "", reader)
    _check(path, loaded, reader)
    return stubs


def _loaded(path: Path | str) -> YamlText:
    try:
        return load(Path(path).read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise CasesInvalid(str(path), [Problem("", "unreadable", _reason(error))]) from error
    except PlanInvalid as invalid:
        raise CasesInvalid(str(path), list(invalid.problems)) from invalid


def _check(path: Path | str, loaded: YamlText, reader: Reader) -> None:
    if reader.problems:
        # A plan document finds the nearest place that a file has for a path; a file of cases is no different.
        places = PlanDocument(None, None, {}, positions=loaded.positions)
        placed = places.with_positions(reader.problems)
        whole_file = [replace(problem, line=problem.line or 1, column=problem.column or 1) for problem in placed]
        raise CasesInvalid(str(path), whole_file)


@dataclass(frozen=True, slots=True)
class _Plan:
    """A plan as far as it could be read."""

    document: PlanDocument | None
    refused: tuple[Problem, ...]
    source: PlanSource | None


@dataclass(frozen=True, slots=True)
class _Reading:
    """One file under way."""

    file: Path
    positions: Mapping[str, tuple[int, int]]
    reader: Reader

    def cases(self, value: Any) -> tuple[Case, ...]:
        fields = self.reader.keys(value, "", _FILE, required=("cases",))
        items = self.reader.list(fields.get("cases", []), "cases")
        if "cases" in fields and fields["cases"] == []:
            self.reader.report("cases", "empty", "has no case")
        shared = self._plan(fields["plan"], "plan") if "plan" in fields else None
        if shared is None and not all(isinstance(item, Mapping) and "plan" in item for item in items):
            shared = self._plan_beside()
        cases = [self._case(item, f"cases[{index}]", shared) for index, item in enumerate(items)]
        self._check_names(cases)
        return tuple(cases)

    def _plan_beside(self) -> _Plan | None:
        """The plan of the same name: `release.yaml` for `release.test.yaml`."""
        name = self.file.name
        if name.endswith(SUFFIX):
            return self._plan(f"{name.removesuffix(SUFFIX)}.yaml", "")
        self.reader.report("plan", "missing_key", f"`plan` is required in a file that is not named …{SUFFIX}")
        return None

    def _check_names(self, cases: list[Case]) -> None:
        seen: set[str] = set()
        for index, case in enumerate(cases):
            if case.name and case.name in seen:
                message = f"another case is named `{case.name}`; names tell cases apart"
                self.reader.report(f"cases[{index}].name", "duplicate_name", message)
            seen.add(case.name)

    def _case(self, data: Any, path: str, shared: _Plan | None) -> Case:
        reader = self.reader
        fields = reader.keys(data, path, _CASE, required=("name", "expect"))
        plan = self._plan(fields["plan"], f"{path}.plan") if "plan" in fields else shared
        plans = self._plans(fields["plans"], f"{path}.plans") if "plans" in fields else None
        plan = plan or _Plan(None, (), None)
        return Case(
            name=reader.text(fields.get("name", ""), f"{path}.name"),
            file=str(self.file),
            line=self.positions.get(path, (1, 1))[0],
            document=plan.document,
            refused=plan.refused,
            source=plan.source if plans is None else source_of(plans),
            trusts_unknown=plans is None,
            expect=read_expectation(fields.get("expect", {"phase": "Succeeded"}), f"{path}.expect", reader),
            rule=reader.text(fields["rule"], f"{path}.rule") if "rule" in fields else None,
            attended=reader.boolean(fields.get("attended", True), f"{path}.attended"),
            inputs=reader.object(fields.get("inputs", {}), f"{path}.inputs"),
            answers=read_answers(fields.get("answers", {}), f"{path}.answers", reader),
            tools=read_tools(fields.get("tools", {}), f"{path}.tools", reader),
            plans=plans or {},
        )

    def _plan(self, value: Any, path: str) -> _Plan | None:
        if isinstance(value, Mapping):
            return _parsed(_as_text(value), plans_beside(self.file))
        if not isinstance(value, str):
            message = f"must be a path beside this file or the plan itself, not {type_name(value)}"
            self.reader.report(path, "invalid_type", message)
            return None
        beside = self.file.parent / value
        try:
            return _parsed(beside.read_text("utf-8"), plans_beside(beside))
        except (OSError, UnicodeDecodeError) as error:
            message = f"there is no plan to test: cannot read {beside}: {_reason(error)}"
            self.reader.report(path, "unreadable", message)
            return None

    def _plans(self, value: Any, path: str) -> dict[str, dict[str, Any]]:
        plans = {}
        for name, spec in self.reader.object(value, path).items():
            at = f"{path}.{name}"
            try:
                document = parse_document(_as_text(self.reader.object(spec, at)))
            except PlanInvalid as invalid:
                for problem in invalid.problems:
                    self.reader.report(f"{at}.{problem.path}", problem.code, problem.message)
                continue
            plans[object_name(name) or name] = document.spec
        return plans


def _parsed(text: str, source: PlanSource) -> _Plan:
    try:
        return _Plan(parse_document(text), (), source)
    except PlanInvalid as invalid:
        return _Plan(None, invalid.problems, source)


def _as_text(value: Mapping[str, Any]) -> str:
    """A plan that stands in a file of cases, as the text of a file of its own: one way to read both."""
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(dict(value), Dumper=dumper, sort_keys=False, allow_unicode=True)
    return text


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
