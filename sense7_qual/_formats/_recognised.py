"""What a file was found to be, before anything is made of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import pandas as pd

from sense7_qual._formats._cells import is_measured
from sense7_qual._formats._header import APART, QUESTIONS, TITLE, is_evident
from sense7_qual._formats._json import listed_turns, parsed_json
from sense7_qual._messages import first_three, places, shown
from sense7_qual._rating_values import NUMBER
from sense7_qual.errors import ImportRefused


@dataclass(frozen=True, slots=True, repr=False)
class Ask:
    """What must be said before the file can be read, because it changes the result."""

    parameter: str
    """The parameter that says it: "preview", "kind"."""
    what: str
    """What it is about, in words, without the places."""
    at: pd.Index[Any]
    """The rows that it concerns; none where it is the whole file."""

    def __str__(self) -> str:
        return f"{self.what}{f' in {places(self.at)}' if len(self.at) else ''}"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Recognised:
    """What a file is, by the marks of the program that wrote it, and the table that it holds."""

    kind: str
    """A paragraph of kinds.toml, such as "qualtrics"; "table" where no mark was found."""
    program: str
    """Whose file it is, for people; "" without a mark."""
    holds: Literal["texts", "codings", "codes", "people"]
    """What it is for: `corpus.read`, `codings.read`, `Codebook.read`, or none of these."""
    what: str
    """What it is, where it does not hold texts: "coded segments"."""
    evidence: tuple[str, ...]
    """The marks, in words, with places and counts."""
    header: tuple[int, ...]
    """The lines of the names and of the wordings; () for a DataFrame and where the format names columns."""
    left_out: pd.DataFrame
    """The rows that are not in `table`: their line, and why."""
    questions: Mapping[str, Sequence[str]]
    """By column the wordings of its question in header rows, each once."""
    labelled: tuple[str, ...]
    """Columns of the labels of others, which coders must not see."""
    keeps_variables: bool
    """False where any column may hold such labels, so that `variables` must be named."""
    personal: Mapping[str, str]
    """By column why it may name or place a person."""
    aside: tuple[str, ...]
    """Columns that the program adds, which are no answers."""
    roles: Mapping[str, str | tuple[str, ...]]
    """By role of `corpus.read` (unit_id, case_id) the column, or the columns that are joined."""
    once: bool
    """Whether rows of the same unit_id repeat one text."""
    n_unfinished: int
    """How many responses the program marks as not finished; they are kept."""
    closes: tuple[str, ...]
    """Columns that end a form and are blank in the rows of other forms."""
    asks: tuple[Ask, ...]
    merged: Mapping[str, tuple[str, ...]]
    """By column its merged cells, which have their value in each row of the table."""
    renamed: tuple[str, ...]
    """The names that several columns had, which are numbered now."""
    named: bool
    """Whether the format names its columns elsewhere than in a row, as JSON and Parquet do."""
    counted: bool
    """Whether a first column without a name counted the rows, as R and pandas write one; `table` lacks it."""
    name: str
    """The file's name, for errors."""
    table: pd.DataFrame
    """The cells as strings; the index says where each row is in the file."""

    @property
    def labels(self) -> dict[str, str]:
        """The wording of each column's question, where a header row gives it."""
        return {column: asked[0] for column, asked in self.questions.items() if asked}

    @property
    def columns(self) -> pd.DataFrame:
        """One row per column, with what it is and the role that it may have in `corpus.read`."""
        special = {"labelled": self.labelled, "personal": self.personal, "aside": self.aside}
        return described(self.table, self.labels, **special, marked=self.roles)

    @property
    def evident(self) -> bool:
        """Whether the names are certainly no response: then a long one, too, may be shown."""
        return self.named or self.kind != "table" or is_evident(self.table)

    def refuse_reworded(self, column: str) -> None:
        """Raise `ImportRefused` where a column holds the answers to several questions."""
        n_wordings = len(self.questions.get(column, ()))
        if n_wordings > 1:
            raise ImportRefused(
                f"expected one question in column {shown(column)!r} – found {n_wordings} wordings in "
                f"{self._rows(QUESTIONS)} – use one wording if they ask the same, or {APART}"
            )

    @property
    def rows_left_out(self) -> list[str]:
        """The rows that are not in the table, for a warning."""
        header = self.left_out[self.left_out["why"] != TITLE]
        of = f" of {self.program}" if self.program else ""
        rows = "1 header row" if len(header) == 1 else f"{len(header)} header rows"
        said = [f"{rows}{of} in {places(self._places(header))}"] if len(header) else []
        return said + ([f"a title in {self._rows(TITLE)}"] if len(header) < len(self.left_out) else [])

    @property
    def changes(self) -> list[str]:
        """What is in the table and not in the file, for a warning."""
        said = [
            f"filled {len(at)} merged range{'' if len(at) == 1 else 's'} down in column {shown(name)!r}"
            for name, at in self.merged.items()
        ]
        rows = f"{self.n_unfinished} unfinished response{'' if self.n_unfinished == 1 else 's'}"
        said += [f"kept {rows}"] if self.n_unfinished else []
        said += ["left out the numbers of the rows, in a column without a name"] if self.counted else []
        names = first_three(map(shown, self.renamed))
        return said + ([f"numbered the columns of one name, {names}"] if self.renamed else [])

    def of_form(self, column: str) -> pd.Series:
        """Return in which rows a column can be filled: where a row is of one form, in those of its form."""
        after = self.table.columns[self.table.columns.get_loc(column) :]
        closing = next((name for name in after if name in self.closes), None)
        filled = self.table[column].notna()
        return filled if closing is None else filled | self.table[closing].notna()

    def rows_of(self, texts: Sequence[str]) -> pd.DataFrame:
        """Return the table without the rows of forms that have none of the texts."""
        if not self.closes or not texts:
            return self.table
        return self.table[pd.concat([self.of_form(text) for text in texts], axis=1).any(axis=1)]

    def refuse_merged(self, column: str) -> None:
        """Raise `ImportRefused` where a text is in merged cells, and would be in several units."""
        if column in self.merged:
            raise ImportRefused(
                f"{self.name}: expected a text of its own in each row of column {shown(column)!r} – found "
                f"cells merged in {first_three(self.merged[column])} – unmerge them."
            )

    def _places(self, rows: pd.DataFrame) -> pd.Index[Any]:
        at: pd.Index[Any] = pd.Index(rows["line"], name=self.table.index.name)
        return at

    def _rows(self, why: str) -> str:
        return places(self._places(self.left_out[self.left_out["why"] == why]))

    def __repr__(self) -> str:
        lines = [self._found(), *(f"  {one}" for one in self.evidence)]
        if len(self.left_out):
            why = ", ".join(dict.fromkeys(self.left_out["why"]))
            lines.append(f"  left out: {places(self._places(self.left_out))} ({why})")
        lines += [f"  {one}" for one in self.changes]
        lines += [f"  asked: {ask.parameter} ({ask})" for ask in self.asks]
        for what, names in {"labels of others": self.labelled, "personal": [*self.personal]}.items():
            lines += [f"  {what}: {', '.join(map(shown, names))}"] if names else []
        return "\n".join(lines)

    def _found(self) -> str:
        n_rows, index = len(self.table), self.table.index
        of = {"texts": "texts to code", "codings": "codings", "codes": "codes", "people": "participants"}
        lines = "" if index.name == "row" else f"{index.name}s "
        where = f" ({lines}{index[0]} to {index[-1]})" if n_rows > 1 else ""
        said = f"{self.program or self.kind.capitalize()}: {n_rows} row{'' if n_rows == 1 else 's'}{where}"
        return said if self.kind == "table" else f"{said}, {of[self.holds]}"


# What a column is, and the role that it may have


COLUMNS: Final = {
    "number": "Int64",
    "column": "string",
    "wording": "string",
    "n_filled": "Int64",
    "n_rows": "Int64",
    "what": "string",
    "role": "string",
}

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
