"""`kubectl compozy request`: one question in full."""

from compozy.cli.command import command
from compozy.cli.find import find_question, question_options
from compozy.cli.session import Session


@command("request", formats=("json", "yaml", "name"))
@question_options
def request(
    session: Session,
    name: str | None,
    run_name: str | None,
    node: str | None,
    generation: int | None,
    item: int | None,
) -> None:
    """Show one question in full: by NAME, or by --run, --node, --generation and, in a fan-out, --item."""
    found = find_question(session, name, run_name, node, generation, item)
    if session.as_json:
        session.out_json(found)
    elif session.output == "yaml":
        session.out_yaml(found)
    elif session.output == "name":
        session.out(f"humanrequest/{found['metadata']['name']}")
    else:
        from compozy.cli.question import question_lines

        for line in question_lines(found, session.now(), session.terminal_width()):
            session.out(line)
