"""Which column of a file holds what: guessed, named by an option, or asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

from sense7_qual._messages import did_you_mean
from sense7_qual.errors import ArgumentError

__all__ = ["NONE", "ROLES", "chosen_columns", "shown"]

NONE: Final = "-"
"""What is typed for no column."""

ROLES: Final[Mapping[str, str]] = {
    "text": "the text to code",
    "case_id": "the participant",
    "document_id": "the conversation",
    "rating": "the rating",
    "unit_id": "an id of each row",
    "position": "the place in the conversation",
    "context": "what came before the text",
}
_ASKED: Final = ("text", "case_id", "document_id", "rating")


def chosen_columns(
    described: pd.DataFrame, given: Mapping[str, str | None], *, ask: bool
) -> dict[str, str | None]:
    """Return the column of each role (None: there is none), asking for what is not given."""
    names = described["column"].tolist()
    guesses = described.dropna(subset="role").set_index("role")["column"].to_dict()
    chosen: dict[str, str | None] = {}
    for role in ROLES:
        answer = given[role]
        if answer is not None:
            if answer not in (*names, NONE):
                raise ArgumentError(_unknown(role, answer, names))
            chosen[role] = None if answer == NONE else answer
    taken = set(chosen.values())
    for role in ROLES:
        if role not in chosen:
            guess = None if guesses.get(role) in taken else guesses.get(role)
            chosen[role] = _ask(role, guess, names) if ask and role in _ASKED else guess
    if chosen["text"] is None:
        raise ArgumentError("new: expected the column of the texts – found none – name it: --text COLUMN.")
    return chosen


def _ask(role: str, guess: str | None, names: list[str]) -> str | None:
    offered = f" [{shown(guess)}]" if guess else f" ({NONE} for none)" if role != "text" else ""
    while True:
        try:
            answer = input(f"Column of {ROLES[role]}{offered}: ").strip()
        except EOFError:
            raise ArgumentError(
                "new: expected answers to the questions – found nobody to ask – pass --yes to take what is "
                "guessed, or name each column by its option."
            ) from None
        if not answer and (guess or role != "text"):
            return guess
        if answer == NONE and role != "text":
            return None
        if answer in names:
            return answer
        print(f"  There is no such column: {did_you_mean(answer, map(shown, names))}")


def _unknown(role: str, answer: str, names: list[str]) -> str:
    return (
        f"new: expected a column of the file for {ROLES[role]} – found {shown(answer)!r} – "
        f"{did_you_mean(answer, map(shown, names))}"
    )


def shown(column: Any) -> str:
    """Return a column's name, or its length where it may be a text: of a file without a header."""
    name = str(column)
    short = len(name) <= 40 and len(name.split()) <= 4 and name.isprintable()
    return name if short else f"({len(name)} characters)"
