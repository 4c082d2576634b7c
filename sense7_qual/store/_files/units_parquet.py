"""The units of a study as a table: what is accepted, what is written, and what is left after a withdrawal."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import accumulate
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import pandas as pd

from sense7_qual._arguments import is_unicode
from sense7_qual._messages import first_three
from sense7_qual.errors import TableError
from sense7_qual.frames import UNITS
from sense7_qual.store._files import study_notes

__all__ = [
    "Passages", "Repeated", "checked", "normalised", "parquet", "passages_of", "repeated", "short_text",
    "without",
]  # fmt: skip

_PASSAGE: Final = 25  # letters and digits: longer than a turn of phrase, shorter than most sentences
_OVERLAP: Final = 12  # of them: two or three words
_HINT: Final = 10  # of them: by these most texts are passed over quickly
_FEW: Final = 2  # participants: what stands beside the texts of more is a question or label of the study's
_KEYS: Final = frozenset({"unit_id", "text", "document_id", "case_id", "position"})
_NONE: Final[frozenset[str]] = frozenset()


def checked(units: pd.DataFrame) -> pd.DataFrame:
    """Return `units` by its contract, with a text in every row that is in the form offsets count on.

    Raises `TableError` where it is not what the contract says, a unit_id is one that no act may name, or a
    text is missing, empty or in another form.
    """
    if isinstance(units, pd.DataFrame):
        _refuse_columns(units)  # a column that stands twice has no one kind that the contract could check
    units = UNITS.check(units, as_written=True)
    _refuse_ids(units["unit_id"])
    _refuse_texts(units, units["text"].isna() | (units["text"] == ""), "none", "leave these units out")
    raw = units["text"].str.contains("\r\n", regex=False) | units["text"].str.startswith("\ufeff")
    _refuse_texts(
        units,
        raw,
        "a byte order mark or Windows line ends",
        "read the file with corpus.read, which brings texts to one form that offsets can count on",
    )
    return units


def _refuse_columns(units: pd.DataFrame) -> None:
    bad = [name for name in units.columns if not isinstance(name, str)]
    bad = bad or list(units.columns[units.columns.duplicated()])
    if bad:
        raise TableError(
            f"units: expected column names that are text and differ – found {first_three(bad)} – rename "
            "these columns."
        )


def _refuse_ids(unit_ids: pd.Series) -> None:
    """Refuse units on which nobody could record an act, or only under a name that shows as nothing."""
    bad = [row for row, one in enumerate(unit_ids) if "\0" in one or not one.strip() or not is_unicode(one)]
    if bad:
        raise TableError(
            "units: expected every unit_id to be Unicode text without NUL, and more than white space – found "
            f"others in {len(bad)} rows (first: row {first_three(bad)}) – give these units other ids."
        )


def _refuse_texts(units: pd.DataFrame, bad: pd.Series, problem: str, do: str) -> None:
    if bad.any():
        raise TableError(
            f"units: expected a text in every row – found {problem} in unit "
            f"{first_three(units['unit_id'][bad])} – {do}."
        )


def parquet(units: pd.DataFrame) -> bytes:
    """Return `units` as Parquet, or name the columns that do not fit (never a value of theirs)."""
    from pyarrow import ArrowException

    units = units.copy(deep=False)
    units.attrs = {}  # notes of other packages that need not fit in a file
    buffer = BytesIO()
    try:
        units.to_parquet(buffer, engine="pyarrow", index=False)
    except (ArrowException, UnicodeError, TypeError, ValueError):
        bad = [name for name in units.columns if not _fits(units[name])]
        raise TableError(
            f"units: expected values of one kind in each column – found mixed or unknown kinds in column "
            f"{first_three(bad)} – make each all numbers or all text."
        ) from None
    return buffer.getvalue()


def _fits(column: pd.Series) -> bool:
    from pyarrow import Array, ArrowException

    try:
        Array.from_pandas(column)
    except (ArrowException, UnicodeError, TypeError, ValueError):
        return False
    return True


def without(
    units: pd.DataFrame, withdrawn: Sequence[study_notes.Withdrawal], known: Repeated | None = None
) -> pd.DataFrame:
    """Return `units` without those of participants who withdrew.

    Earlier turns (`context`) in the same conversations are emptied too, because they may repeat what the
    participant said; and in all other units the cells beside the text that repeat a passage of theirs. Those
    are looked for, unless they are `known` of all units that go.
    """
    withdrawn_units = {unit_id for each in withdrawn for unit_id in each.unit_ids}
    chosen = units["unit_id"].isin(withdrawn_units) | units["case_id"].isin(
        {each.case_id for each in withdrawn}
    )
    if not chosen.any():
        return units
    is_known = known is not None and known.unit_ids == frozenset(units.loc[chosen, "unit_id"])
    theirs = known if known is not None and is_known else repeated(units, chosen)
    remaining = _without_context(units, chosen)
    for name in _variables(units):
        rows = np.isin(np.arange(len(units)), theirs.cells.get(name, []))
        column = remaining[name].mask(rows) if rows.any() else remaining[name]
        remaining[name] = _without_categories(column, chosen, theirs.passages)
    return remaining[~chosen].reset_index(drop=True)


def _without_context(units: pd.DataFrame, chosen: pd.Series) -> pd.DataFrame:
    """Return the units without the earlier turns in conversations of the `chosen` ones, but for their own."""
    remaining = units.copy()
    if "context" in remaining.columns:
        near = units["document_id"].isin(units.loc[chosen, "document_id"].dropna()) & ~chosen
        remaining["context"] = remaining["context"].mask(near)
    return remaining


def _without_categories(column: pd.Series, chosen: pd.Series, passages: Passages) -> pd.Series:
    """Return the column without the categories that only the participant had, which a file lists by name; of
    ordered ones, the steps of a scale, without those that repeat a passage."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column
    stale = {each for each in column.cat.categories if passages.in_text(str(each)) == "sure"}
    if not column.cat.ordered:
        stale |= set(column[chosen].dropna())
    return column.cat.remove_categories(list(stale - set(column[~chosen].dropna())))


@dataclass(frozen=True, slots=True, repr=False)
class Passages:
    """Runs of letters and digits by which a participant's words are known elsewhere.

    Texts are compared as `normalised` has them. A run lies over more than one word, but in scripts without
    capitals, which need not part words.

    Attributes
    ----------
    sure : frozenset of str
        Runs that are theirs: 25 letters and digits, or a whole text of 12 to 24 with three words or more,
        which no other participant's text has.
    doubtful : frozenset of str
        Runs that a person must judge: the same where another participant's text has them, or where they
        stand beside this and several other participants' texts; and 12 letters and digits that are rare.
    """

    sure: frozenset[str]
    doubtful: frozenset[str]
    _search: _Search

    @classmethod
    def of(cls, sure: frozenset[str], doubtful: frozenset[str]) -> Passages:
        """Return the passages, ready to be searched for."""
        return cls(sure, doubtful, _Search.of(sure | doubtful))

    def in_text(self, text: str) -> Literal["", "doubtful", "sure"]:
        """Return whether `text` surely repeats them, whether a person must judge, or neither (empty)."""
        runs = self._search.runs_in(text)
        if not runs.isdisjoint(self.sure):
            return "sure"
        return "" if runs.isdisjoint(self.doubtful) else "doubtful"

    def runs_in(self, text: str) -> frozenset[str]:
        """Return the runs that `text` has."""
        return self._search.runs_in(text)


@dataclass(frozen=True, slots=True, repr=False)
class _Search:
    """Runs by their length, and shorter hints: a text with a run has a hint where 3 divides the place."""

    runs: Mapping[int, frozenset[str]]
    hints: frozenset[str]

    @classmethod
    def of(cls, runs: Iterable[str]) -> _Search:
        by_length = defaultdict(set)
        for run in runs:
            by_length[len(run)].add(run)
        hints = {hint for sized in by_length.values() for run in sized for hint in _pieces(run, _HINT)}
        return cls({n: frozenset(sized) for n, sized in by_length.items()}, frozenset(hints))

    def runs_in(self, text: str) -> frozenset[str]:
        """Return the runs that `text` has."""
        line = normalised(text)
        if self.hints.isdisjoint(_pieces(line, _HINT, _OVERLAP - _HINT + 1)):
            return _NONE
        return _NONE.union(*(runs.intersection(_pieces(line, n)) for n, runs in self.runs.items()))


class Repeated(NamedTuple):
    """A participant's words, and where other units repeat them: the cells that surely do, as row numbers by
    column, and the units and columns that a person must judge."""

    unit_ids: frozenset[str]
    passages: Passages
    cells: Mapping[str, Sequence[int]]
    to_judge: Sequence[tuple[str, str]]


def repeated(units: pd.DataFrame, chosen: pd.Series) -> Repeated:
    """Return what the other `units` repeat of the `chosen` ones, which are those of a participant.

    What another participant's text has too is not surely theirs. Nor is what their text repeats of a cell
    beside it that several others have, too: a question, say.
    """
    own = chosen.to_numpy(dtype=bool)
    long, short, echoed = _spoken(units[own])
    beside = _NONE.union(*(_runs(text, _OVERLAP) for _, _, text in _cells(units, np.flatnonzero(own))))
    units = _without_context(units, chosen)
    search, others = _Search.of(long | short | beside), np.flatnonzero(~own)
    texts = _matches(_texts(units, others), search)
    cells = _matches(_cells(units, others), search)
    cases = _objects(units["case_id"])
    in_texts, in_cells = (_participants(each, cases) for each in (texts, cells))
    sure = frozenset(
        run for run in long - in_texts.keys() if run not in echoed or in_cells.get(run, 0) < _FEW
    )
    stays = [each for each in cells if sure.isdisjoint(each.runs)]
    in_stays = _participants(stays, cases)
    rare = {run for run in short - in_texts.keys() if in_stays.get(run, 0) <= _FEW}
    doubtful = (long - sure) | rare | (beside - in_texts.keys() - in_cells.keys())
    near = rare | {run for run in long if run in sure or in_texts.get(run) == 1}
    repeating_cells: dict[str, list[int]] = {}
    for each in cells:
        if not sure.isdisjoint(each.runs):
            repeating_cells.setdefault(each.column, []).append(each.row)
    to_judge = [
        (str(units["unit_id"].iloc[each.row]), each.column)
        for each in [*texts, *stays]
        if not near.isdisjoint(each.runs)
    ]
    return Repeated(
        frozenset(units["unit_id"][own]), Passages.of(sure, frozenset(doubtful)), repeating_cells, to_judge
    )


class _Match(NamedTuple):
    """Runs that stand in a row and column of the units."""

    row: int
    column: str
    runs: frozenset[str]

    def __repr__(self) -> str:
        return f"_Match(row {self.row}, column {self.column!r}, {len(self.runs)} runs)"


def _matches(texts: Iterable[tuple[int, str, str]], search: _Search) -> list[_Match]:
    runs_of: dict[str, frozenset[str]] = {}  # earlier turns and labels come again and again
    matches = []
    for row, column, text in texts:
        runs = runs_of.get(text)
        if runs is None:
            runs = runs_of[text] = search.runs_in(text)
        if runs:
            matches.append(_Match(row, column, runs))
    return matches


def _participants(matches: Iterable[_Match], cases: Any) -> dict[str, int]:
    """Return in how many participants' rows each run was found, counted as far as it matters."""
    of_whom: dict[str, set[object]] = defaultdict(set)
    for row, _, runs in matches:
        if cases[row] is not None:
            for run in runs:
                if len(of_whom[run]) <= _FEW:
                    of_whom[run].add(cases[row])
    return {run: len(each) for run, each in of_whom.items()}


def _spoken(theirs: pd.DataFrame) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return the passages and whole short texts of a participant, all short runs, and which of the first
    stand beside a text that has them."""
    long: set[str] = set()
    overlaps: set[str] = set()
    echoed: set[str] = set()
    rows = range(len(theirs))
    beside: dict[int, str] = defaultdict(str)
    for row, _, text in _cells(theirs, rows):
        beside[row] += normalised(text) + " "
    for row, _, text in _texts(theirs, rows):
        passages = _runs(text, _PASSAGE)
        if short := short_text(text):
            passages = {short}
        long |= passages
        overlaps |= _runs(text, _OVERLAP)
        echoed |= {run for run in passages if run in beside[row]}
    return frozenset(long), frozenset(overlaps), frozenset(echoed)


def _texts(units: pd.DataFrame, rows: Iterable[int]) -> Iterator[tuple[int, str, str]]:
    texts = _objects(units["text"])
    return ((row, "text", texts[row]) for row in rows if texts[row])


def _cells(units: pd.DataFrame, rows: Iterable[int]) -> Iterator[tuple[int, str, str]]:
    """Yield the row, column and text of what stands beside the texts."""
    for name in _variables(units):
        column = _objects(units[name])
        for row in rows:
            if text := _written(column[row]):
                yield row, name, text


def _objects(column: pd.Series) -> Any:
    return column.astype(object).where(column.notna(), None).to_numpy()


def _variables(units: pd.DataFrame) -> list[str]:
    """Return the columns that may hold text: the context, and variables but numbers and times."""
    number = pd.api.types.is_any_real_numeric_dtype
    bare = (number, pd.api.types.is_bool_dtype, pd.api.types.is_datetime64_any_dtype)
    return [
        str(name)
        for name in units.columns
        if name not in _KEYS and not any(each(units[name].dtype) for each in bare)
    ]


def _written(value: object) -> str:
    """Return the text in a cell, also of a list or mapping; empty where it has none."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return " ".join(_written(each) for pair in value.items() for each in pair)
    if isinstance(value, list | tuple | set | np.ndarray):
        return " ".join(map(_written, value))
    return value.decode("utf-8", "ignore") if isinstance(value, bytes) else ""


_OTHER: Final = re.compile(r"[\W_]+")
_WORD: Final = re.compile(r"[^\W_]+")
_JOINED: Final = frozenset({"Mn", "Mc", "Me", "Cf"})  # accents, soft hyphens: within a word
_PLAIN: Final = {code: chr(code).lower() if chr(code).isalnum() else None for code in range(128)}


def normalised(text: str) -> str:
    """Return the letters and digits of `text` alone, in one form (NFKC, no accents) and case.

    So white space, punctuation, soft hyphens, typographic quotes and capitals make no difference.
    """
    if text.isascii():
        return text.translate(_PLAIN)
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFKC", _OTHER.sub("", plain))


def _line(text: str) -> tuple[str, list[int]]:
    """Return the normalised text, and for each place how many words had begun there.

    A letter of a script without capitals counts as a word: Chinese does not part them.
    """
    plain = "".join(
        each for each in unicodedata.normalize("NFKD", text) if unicodedata.category(each) not in _JOINED
    )
    words = [normalised(word) for word in _WORD.findall(plain)]
    begins = [
        place == 0 or (letter.isalpha() and letter.upper() == letter)
        for word in words
        for place, letter in enumerate(word)
    ]
    return "".join(words), list(accumulate(begins))


def _runs(text: str, n: int) -> set[str]:
    """Return the runs of `n` letters and digits of `text` that lie over more than one word."""
    line, begun = _line(text)
    return {line[i : i + n] for i in range(len(line) - n + 1) if begun[i + n - 1] > begun[i]}


def passages_of(text: str) -> frozenset[str]:
    """Return the runs of 25 letters and digits of `text` that lie over more than one word."""
    return frozenset(_runs(text, _PASSAGE))


def short_text(text: str) -> str:
    """Return the letters and digits of a short text, 12 to 24 in three words or more; else nothing."""
    line, begun = _line(text)
    return line if _OVERLAP <= len(line) < _PASSAGE and begun[-1] > 2 else ""


def _pieces(line: str, n: int, step: int = 1) -> list[str]:
    return [line[i : i + n] for i in range(0, len(line) - n + 1, step)]
