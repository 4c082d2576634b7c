"""Patterns from tables of any size, counted by the engine that holds them.

A long table (one row per unit and coder) becomes *pattern → number of units* by two GROUP BYs: per unit, how
many coders gave each value; per pattern, how many units have it. Both run where the data lives (DuckDB
for frames in memory; Spark, BigQuery, Snowflake … through Ibis), and only the patterns come back.

Every engine is given the same expression, and every answer is checked: each value must occur in the patterns
as often as it occurs in the table.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, overload

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual.agreement._engines._group_by import count, rows_of, take_inventory
from sense7_qual.agreement.coefficients._patterns import Patterns
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import require_column

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

    from sense7_qual.agreement._engines._group_by import Run

__all__ = ["patterns"]


@overload
def patterns(
    table: object,
    *,
    unit_id: str = ...,
    coder: str = ...,
    value: str | None = ...,
    by: None = ...,
    keep_coders: bool = ...,
) -> Patterns:
    """Count the patterns of one table."""


@overload
def patterns(
    table: object,
    *,
    unit_id: str = ...,
    coder: str = ...,
    value: str | None = ...,
    by: str,
    keep_coders: bool = ...,
) -> dict[Any, Patterns]:
    """Count the patterns of each group."""


def patterns(
    table: object,
    *,
    unit_id: str = "unit_id",
    coder: str = "coder",
    value: str | None = None,
    by: str | None = None,
    keep_coders: bool = False,
) -> Patterns | dict[Any, Patterns]:
    """Count the units with each pattern of values, in the database or engine that holds the table.

    Use it for tables too large, or too far away, for an array of coders × units; every coefficient takes the
    result instead of `values` and gives the same number. It needs the extra `scale`.

    Parameters
    ----------
    table : pandas or Polars DataFrame, Polars LazyFrame, Arrow table, DuckDB relation, or any Ibis table
        One row per unit and coder (and group, with `by`). Frames in memory are counted by DuckDB, a relation
        in its own connection, an Ibis table in its own backend.
    unit_id, coder : str
        The columns of units and coders. Coders are compared as text. Rows of the computed decisions
        `consensus`, `majority` and `pooled` are left out, and those of models with a warning.
    value : str, optional
        The column of values: numbers, truth values (0 and 1) or text. Without it, `value` or `applied`,
        whichever the table has. Numbers of every type become 64-bit floating-point numbers in all engines: 1,
        1.0, Decimal("1.00") and True are the same category.
    by : str, optional
        A column of groups, such as `code`: one `Patterns` for each.
    keep_coders : bool
        Keep who gave which value, for Cohen's, Conger's and Light's kappas. The columns are all coders of the
        table, sorted by name as text, the same in every group.

    Returns
    -------
    Patterns, or dict of group → Patterns
        Of the units with at least one value, groups in sorted order. NULL, NaN and blank text are missing;
        white space around text and ids is ignored.

    Raises
    ------
    TableError
        A column is absent; a unit, coder or group is missing (NULL, NaN or empty) in some row; a coder has
        several rows for a unit, whether or not they have a value; values are infinite, beyond ±2**53, or
        neither numbers nor text; or the table changed while it was read.
    ArgumentError
        Ibis or DuckDB is not installed, or there are so many values that their table would not fit.

    Notes
    -----
    Text is compared by the engine; if its collation ignores case, "Yes" and "yes" are one value.

    Examples
    --------
    The binary example of Krippendorff (2011, section A), published as .095:

    >>> from sense7_qual.agreement.coefficients import krippendorff_alpha
    >>> given = {"ana": [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], "ben": [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]}
    >>> ratings = pd.DataFrame([{"unit_id": f"m{unit}", "coder": coder, "value": value}
    ...                         for coder, row in given.items() for unit, value in enumerate(row)])
    >>> counted = patterns(ratings)
    >>> counted.counts.tolist(), counted.n_units.tolist()
    ([[2, 0], [1, 1], [0, 2]], [5, 4, 1])
    >>> round(krippendorff_alpha(counted, level="nominal"), 3)
    0.095
    """
    check_arguments(patterns, locals())
    chosen = {"unit": unit_id, "coder": coder, "value": _value_column(table, value)}
    if by is not None:
        chosen["group"] = by
    names = _column_names(table)
    for name in chosen.values():
        _require_once(names, name)
    raw, run = _source(table, list(dict.fromkeys(chosen.values())))
    rows = rows_of(raw, chosen)
    rows, inventory = take_inventory(rows, run, chosen)
    counted = count(rows, run, inventory, chosen, keep_coders=keep_coders)
    return counted if by is not None else counted[None]


# ---- opening ------------------------------------------------------------------------------------------


def _column_names(table: object) -> list[Any]:
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(table, polars.LazyFrame):
        return list(table.collect_schema().names())
    names = getattr(table, "column_names", None)  # Arrow's `columns` are the columns themselves
    names = getattr(table, "columns", None) if names is None else names
    if names is None or callable(names):
        raise _not_a_table(table)
    return list(names)


def _not_a_table(table: object) -> TableError:
    return TableError(
        "table: expected a pandas or Polars frame, an Arrow table, a DuckDB relation or an Ibis table – "
        f"found {type(table).__name__} – for a Spark frame: ibis.pyspark.connect(session).table(name)."
    )


def _value_column(table: object, value: str | None) -> str:
    if value is not None:
        return value
    names = _column_names(table)
    if "value" in names and "applied" in names:
        raise TableError(
            "table: expected one column of values – found both 'value' and 'applied' – choose one "
            "with value=."
        )
    return "applied" if "applied" in names else "value"


def _require_once(names: list[Any], name: str) -> None:
    require_column(pd.DataFrame(columns=names), name, frame_name="table")
    if names.count(name) > 1:
        raise TableError(
            f"table: expected the column {name!r} once – found it {names.count(name)} times – rename or drop "
            "one."
        )


def _source(table: Any, names: list[str]) -> tuple[ir.Table, Run]:
    """Return the named columns as an Ibis table, and what runs a query on them."""
    try:
        import duckdb
        import ibis
        import ibis.expr.types as ir
    except ModuleNotFoundError as error:
        raise ArgumentError(
            f"patterns: expected the extra 'scale' to be installed – found no {error.name} – "
            "pip install 'sense7_qual[scale]'."
        ) from error
    if isinstance(table, ir.Table):
        return table.select(names), lambda query: query.to_pyarrow()
    relation = table
    if not isinstance(table, duckdb.DuckDBPyRelation):
        relation = duckdb.connect().from_arrow(_arrow(table, names))
    relation = _plain(relation, names)
    schema = ibis.Schema.from_pyarrow(relation.limit(0).to_arrow_table().schema)

    def run(query: ir.Table) -> pa.Table:
        return relation.query("rows", ibis.to_sql(query, dialect="duckdb")).to_arrow_table()

    return ibis.table(schema, name="rows"), run


def _plain(relation: Any, names: list[str]) -> Any:
    """Return the named columns of a DuckDB relation, its enumerations and UUIDs as text."""
    import duckdb

    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
    columns = []
    for name in names:
        column = duckdb.ColumnExpression(name)
        as_text = kinds[name] == "UUID" or kinds[name].startswith("ENUM")
        columns.append(column.cast("VARCHAR").alias(name) if as_text else column)
    return relation.select(*columns)


def _arrow(table: Any, names: list[str]) -> pa.Table:
    import pyarrow as pa

    polars = sys.modules.get("polars")
    if polars is not None and isinstance(table, polars.LazyFrame):
        table = table.select(names).collect()
    elif not isinstance(table, pd.DataFrame):
        if not hasattr(table, "__arrow_c_stream__"):
            raise _not_a_table(table)
        table = table.select(names)
    if not isinstance(table, pd.DataFrame):
        return pa.table(table)
    columns = {}
    for name in names:
        try:
            columns[name] = pa.Array.from_pandas(table[name])
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            # `from None`: Arrow's message shows the value, which may be a participant's words.
            raise TableError(
                f"table: expected values of one kind in column {name!r} – found a mixture – convert them."
            ) from None
    return pa.table(columns)
