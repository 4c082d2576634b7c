"""The one question of `sense7-qual report` and `bundle`: how disagreements count."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from sense7_qual.errors import ArgumentError

if TYPE_CHECKING:
    from sense7_qual.acts.contents import AnalysisPlan
    from sense7_qual.adjudication import SettledBy
    from sense7_qual.store import Store

_ANSWERS: Final = ("rulings", "discussion", "majority", "nothing", "any")


def add_settled_by(command: argparse.ArgumentParser) -> None:
    """Add the option that answers the question."""
    command.add_argument(
        "--settled-by",
        choices=_ANSWERS,
        help="how disagreements count: as ruled, as settled in discussion, by the majority, not at all (each "
        "coder's own), or any (a code counts once anybody applied it). Default: as registered; else it asks",
    )


def registered(store: Store) -> AnalysisPlan:
    """Return the last registered plan, or one that leaves everything open."""
    from sense7_qual.acts.contents import AnalysisPlan

    plans = store.preregistrations
    return plans[-1].plan if plans else AnalysisPlan(question="What do the codes show?")


def settled_by(
    store: Store, plan: AnalysisPlan, given: SettledBy | None, *, command: str
) -> SettledBy | None:
    """Return how disagreements count: as given or planned, or else as somebody at the terminal answers.

    None where there is nothing to settle. Raises `ArgumentError`, with the question and what each answer
    leaves out, where nobody can answer.
    """
    from sense7_qual import report

    if given is not None or plan.settled_by is not None:
        return given
    answers = report.open_answers(store, with_agreement=plan.with_agreement)
    if not answers:
        return None
    question = f"{report.QUESTION}\n{report.listed(answers)}: "
    while True:
        try:
            answer = input(question).strip()
        except EOFError:
            raise ArgumentError(
                f"{command}: expected an answer: {report.QUESTION} – found no terminal to ask at, and none "
                f"in the registered plan – pass --settled-by: {report.listed(answers)}."
            ) from None
        if answer in answers:
            return answer
        question = f"One of {', '.join(answers)}: "
