"""Asks the questions of a followed run at this terminal: one at a time, in item order.

The ask-steps page: two prompts at once are unanswerable. While a person types, somebody else may answer, the
question may expire or the run may end; then the prompt says so and is taken away.
"""

from compozy.cli.answering import Answer, still_open_because, submit
from compozy.cli.asking import InterruptibleReader, ask_here
from compozy.cli.catalog import names_in
from compozy.cli.errors import CliError
from compozy.cli.feed import Feed, Picture
from compozy.cli.find import get_question
from compozy.cli.kube.client import Object
from compozy.cli.output.text import clean
from compozy.cli.session import Session
from compozy.requests.approvals import has_approved, progress
from compozy.requests.outcome import Answered, Declined
from compozy.requests.state import state_of

ATTEMPTS = 3
"""How often a question is put again after its answer was refused."""

_MENDABLE = ("request_validation_failed", "input_validation")
_BEARABLE = (
    *_MENDABLE,
    "request_already_answered",
    "request_expired",
    "request_canceled",
    "request_not_found",
    "respond_not_permitted",
    "respond_self_denied",
    "conflict",
)
"""Refusals of one answer, which are no reason to stop following the run."""

_OTHERS_MUST = ("respond_not_permitted", "respond_self_denied", "conflict")
"""Of these, those that leave the question open."""


class NobodyHere(Exception):
    """The input has ended, and the question has no way to say so: it stays open for others."""


class _Closed(Exception):
    """The question was resolved while it was on the screen."""


class Interview:
    """The conversation of one run with one person."""

    def __init__(self, session: Session, feed: Feed, picture: Picture) -> None:
        self._session = session
        self._feed = feed
        self._picture = picture
        self._current = ""
        self._put: set[tuple[str, str]] = set()
        self._reader = InterruptibleReader(feed.wake_descriptor, self._look)

    def ask_due(self) -> None:
        """Asks every open question that was not asked yet. Raises NobodyHere and CliError."""
        while not self._picture.ended:
            due = [question for question in self._picture.open_questions() if self._is_due(question)]
            if not due:
                return
            self._ask(due[0])

    def _is_due(self, question: Object) -> bool:
        """Whether a question is to be put: not to who has approved already, where others must as well."""
        if _mark(question) in self._put:
            return False
        return not (question.get("approvals") and has_approved(question, self._session.identity.username))

    def _ask(self, question: Object) -> None:
        self._current = question["metadata"]["name"]
        for _ in range(ATTEMPTS):
            self._put.add(_mark(question))
            try:
                self._answer(question)
            except _Closed:
                self._session.note(f"\n  {self._fate()}")
            except CliError as error:
                if error.code not in _BEARABLE:
                    raise
                self._session.note(clean(f"  {error.redacted().as_line()}"))
                if error.code in _MENDABLE:
                    question = get_question(self._session, self._current)
                    continue
                if error.code in _OTHERS_MUST:
                    self._wait_for_others()
            return
        self._wait_for_others()

    def _answer(self, question: Object) -> None:
        """Puts the question and sends what comes of it."""
        names = names_in(self._session.client, question["metadata"]["namespace"])
        outcome = ask_here(question, self._reader, names=names)
        decisions = question["spec"]["decisions"]
        if isinstance(outcome, Answered):
            self._send(question, Answer(outcome.decision, outcome.payload))
        elif isinstance(outcome, Declined):
            if "decline" in decisions:
                self._send(question, Answer("decline"))
            else:
                self._wait_for_others()
        elif "unavailable" in decisions:
            self._send(question, Answer("unavailable"))
        else:
            self._leave_open()
            raise NobodyHere

    def _send(self, question: Object, answer: Answer) -> None:
        """Gives the answer, and says what the run waits for where it does not go on."""
        written = submit(self._session, question, answer)
        if not written.get("response"):
            self._session.note(f"  {progress(written)}: the run waits for other people")
        elif state_of(written) == "Pending":
            self._session.note(f"  {still_open_because(self._session, written)}")

    def _look(self) -> None:
        """Takes in what has happened while a person was typing."""
        for change in self._feed.drain(0):
            self._picture.apply(change)
        if self._picture.ended or not self._picture.still_open(self._current):
            raise _Closed

    def _fate(self) -> str:
        """What became of the question on the screen."""
        question = self._picture.questions.get(self._current)
        if question is None:
            return "the question is gone"
        by = (question.get("response") or {}).get("responder")
        if by:
            return clean(f"answered by {by} meanwhile")
        state = state_of(question)
        return (
            "the run has ended meanwhile" if state == "Pending" else f"the question was {state.lower()} meanwhile"
        )

    def _wait_for_others(self) -> None:
        """The run goes on only after somebody has answered, and is followed until then."""
        self._leave_open()
        self._session.note("The run waits for that. Ctrl-C stops following it, and leaves it as it is.")

    def _leave_open(self) -> None:
        namespace = self._picture.run["metadata"]["namespace"]
        self._session.note(
            clean(f"Left open. Answer it with: kubectl compozy respond {self._current} -n {namespace}")
        )


def _mark(question: Object) -> tuple[str, str]:
    """A question as it was put: it is put again only after an answer to it was handed back."""
    rejection = (question.get("status") or {}).get("lastRejection") or {}
    return question["metadata"]["name"], rejection.get("at", "")
