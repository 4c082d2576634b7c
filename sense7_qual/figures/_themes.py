"""Themes: how reproducible each granularity is, and how they spread over conditions or ratings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
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
    lettered,
    number_axis,
    plot_width,
    title_lines,
)
from sense7_qual.figures._panels import PanelPoint, draw_panels, effect_scale
from sense7_qual.frames import require_column

_MOST: Final[Mapping[int, int]] = {1: 4, 2: 8}
_SHARES: Final = ("share", "share_low", "share_high", "overall_share", "confidence_level")
_MISSING: Final = "(missing)"


def theme_spread(spread: pd.DataFrame, *, columns: Columns = 2) -> Figure:
    """Draw each theme's share of the texts in each condition, at each rating, or in each turn.

    One row per theme, one panel per value, all on one scale; a short grey line is the theme's share of all
    texts. An interval that is very wide ends in an arrow at the edge of its panel. A hollow point has no
    interval; a letter says why.

    Parameters
    ----------
    spread : DataFrame
        The result of `themes.spread`, all themes or some.
    columns : {1, 2}
        Width on the page: one column (85 mm; up to four values) or two (178 mm; up to eight).

    Raises
    ------
    TableError
        A column is missing or holds no numbers, a theme has a value twice, rows are by several columns or
        were computed with different levels.
    ArgumentError
        `columns` is out of its range, or the values do not fit.

    Examples
    --------
    >>> result = pd.DataFrame({"theme": 0, "label": "slow", "by": "model", "value": ["new", "old"],
    ...     "share": [0.1, 0.3], "share_low": [0.04, 0.2], "share_high": [0.2, 0.4],
    ...     "overall_share": 0.2, "confidence_level": 0.95})
    >>> print(theme_spread(result).description)
    Share of texts in the theme, with 95% CI, by model. new: slow .10 [.04, .20]. old: slow .30 [.20, .40].
    """
    check_arguments(theme_spread, locals())
    rows, by = _checked(spread)
    themes = spread.drop_duplicates("theme")
    panels = list(dict.fromkeys(row["value"] for row in rows))
    panels.sort(key=lambda value: value == _MISSING)
    points, lines = _points(rows, list(themes["theme"]), panels)
    estimates = [point.at for point in points if point.at is not None]
    ends = [point.high for point in points if point.high is not None]
    overall = [spread.loc[spread["theme"] == theme, "overall_share"].max() for theme in themes["theme"]]
    interval = _present.interval_name(rows, frame_name="spread")
    with_value = " that have a value" if _MISSING in panels else ""
    title = f"Share of texts in the theme, with {interval}, by {by}"
    return draw_panels(
        points,
        [_label(row) for row in themes.to_dict("records")],
        panels,
        scale=effect_scale("share", estimates, ends),
        titles=(title, f"Grey line: of all texts{with_value}", *lines),
        columns=columns,
        words=f"{title}.",
        references=overall,
        most=_MOST,
    )


def _checked(spread: pd.DataFrame) -> tuple[list[dict[str, Any]], str]:
    """Return the rows with their value as it is printed, and the name of the column that they are by."""
    for name in ("theme", "label", "by", "value", *_SHARES):
        require_column(spread, name, frame_name="spread")
        if name in _SHARES and not pd.api.types.is_numeric_dtype(spread[name].dtype):
            raise TableError(
                f"spread: expected numbers in {name!r} – found {spread[name].dtype} – pass the result of "
                "`themes.spread`."
            )
    columns = spread["by"].unique()
    if len(columns) > 1 or spread.duplicated(["theme", "value"]).any():
        raise TableError(
            f"spread: expected one row per theme and value of one column – found {len(columns)} columns, "
            f"{int(spread.duplicated(['theme', 'value']).sum())} rows twice – draw them one at a time."
        )
    rows = [{str(name): value for name, value in row.items()} for row in spread.to_dict("records")]
    named = [row | {"value": _MISSING if pd.isna(row["value"]) else str(row["value"])} for row in rows]
    return named, str(columns[0]) if len(columns) else "nothing"


def _points(
    rows: list[dict[str, Any]], themes: list[Any], panels: list[str]
) -> tuple[list[PanelPoint], list[str]]:
    """Return the point of each theme and value, and the lines that say what its letters mean."""
    cells = {(row["theme"], row["value"]): row for row in rows}
    points: list[PanelPoint] = []
    whys: list[str | None] = []
    for place, theme in enumerate(themes):
        for panel, value in enumerate(panels):
            cell = cells.get((theme, value), {})
            at, low, high = (
                None if pd.isna(cell.get(name, None)) else float(cell[name]) for name in _SHARES[:3]
            )
            points.append(PanelPoint(place, panel, at, low, high, ""))
            few = "no interval: too few participants" if low is None or high is None else None
            whys.append("no texts" if at is None else few)
    letters, lines = lettered(whys)
    return [replace(point, note=note) for point, note in zip(points, letters, strict=True)], lines


def _label(row: Mapping[Any, Any]) -> str:
    return f"Theme {row['theme']}" if pd.isna(row["label"]) else str(row["label"])


_HEIGHT: Final = {1: 180, 2: 240}
_RESAMPLED: Final = ("n_themes", "ari", "ari_low", "ari_high", "ari_chance")


def granularity_plot(granularities: pd.DataFrame, *, columns: Columns = 1) -> Figure:
    """Draw the stability of themes over resamples against their granularity.

    A point per granularity with a bar over the middle 80 % of the pairs of resamples, joined by a line; a
    dashed line shows texts without groups; the chosen granularity is a filled point. The number of themes is
    below each granularity. One that was not resampled has no point.

    Parameters
    ----------
    granularities : DataFrame
        `Themes.granularities`.
    columns : {1, 2}
        Width on the page: one column (85 mm) or two (178 mm).

    Raises
    ------
    TableError
        A column is missing or holds no numbers, or a granularity occurs twice.
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
    for name in ("granularity", "chosen", *_RESAMPLED):
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
