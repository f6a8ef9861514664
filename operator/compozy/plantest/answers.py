"""Reading what happens to a run: answers by path, and what calls give by name."""

from typing import Any

from compozy.plantest.model import Stub, Stubs
from compozy.plantest.reader import Reader
from compozy.requests.outcome import Answered, Declined, Expired, Outcome, Unavailable
from compozy.requests.state import WITH_PAYLOAD

_DECISIONS = ("respond", "approve", "edit", "reject")
_WITHOUT_ANSWER: dict[str, Outcome] = {"decline": Declined(), "unavailable": Unavailable(), "expire": Expired()}


def read_answers(value: Any, path: str, reader: Reader) -> dict[str, Outcome]:
    """What becomes of each question, by the path of the step or node that asks."""
    return {node: _answer(item, f"{path}.{node}", reader) for node, item in reader.object(value, path).items()}


def _answer(value: Any, path: str, reader: Reader) -> Outcome:
    if isinstance(value, str):
        word = reader.one_of(value, path, tuple(_WITHOUT_ANSWER))
        return _WITHOUT_ANSWER[word]
    fields = reader.keys(value, path, ("decision", "payload"))
    decision = "respond"
    if "decision" in fields:
        decision = reader.one_of(fields["decision"], f"{path}.decision", _DECISIONS)
    if ("payload" in fields) != (decision in WITH_PAYLOAD) and isinstance(value, dict):
        told = "needs a `payload`" if decision in WITH_PAYLOAD else "takes no `payload`"
        reader.report(f"{path}.payload", "payload_choice", f"`{decision}` {told}")
    return Answered(fields.get("payload"), decision)


def read_tools(value: Any, path: str, reader: Reader) -> dict[str, Stubs]:
    """What calls give, by name: one result for all of them, or a list with one for each."""
    tools = {}
    for name, item in reader.object(value, path).items():
        at = f"{path}.{name}" if path else name
        if isinstance(item, list):
            stubs = tuple(_stub(each, f"{at}[{index}]", reader) for index, each in enumerate(item))
            tools[name] = Stubs(stubs, in_turn=True)
        else:
            tools[name] = Stubs((_stub(item, at, reader),), in_turn=False)
    return tools


def _stub(value: Any, path: str, reader: Reader) -> Stub:
    fields = reader.keys(value, path, ("output", "error", "code"))
    if isinstance(value, dict) and len(fields.keys() & {"output", "error"}) != 1:
        reader.report(path, "stub_choice", "a stub gives exactly one of `output` and `error`")
    if "error" in fields:
        code = reader.text(fields["code"], f"{path}.code") if "code" in fields else None
        return Stub(error=reader.text(fields["error"], f"{path}.error"), code=code)
    if "code" in fields:
        reader.report(f"{path}.code", "stub_choice", "only an `error` has a `code`")
    return Stub(fields.get("output"))
