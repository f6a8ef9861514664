"""`infer`: a gate that a model judges, in an exit, a decide, or for each element of a filter."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from compozy.engine.effects import Call
from compozy.engine.events import CallFailed, CallFinished, NodeEvent
from compozy.engine.outcomes import Calling, Context, Failed, Outcome, Succeeded
from compozy.language.compiled import Block, InferSpec, Node, block_of
from compozy.language.errors import LanguageError

DEFAULT_ROLE = "judge"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The gate of one element, as a node of its own."""

    kind: ClassVar[str] = "infer"

    infer: InferSpec


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a model has judged."""

    holds: bool
    reason: str | None


def judgement_block(infer: InferSpec, path: str) -> Block:
    """A block that judges one element."""
    return block_of({"": Node("", Judgement(infer), path)})  # type: ignore[arg-type]


def ask_judge(infer: InferSpec, context: Context) -> Outcome:
    """Have a model judge."""
    try:
        question = infer.question.render_text(context.scope)
        role = infer.model.render_text(context.scope) if infer.model is not None else DEFAULT_ROLE
    except LanguageError as error:
        return Failed(error.code, error.message)
    return Calling(Call(context.node, context.generation, "infer", role, {"question": question}))


def verdict_of(event: NodeEvent) -> Verdict | Failed:
    """What a model has judged: `{verdict: boolean, reason: text}`."""
    match event:
        case CallFinished(output=Mapping() as output) if isinstance(output.get("verdict"), bool):
            reason = output.get("reason")
            return Verdict(output["verdict"], reason if isinstance(reason, str) else None)
        case CallFailed():
            return Failed(event.reason, event.message)
    return Failed("infer_invalid", "the judge must give {verdict: boolean, reason: text}")


def enter_judgement(spec: Judgement, context: Context) -> Outcome:
    """Have a model judge one element."""
    return ask_judge(spec.infer, context)


def resume_judgement(spec: Judgement, context: Context, event: NodeEvent) -> Outcome:  # noqa: ARG001
    """Take the verdict on one element."""
    verdict: Any = verdict_of(event)
    return verdict if isinstance(verdict, Failed) else Succeeded(verdict.holds)
