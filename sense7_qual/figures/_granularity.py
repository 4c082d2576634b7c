"""How fine themes may be: what resamples show again, by granularity, beside what chance gives."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual.errors import TableError
from sense7_qual.figures._figure import (
    DARK,
    GREY,
    POINT,
    WIDTHS,
    Columns,
    Figure,
    axis_of,
    check_columns,
    finished,
    number_axis,
    plot_width,
    title_lines,
)
from sense7_qual.frames import require_column

__all__ = ["granularity_plot"]

_HEIGHT: Final = {1: 180, 2: 240}
_NUMBERS: Final = ("n_themes", "ari", "ari_low", "ari_high", "ari_chance")


def granularity_plot(granularities: pd.DataFrame, *, columns: Columns = 1) -> Figure:
    """Draw how alike the themes of two resamples are, against how fine the themes are.

    A point per granularity with a bar over the middle 80 % of the pairs of resamples, joined by a line; a
    dashed line is what texts without groups give; the chosen granularity is a filled point. Below each
    granularity stands its number of themes. One that was not resampled has no point.

    Parameters
    ----------
    granularities : DataFrame
        `Themes.granularities`.
    columns : {1, 2}
        Width on the page: one column (85 mm) or two (178 mm).

    Raises
    ------
    TableError
        A column is missing or holds no numbers, or a granularity stands twice.
    ArgumentError
        `columns` is out of its range.

    Examples
    --------
    >>> table = pd.DataFrame({"granularity": [0.5, 1.0], "n_themes": [4, 9], "ari": [0.61, 0.74],
    ...     "ari_low": [0.5, 0.7], "ari_high": [0.7, 0.8], "ari_chance": [0.3, 0.2],
    ...     "chosen": [False, True]})
    >>> print(granularity_plot(table).description)
    Adjusted Rand index between resamples by granularity. 0.5 (4 themes): .61; 1 (9 themes, chosen): .74.
    """
    check_arguments(granularity_plot, locals())
    import altair as alt

    check_columns(columns)
    for name in ("granularity", "chosen", *_NUMBERS):
        require_column(granularities, name, frame_name="granularities")
        if not pd.api.types.is_numeric_dtype(granularities[name].dtype):
            raise TableError(
                f"granularities: expected numbers in {name!r} – found {granularities[name].dtype} – pass "
                "`Themes.granularities`."
            )
    if granularities["granularity"].duplicated().any():
        raise TableError(
            "granularities: expected each granularity once – found one twice – pass the frame of one `fit`."
        )
    rows = granularities.sort_values("granularity", ignore_index=True)
    rows = rows.assign(
        at=[f"{row.granularity:g}|{row.n_themes}" for row in rows.itertuples()],
        fill=["#ffffff" if not chosen else DARK for chosen in rows["chosen"]],
    )
    low = min(0.0, float(rows[["ari_low", "ari_chance"]].min().min(skipna=True) or 0.0))
    chart = alt.layer(*_marks(rows, low, columns)).properties(
        width=WIDTHS[columns],
        height=_HEIGHT[columns],
        autosize={"type": "fit-x", "contains": "padding"},
        background="white",
        padding={"left": 2, "right": 6, "top": 8, "bottom": 2},
    )
    return finished(chart, _in_words(rows))


def _marks(rows: pd.DataFrame, low: float, columns: Columns) -> list[Any]:
    import altair as alt

    titles = title_lines(
        ["Granularity, with the number of themes", "Dashed: texts without groups"], plot_width(columns)
    )
    x = alt.X("at:N", sort=None, axis=axis_of(titles, labelAngle=0, labelExpr="split(datum.label, '|')"))
    axis = number_axis((low, 1.0), ["Adjusted Rand index", "between resamples"])
    y = alt.Y("ari:Q", scale=alt.Scale(domain=[low, 1], nice=False), axis=axis)
    known = alt.Chart(rows.dropna(subset=["ari"]))
    return [
        alt.Chart(rows.dropna(subset=["ari_chance"]))
        .mark_line(color=GREY, strokeDash=[4, 3], strokeWidth=1)
        .encode(x=x, y=alt.Y("ari_chance:Q")),
        known.mark_line(color=DARK, strokeWidth=1).encode(x=x, y=y),
        known.mark_rule(color=DARK, strokeWidth=1).encode(x=x, y=alt.Y("ari_low:Q"), y2="ari_high:Q"),
        known.mark_point(color=DARK, size=30 * POINT, strokeWidth=1.2, opacity=1, filled=False).encode(
            x=x, y=y, fill=alt.Fill("fill:N", scale=None, legend=None)
        ),
    ]


def _in_words(rows: pd.DataFrame) -> str:
    points = "; ".join(
        f"{row['granularity']:g} ({row['n_themes']} themes{', chosen' if row['chosen'] else ''}): "
        + (_present.coefficient(row["ari"], 2) if pd.notna(row["ari"]) else "not resampled")
        for row in rows.to_dict("records")
    )
    return f"Adjusted Rand index between resamples by granularity. {points}."
