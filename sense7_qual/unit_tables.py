"""The units of a study as a table: what is accepted, what is written, and what is left after a withdrawal."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

import pandas as pd

from sense7_qual import sealed
from sense7_qual._checks import is_unicode
from sense7_qual.errors import TableError, first_three
from sense7_qual.tables import UNITS

__all__ = ["checked", "parquet", "without"]


def checked(units: pd.DataFrame) -> pd.DataFrame:
    """Return `units` by its contract, with a text in every row that is in the form offsets count on.

    Raises
    ------
    TableError
        It is not what the contract says, a unit_id is one that no act may name, or a text is missing, empty
        or in another form.
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


def _refuse_texts(units: pd.DataFrame, bad: pd.Series, found: str, do: str) -> None:
    if bad.any():
        raise TableError(
            f"units: expected a text in every row – found {found} in unit "
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


def without(units: pd.DataFrame, withdrawn: Sequence[sealed.Withdrawal]) -> pd.DataFrame:
    """Return `units` without those of participants who withdrew.

    Earlier turns (`context`) in the same conversations are emptied too, because they may repeat what the
    participant said.
    """
    gone = {unit_id for each in withdrawn for unit_id in each.unit_ids}
    chosen = units["unit_id"].isin(gone) | units["case_id"].isin({each.case_id for each in withdrawn})
    if not chosen.any():
        return units
    near = units["document_id"].isin(units.loc[chosen, "document_id"].dropna())
    kept = units.copy()
    if "context" in kept.columns:
        kept["context"] = kept["context"].mask(near)
    return kept[~chosen].reset_index(drop=True)
