"""One row per code: a point with its interval, as the figures of agreement and of links draw it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from sense7_qual import _present
from sense7_qual.codebook import Codebook
from sense7_qual.figures._figure import (
    DARK,
    POINT,
    WIDTHS,
    Columns,
    Figure,
    check_columns,
    code_lines,
    finished,
    guides,
    label_lines,
    number_axis,
    padding,
    plot_width,
    reference_lines,
    row_axis,
    title_lines,
)

__all__ = ["draw_rows", "read_points"]


def read_points(
    result: pd.DataFrame, names: tuple[str, str, str], *, frame_name: str, codebook: Codebook | None
) -> tuple[list[dict[str, Any]], str]:
    """Return label, look, at, low and high (None where missing) of each code, and its interval's name."""
    columns = ("code", *names, "confidence_level")
    rows = _present.rows(result, columns, frame_name=frame_name, codebook=codebook)
    keyed = dict(zip(("at", "low", "high"), names, strict=True))
    looks = _present.looks_of((str(row["code"]) for row in rows), codebook)
    points = [
        {"label": row["label"], "look": look}
        | {key: None if pd.isna(row[name]) else float(row[name]) for key, name in keyed.items()}
        for row, look in zip(rows, looks, strict=True)
    ]
    return points, _present.interval_name(rows, frame_name=frame_name)


def draw_rows(
    rows: Sequence[Mapping[str, Any]],
    *,
    domain: tuple[float, float],
    titles: tuple[str, str],
    marks: Mapping[float, str],
    columns: Columns,
    description: str,
    printed: Callable[[Any, int], str] = _present.coefficient,
) -> Figure:
    """Draw rows of points with intervals and reference lines, and put them into words."""
    import altair as alt

    check_columns(columns)
    words = f"{description} {' '.join(_in_words(row, printed) for row in rows)}".strip()
    lines, height = label_lines([str(row["label"]) for row in rows], columns)
    frame = _placed(rows, lines, domain)
    looks = [row["look"] for row in rows]
    x = alt.Scale(domain=list(domain), nice=False, zero=False)
    y = alt.Scale(domain=[height, 0], nice=False, zero=False)
    base = alt.Chart(frame).encode(y=alt.Y("y:Q", scale=y, axis=row_axis(lines, looks=looks)))
    chart = alt.layer(
        guides(base, domain, x),
        *reference_lines(marks, x),
        *_intervals(base, x, number_axis(domain, title_lines(titles, plot_width(columns, lines, looks)))),
        *code_lines(lines, looks, y),
    ).properties(
        width=WIDTHS[columns],
        height=height,
        autosize={"type": "fit-x", "contains": "padding"},
        background="white",
        padding=padding(lines),
    )
    return finished(chart, words)


def _placed(
    rows: Sequence[Mapping[str, Any]], lines: Sequence[Sequence[tuple[int, str]]], domain: tuple[float, float]
) -> pd.DataFrame:
    """Return what is drawn in each row: point, interval, and a note where one of them is missing."""
    drawn = []
    for row, block in zip(rows, lines, strict=True):
        whole = row["low"] is not None and row["high"] is not None
        at = domain[0] if row["at"] is None else row["at"]
        note = "not computable" if row["at"] is None else "" if whole else "no interval"
        # The note stands right of its point unless it would leave the plot there.
        side = "left" if at - domain[0] <= 0.7 * (domain[1] - domain[0]) else "right"
        middle = (block[0][0] + block[-1][0]) / 2
        points = {name: row[name] for name in ("at", "low", "high")}
        drawn.append({"y": middle, **points, "whole": whole, "note": note, "note_at": at, "side": side})
    return pd.DataFrame(drawn, columns=["y", "at", "low", "high", "whole", "note", "note_at", "side"])


def _intervals(base: Any, x: Any, axis: Any) -> list[Any]:
    import altair as alt

    bars = base.transform_filter("isValid(datum.low) && isValid(datum.high)")
    points = base.transform_filter("isValid(datum.at)")
    fill = alt.Color("whole:N", scale=alt.Scale(domain=[True, False], range=[DARK, "white"]), legend=None)
    layers = [
        bars.mark_rule(color=DARK, strokeWidth=2).encode(x=alt.X("low:Q", scale=x), x2="high:Q"),
        points.mark_point(filled=True, size=45, stroke=DARK, strokeWidth=1.5, opacity=1).encode(
            x=alt.X("at:Q", scale=x, axis=axis), fill=fill
        ),
    ]
    for side, dx in (("left", 7), ("right", -7)):
        notes = base.transform_filter(f"datum.note != '' && datum.side == '{side}'").encode(
            x=alt.X("note_at:Q", scale=x), text="note:N"
        )
        style = {"align": side, "dx": dx, "fontSize": 7 * POINT, "fontStyle": "italic"}
        halo = notes.mark_text(**style, stroke="white", strokeWidth=4)
        layers += [halo, notes.mark_text(**style)]
    return layers


def _in_words(row: Mapping[str, Any], printed: Callable[[Any, int], str]) -> str:
    if row["at"] is None:
        return f"{row['label']}: not computable."
    interval = _present.interval(row["low"], row["high"], 2)
    words = "no interval" if interval == _present.MISSING else interval
    return f"{row['label']}: {printed(row['at'], 2)} {words}."
