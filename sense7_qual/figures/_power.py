"""The power of a planned study against its number of participants."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual.errors import ArgumentError, TableError
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
from sense7_qual.links import POWER

# Sky blue, orange and green of Okabe and Ito, darkened for lines on white; shapes tell them apart as well.
_COLOURS: Final = (DARK, "#b35806", "#00735c", "#6b6b6b", "#a3195b", "#000000")
_SHAPES: Final = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
_HEIGHT: Final[Mapping[int, int]] = {1: 180, 2: 240}
_PARAMETERS: Final[Mapping[str, str]] = {
    "rank_biserial": "r",
    "odds_ratio": "odds ratio",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "significance": "significance",
}


def power_curve(power: pd.DataFrame, *, target: float = 0.8, columns: Columns = 1) -> Figure:
    """Draw the power to find a link against the number of participants.

    A point per number of participants, with the 95% CI of the simulation's own error, joined by
    a line; a dashed line marks `target`. Results for links of several sizes, or for coders of several
    qualities, can be given together: each is a line of its own, named at its end.

    Parameters
    ----------
    power : DataFrame
        The result of `links.power`, or several of them, one under the other.
    target : float
        The power aimed at, above 0 and below 1.
    columns : {1, 2}
        Width on the page: one column (85 mm) or two (178 mm).

    Raises
    ------
    TableError
        A column is missing, or a number of participants occurs twice in one line.
    ArgumentError
        `target` or `columns` is out of its range, or there are more than six lines.

    Examples
    --------
    >>> result = pd.DataFrame({"participants": [40, 80], "power": [0.5, 0.82],
    ...     "standard_error": [0.016, 0.012], "rank_biserial": 0.25, "odds_ratio": 2.9, "sensitivity": 1.0,
    ...     "specificity": 1.0, "significance": 0.05, "n_simulations": 1000})
    >>> print(power_curve(result).description)
    Power by number of participants. 40: 50.0%, 80: 82.0%.
    """
    check_arguments(power_curve, locals())
    import altair as alt

    check_columns(columns)
    if not isinstance(target, int | float) or not 0 < target < 1:
        raise ArgumentError(f"figure: expected target above 0 and below 1 – found {target!r} – 0.8 is usual.")
    POWER.require(power)
    rows = _in_lines(power)
    names = list(rows["line"].unique())
    if len(names) > len(_COLOURS):
        raise ArgumentError(
            f"figure: expected at most {len(_COLOURS)} lines – found {len(names)} – draw several figures."
        )
    largest = float(rows["participants"].max()) if len(rows) else 1.0
    room = 1.0 + (0.0 if len(names) < 2 else 0.45 if columns == 1 else 0.25)
    x = alt.Scale(domain=[0, 1.04 * largest * room], nice=False)
    y = alt.Scale(domain=[0, 1], nice=False)
    simulated = f"{_present.count_range(rows['n_simulations'])} simulated studies each"
    titles = title_lines(["Participants", f"Bars: 95% CI of {simulated}"], plot_width(columns))
    chart = alt.layer(
        _target(target, largest, x, y), *_lines(rows, names, x, y, _participants(titles, largest))
    ).properties(
        width=WIDTHS[columns],
        height=_HEIGHT[columns],
        autosize={"type": "fit-x", "contains": "padding"},
        background="white",
        padding={"left": 2, "right": 6, "top": 8, "bottom": 2},
    )
    return finished(chart, f"Power by number of participants. {_in_words(rows, names)}".strip())


def _in_lines(power: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the name of their line, made of what differs between the rows."""
    differing = [name for name in _PARAMETERS if len(power[name].round(9).unique()) > 1]
    if "rank_biserial" in differing and "odds_ratio" in differing:
        differing.remove("odds_ratio")  # two names of one size
    line = [
        ", ".join(f"{_PARAMETERS[name]} = {_shown(name, row[name])}" for name in differing)
        for row in power.to_dict("records")
    ]
    rows = power.assign(line=line, order=power[differing].sum(axis=1) if differing else 0.0)
    if rows.duplicated(["line", "participants"]).any():
        raise TableError(
            "power: expected each number of participants once in a line – found one twice – pass results "
            "that differ in the size of the link, the coders' errors or the significance."
        )
    error = 1.96 * rows["standard_error"]
    rows = rows.assign(low=(rows["power"] - error).clip(0), high=(rows["power"] + error).clip(upper=1))
    return rows.sort_values(["line", "participants"], kind="stable", ignore_index=True)


def _shown(name: str, value: float) -> str:
    return _present.number(value, 2) if name == "odds_ratio" else _present.coefficient(value, 2)


def _target(target: float, largest: float, x: Any, y: Any) -> Any:
    import altair as alt

    line = alt.Chart(pd.DataFrame({"x": [0.0], "x2": [1.04 * largest], "y": [target]}))
    return line.mark_rule(color=GREY, strokeDash=[4, 3], strokeWidth=1).encode(
        x=alt.X("x:Q", scale=x), x2="x2:Q", y=alt.Y("y:Q", scale=y)
    )


def _lines(rows: pd.DataFrame, names: Sequence[str], x: Any, y: Any, axis: Any) -> list[Any]:
    import altair as alt

    drawn = rows[["participants", "power", "low", "high", "line"]]
    colour = alt.Color(
        "line:N", scale=alt.Scale(domain=names, range=list(_COLOURS[: len(names)])), legend=None
    )
    shape = alt.Shape("line:N", scale=alt.Scale(domain=names, range=list(_SHAPES[: len(names)])), legend=None)
    base = alt.Chart(drawn).encode(
        x=alt.X("participants:Q", scale=x, axis=axis),
        y=alt.Y("power:Q", scale=y, axis=number_axis((0.0, 1.0), ["Power"])),
        color=colour,
    )
    bars = base.mark_rule(strokeWidth=1.2).encode(y=alt.Y("low:Q", scale=y), y2="high:Q")
    layers = [
        base.mark_line(strokeWidth=1.5),
        bars,
        base.mark_point(filled=True, size=40, opacity=1).encode(shape=shape),
    ]
    if len(names) > 1:
        ends = drawn.loc[drawn.groupby("line")["participants"].idxmax()]
        ends = ends.assign(at=_apart(ends["power"].to_numpy(dtype=np.float64)))
        text = alt.Chart(ends).mark_text(align="left", dx=8, fontSize=7 * POINT)
        layers.append(
            text.encode(
                x=alt.X("participants:Q", scale=x), y=alt.Y("at:Q", scale=y), text="line:N", color=colour
            )
        )
    return layers


def _apart(heights: np.ndarray[Any, Any]) -> list[float]:
    """Return places for the names of lines that end at `heights`, so that none stands on another."""
    least = 0.065
    order = np.argsort(-heights, kind="stable")
    placed = heights.astype(np.float64).copy()
    for above, one in itertools.pairwise(order):
        placed[one] = min(placed[one], placed[above] - least)
    lowest = float(placed.min(initial=1.0))
    return [float(value) for value in placed + max(0.0, 0.02 - lowest)]


def _participants(titles: Sequence[str], largest: float) -> Any:

    step = 10 ** math.floor(math.log10(max(largest, 10)))
    step = next(s for s in (step / 5, step / 2, step, 2 * step) if largest / s <= 6)
    values = [round(step * number) for number in range(int(largest / step) + 1)]
    return axis_of(
        titles,
        values=values,
        tickCount=len(values),
        format=",.0f",
        labelOverlap=False,
    )


def _in_words(rows: pd.DataFrame, names: Sequence[str]) -> str:
    sentences = []
    for name in names:
        of_line = rows[rows["line"] == name]
        points = [
            f"{_present.count(row['participants'])}: {_present.percent(row['power'])}%"
            for row in of_line.to_dict("records")
        ]
        sentences.append(f"{name}{': ' if name else ''}{', '.join(points)}.")
    return " ".join(sentences)
