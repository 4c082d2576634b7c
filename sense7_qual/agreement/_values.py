"""Values read from arrays and frames: axes named, values checked and numbered, before any coefficient."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._messages import first_three, outside
from sense7_qual.agreement._what_shows import who_is_no_person
from sense7_qual.errors import TableError
from sense7_qual.frames import check_coder_names, people, without_models

Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]

_BLOCK: Final = 131_072
"""Values handled at a time: they and their temporaries fit a processor's second cache."""
_FIRST: Final = 1_024
"""Units that are looked at before all others."""
_SMALL: Final = 254
"""Whole numbers that spread over at most this many are numbered by subtraction alone."""
_EXACT: Final = 2**53
"""Whole numbers beyond this are not all told apart as floating-point numbers."""
AXES: Final = ("coder", "unit_id")
KEPT: Final = "coders that are people"
"""In the attributes of a frame: the names that `from_wide` was told to keep."""
_MANY_CODERS: Final = 10
_TIMES_THE_UNITS: Final = 4
"""More coders than the first, and so many times the units, is rare; the other way round it is every study."""
_SEVERAL_CODERS: Final = range(5, 13)
_FEW_UNITS: Final = range(2, 6)
"""So many coders of so few units are rare, too: it is what a first sheet looks like the other way round."""


@dataclass(frozen=True, slots=True)
class Coded:
    """A table of numbered values: `codes` (coders, units) counts from 1, and 0 is missing.

    `categories` holds the value of each number, sorted, or, where strings are `ordered`, in the order of
    their scale; it may hold some that do not occur.
    """

    categories: npt.NDArray[Any]
    codes: npt.NDArray[Any]
    ordered: bool = False


def read_values(values: npt.ArrayLike) -> Coded:
    """Read what a user gave; an array that is likely the wrong way round gets a warning."""
    table = coded(values)
    if not isinstance(values, pd.DataFrame):
        warn_of_shape(*table.codes.shape)
    return table


def coded(values: npt.ArrayLike) -> Coded:
    """Read a table (coders, units) and number its values; see `from_values`."""
    table = array_of(values)
    if table.ndim != 2:
        raise TableError(
            f"values: expected a table (coders, units) – found {table.ndim} dimension(s), or rows of "
            "unequal length – give one row per coder, with None where a coder has no value."
        )
    if table.dtype.kind == "U" and np.isin(table, np.array(["nan", "None"], dtype=table.dtype)).any():
        raise TableError(
            "values: expected missing values to be None or NaN – found them turned into the text 'nan' or "
            "'None' – make the array with dtype=object."
        )
    scale = scale_of(values)
    if scale is not None:
        return _on_scale(table, scale)
    if table.dtype.kind in "biuf" and table.size:
        quick = _whole_numbers(table)
        if quick is not None:
            return quick
    return _any_values(table)


def bad_values(table: Coded, bad: Truths, *, expected: str, problem: str) -> TableError:
    """Return the error that names the places of the categories marked in `bad`, and never a value."""
    where = np.argwhere(np.isin(table.codes, np.flatnonzero(bad) + 1))
    return _error(where, expected, problem)


def array_of(values: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return values as an array (coders, units), which a frame is by the names of its axes alone."""
    if isinstance(values, np.ndarray):
        return _unmasked(values)
    if isinstance(values, pd.DataFrame):
        return _unmasked(named_table(values).values)
    refuse_other_frames(values)
    if isinstance(values, list | tuple):
        check_rows(values)
        values = [_unmasked(row) if isinstance(row, np.ndarray) else row for row in values]
    try:
        return np.asarray(values, dtype=object)
    except ValueError:  # rows of unequal depth
        return np.empty(0, dtype=object)


def _unmasked(table: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a plain array: most of NumPy passes over a mask, and would take what it hides for values."""
    if isinstance(table, np.ma.MaskedArray):
        hidden = np.ma.getmaskarray(table)
        table = table.data.astype(table.dtype if table.dtype.kind == "f" else object)
        table[hidden] = np.nan
    return np.asarray(table, dtype=object if table.dtype.kind == "T" else None)


def _whole_numbers(table: npt.NDArray[Any]) -> Coded | None:
    """Number whole numbers of a small spread by subtraction, or return None where they are not that."""
    if table.dtype.kind != "f":
        low, high = int(table.min()), int(table.max())
        if high - low >= _SMALL or max(abs(low), abs(high)) > _EXACT:
            return None
        return _from_integers(table, low, high)
    # The first units tell the lowest value of most tables; where they do not, it is looked up.
    for units, centred in ((table[:, :_FIRST], False), (table, True)):
        with np.errstate(invalid="ignore"):
            lowest = float(np.fmin.reduce(units, axis=None))
            highest = float(np.fmax.reduce(units, axis=None))
        if not abs(lowest) <= (_EXACT if centred else _SMALL // 2) or not highest - lowest < _SMALL:
            continue
        if lowest.is_integer():
            coded_table = _from_floats(table, int(lowest), int(lowest) + 127 if centred else 0)
            if coded_table is not None:
                return coded_table
    return None


def _from_integers(table: npt.NDArray[Any], low: int, high: int) -> Coded:
    codes = np.empty(table.shape, dtype=np.uint8)
    below = np.uint8((low - 1) % 256)
    for block in blocks(*table.shape):
        # The last byte of a whole number is the number modulo 256, and the spread is less than that.
        np.copyto(codes[:, block], table[:, block], casting="unsafe")
        codes[:, block] -= below
    return Coded(categories=np.arange(high - low + 1) + float(low), codes=codes)


def _from_floats(table: npt.NDArray[Any], low: int, base: int) -> Coded | None:
    """Number whole numbers from `low` on that are less than 128 from `base`; None if there are others.

    A value is cast to a small whole number and compared with it: what is equal has a value, what is not must
    be NaN, and the two are counted. `low` itself is numbered 1.
    """
    codes = np.empty(table.shape, dtype=np.uint8)
    below, highest = np.uint8((low - base - 1) % 256), 0
    with np.errstate(invalid="ignore"):  # casting NaN: whatever comes out of it is not equal to NaN
        for block in blocks(*table.shape):
            values, code = table[:, block], codes[:, block]
            near = code.view(np.int8)
            np.copyto(near, _less(values, base), casting="unsafe")
            same = np.equal(values, near + float(base) if base else near)
            code -= below
            code *= same.view(np.uint8)
            given = np.count_nonzero(code)
            if given < code.size and given + np.count_nonzero(np.isnan(values, out=same)) < code.size:
                return None
            highest = max(highest, int(code.max()))
    if highest > 128 + base - low:  # a value below `low`
        return None
    return Coded(categories=np.arange(highest) + float(low), codes=codes)


def _less(values: npt.NDArray[Any], base: int) -> npt.NDArray[Any]:
    if not base:
        return values
    return np.asarray(np.subtract(values, base, dtype=np.result_type(values.dtype, np.float64)))


def _any_values(table: npt.NDArray[Any]) -> Coded:
    """Number values of any kind, by their sorted order."""
    flat = table.ravel().astype(object) if table.dtype.kind == "U" else table.ravel()
    if flat.dtype.kind not in "biufO":
        raise _another_kind()
    try:
        place, uniques = pd.factorize(flat)
    except TypeError:
        raise _another_kind() from None
    codes = (place + 1).reshape(table.shape)
    strings = [isinstance(value, str) for value in uniques]
    blank = np.array(
        [is_string and not one.strip() for is_string, one in zip(strings, uniques, strict=True)], bool
    )
    text = np.array(strings, dtype=np.bool_) & ~blank
    if text.any() and not (text | blank).all():
        where = np.argwhere(np.isin(codes, np.flatnonzero(text) + 1))
        raise _error(where, "values of one kind", "strings among numbers")
    if blank.any():
        codes, uniques = _without(blank, codes, uniques)
    words = text.any()
    values = np.array([value.strip() for value in uniques], object) if words else _numbers(uniques, codes)
    categories, order = np.unique(values, return_inverse=True)
    numbered = np.concatenate([[0], order + 1]).astype(np.min_scalar_type(len(categories)))
    return Coded(categories=categories, codes=numbered[codes])


def _without(
    blank: Truths, codes: npt.NDArray[Any], uniques: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Make blank words missing."""
    number = np.concatenate([[0], np.where(blank, 0, np.cumsum(~blank))])
    return number[codes], np.asarray(uniques, dtype=object)[~blank]


def _on_scale(table: npt.NDArray[Any], scale: npt.NDArray[np.object_]) -> Coded:
    """Number words by their place on the scale of an ordered Categorical, which may hold more of them."""
    words = pd.Index(pd.Series(table.ravel(), dtype="string").str.strip())
    place = pd.Index(scale, dtype="string").get_indexer(words)
    codes = (place + 1).astype(np.min_scalar_type(len(scale)))
    return Coded(categories=scale, codes=codes.reshape(table.shape), ordered=True)


def _numbers(uniques: npt.NDArray[Any], codes: npt.NDArray[Any]) -> Floats:
    if any(isinstance(value, bytes) for value in uniques):  # NumPy would read digits out of them
        raise _another_kind()
    try:
        numbers = np.asarray(uniques).astype(np.float64)
    except (TypeError, ValueError):
        raise _another_kind() from None
    for bad, expected, problem in (
        (np.isinf(numbers), "finite numbers", "infinite ones"),
        (np.abs(numbers) > _EXACT, "numbers up to 2**53", "larger ones"),
    ):
        if bad.any():
            where = np.argwhere(np.isin(codes, np.flatnonzero(bad) + 1))
            raise _error(where, expected, problem)
    return numbers


def _another_kind() -> TableError:
    return TableError("values: expected numbers or strings – found values of another kind – convert them.")


def _error(where: npt.NDArray[Any], expected: str, problem: str) -> TableError:
    places = [f"coder {row}, unit {column}" for row, column in where.tolist()]
    return TableError(
        f"values: expected {expected} – found {problem} at (counted from 0) {first_three(places)} – "
        "correct them, or choose the level that they have."
    )


def blocks(n_coders: int, n_units: int) -> Iterator[slice]:
    """Yield blocks of units that fit the cache, at eight bytes a value."""
    size = max(_FIRST, _BLOCK // max(1, n_coders))
    for start in range(0, n_units, size):
        yield slice(start, min(start + size, n_units))


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A frame with named axes as an array: `values` (coders, units), and the ids of its units.

    `unit_ids` is None where the units have row numbers instead of ids.
    """

    values: npt.NDArray[Any] = field(repr=False)
    unit_ids: pd.Index | None


def named_table(frame: pd.DataFrame) -> NamedTable:
    """Return a frame with axes named `coder` and `unit_id` as an array, or refuse it.

    Computed decisions (`consensus`, `majority`, `pooled`) are left out: those are not coders; and models,
    which a warning says.
    """
    values, coders, unit_ids = by_coder(frame)
    for what in who_is_no_person([str(one) for one in coders if one not in frame.attrs.get(KEPT, ())]):
        warnings.warn(f"values: {what}", UserWarning, stacklevel=outside())
    rows = pd.DataFrame({"coder": coders})
    own = rows.index.isin(people(without_models(rows, function="values")).index)
    return NamedTable(values if own.all() else values[own], unit_ids)


def by_coder(frame: pd.DataFrame) -> tuple[npt.NDArray[Any], pd.Index, pd.Index | None]:
    """Return values (coders, units), the coders, and the ids of the units, None where they have none."""
    axes = (frame.index.name, frame.columns.name)
    if axes not in (AXES, AXES[::-1]):
        rows, columns = frame.shape
        raise TableError(
            "values: expected an array (coders, units), or a DataFrame with axes named 'coder' and "
            f"'unit_id' – found a DataFrame of {rows} rows × {columns} columns without these names – pass "
            'agreement.from_wide(frame, coders="columns"), or frame.T.to_numpy(), where each column is a '
            'coder; coders="rows" where each row is; agreement.coefficients.patterns(frame) where each row '
            "is one value."
        )
    values = frame.to_numpy()
    by_coder, by_unit = frame.index, frame.columns
    if axes != AXES:
        values, by_coder, by_unit = values.T, by_unit, by_coder
    coders = _ids(by_coder, "coder")
    check_coder_names(coders, frame_name="values")
    return values, coders, None if isinstance(by_unit, pd.RangeIndex) else _ids(by_unit, "unit_id")


def _ids(labels: pd.Index, name: str) -> pd.Index:
    ids = labels.astype("string").str.strip()
    missing = np.flatnonzero(ids.isna() | (ids == ""))
    if len(missing):
        raise TableError(
            f"values: expected a {name} for every row and column – found none at (counted from 0) "
            f"{first_three(missing)} – name it, or drop it."
        )
    twice = ids[ids.duplicated()].unique()
    if len(twice):
        raise TableError(
            f"values: expected every {name} once – found more than once: {first_three(twice)} – keep one of "
            "each."
        )
    return ids


def scale_of(values: object) -> npt.NDArray[np.object_] | None:
    """Return the words of an ordered Categorical that all rows or columns share, in its order; else None.

    Numbers have an order of their own, and words in several orders have none in common.
    """
    rows = values if isinstance(values, list | tuple) else []
    dtypes = (
        values.dtypes if isinstance(values, pd.DataFrame) else [getattr(row, "dtype", None) for row in rows]
    )
    kinds = list(dict.fromkeys(map(str, dtypes)))
    first = next(iter(dtypes), None)
    if len(kinds) != 1 or not isinstance(first, pd.CategoricalDtype) or not first.ordered:
        return None
    if any(dtype != first for dtype in dtypes) or not all(isinstance(one, str) for one in first.categories):
        return None
    words = [word for one in first.categories if (word := one.strip())]
    if len(set(words)) < len(words):
        raise TableError(
            "values: expected categories that differ in more than white space – found the same twice among "
            f"{first_three(words)} – make them one before they become an ordered Categorical."
        )
    return np.array(words, dtype=object)


def refuse_other_frames(values: object) -> None:
    """Refuse frames of other packages, which NumPy would read by position: rows × columns."""
    named = any(hasattr(type(values), name) for name in ("columns", "column_names", "dims"))
    if named and not isinstance(values, np.ndarray):
        raise TableError(
            "values: expected an array (coders, units), or a pandas DataFrame with axes named 'coder' "
            f"and 'unit_id' – found {type(values).__module__}.{type(values).__name__}, which is not read by "
            'position – pass agreement.from_wide(frame.to_pandas(), coders="columns") where each column is a '
            "coder, or agreement.coefficients.patterns(frame) where each row is one value."
        )


def check_rows(rows: Sequence[object]) -> None:
    """Refuse coders' rows that are Series of different units: they would be matched by position."""
    labelled = [row for row in rows if isinstance(row, pd.Series)]
    if not labelled:
        return
    bare = len(labelled) < len(rows)
    index = pd.RangeIndex(len(labelled[0])) if bare else labelled[0].index
    if not all(row.index.equals(index) for row in labelled):
        problem = "a Series with ids next to rows without" if bare else "Series with different indexes"
        raise TableError(
            f"values: expected rows of the same units in the same order – found {problem} – put them in one "
            'frame, which matches them by id: agreement.from_wide(pandas.DataFrame({"ana": …, "ben": …}), '
            'coders="columns").'
        )


def warn_of_shape(n_coders: int, n_units: int) -> None:
    """Warn where an array has so many more coders than units that it may be the wrong way round."""
    many = n_coders > _MANY_CODERS and n_coders >= _TIMES_THE_UNITS * n_units
    small = n_coders in _SEVERAL_CODERS and n_units in _FEW_UNITS and n_coders > n_units
    if not n_units or not (many or small):
        return
    warnings.warn(
        f"values: read as {n_coders} coders × {n_units} units, because arrays of values are (coders, units). "
        f"If it is {n_units} coders × {n_coders} units, pass its transpose (.T); if not, a frame with "
        "named axes (agreement.from_wide) avoids this warning.",
        RuntimeWarning,
        stacklevel=outside(),
    )
