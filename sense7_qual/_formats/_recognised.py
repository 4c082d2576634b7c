"""What a file was found to be, before anything is made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import pandas as pd

from sense7_qual._formats._describe import described
from sense7_qual._formats._header import is_evident
from sense7_qual._messages import first_three, places, shown
from sense7_qual.errors import ImportRefused

__all__ = ["APART", "QUESTIONS", "TITLE", "Ask", "Recognised"]

APART: Final = "read each part by itself, and put the units together (pandas.concat)."
TITLE: Final = "title"
QUESTIONS: Final = "questions"


@dataclass(frozen=True, slots=True)
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
