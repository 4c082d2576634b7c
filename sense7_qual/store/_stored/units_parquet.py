"""The units of a study as a table: what is accepted, what is written, and what is left after a withdrawal."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

import numpy as np
import pandas as pd

from sense7_qual._arguments import is_unicode
from sense7_qual._messages import first_three
from sense7_qual.errors import TableError
from sense7_qual.frames import UNITS
from sense7_qual.store._stored import study_notes
from sense7_qual.store._stored.repeated_passages import (
    Passages,
    Repeated,
    find_repeated,
    variables,
    without_context,
)


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
    participant said; and in all other units the cells next to the text that repeat a passage of theirs. Those
    are looked for, unless they are `known` of all units that go.
    """
    withdrawn_units = {unit_id for each in withdrawn for unit_id in each.unit_ids}
    chosen = units["unit_id"].isin(withdrawn_units) | units["case_id"].isin(
        {each.case_id for each in withdrawn}
    )
    if not chosen.any():
        return units
    is_known = known is not None and known.unit_ids == frozenset(units.loc[chosen, "unit_id"])
    theirs = known if known is not None and is_known else find_repeated(units, chosen)
    remaining = without_context(units, chosen)
    for name in variables(units):
        rows = np.isin(np.arange(len(units)), theirs.cells.get(name, []))
        column = remaining[name].mask(rows) if rows.any() else remaining[name]
        remaining[name] = _without_categories(column, chosen, theirs.passages)
    return remaining[~chosen].reset_index(drop=True)


def _without_categories(column: pd.Series, chosen: pd.Series, passages: Passages) -> pd.Series:
    """Return the column without the categories that only the participant had, which a file lists by name; of
    ordered ones, the steps of a scale, without those that repeat a passage."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column
    stale = {each for each in column.cat.categories if passages.in_text(str(each)) == "sure"}
    if not column.cat.ordered:
        stale |= set(column[chosen].dropna())
    return column.cat.remove_categories(list(stale - set(column[~chosen].dropna())))
