"""The columns of a file and the role that each may have, guessed from its name and the form of its cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

from sense7_qual._formats._lists import listed_turns, parsed_json
from sense7_qual._rating_values import NUMBER

__all__ = ["described"]

_NUMBERED: Final = "(id|key|no|nr|number|code|name)?"
_SHORTEST_TEXT: Final = 12  # characters, in the median: below it stand labels and names
_MOST_SCALE_POINTS: Final = 11
_LONGEST_ID: Final = 60


@dataclass(frozen=True, slots=True, repr=False)
class _Column:
    """What is counted of a column; never what a cell holds."""

    name: str
    question: str
    """What is asked in it, where a header row says so; "" otherwise."""
    n_rows: int
    n_filled: int
    n_distinct: int
    n_characters: float
    """The median of the filled cells."""
    longest: int
    numeric: bool
    whole: bool
    prose: bool
    """Whether most cells hold several words, or letters of a script that has no spaces."""
    turns: bool
    """Whether most cells are JSON lists of turns, each with a role and a text."""
    json: bool
    """Whether most cells are JSON lists or objects."""
    binary: bool
    """Whether there is nothing but 0 and 1: codes and checkboxes, no rating."""

    def named(self, pattern: str) -> bool:
        """Return True if the name fits the pattern, in small letters, without spaces and marks."""
        return re.fullmatch(pattern, _plain(self.name)) is not None

    def asks(self, pattern: str) -> bool:
        """Return True if the name or the question fits the pattern."""
        return self.named(pattern) or re.fullmatch(pattern, _plain(self.question)) is not None

    @property
    def identifies(self) -> bool:
        return self.n_filled == self.n_rows and self.longest <= _LONGEST_ID and not self.json

    @property
    def scale(self) -> bool:
        return self.numeric and 2 <= self.n_distinct <= _MOST_SCALE_POINTS and not self.binary

    @property
    def answers(self) -> bool:
        """Whether it may hold what people wrote: prose, most of which differs from row to row."""
        differs = 2 * self.n_distinct > self.n_filled
        return self.prose and differs and not self.json and self.n_characters >= _SHORTEST_TEXT


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()


def described(
    table: pd.DataFrame, questions: Mapping[str, Sequence[str]], labelled: Sequence[str]
) -> pd.DataFrame:
    """Return one row per column: what is counted of it, and the role that it may have in `corpus.read`."""
    columns = [
        _described(table[name], name, next(iter(questions.get(name, ())), "")) for name in table.columns
    ]
    roles = {column: role for role, column in _guessed([c for c in columns if c.name not in labelled])}
    frame = pd.DataFrame(
        {
            "column": [column.name for column in columns],
            "role": [roles.get(column.name) for column in columns],
            "n_filled": [column.n_filled for column in columns],
            "n_distinct": [column.n_distinct for column in columns],
            "n_characters": [column.n_characters for column in columns],
        }
    )
    types = {"column": "string", "role": "string", "n_filled": "Int64", "n_distinct": "Int64"}
    return frame.astype({**types, "n_characters": "float64"})


def _described(cells: pd.Series, name: str, question: str) -> _Column:
    stripped = [cell for cell in cells.fillna("").map(str.strip) if cell]
    lengths = pd.Series([len(cell) for cell in stripped], dtype="float64")

    def most(holds: Callable[[str], bool]) -> bool:
        return sum(map(holds, stripped)) * 2 > len(stripped)

    return _Column(
        name=name,
        question=question,
        n_rows=len(cells),
        n_filled=len(stripped),
        n_distinct=len(set(stripped)),
        n_characters=float(lengths.median()),
        longest=int(lengths.max()) if stripped else 0,
        numeric=bool(stripped) and all(NUMBER.fullmatch(cell) for cell in stripped),
        whole=bool(stripped) and all(re.fullmatch(r"[+-]?[0-9]{1,15}", cell) for cell in stripped),
        prose=most(_is_prose),
        turns=most(lambda cell: bool(listed_turns(cell))),
        json=most(lambda cell: parsed_json(cell) is not None),
        binary=all(NUMBER.fullmatch(cell) and float(cell) in {0, 1} for cell in stripped),
    )


def _is_prose(cell: str) -> bool:
    n_letters = sum(letter.isalpha() for letter in cell)
    return n_letters * 2 > len(cell) and (len(cell.split()) > 1 or not cell.isascii())


def _guessed(columns: list[_Column]) -> Iterator[tuple[str, str]]:
    """Yield each role for which there is a column, with its name."""
    left = list(columns)

    def take(role: str, *holds: Callable[[_Column], bool]) -> Iterator[tuple[str, str]]:
        """Take the first column of which one of the conditions holds, the first condition first."""
        for condition in holds:
            for column in left:
                if condition(column):
                    left.remove(column)
                    yield role, column.name
                    return

    yield from take("context", lambda c: c.turns)
    people = "case|participant|subject|respondent|user|person|worker|prolific|interviewee"
    yield from take(
        "case_id", lambda c: c.identifies and c.named(f"({people}){_NUMBERED}|(prolific)?pid|vpn?")
    )
    talks = "document|doc|conversation|dialog|dialogue|chat|thread|session|task|interview"
    yield from take("document_id", lambda c: c.identifies and c.named(f"({talks}){_NUMBERED}"))
    texts = "unit|message|msg|row|item|comment|text|response|answer|utterance|record"
    yield from take(
        "unit_id",
        lambda c: c.identifies and c.n_distinct == c.n_rows and c.named(f"({texts})?(id|key|uuid)"),
    )
    yield from take("position", lambda c: c.whole and c.named("position|pos|order|turn(no|index)?|index"))
    asked = ".*(text|comment|explanation|reason|why|answer|response|feedback|utterance).*"
    before = "context|history|transcript|dialog(ue)?history"
    answers = [c for c in left if c.answers and not c.named(before)]
    longest = max(answers, key=lambda c: c.n_characters, default=None)
    yield from take("text", lambda c: c in answers and c.asks(asked), lambda c: c is longest)
    rated = ".*(rating|score|overall|stars?|satisf|likert|empathy).*"
    yield from take("rating", lambda c: c.scale and c.asks(rated))
