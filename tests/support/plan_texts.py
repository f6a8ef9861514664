"""Steps plans as people write them: any layout, any quotes, either spelling, comments everywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from compozy.language.keys import camel

Draw = Callable[[st.SearchStrategy[Any]], Any]

CAMEL = ("tool_name", "output_schema", "when_unanswered", "input_schema", "max_iterations", "system_prompt")
"""Keys of the grammar that have two spellings."""

words = st.sampled_from(
    ["beta", "two words", "yes", "a: b", "x # y", "été", "", "- dash", "'q'", '"dq"', "{b}", "3"]
)
paragraphs = st.lists(
    st.sampled_from(["line one", "  indented", "", "# no comment", "key: value", "- item"]), max_size=4
)
texts = words | paragraphs.map("\n".join)
comments = st.sampled_from(["# why", "#", "# - id: x", "#   tool_name: ask", "# a: 'b"])


@st.composite
def plans(draw: Draw, broken: bool = False) -> dict[str, Any]:
    """A steps plan; every template refers to an earlier step. A broken one may have problems of many kinds."""
    steps: list[dict[str, Any]] = []
    for index in range(draw(st.integers(1, 4))):
        roots = [step["id"] for step in steps] + (["nowhere"] if broken else [])
        steps.append({"id": f"s{index}", **draw(_calls(roots, broken, nested=False))})
    plan: dict[str, Any] = {"name": "generated"}
    if draw(st.booleans()):
        plan["description"] = draw(texts)
    if draw(st.booleans()):
        plan["input_schema"] = {"type": "object", "properties": {"toolName": {"type": "string"}}}
    plan["steps"] = steps
    if draw(st.booleans()):
        plan["output"] = {"toolName": draw(_templates([step["id"] for step in steps]))}
    if broken and draw(st.booleans()):
        plan["colour"] = "blue"
    return plan


def _templates(roots: list[str]) -> st.SearchStrategy[str]:
    roots = [*roots, "input"]
    tags = st.sampled_from([f"{{{{{root}.x}}}}" for root in roots])
    sections = st.sampled_from(
        [f"{{{{#{root}.l}}}}{{{{name}}}} of {{{{ {root}.x }}}}{{{{/{root}.l}}}}" for root in roots]
    )
    return st.builds(lambda start, tag, end: f"{start}{tag}{end}", texts, tags | sections, texts) | tags


@st.composite
def _calls(draw: Draw, roots: list[str], broken: bool, nested: bool) -> dict[str, Any]:
    kinds = ["ask", "exit", "server__tool"] if not nested else ["ask", "server__tool"]
    kinds += [] if nested else ["map", "decide"]
    tool = draw(st.sampled_from(kinds + (["aks", "filter"] if broken else [])))
    call: dict[str, Any] = {"tool_name": tool, "input": draw(_inputs(tool, roots, broken))}
    if draw(st.booleans()):
        call["reasoning"] = f"not {{{{s0}}}} {draw(words)}"
    if broken and draw(st.integers(0, 5)) == 0:
        del call["input"]
    return call


@st.composite
def _inputs(draw: Draw, tool: str, roots: list[str], broken: bool) -> dict[str, Any]:
    template = _templates(roots)
    if tool == "ask":
        field = (
            {"type": "string", "description": draw(words), "toolName": "{{s0.x}}"}
            if broken
            else {"type": "string"}
        )
        asked: dict[str, Any] = {
            "prompt": draw(template),
            "output_schema": {
                "type": "object",
                "required": ["whenUnanswered"],
                "properties": {"whenUnanswered": field},
            },
        }
        if draw(st.booleans()):
            asked |= {"when_unanswered": "default", "default": {"whenUnanswered": draw(template)}}
        elif broken and draw(st.booleans()):
            asked["when_unanswered"] = "default"
        return asked
    if tool == "exit":
        gate = {"value": draw(template), "op": "eq", "to": draw(st.none() | st.booleans() | st.integers(0, 9))}
        return {"when": gate, "status": "success", "message": draw(template)}
    if tool == "map":
        body: Any = draw(_calls(roots, False, nested=True))
        if draw(st.booleans()):
            body = [{"id": "b0", **body}, {"id": "b1", **draw(_calls([*roots, "b0"], False, nested=True))}]
        return {"over": draw(template), "do": body}
    if tool == "decide":
        return {
            "if": {"value": draw(template), "op": "not_empty"},
            "then": draw(_calls(roots, False, nested=True)),
        }
    return {
        "toolName": draw(template),
        "list": draw(st.lists(template | st.just([1, {"a": None}]), max_size=2)),
        "e": {},
    }


@st.composite
def plan_texts(draw: Draw, broken: bool = False) -> str:
    """The text of a generated plan."""
    return _Writer(draw).document(draw(plans(broken=broken)))


class _Writer:
    """Writes a value as YAML in ways that Hypothesis chooses."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw

    def chance(self, of: int = 4) -> bool:
        return bool(self.draw(st.integers(1, of)) == of)

    def document(self, value: dict[str, Any]) -> str:
        if self.chance(12):
            return json.dumps(value, indent=self.draw(st.sampled_from([None, 1, 4])))
        lines = [*self.comments(0), *self.mapping(value, 0, in_grammar=True), *self.comments(2)]
        return "\n".join(lines) + self.draw(st.sampled_from(["", "\n", "\n\n\n"]))

    def comments(self, column: int) -> list[str]:
        if not self.chance(6):
            return []
        blanks = self.draw(st.integers(max(0, column - 3), column + 3))
        return ["" if self.chance(3) else " " * blanks + self.draw(comments)]

    def tail(self) -> str:
        return f"  {self.draw(comments)}" if self.chance(6) else " " * self.draw(st.integers(0, 1))

    def key(self, key: str, in_grammar: bool) -> str:
        name = camel(key) if in_grammar and key in CAMEL and self.chance(2) else key
        return f'"{name}"' if self.chance(8) else name

    def mapping(self, value: dict[str, Any], column: int, in_grammar: bool) -> list[str]:
        """The lines of a block mapping; the first is indented too."""
        lines: list[str] = []
        for key, item in value.items():
            inside = (
                in_grammar
                and key not in ("input_schema", "output_schema", "default", "output")
                and not (key == "input" and "__" in str(value.get("tool_name")))
            )
            inline, below = self.value(item, column, inside, in_mapping=True)
            lines += [
                *(self.comments(column) if lines else []),
                f"{' ' * column}{self.key(key, in_grammar)}:{inline}",
                *below,
            ]
        return lines

    def value(self, value: Any, column: int, in_grammar: bool, in_mapping: bool) -> tuple[str, list[str]]:
        """What stands beside the colon or dash of a key or dash in `column`, and the lines below."""
        if isinstance(value, str):
            return self.text(value, column)
        if not isinstance(value, dict | list) or not value or self.chance(5):
            return f" {self.flow(value, column, in_grammar)}{self.tail()}", []
        step = self.draw(st.integers(1, 5))
        if isinstance(value, dict):
            return self.tail(), [*self.comments(column + step), *self.mapping(value, column + step, in_grammar)]
        indentless = in_mapping and self.chance(3)
        return self.tail(), self.sequence(value, column if indentless else column + step, in_grammar)

    def sequence(self, value: list[Any], column: int, in_grammar: bool) -> list[str]:
        lines: list[str] = []
        for item in value:
            lines += self.comments(column)
            gap = self.draw(st.integers(1, 4))
            if isinstance(item, dict) and item and not self.chance(5):
                inner = self.mapping(item, column + 1 + gap, in_grammar)
                lines += [f"{' ' * column}-{' ' * gap}{inner[0].lstrip()}", *inner[1:]]
            else:
                inline, below = self.value(item, column, in_grammar, in_mapping=False)
                lines += [f"{' ' * column}-{inline}", *below]
        return lines

    def flow(self, value: Any, column: int, in_grammar: bool) -> str:
        breaks = f"\n{' ' * (column + self.draw(st.integers(1, 6)))}" if self.chance(6) else " "
        if isinstance(value, dict) and value:
            opened = in_grammar
            inner = ("," + breaks).join(
                f"{self.key(key, opened)}: {self.flow(item, column, self.opens(value, key, opened))}"
                for key, item in value.items()
            )
            return f"{{{breaks}{inner} }}"
        if isinstance(value, list) and value:
            return "[" + ("," + breaks).join(self.flow(item, column, in_grammar) for item in value) + "]"
        return json.dumps(value, ensure_ascii=False)

    @staticmethod
    def opens(value: dict[str, Any], key: str, in_grammar: bool) -> bool:
        if key == "input" and "__" in str(value.get("tool_name")):
            return False
        return in_grammar and key not in ("input_schema", "output_schema", "default", "output")

    def text(self, text: str, column: int) -> tuple[str, list[str]]:
        """A string in one of YAML's styles that can hold it."""
        styles = ["double"]
        if "\n" not in text:
            styles.append("single")
            if re.fullmatch(r"[a-z]+( [a-z]+)*", text) and text not in ("yes", "no"):
                styles.append("plain")
        elif text.strip() and not text.startswith((" ", "\n")) and not re.search(r" \n|\n\n\Z| \Z", text):
            styles += ["literal", "literal"]
        style = self.draw(st.sampled_from(styles))
        if style == "literal":
            inner = " " * (column + self.draw(st.integers(1, 4)))
            header = "|" if text.endswith("\n") else "|-"
            return f" {header}", [inner + line if line else "" for line in text.removesuffix("\n").split("\n")]
        if style == "single":
            return " '" + text.replace("'", "''") + "'" + self.tail(), []
        if style == "plain":
            folded = text.replace(" ", f"\n{' ' * (column + 3)}", 1) if self.chance(4) else text
            return f" {folded}{self.tail()}", []
        return f" {json.dumps(text, ensure_ascii=False)}{self.tail()}", []
