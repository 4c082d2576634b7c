"""Figures of where coders disagree: coder × coder, over time, and unit by unit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, get_args

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.figures._figure import (
    DARK,
    GREY,
    POINT,
    ROW,
    WIDTHS,
    Columns,
    Figure,
    axis_of,
    basis_of,
    check_columns,
    finished,
    label_lines,
    literal,
    number_axis,
    padding,
    plot_width,
    row_axis,
    title_lines,
)
from sense7_qual.figures._lettering import wrapped
from sense7_qual.frames import require_column

Statistic = Literal["alpha", "kappa", "percent"]

_NAMES: Final[Mapping[str, str]] = {
    "alpha": "Krippendorff's α",
    "kappa": "Cohen's κ",
    "percent": "Agreement (%)",
}
_MOST_NUMBERS: Final[Mapping[int, int]] = {1: 9, 2: 20}  # coders whose numbers fit their cells
_MOST_UPRIGHT: Final[Mapping[int, int]] = {1: 4, 2: 9}  # slices whose names fit under the axis
_MOST_WORDS: Final = 30
_LONGEST: Final = 110  # pixels of the name of a coder, or of a slice that stands upright
_PALE: Final = "#eef3f9"
_CONVENTIONS: Final[Mapping[float, str]] = {0.667: ".667", 0.8: ".800"}


def pairwise_plot(
    pairwise: pd.DataFrame,
    *,
    code: str,
    statistic: Statistic = "alpha",
    codebook: Codebook | None = None,
    columns: Columns = 1,
) -> Figure:
    """Draw the agreement of every two coders on one code as a heat map, coder × coder.

    A cell is darker the better the two agree, and has its number where that fits; values below 0 are as
    pale as 0, and a dash marks a pair without computable agreement. The map has no benchmarks: over the units
    of two coders the numbers vary too widely for any.

    Parameters
    ----------
    pairwise : DataFrame
        The result of `agreement.pairwise`: code, coder_a, coder_b, and the statistic.
    code : str
        The code's id.
    statistic : {"alpha", "kappa", "percent"}
        The column to draw.
    codebook : Codebook, optional
        Gives the label of the code.
    columns : {1, 2}
        Width on the page: one column (85 mm) or two (178 mm).

    Raises
    ------
    TableError
        A column is missing, there is no row of this code, or a pair of coders has several.
    CodebookError
        The code is not in the codebook.
    ArgumentError
        `statistic` or `columns` is out of its range.

    Examples
    --------
    >>> pairs = pd.DataFrame({"code": ["prosocial"], "coder_a": ["ana"], "coder_b": ["ben"], "alpha": [0.77]})
    >>> print(pairwise_plot(pairs, code="prosocial").description)
    Krippendorff's α of every two coders (prosocial). ana, ben: .77.
    """
    check_arguments(pairwise_plot, locals())
    import altair as alt

    if statistic not in get_args(Statistic):
        raise ArgumentError(
            f"figure: expected statistic out of {', '.join(get_args(Statistic))} – found {statistic!r} – "
            f"{did_you_mean(str(statistic), get_args(Statistic))}"
        )
    check_columns(columns)
    names = ("coder_a", "coder_b", statistic)
    rows, label = _of_code(pairwise, code, names, frame_name="pairwise", codebook=codebook)
    _refuse_repeats(rows, ["coder_a", "coder_b"], frame_name="pairwise", what="pair of coders")
    cells = _cells(rows, statistic)
    coders = sorted({*cells["coder_a"], *cells["coder_b"]})
    shown = [name for (name,) in wrapped(coders, _LONGEST, most=1)]
    named, lines = dict(zip(coders, shown, strict=True)), [[(0, name)] for name in shown]
    title = f"{_NAMES[statistic]} of every two coders ({label})"
    titles = [title, *([f"{_present.MISSING} = not computable"] if cells["value"].isna().any() else [])]
    side = WIDTHS[columns] / (len(coders) + 1)
    base = alt.Chart(cells).encode(
        x=alt.X(
            "coder_a:N",
            sort=coders,
            axis=_coder_axis(title_lines(titles, plot_width(columns, lines)), named, angle=-45),
        ),
        y=alt.Y("coder_b:N", sort=coders, axis=_coder_axis(None, named, angle=0)),
    )
    chart = alt.layer(*_heat(base, numbers=len(coders) <= _MOST_NUMBERS[columns])).properties(
        width=WIDTHS[columns],
        height=max(1, len(coders) - 1) * min(34.0, max(16.0, 0.8 * side)),
        autosize={"type": "fit-x", "contains": "padding"},
        background="white",
        padding=padding(lines),
    )
    return finished(chart, f"{title}. {_pairs_in_words(cells)}".strip(), basis=basis_of(pairwise))


def drift_plot(
    over_time: pd.DataFrame,
    *,
    code: str,
    codebook: Codebook | None = None,
    columns: Columns = 1,
) -> Figure:
    """Draw Krippendorff's alpha of one code over time, with its intervals, to show drift.

    One point per slice, in time, with its number of units below. Dashed lines mark Krippendorff's
    conventions, .667 and .800; they decide nothing. A point without interval is hollow, and the line is
    broken where alpha is not computable.

    Parameters
    ----------
    over_time : DataFrame
        The result of `agreement.over_time`: code, by, slice, place, n_units, alpha, alpha_low, alpha_high,
        confidence_level.
    code : str
        The code's id.
    codebook : Codebook, optional
        Gives the label of the code.
    columns : {1, 2}
        Width on the page: one column (85 mm) or two (178 mm).

    Raises
    ------
    TableError
        A column is missing, there is no row of this code, a slice has several, or rows were computed with
        different levels.
    CodebookError
        The code is not in the codebook.
    ArgumentError
        `columns` is out of its range.

    References
    ----------
    Krippendorff (2004), Content Analysis: An Introduction to Its Methods (2nd ed.), chapter 11.

    Examples
    --------
    >>> rows = pd.DataFrame({"code": "prosocial", "by": "round", "slice": ["pilot", "main"],
    ...     "place": [1, 2], "n_units": [20, 60], "alpha": [0.51, 0.77], "alpha_low": [0.2, 0.64],
    ...     "alpha_high": [0.75, 0.87], "confidence_level": 0.95})
    >>> print(drift_plot(rows, code="prosocial").description.partition(". ")[2])
    pilot (n = 20): .51 [.20, .75]. main (n = 60): .77 [.64, .87].
    """
    check_arguments(drift_plot, locals())
    import altair as alt

    check_columns(columns)
    names = ("by", "slice", "place", "n_units", "alpha", "alpha_low", "alpha_high", "confidence_level")
    rows, label = _of_code(over_time, code, names, frame_name="over_time", codebook=codebook)
    _refuse_repeats(rows, ["slice"], frame_name="over_time", what="slice")
    rows = rows.sort_values("place", kind="stable").reset_index(drop=True)
    levels = [{"confidence_level": level} for level in rows["confidence_level"]]
    interval = _present.interval_name(levels, frame_name="over_time")
    title = f"Krippendorff's α with {interval}"
    by = str(rows["by"].iloc[0])
    numbers = [float(value) for value in rows[["alpha", "alpha_low"]].to_numpy(dtype=float).ravel()]
    lowest = min([0.0, *(value for value in numbers if not math.isnan(value))])
    domain = (math.floor((lowest + 0.002) * 5) / 5, 1.0)
    titles = [f"By {by} ({label})", "Dashed: conventions .667 and .800"]
    if (rows["alpha"].notna() & (rows["alpha_low"].isna() | rows["alpha_high"].isna())).any():
        titles.append("Hollow: no interval")
    chart = alt.layer(
        *_drift(rows, domain, title, title_lines(titles, plot_width(columns)), columns)
    ).properties(
        width=WIDTHS[columns],
        height=190,
        autosize={"type": "fit-x", "contains": "padding"},
        background="white",
        padding={"left": 2, "right": 8, "top": 2, "bottom": 2},
    )
    words = " ".join(_slice_in_words(row) for row in rows.to_dict("records"))
    return finished(chart, f"{title} by {by} ({label}). {words}".strip(), basis=basis_of(rows))


def unit_plot(
    by_unit: pd.DataFrame,
    *,
    code: str,
    most: int = 20,
    codebook: Codebook | None = None,
    columns: Columns = 1,
) -> Figure:
    """Draw what the most disputed units cost in alpha of one code, the most costly first.

    A bar is alpha without the unit minus alpha; its label counts the coders who applied the code. Units are
    named by their ids, and units that hold alpha up are not drawn.

    Parameters
    ----------
    by_unit : DataFrame
        The result of `agreement.diagnosis.by_unit`: code, unit_id, n_coders, n_applied, cost.
    code : str
        The code's id.
    most : int
        Units to draw at most, 1 to 100.
    codebook : Codebook, optional
        Gives the label of the code.
    columns : {1, 2}
        Width on the page: one column (85 mm) or two (178 mm).

    Raises
    ------
    TableError
        A column is missing, there is no row of this code, or a unit has several.
    CodebookError
        The code is not in the codebook.
    ArgumentError
        `most` or `columns` is out of its range.

    Examples
    --------
    >>> costs = pd.DataFrame({"code": "prosocial", "unit_id": ["m1", "m2"], "n_coders": 3,
    ...     "n_applied": [1, 3], "cost": [0.0213, -0.004]})
    >>> print(unit_plot(costs, code="prosocial").description)
    Krippendorff's α without the unit, minus α (prosocial). m1 (1 of 3): .021.
    """
    check_arguments(unit_plot, locals())
    import altair as alt

    check_columns(columns)
    if not isinstance(most, int) or isinstance(most, bool) or not 1 <= most <= 100:
        raise ArgumentError(f"figure: expected most from 1 to 100 – found {most!r} – 20 fit on a page.")
    names = ("unit_id", "n_coders", "n_applied", "cost")
    rows, label = _of_code(by_unit, code, names, frame_name="by_unit", codebook=codebook)
    _refuse_repeats(rows, ["unit_id"], frame_name="by_unit", what="unit")
    costly = rows[rows["cost"] > 0].sort_values("cost", ascending=False, kind="stable").head(most)
    title = f"Krippendorff's α without the unit, minus α ({label})"
    lines, height = label_lines([str(unit) for unit in costly["unit_id"]], columns)
    largest = float(costly["cost"].max()) if len(costly) else 1.0
    middle = [(block[0][0] + block[-1][0]) / 2 for block in lines]
    drawn = costly.assign(y=middle, votes=[_votes(row) for row in costly.to_dict("records")])
    y = alt.Y("y:Q", scale=alt.Scale(domain=[height, 0], nice=False, zero=False), axis=row_axis(lines))
    x = alt.X(
        "cost:Q",
        scale=alt.Scale(domain=[0, 1.25 * largest]),
        axis=_cost_axis(title, plot_width(columns, lines)),
    )
    base = alt.Chart(drawn[["y", "cost", "votes"]]).encode(x=x, y=y)
    chart = alt.layer(
        base.mark_rule(color=DARK, strokeWidth=9).encode(x2=alt.X2(datum=0)),
        base.mark_text(align="left", dx=4, fontSize=7 * POINT).encode(text="votes:N"),
        *([] if len(costly) else [_nothing_drawn("No unit lowers α")]),
    ).properties(
        width=WIDTHS[columns],
        height=height,
        autosize={"type": "fit-x", "contains": "padding"},
        background="white",
        padding=padding(lines),
    )
    units = [
        f"{row['unit_id']} ({_votes(row)}): {_present.coefficient(row['cost'], 3)}."
        for row in costly.to_dict("records")
    ]
    return finished(chart, f"{title}. {' '.join(units) or 'No unit lowers α.'}", basis=basis_of(rows))


def _of_code(
    frame: pd.DataFrame, code: str, names: Iterable[str], *, frame_name: str, codebook: Codebook | None
) -> tuple[pd.DataFrame, str]:
    """Return the rows of a code and its label, refusing a code that has none."""
    for name in ("code", *names):
        require_column(frame, name, frame_name=frame_name)
    known = [str(name) for name in frame["code"].unique()]
    if code not in known:
        raise TableError(
            f"{frame_name}: expected rows of code {code!r} – found codes {first_three(known) or 'none'} – "
            f"{did_you_mean(code, known)}"
        )
    label = _present.label(code, codebook)
    return frame[frame["code"].astype("string") == code], label


def _refuse_repeats(rows: pd.DataFrame, key: list[str], *, frame_name: str, what: str) -> None:
    twice = rows.loc[rows.duplicated(key), key]
    if len(twice):
        named = [" / ".join(map(str, row)) for row in twice.itertuples(index=False)]
        raise TableError(
            f"{frame_name}: expected one row per {what} – found several for {first_three(named)} – pass the "
            "result of one call."
        )


# ---- coder × coder ------------------------------------------------------------------------------------


def _cells(rows: pd.DataFrame, statistic: Statistic) -> pd.DataFrame:
    """Return each pair of coders with its value and the number to print."""
    value = rows[statistic].astype("float64").to_numpy()
    printed = [_present.percent(v) if statistic == "percent" else _present.coefficient(v, 2) for v in value]
    pairs = [
        sorted(pair) for pair in zip(rows["coder_a"].astype(str), rows["coder_b"].astype(str), strict=True)
    ]
    return pd.DataFrame(
        {
            "coder_a": [pair[0] for pair in pairs],
            "coder_b": [pair[1] for pair in pairs],
            "value": value,
            "printed": printed,
        }
    )


def _heat(base: Any, *, numbers: bool) -> list[Any]:
    """Return the coloured cells, and numbers in them or, where they do not fit, a legend."""
    import altair as alt

    legend = None if numbers else alt.Legend(title=None, orient="right", gradientLength=90, format=".1f")
    scale = alt.Scale(domain=[0, 1], range=[_PALE, DARK], clamp=True)
    cells = base.mark_rect(stroke="white", strokeWidth=1.5)
    known = cells.transform_filter("isValid(datum.value)").encode(
        color=alt.Color("value:Q", scale=scale, legend=legend)
    )
    unknown = base.transform_filter("!isValid(datum.value)")
    layers = [known, unknown.mark_text(text=_present.MISSING, color=GREY, fontSize=8 * POINT)]
    if numbers:
        ink = alt.condition("datum.value > 0.68", alt.value("white"), alt.value("black"))
        text = base.transform_filter("isValid(datum.value)").mark_text(fontSize=7 * POINT)
        layers.append(text.encode(text="printed:N", color=ink))
    return layers


def _coder_axis(titles: Sequence[str] | None, names: Mapping[str, str], *, angle: int) -> Any:

    return axis_of(
        titles,
        labelAngle=angle,
        labelExpr=f"{literal(names)}[datum.value]",
        labelLimit=0,
        labelOverlap=False,
        ticks=False,
        domain=False,
    )


def _pairs_in_words(cells: pd.DataFrame) -> str:
    known = cells[cells["value"].notna()].sort_values("value")
    if len(cells) > _MOST_WORDS and len(known):
        ends = [f"{row.coder_a}, {row.coder_b}: {row.printed}" for row in known.iloc[[0, -1]].itertuples()]
        return f"{len(cells)} pairs, {len(known)} computable; lowest {ends[0]}; highest {ends[1]}."
    return " ".join(
        f"{one}, {other}: {'not computable' if math.isnan(value) else printed}."
        for one, other, value, printed in cells.itertuples(index=False)
    )


# ---- over time ----------------------------------------------------------------------------------------


def _drift(
    rows: pd.DataFrame, domain: tuple[float, float], title: str, titles: Sequence[str], columns: Columns
) -> list[Any]:
    """Return reference lines, the line with its intervals and points, and notes where alpha is missing."""
    import altair as alt

    names = ["alpha", "alpha_low", "alpha_high"]
    frame = rows[names].astype("float64").assign(x=range(len(rows)))
    frame["whole"] = frame["alpha_low"].notna() & frame["alpha_high"].notna()
    y = alt.Scale(domain=list(domain), nice=False, zero=False)
    x = alt.Scale(domain=[-0.5, max(len(rows) - 0.5, 0.5)], nice=False, zero=False)
    axis = _slice_axis(rows, titles, columns)
    base = alt.Chart(frame).encode(
        x=alt.X("x:Q", scale=x, axis=axis), y=alt.Y("alpha:Q", scale=y, axis=number_axis(domain, [title]))
    )
    bars = base.transform_filter("isValid(datum.alpha_low) && isValid(datum.alpha_high)")
    fill = alt.Color("whole:N", scale=alt.Scale(domain=[True, False], range=[DARK, "white"]), legend=None)
    notes = base.transform_filter("!isValid(datum.alpha)").encode(y=alt.datum(domain[0]))
    return [
        *_conventions(y),
        base.mark_line(color=DARK, strokeWidth=1),
        bars.mark_rule(color=DARK, strokeWidth=2).encode(y=alt.Y("alpha_low:Q", scale=y), y2="alpha_high:Q"),
        base.transform_filter("isValid(datum.alpha)")
        .mark_point(filled=True, size=45, stroke=DARK, strokeWidth=1.5, opacity=1)
        .encode(fill=fill),
        notes.mark_text(
            text="not computable", angle=270, align="left", dx=4, fontSize=7 * POINT, fontStyle="italic"
        ),
    ]


def _conventions(y: Any) -> list[Any]:
    import altair as alt

    layers = []
    for (at, name), dy in zip(_CONVENTIONS.items(), (7, -5), strict=True):
        line = alt.Chart(pd.DataFrame({"y": [at]})).encode(y=alt.Y("y:Q", scale=y))
        layers.append(line.mark_rule(color=GREY, strokeWidth=1, strokeDash=[4, 3]))
        text = line.mark_text(align="left", dx=2, dy=dy, fontSize=7 * POINT)
        layers.append(text.encode(x=alt.value(0), text=alt.value(name)))
    return layers


def _slice_axis(rows: pd.DataFrame, titles: Sequence[str], columns: Columns) -> Any:

    upright = len(rows) <= _MOST_UPRIGHT[columns]
    room = plot_width(columns) / max(len(rows), 1) - 4 if upright else _LONGEST
    shown = wrapped([str(name) for name in rows["slice"]], room, most=1)
    names: dict[int, list[str] | str] = {}
    for place, ((name,), n_units) in enumerate(zip(shown, rows["n_units"], strict=True)):
        n = f"n = {_present.count(n_units)}"
        names[place] = [name, n] if upright else f"{name}, {n}"
    return axis_of(
        titles,
        values=list(names),
        tickCount=len(names),
        labelExpr=f"{literal(names)}[datum.value]",
        labelAngle=0 if upright else -90,
        labelAlign="center" if upright else "right",
        labelBaseline="top" if upright else "middle",
        labelLimit=0,
        labelOverlap=False,
        labelFlush=False,
    )


def _slice_in_words(row: Mapping[Any, Any]) -> str:
    lead = f"{row['slice']} (n = {_present.count(row['n_units'])})"
    if pd.isna(row["alpha"]):
        return f"{lead}: not computable."
    interval = _present.interval(row["alpha_low"], row["alpha_high"], 2)
    words = "no interval" if interval == _present.MISSING else interval
    return f"{lead}: {_present.coefficient(row['alpha'], 2)} {words}."


# ---- units --------------------------------------------------------------------------------------------


def _votes(row: Mapping[Any, Any]) -> str:
    return f"{_present.count(row['n_applied'])} of {_present.count(row['n_coders'])}"


def _nothing_drawn(words: str) -> Any:
    import altair as alt

    note = alt.Chart(pd.DataFrame({"words": [words]})).mark_text(
        align="left", fontSize=7 * POINT, fontStyle="italic"
    )
    return note.encode(x=alt.value(4), y=alt.value(ROW / 2), text="words:N")


def _cost_axis(title: str, room: float) -> Any:

    return axis_of(
        title_lines([title], room),
        tickCount=4,
        labelExpr="datum.value == 0 ? '0' : replace(format(datum.value, '~g'), '0.', '.')",
        labelFlush=False,
    )
