"""Values in a frame whose axes are named `coder` and `unit_id`: it cannot be read the other way round.

Spreadsheets hold units × coders, arrays of values are (coders, units), and nothing in the values tells one
from the other. `from_wide` names the axes of a frame; every function on arrays of values takes it then.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._messages import first_three, outside
from sense7_qual.errors import TableError
from sense7_qual.frames import check_coder_names, people, without_models

__all__ = [
    "AXES", "NamedTable", "by_coder", "check_rows", "named_table", "refuse_other_frames", "scale_of",
    "warn_of_shape",
]  # fmt: skip

AXES: Final = ("coder", "unit_id")
_MANY_CODERS: Final = 10
_TIMES_THE_UNITS: Final = 4
"""More coders than the first, and so many times the units, is rare; the other way round it is every study."""
_SEVERAL_CODERS: Final = range(5, 13)
_FEW_UNITS: Final = range(2, 6)
"""So many coders of so few units are rare, too: it is what a first sheet looks like the other way round."""


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A frame with named axes as an array: `values` (coders, units), and the ids of its units.

    `unit_ids` is None where the units have row numbers in the place of ids.
    """

    values: npt.NDArray[Any] = field(repr=False)
    unit_ids: pd.Index | None


def named_table(frame: pd.DataFrame) -> NamedTable:
    """Return a frame whose axes are named `coder` and `unit_id` as an array, or refuse it.

    Computed decisions (`consensus`, `majority`, `pooled`) are left out: those are not coders; and models,
    which a warning says.
    """
    values, coders, unit_ids = by_coder(frame)
    rows = pd.DataFrame({"coder": coders})
    own = rows.index.isin(people(without_models(rows, function="values")).index)
    return NamedTable(values if own.all() else values[own], unit_ids)


def by_coder(frame: pd.DataFrame) -> tuple[npt.NDArray[Any], pd.Index, pd.Index | None]:
    """Return values (coders, units), the coders, and the ids of the units, None where they have none."""
    axes = (frame.index.name, frame.columns.name)
    if axes not in (AXES, AXES[::-1]):
        rows, columns = frame.shape
        raise TableError(
            "values: expected an array (coders, units), or a DataFrame whose axes are named 'coder' and "
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
            "values: expected an array (coders, units), or a pandas DataFrame whose axes are named 'coder' "
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
        problem = "a Series with ids beside rows without" if bare else "Series whose indexes differ"
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
        f"If it is {n_units} coders × {n_coders} units, pass its transpose (.T); if not, a frame with named "
        "axes says so without this warning: agreement.from_wide.",
        RuntimeWarning,
        stacklevel=outside(),
    )
