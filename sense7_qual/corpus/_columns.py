"""A column of strings in its role: ids, positions, labels of ratings, turns.

Each function takes a frame of strings as `_formats.read_strings` gives it and returns the column typed, or
says which rows stand in the way. The frame's index names the rows in errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd

from sense7_qual._arguments import canonical, read_mapping
from sense7_qual._formats import listed_turns
from sense7_qual._messages import did_you_mean, first_three, places, shown
from sense7_qual.errors import TableError

Columns = str | Sequence[str] | Mapping[str, str]
"""A column, several, or {column: its name in the units}."""

_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,15}")
_LONGEST_ID: Final = 200
# 1.23457E+18, or 5.00E+10 for the id 5e10: what a spreadsheet makes of an id and saves as CSV.
_ROUNDED: Final = re.compile(r"[+-]?\d(?:[.,]\d+)?[eE]\+\d{1,3}", re.ASCII)


def require(table: pd.DataFrame, name: str) -> None:
    """Raise `TableError`, with the nearest column's name, where `table` has no column `name`."""
    if name not in table.columns:
        # The first row of a file without a header is somebody's text: long names are not shown.
        known = [shown(column) for column in table.columns]
        raise TableError(
            f"expected a column {name!r} – found {first_three(known) or 'no columns'} – "
            f"{did_you_mean(name, known)}"
        )


def renamed(columns: Columns) -> dict[str, str]:
    """Return the name in the units of each column."""
    if isinstance(columns, Mapping):
        return dict(columns)
    return {name: name for name in ([columns] if isinstance(columns, str) else columns)}


def missing(table: pd.DataFrame) -> pd.Series:
    """Return a column that is missing in every row of `table`."""
    return pd.Series(pd.NA, index=table.index, dtype="string")


def unit_ids(table: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """Return the columns joined by "/", each id once; without columns, row-1, row-2 … padded with zeros."""
    if not columns:
        width = len(str(len(table)))
        names = [f"row-{number:0{width}d}" for number in range(1, len(table) + 1)]
        return pd.Series(names, index=table.index, dtype="string")
    for column in columns:
        require(table, column)
    ids, *parts = [ids_of(table, column) for column in columns]
    for part in parts:
        ids = ids + "/" + part
    twice = ids.duplicated(keep=False)
    if twice.any():
        named = [shown(name, limit=40, words=1) for name in ids[twice].unique()]
        raise TableError(
            f"expected each {' / '.join(columns)} once – found {first_three(named)} more than once, in "
            f"{places(ids.index[twice])} – keep one of each, or identify the rows by more columns: "
            'unit_id=["…", "…"].'
        )
    return ids


def ids_of(table: pd.DataFrame, column: str | None) -> pd.Series:
    """Return a column of ids as written, each there, none that could be mistaken for another."""
    if column is None:
        return missing(table)
    ids = table[column]
    stripped = ids.fillna("").map(str.strip)
    blank = stripped == ""
    if blank.any():
        raise TableError(
            f"expected an id in every row of column {column!r} – found none in {places(ids.index[blank])} – "
            "fill it in, drop the rows, or name another column."
        )
    long = ids.str.len() > _LONGEST_ID
    if long.any():
        raise TableError(
            f"expected ids of at most {_LONGEST_ID} characters in column {column!r} – found longer ones in "
            f"{places(ids.index[long])} – choose another column for the ids."
        )
    rounded = stripped.map(lambda name: bool(_ROUNDED.fullmatch(name))).astype(bool)
    if rounded.any():
        raise TableError(
            f"expected ids as they were given in column {column!r} – found numbers that a spreadsheet has "
            f"rounded, such as 1.23457E+18, in {places(ids.index[rounded])} – different ids may have become "
            "one: take the column from the original file, formatted as text before a spreadsheet opens it."
        )
    distinct = stripped[~ids.duplicated()]
    alike = stripped.isin(distinct[distinct.duplicated()])
    if alike.any():
        raise TableError(
            f"expected one spelling of each id in column {column!r} – found the same id with and without "
            f"spaces around it in {places(ids.index[alike])} – use one spelling, or they would count as two."
        )
    return ids


def positions_of(table: pd.DataFrame, column: str | None, documents: pd.Series) -> pd.Series:
    """Return a column of whole numbers, or 1, 2 … in the order of the rows of each document."""
    if column is None:
        order: pd.Series = documents.groupby(documents).cumcount() + 1
        return order.where(documents.notna()).astype("Int64")
    whole = table[column].fillna("").map(str.strip).astype("string")
    whole = whole.mask(whole == "")
    bad = (
        whole.map(lambda value: not _WHOLE.fullmatch(value), na_action="ignore")
        .fillna(value=False)
        .astype(bool)
    )
    if bad.any():
        values = [shown(value, limit=20, words=1) for value in whole[bad].unique()]
        raise TableError(
            f"expected whole numbers in column {column!r} – found {first_three(values)} in "
            f"{places(whole.index[bad])} – correct them, or leave position out."
        )
    return whole.astype("Int64")


def turns_of(context: str) -> str | None:
    """Return a context as a JSON list of turns, or None where it is blank."""
    if not context.strip():
        return None
    turns = listed_turns(context) or [{"role": "", "text": canonical(context)}]
    return json.dumps(turns, ensure_ascii=False)


def labels_of(rating_labels: Mapping[str, float | None] | None) -> dict[str, float | None]:
    """Return the labels of ratings in the form in which they are looked up, None for missing."""
    known: dict[str, float | None] = {}
    for label, value in read_mapping(rating_labels).items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise TableError(
                f"expected a number, or None for missing, for the rating label {label!r} – found "
                f"{type(value).__name__} – correct rating_labels."
            )
        known[str(label).strip().casefold()] = None if value is None or np.isnan(value) else float(value)
    return known


# Several columns of texts, one for each question: a unit is one participant's answer to one question


RatingColumns = str | Sequence[str] | Mapping[str, str | Sequence[str]]

QUESTION: Final = "question"
"""The variable that names the question, and the role of the turn that holds its wording."""


def named(texts: Columns, columns: Sequence[str]) -> dict[str, str]:
    """Name each column of texts for the units: Q3 for the third one if its name is long."""
    if isinstance(texts, Mapping):
        return renamed(texts)
    return {
        name: f"Q{columns.index(name) + 1}"
        if shown(name, limit=40, words=4) != name and name in columns
        else name
        for name in renamed(texts)
    }


def by_question(ratings: RatingColumns, n_questions: int) -> list[dict[str, str]]:
    """Return for each question the columns of its ratings, with their names in the units."""
    of_all = ratings if isinstance(ratings, Mapping) else renamed(ratings)
    rated: list[dict[str, str]] = [{} for _ in range(n_questions)]
    for name, of in of_all.items():
        if isinstance(of, str):
            pairs = [(name, of)] * n_questions
        elif len(of) == n_questions:
            pairs = [(column, name) for column in of]
        else:
            raise TableError(
                f"expected {n_questions} columns of rating {name!r}, one for each column of texts – "
                f"found {len(of)} – name them in the same order."
            )
        for question, (column, rating) in zip(rated, pairs, strict=True):
            question[column] = rating
    return rated


def put_together(parts: Mapping[str, pd.DataFrame], wordings: Iterable[str]) -> pd.DataFrame:
    """Return the units of all questions, one question after the other, its wording above their context."""
    asked = [
        part.assign(unit_id=part["unit_id"] + f"/{name}", context=_asked(part["context"], wording))
        for (name, part), wording in zip(parts.items(), wordings, strict=True)
    ]
    return pd.concat(asked)


def _asked(contexts: pd.Series, wording: str) -> list[str]:
    turn = {"role": QUESTION, "text": wording}
    before = (json.loads(said) if isinstance(said, str) else [] for said in contexts)
    return [json.dumps([turn, *turns], ensure_ascii=False) for turns in before]
