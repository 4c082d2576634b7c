"""The cells of Parquet files."""

from __future__ import annotations

from typing import Any

import pandas as pd

from sense7_qual._limits import Limits
from sense7_qual._parquet import guarded_table
from sense7_qual.corpus._cells import Cells
from sense7_qual.errors import ImportRefused

__all__ = ["read_parquet"]


def read_parquet(packed: bytes, name: str, limits: Limits) -> Cells:
    """Read a Parquet file, given as bytes; rows are counted from 1."""
    import pyarrow as pa

    table = guarded_table(packed, name, limits)
    try:
        columns = [[cell for chunk in column.chunks for cell in _cells(chunk)] for column in table.columns]
    except (pa.ArrowException, UnicodeError, ValueError, OverflowError, MemoryError):
        raise ImportRefused(
            f"{name}: expected a Parquet file – found cells in it that cannot be read – write it again."
        ) from None
    rows = len(columns[0]) if columns else 0
    return Cells(table.column_names, columns, pd.RangeIndex(1, rows + 1, name="row"), name)


def _cells(array: Any) -> list[object]:
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        words = array.dictionary.to_pylist()
        return [None if place is None else words[place] for place in array.indices.to_pylist()]
    if pa.types.is_float32(array.type) or pa.types.is_float16(array.type):
        # to_pylist would widen 5.667 to 5.666999816894531.
        return list(array.to_numpy(zero_copy_only=False))
    cells: list[object] = array.to_pylist()
    return cells
