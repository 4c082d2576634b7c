"""A spreadsheet of values with its axes named, checked to contain nothing but coders' values of units."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, get_args

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._messages import did_you_mean, first_three, outside, word
from sense7_qual._suspicious_names import is_known, likely_computed, likely_results
from sense7_qual.agreement._sheet_columns import only_one_of_two, say_what_shows, warn_of_names
from sense7_qual.agreement._values import AXES, KEPT, by_coder
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import RESERVED_CODERS, one_case

Axis = Literal["columns", "rows"]

_IDS_FROM: Final = 10
"""Units from which a column of nothing but different words, or of row numbers, is taken for ids."""
_BEYOND: Final = 1 / 3
"""Share of a column's values outside the range of all others from which it is of another scale …"""
_TIMES_AS_WIDE: Final = 2
"""… where its own range is more than so many times as wide."""
_SUMMARIES: Final = frozenset(
    {
        "total",
        "totals",
        "grand total",
        "subtotal",
        "sum",
        "sums",
        "mean",
        "means",
        "average",
        "averages",
        "avg",
        "median",
        "sd",
        "std",
        "std dev",
        "standard deviation",
        "summe",
        "gesamt",
        "gesamtsumme",
        "insgesamt",
        "mittelwert",
        "durchschnitt",
        "somme",
        "moyenne",
        "médiane",
        "total général",
        "suma",
        "media",
        "promedio",
        "mediana",
        "total general",
        "somma",
        "totale",
        "soma",
        "média",
        "total geral",
        "totaal",
        "som",
        "gemiddelde",
        "summa",
        "totalt",
        "medelvärde",
        "medel",
        "i alt",
        "gennemsnit",
        "gjennomsnitt",
        "razem",
        "średnia",
        "итого",
        "всего",
        "сумма",
        "среднее",
        "toplam",
        "ortalama",
        "合計",
        "平均",
        "总计",
        "合计",
        "平均值",
        "합계",
        "평균",
    }
)
"""What sheets call a row or a column that is computed of the others."""


def from_wide(frame: pd.DataFrame, *, coders: Axis, keep: Sequence[str] = ()) -> pd.DataFrame:
    """Return a table of units × coders, or coders × units, with its axes named `coder` and `unit_id`.

    Use it for values from a spreadsheet with a column for each coder: `krippendorff_alpha`, `estimate` and
    every other function on arrays of values take the result, and know its orientation from its names.

    A sheet often contains more than coders' values: a row of totals, a column of ratings or of ids. Counted
    as a unit or as a coder they would change the result, so whatever looks like one of these is refused. A
    warning tells where values lie half-way between two points of a scale of whole numbers.

    Parameters
    ----------
    frame : DataFrame
        Each coder's value of each unit, and nothing else. The ids of the units are its index (its column
        `unit_id`, if it has one); with ``coders="rows"`` the index, or the column `coder`, names the coders,
        and the columns name the units. White space around ids is ignored. If some of the coders are models,
        use ``frames.as_models(from_wide(…), ["gpt"])``.
    coders : {"columns", "rows"}
        Where the coders are.
    keep : sequence of str
        Units and coders that would be refused although they are real: a text with the id "Total", a coder who
        used another part of the scale.

    Returns
    -------
    DataFrame
        The same values; one axis is named `coder`, the other `unit_id`.

    Raises
    ------
    TableError
        Not a pandas DataFrame; a coder or unit that is missing, repeated, or differs from another only in
        upper and lower case; axes with other names. Not in `keep`: a unit or coder called total, sum, mean or
        the like (in several languages), a coder called agree, n, final, gold or
        the like; a column of ids or row numbers; one of another kind (words among
        numbers, no word in common with any other) or scale (a third of its values outside the range of all
        others, and more than twice as wide: 2 to 5 next to 1 and 2); one of ones and blanks next to ones and
        zeros (`frames.check_people`),
        or of one of two words and blanks.
    ArgumentError
        `coders` is neither of the two.

    Examples
    --------
    >>> from sense7_qual.agreement.coefficients import krippendorff_alpha
    >>> sheet = pd.DataFrame({"unit_id": ["m1", "m2", "m3", "m4"], "ana": [1, 2, 2, 1], "ben": [1, 2, 1, 1]})
    >>> values = from_wide(sheet, coders="columns")
    >>> values.index.name, values.columns.name
    ('unit_id', 'coder')
    >>> round(krippendorff_alpha(values, level="nominal"), 3)
    0.533
    """
    check_arguments(from_wide, locals(), but=("frame", "coders"))
    if not isinstance(coders, str) or coders not in get_args(Axis):
        raise ArgumentError(
            f"from_wide: expected coders to be one of {', '.join(get_args(Axis))} – found {word(coders)} – "
            f"{did_you_mean(str(coders), get_args(Axis))}"
        )
    if not isinstance(frame, pd.DataFrame):
        raise TableError(
            f"from_wide: expected a pandas DataFrame – found {type(frame).__name__} – convert it: "
            "frame.to_pandas(), or pandas.DataFrame(values, index=…, columns=…)."
        )
    names = AXES[::-1] if coders == "columns" else AXES
    if names[0] in frame.columns:
        frame = frame.set_index(names[0])
    if frame.index.nlevels > 1 or frame.columns.nlevels > 1 or frame.index.name == names[1]:
        raise TableError(
            f"from_wide: expected rows of {names[0]} and columns of {names[1]}, one label each – found axes "
            f"named {list(frame.index.names)} and {list(frame.columns.names)} – name or reset them first."
        )
    wide = frame.rename_axis(index=names[0], columns=names[1])
    _check_labels(wide, set(keep))
    by_coder(wide)
    columns = wide if coders == "columns" else wide.T.infer_objects()
    _refuse_results(columns.columns, {*keep, *RESERVED_CODERS})
    _check_columns(columns, {*keep, *RESERVED_CODERS})
    warn_of_names([*map(str, columns.columns)], [*map(str, columns.index)])
    _warn_of_halves(columns)
    wide.attrs[KEPT] = [*wide.attrs.get(KEPT, ()), *keep]
    return wide


def _refuse_results(coders: pd.Index, keep: set[str]) -> None:
    """Refuse coders with the name of what a sheet computes, or of what its coders decided together."""
    names = [name for one in coders if (name := str(one).strip()) not in keep and not is_known(name)]
    found = [*likely_computed(names), *likely_results(names)]
    if found:
        raise TableError(
            f"from_wide: expected coders – found {first_three(dict.fromkeys(found))}, as what is computed of "
            f"coders, or decided by them together, is called – drop it, or pass keep=[{found[0]!r}] if it is "
            "a person."
        )


def _check_labels(wide: pd.DataFrame, keep: set[str]) -> None:
    """Refuse units and coders with the name of a summary, and units that differ in case alone."""
    for axis in (wide.index, wide.columns):
        own = [str(label).strip() for label in axis if isinstance(label, str)]
        others = [label for label in own if label not in keep]
        summaries = [label for label in others if label.casefold().strip(" .:") in _SUMMARIES]
        if summaries:
            raise TableError(
                f"from_wide: expected units and their coders – found {axis.name} {first_three(summaries)}, "
                f"as totals and means are called – drop it, or pass keep=[{summaries[0]!r}] if it is one."
            )
        if axis.name == "unit_id":
            one_case(others, name="unit_id", frame_name="from_wide")


def _check_columns(by_coder: pd.DataFrame, keep: set[str]) -> None:
    """Refuse columns (units × coders) that hold something other than the values of a coder."""
    named = ((str(name).strip(), column.dropna()) for name, column in by_coder.astype("object").items())
    columns = {name: column for name, column in named if name not in keep and len(column)}
    if len(by_coder) >= _IDS_FROM:
        for name, column in columns.items():
            _refuse_ids(name, column, n_units=len(by_coder))
    kinds = {name: _kind(column) for name, column in columns.items()}
    if len(set(kinds.values())) > 1:
        usual = max(kinds.values(), key=list(kinds.values()).count)
        _refuse([name for name in kinds if kinds[name] != usual], f"no {usual}, which others hold,")
    elif "numbers" in kinds.values():
        _check_numbers({name: column.astype("float64") for name, column in columns.items()})
    elif "words" in kinds.values():
        _refuse(_without_common_words(columns), "no word that another column has")
    if set(kinds.values()) <= {"numbers", "words"}:
        values = {name: _comparable(column) for name, column in columns.items()}
        what = "ones" if "numbers" in kinds.values() else "one word"
        _refuse(only_one_of_two(values), f"{what} and blanks alone (write 0 where it is absent)")
        say_what_shows(values)


def _without_common_words(columns: Mapping[str, pd.Series[Any]]) -> list[str]:
    """Return the columns, of several, in which no word is one of another column."""
    words = {name: set(column.astype(str).str.strip().str.casefold()) for name, column in columns.items()}
    n_columns = Counter(word for of_column in words.values() for word in of_column)
    if len(words) == 1:
        return []
    return [name for name, of_column in words.items() if max(n_columns[word] for word in of_column) == 1]


def _comparable(column: pd.Series) -> pd.Series:
    """Return values without what typing changes; blank words are missing."""
    stripped = column.map(lambda one: one.strip().casefold() if isinstance(one, str) else one)
    return stripped[stripped.ne("")]


def _check_numbers(columns: dict[str, pd.Series]) -> None:
    """Refuse a column on another scale than all others."""
    ends = np.array([(column.min(), column.max()) for column in columns.values()])
    apart = []
    for place, (name, column) in enumerate(columns.items()):
        others = np.delete(ends, place, axis=0)
        if len(others):
            low, high = others[:, 0].min(), others[:, 1].max()
            beyond = float(((column < low) | (column > high)).mean())
            if beyond >= _BEYOND and np.ptp(ends[place]) > _TIMES_AS_WIDE * (high - low) > 0:
                apart.append(name)
    _refuse(apart, "numbers on another scale than all others")


def _kind(column: pd.Series) -> str:
    if all(isinstance(one, bool | int | float | np.number | np.bool_) for one in column):
        return "numbers"
    return "words" if any(isinstance(one, str) for one in column) else "values of another kind"


def _refuse(names: list[str], problem: str) -> None:
    if names:
        raise TableError(
            f"from_wide: expected a coder's values in every column – found {problem} in {first_three(names)} "
            f"– drop what is not a coder, or pass keep=[{names[0]!r}] if it is one."
        )


def _refuse_ids(name: str, column: pd.Series, *, n_units: int) -> None:
    """Refuse a column of ids or row numbers, which would count as one more coder."""
    if len(column) < n_units or not column.is_unique or _kind(column) == "values of another kind":
        return
    column = column.infer_objects()
    whole = pd.api.types.is_integer_dtype(column.dtype)
    if (whole and (column.diff().iloc[1:] == 1).all()) or isinstance(column.iloc[0], str):
        raise TableError(
            f"from_wide: expected a coder's values in every column – found {n_units} different ones, "
            f"as ids are, in column {name!r} – make the ids the index: frame.set_index({name!r})."
        )


def _warn_of_halves(by_coder: pd.DataFrame) -> None:
    """Warn where a few values are half-way between the points of a scale of whole numbers."""
    cells = pd.Series(by_coder.astype("object").to_numpy().ravel())
    values: Any = pd.to_numeric(cells, errors="coerce").dropna().astype("float64")
    halves = (values % 1 == 0.5).sum()
    if halves and ((2 * values) % 1 == 0).all() and 2 * halves < len(values):
        warnings.warn(
            f"from_wide: {halves} of {len(values)} values are half-way between two points of the scale. A "
            "nominal or ordinal coefficient takes each for a point of its own: correct them if they are "
            "means or slips, or take the interval level.",
            RuntimeWarning,
            stacklevel=outside(),
        )
