"""The queries on a long table: its content, and the number of units with each pattern of values.

The queries are Ibis expressions, the same for every engine; `run` sends one off and gives Arrow back. `rows`
has the columns unit, coder, value and, where there are groups, group; `chosen` says how the user's table
calls them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._messages import first_three
from sense7_qual.agreement.coefficients._patterns import Patterns
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import check_coder_names, people, without_models

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

    Run = Callable[[ir.Table], pa.Table]
    Read = Callable[[pa.Table, "Inventory"], "Integers"]

Integers = npt.NDArray[np.int64]

_NARROW: Final = 24
"""Up to this many values or coders a pattern is one column for each; beyond, it is a sorted list."""
_SPACES: Final = (" ", "\t", "\n", "\r")
"""What ids that were typed have around them; the engine looks for these before it trims anything."""
_EXACT: Final = 2**53
"""Whole numbers beyond this are not all told apart as floating-point numbers."""
_LARGEST_TABLE: Final = 2 * 10**8
"""Cells of patterns × values; more would not fit an ordinary machine."""


def rows_of(raw: ir.Table, chosen: dict[str, str]) -> ir.Table:
    """Return the table with its columns named unit, coder, value (and group), and one kind of missing."""
    column = {role: _present(raw[name]) for role, name in chosen.items()}
    column["coder"] = column["coder"].cast("string")
    kind = column["value"].type()
    if kind.is_floating() or kind.is_decimal():
        column["value"] = column["value"].cast("float64")
    elif kind.is_null():
        column["value"] = column["value"].cast("string")
    elif not (kind.is_boolean() or kind.is_integer() or kind.is_string()):
        raise TableError(
            f"table: expected numbers, truth values or text in column {chosen['value']!r} – found {kind} – "
            "convert them."
        )
    return raw.select(**column)


def _present(column: Any) -> Any:
    """Return the column with NaN and the empty text as missing."""
    import ibis

    if column.type().is_floating():
        return ibis.ifelse(column.isnan(), ibis.null(column.type()), column)
    if column.type().is_string():
        return column.nullif("")
    return column


def _trimmed(rows: ir.Table) -> ir.Table:
    """Return the rows without white space around text, and blank text as missing."""
    text = [name for name in rows.columns if rows[name].type().is_string()]
    return rows.mutate(**{name: rows[name].strip().nullif("") for name in text})


def _is_padded(values: Iterable[Any]) -> bool:
    return any(isinstance(one, str) and one != one.strip() for one in values)


def _coders(rows: ir.Table, run: Run, chosen: dict[str, str]) -> tuple[list[str], bool]:
    """Return the coders' names, sorted, and whether there is white space around an id; refuse missing ids."""
    unit, columns = rows["unit"], {"n": rows.count(), "with_unit": rows["unit"].count()}
    if unit.type().is_string():
        # Much cheaper than trimming: most tables have nothing to trim.
        padded = unit.right(1).isin(_SPACES) | unit.left(1).isin(_SPACES)
        columns["padded"] = padded.cast("int64").sum()
    answer = run(rows.group_by("coder").aggregate(**columns)).to_pydict()
    n = dict(zip(answer["coder"], answer["n"], strict=True))
    _require_present("unit", sum(answer["n"]) - sum(answer["with_unit"]), chosen)
    _require_present("coder", n.get(None, 0), chosen)
    return sorted(n), any(answer.get("padded", [])) or _is_padded(n)


def _require_present(role: str, n_missing: int, chosen: dict[str, str]) -> None:
    if n_missing:
        raise TableError(
            f"table: expected {chosen[role]!r} in every row – found it missing in {n_missing} rows – fill it "
            "in or drop the rows."
        )


@dataclass(frozen=True, slots=True)
class Inventory:
    """The content of the table.

    `values` are the different values as the engine gives them, `rank` (V,) their places in the sorted
    `categories`; `coders` the names, sorted; `given` how often each category occurs, for each group.
    """

    values: list[Any]
    rank: Integers
    categories: npt.NDArray[Any]
    coders: list[str]
    given: dict[Any, Integers]


def take_inventory(
    rows: ir.Table, run: Run, chosen: dict[str, str], *, trimmed: bool = False
) -> tuple[ir.Table, Inventory]:
    """Return the rows of coders and their content; refuse missing ids."""
    coders, padded = _coders(rows, run, chosen)
    if padded and not trimmed:
        return take_inventory(_trimmed(rows), run, chosen, trimmed=True)
    check_coder_names(coders, frame_name="table")
    every = pd.DataFrame({"coder": pd.array(coders, dtype="string")})
    own = people(without_models(every, function="patterns"))["coder"].tolist()
    if len(own) < len(coders):
        rows = rows.filter(rows["coder"].notin(sorted(set(coders) - set(own))))
        coders = own
    keys = [role for role in ("group", "value") if role in chosen]
    answer = run(rows.group_by(keys).aggregate(n=rows.count())).to_pydict()
    groups = answer.get("group", [None] * len(answer["n"]))
    if _is_padded([*groups, *answer["value"]]) and not trimmed:
        return take_inventory(_trimmed(rows), run, chosen, trimmed=True)
    if "group" in chosen:
        n_missing = sum(n for group, n in zip(groups, answer["n"], strict=True) if group is None)
        _require_present("group", n_missing, chosen)
    values = list({value: None for value in answer["value"] if value is not None})
    categories, rank = _categories(values, chosen["value"])
    place = dict(zip(values, rank.tolist(), strict=True))
    named = sorted(set(groups)) if "group" in chosen else [None]
    given = {group: np.zeros(len(categories), dtype=np.int64) for group in named}
    for group, value, n in zip(groups, answer["value"], answer["n"], strict=True):
        if value is not None:
            given[group][place[value]] += n
    return rows, Inventory(values, rank, categories, coders, given)


def _categories(values: Sequence[Any], name: str) -> tuple[npt.NDArray[Any], Integers]:
    """Return the sorted categories and the place of each value among them."""
    if any(isinstance(numbers, str) for numbers in values):
        if any(numbers != numbers.strip() for numbers in values):
            raise TableError(
                f"table: expected text without white space around it in column {name!r} – found kinds of it "
                "that the engine does not take away, such as the non-breaking space – take it away first."
            )
        categories, rank = np.unique(np.asarray(values, dtype=object), return_inverse=True)
        return categories, rank.astype(np.int64)
    numbers = np.array([float(value) for value in values], dtype=np.float64)
    for bad, expected, problem in (
        (np.isinf(numbers), "finite numbers", "infinite ones"),
        (np.abs(numbers) > _EXACT, "numbers up to 2**53", "larger ones"),
    ):
        if bad.any():
            raise TableError(
                f"table: expected {expected} in column {name!r} – found {problem}, {int(bad.sum())} "
                "different – correct them, or give them as text."
            )
    categories, rank = np.unique(numbers, return_inverse=True)
    return categories, rank.astype(np.int64)


# ---- counting -----------------------------------------------------------------------------------------


def count(
    rows: ir.Table, run: Run, inventory: Inventory, chosen: dict[str, str], *, keep_coders: bool
) -> dict[Any, Patterns]:
    """Return the patterns of each group (of the group None, where there are no groups)."""
    columns, read = _form(rows, inventory, keep_coders)
    keys = [role for role in ("group", "unit") if role in chosen]
    units = rows.group_by(keys).aggregate(**columns, once=_once(rows, inventory.coders))
    kinds = units.group_by([name for name in units.columns if name != "unit"])
    answer = run(kinds.aggregate(n_units=units.count()))
    if not all(answer["once"].to_pylist()):
        raise _twice(rows, run, chosen)
    values, n_units = read(answer, inventory), answer["n_units"].to_numpy().astype(np.int64)
    group = answer["group"].to_pylist() if "group" in chosen else [None] * len(n_units)
    patterns = {}
    for key, expected in inventory.given.items():
        of_group = np.array([other == key for other in group], dtype=np.bool_)
        patterns[key] = _assembled(values[of_group], n_units[of_group], inventory.categories, keep_coders)
        _check(patterns[key], inventory.categories[expected > 0], expected[expected > 0])
    return patterns


def _form(rows: ir.Table, inventory: Inventory, keep_coders: bool) -> tuple[dict[str, Any], Read]:
    """Return the columns that hold a unit's values, in one of four forms, and what reads them."""
    import ibis

    value, coder = rows["value"], rows["coder"]
    if keep_coders and len(inventory.coders) <= _NARROW:
        each = {f"given_{j}": value.max(where=coder == name) for j, name in enumerate(inventory.coders)}
        return each, _read_coders
    if keep_coders:
        pair = ibis.struct({"coder": coder, "value": value})
        return {"given": pair.collect(where=value.notnull()).sort()}, _read_pairs  # noqa: PD004
    if len(inventory.values) <= _NARROW:
        each = {
            f"given_{i}": rows.count(where=value == category) for i, category in enumerate(inventory.values)
        }
        return each, _read_counts
    return {"given": value.collect().sort()}, _read_values


def _once(rows: ir.Table, coders: list[str]) -> Any:
    """Return True if every row of a unit is of another coder."""
    if not coders or len(coders) > _NARROW:
        return rows["coder"].nunique() == rows.count()
    # Much cheaper than counting distinct coders. A row of none of these coders makes it false, too.
    each = [(rows.count(where=rows["coder"] == name) == 1).cast("int64") for name in coders]
    return reduce(add, each) == rows.count()


# Each reader returns the places of the values given, a row per pattern and −1 for none: a column per coder in
# the order of names, or, where coders are not kept, ascending.


def _read_coders(answer: pa.Table, inventory: Inventory) -> Integers:
    given = np.full((len(answer), len(inventory.coders)), -1, dtype=np.int64)
    for j in range(len(inventory.coders)):
        given[:, j] = _places(answer[f"given_{j}"], inventory.categories)
    return given


def _read_pairs(answer: pa.Table, inventory: Inventory) -> Integers:
    unit, pairs = _flat(answer)
    coder = pd.Index(inventory.coders, dtype=object).get_indexer(pairs.field("coder").to_pylist())
    given = np.full((len(answer), len(inventory.coders)), -1, dtype=np.int64)
    given[unit, coder] = _places(pairs.field("value"), inventory.categories)
    return given


def _read_counts(answer: pa.Table, inventory: Inventory) -> Integers:
    counts = np.zeros((len(answer), len(inventory.values)), dtype=np.int64)
    for i in range(len(inventory.values)):
        # Where a unit has no values, some engines count NULL of them, others 0.
        counts[:, i] = answer[f"given_{i}"].fill_null(0).to_numpy()
    unit, number = np.nonzero(counts)
    n = counts[unit, number]
    return _padded(np.repeat(unit, n), np.repeat(inventory.rank[number], n), len(answer))


def _read_values(answer: pa.Table, inventory: Inventory) -> Integers:
    unit, values = _flat(answer)
    return _padded(unit, _places(values, inventory.categories), len(answer))


def _flat(answer: pa.Table) -> tuple[Integers, pa.Array]:
    """Return the entries of all lists, and which row each belongs to."""
    lists = answer["given"].combine_chunks()
    length = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    return np.repeat(np.arange(len(length)), length), lists.flatten()


def _places(column: pa.Array | pa.ChunkedArray, categories: npt.NDArray[Any]) -> Integers:
    """Return the place of each value among the categories; missing and unknown ones are −1."""
    known = pd.Index(categories, dtype=categories.dtype)
    if categories.dtype == np.float64:
        column = column.cast("float64")
    values = pd.Index(column.to_numpy(zero_copy_only=False), dtype=categories.dtype)
    return np.asarray(known.get_indexer(values), dtype=np.int64)


def _padded(unit: Integers, place: Integers, n_rows: int) -> Integers:
    """Return each unit's places in ascending order at the right of its row, −1 before them."""
    order = np.lexsort((place, unit))
    unit, place = unit[order], place[order]
    length = np.bincount(unit, minlength=n_rows)
    width = int(length.max(initial=0))
    column = np.arange(len(unit)) - np.cumsum(length)[unit] + width
    given = np.full((n_rows, width), -1, dtype=np.int64)
    given[unit, column] = place
    return given


def _assembled(given: Integers, units: Integers, categories: npt.NDArray[Any], keep_coders: bool) -> Patterns:
    """Return the patterns of one group from the values given (rows, −1 for none) and their units."""
    has_values = (given >= 0).any(axis=1)
    given, which = np.unique(given[has_values], axis=0, return_inverse=True)
    n_units = np.zeros(len(given), dtype=np.int64)
    np.add.at(n_units, which.ravel(), units[has_values])
    if not keep_coders:
        given = given[:, (given >= 0).any(axis=0)]
    unit, column = np.nonzero(given >= 0)
    used, place = np.unique(given[unit, column], return_inverse=True)
    if len(given) * len(used) > _LARGEST_TABLE:
        raise ArgumentError(
            f"table: expected a scale of categories – found {len(used)} different values in {len(given)} "
            "patterns – group them."
        )
    given[unit, column] = place
    counts = np.zeros((len(given), len(used)), dtype=np.int64)
    np.add.at(counts, (unit, place), 1)
    return Patterns(categories[used], counts, n_units, given if keep_coders else None)


def _check(patterns: Patterns, categories: npt.NDArray[Any], given: Integers) -> None:
    """Refuse an answer in which a value occurs more or less often than in the table."""
    same = np.array_equal(patterns.categories, categories)
    if not same or not np.array_equal(patterns.n_units @ patterns.counts, given):
        raise _changed()


def _changed() -> TableError:
    return TableError(
        "table: expected the same rows each time it is read – found others the second time – store the rows "
        "first (a table that is being filled, or a random sample, changes under way)."
    )


def _twice(rows: ir.Table, run: Run, chosen: dict[str, str]) -> TableError:
    """Return the error that names coders with several rows for a unit."""
    keys = [role for role in ("unit", "coder", "group") if role in chosen]
    repeated = rows.group_by(keys).having(rows.count() > 1).aggregate(n=rows.count())
    n = run(repeated.aggregate(n=repeated.count()))["n"][0].as_py()
    if not n:
        return _changed()
    first = run(repeated.order_by(keys).limit(3)).select(keys).to_pylist()
    named = first_three(" / ".join(str(row[key]) for key in keys) for row in first)
    named += f" ({n} in all)" if n > len(first) else ""
    what = ", ".join(chosen[key] for key in keys)
    hint = "" if "group" in chosen else " (or give by='code', where a unit has a row for each code)"
    return TableError(
        f"table: expected one row per {what} – found some more than once: {named} – keep one of each{hint}."
    )
