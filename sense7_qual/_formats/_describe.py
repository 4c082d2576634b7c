"""The columns of a file: what each is, and the role that it may have, guessed from its name and its cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

from sense7_qual._formats._lists import listed_turns, parsed_json
from sense7_qual._formats._measured import is_measured
from sense7_qual._rating_values import NUMBER

__all__ = ["COLUMNS", "described"]

COLUMNS: Final = {
    "number": "Int64", "column": "string", "wording": "string", "n_filled": "Int64", "n_rows": "Int64",
    "what": "string", "role": "string",
}  # fmt: skip

_NUMBERED: Final = "(id|key|no|nr|number|code|name)?"
_SHORTEST_TEXT: Final = 12  # characters, in the median: below it are labels and names
_MOST_SCALE_POINTS: Final = 11
_LONGEST_ID: Final = 60
_ID: Final = re.compile(
    r"(?<![^\W_])I[Dd](?![^\W_])"
)  # as a word of its own: "Antwort ID", "ID de respuesta"


@dataclass(frozen=True, slots=True, repr=False)
class _Column:
    """What is counted of a column; never what a cell holds."""

    name: str
    wording: str
    """What is asked in it, where a header row says so; "" otherwise."""
    special: str
    """What it is, whatever its cells are: "labels", "personal"; "" otherwise."""
    n_rows: int
    n_filled: int
    n_distinct: int
    n_characters: float
    """The median of the filled cells."""
    longest: int
    numeric: bool
    whole: bool
    dates: bool
    prose: bool
    """Whether most cells hold several words, or letters of a script that has no spaces."""
    pieces: bool
    """Whether the cells, parted at commas and semicolons, are made of pieces that come back."""
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
        """Return True if the name or the wording fits the pattern."""
        return self.named(pattern) or re.fullmatch(pattern, _plain(self.wording)) is not None

    @property
    def identifies(self) -> bool:
        return self.n_filled == self.n_rows and self.longest <= _LONGEST_ID and not self.json

    @property
    def scale(self) -> bool:
        return self.numeric and 2 <= self.n_distinct <= _MOST_SCALE_POINTS and not self.binary

    @property
    def repeats(self) -> bool:
        return 2 * self.n_distinct <= self.n_filled

    @property
    def answers(self) -> bool:
        """Whether it may hold what people wrote: prose, most of which differs from row to row."""
        written = self.prose and not self.json and self.n_characters >= _SHORTEST_TEXT
        return written and not (self.repeats or self.pieces or self.special)

    @property
    def what(self) -> str:
        """What it is, in a word."""
        kinds = {
            "empty": not self.n_filled,
            self.special: bool(self.special),
            "conversation": self.turns,
            "the same in every row": self.n_distinct == 1 < self.n_rows == self.n_filled,
            "numbers": self.numeric,
            "dates": self.dates,
            "checklist": self.pieces,
            "few answers": self.repeats,
        }
        return next((kind for kind, holds in kinds.items() if holds), "words")


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()


def described(
    table: pd.DataFrame,
    wordings: Mapping[str, str],
    *,
    labelled: Collection[str],
    personal: Collection[str],
    aside: Collection[str],
    marked: Mapping[str, str | tuple[str, ...]],
) -> pd.DataFrame:
    """Return one row per column: its number, name and wording, what it is, and the role that it may have.

    Several columns have the role ``text`` where they fit alike. Roles that a program's mark gives come before
    guesses, and the columns `aside`, which a program adds, have no other.
    """
    special = dict.fromkeys(personal, "personal") | dict.fromkeys(labelled, "labels")
    columns = [
        _described(table[name], name, wordings.get(name, ""), special.get(name, "")) for name in table.columns
    ]
    by_mark = {
        column: role
        for role in sorted(marked)  # an id that is the participant, too, is shown as the id
        for column in ([marked[role]] if isinstance(marked[role], str) else marked[role])
    }
    free = [c for c in columns if c.special != "labels" and c.name not in {*aside, *by_mark}]
    roles = {column: role for role, column in _guessed(free) if role not in marked} | by_mark
    rows = [
        (n, c.name, c.wording or None, c.n_filled, c.n_rows, c.what, roles.get(c.name))
        for n, c in enumerate(columns, start=1)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def _described(cells: pd.Series, name: str, wording: str, special: str) -> _Column:
    stripped = [cell for cell in cells.fillna("").map(str.strip) if cell]
    lengths = pd.Series([len(cell) for cell in stripped], dtype="float64")

    def most(holds: Callable[[str], bool]) -> bool:
        return sum(map(holds, stripped)) * 2 > len(stripped)

    return _Column(
        name=name,
        wording=wording,
        special=special,
        n_rows=len(cells),
        n_filled=len(stripped),
        n_distinct=len(set(stripped)),
        n_characters=float(lengths.median()),
        longest=int(lengths.max()) if stripped else 0,
        numeric=bool(stripped) and all(NUMBER.fullmatch(cell) for cell in stripped),
        whole=bool(stripped) and all(re.fullmatch(r"[+-]?[0-9]{1,15}", cell) for cell in stripped),
        dates=bool(stripped) and all(map(is_measured, stripped)),
        prose=most(_is_prose),
        pieces=_come_back(stripped),
        turns=most(lambda cell: bool(listed_turns(cell))),
        json=most(lambda cell: parsed_json(cell) is not None),
        binary=all(NUMBER.fullmatch(cell) and float(cell) in {0, 1} for cell in stripped),
    )


def _is_prose(cell: str) -> bool:
    n_letters = sum(letter.isalpha() for letter in cell)
    return n_letters * 2 > len(cell) and (len(cell.split()) > 1 or not cell.isascii())


def _come_back(cells: Sequence[str]) -> bool:
    """Return True for a checklist: several pieces to a cell, each in two cells or more on average."""
    pieces = [piece.strip() for cell in cells for piece in re.split("[,;]", cell) if piece.strip()]
    return len(pieces) > len(cells) and 2 * len(set(pieces)) <= len(pieces)


def _guessed(columns: list[_Column]) -> Iterator[tuple[str, str]]:
    """Yield each role for which there is a column, with its name; every column that fits best as a text."""
    left = list(columns)

    def take(role: str, holds: Callable[[_Column], bool]) -> Iterator[tuple[str, str]]:
        """Take the first column of which the condition holds."""
        for column in left:
            if holds(column):
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
        lambda c: (
            c.identifies
            and c.n_distinct == c.n_rows
            and (c.named(f"({texts})?(id|key|uuid)") or _ID.search(c.name) is not None)
        ),
    )
    yield from take("position", lambda c: c.whole and c.named("position|pos|order|turn(no|index)?|index"))
    asked = ".*(text|comment|explanation|reason|why|answer|response|feedback|utterance).*"
    before = "context|history|transcript|dialog(ue)?history"
    answers = [c for c in left if c.answers and not c.named(before)]
    yield from (("text", c.name) for c in [c for c in answers if c.asks(asked)] or answers)
    rated = ".*(rating|score|overall|stars?|satisf|likert|empathy).*"
    yield from take("rating", lambda c: c.scale and c.asks(rated))
