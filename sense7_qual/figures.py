"""Figures for a paper: agreement, where coders disagree, links with ratings, and the power to find them.

Every function takes an unrounded result frame and returns a `Figure`, drawn without a network, that can be
written as SVG, PNG and PDF at the width of one or two columns of a page. Figures show no text of a unit. What
could not be computed keeps its row and says so. Points, lines and their dashes can be told apart in grey.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from sense7_qual import results
from sense7_qual.codebook import Codebook
from sense7_qual.diagnostic_figures import drift_plot, pairwise_plot, unit_plot
from sense7_qual.distribution_figures import rating_distributions
from sense7_qual.drawing import (
    DARK,
    POINT,
    WIDTHS,
    Columns,
    Figure,
    check_columns,
    finished,
    guides,
    label_lines,
    number_axis,
    padding,
    reference_lines,
    row_axis,
    title_lines,
)
from sense7_qual.link_figures import disruption, link_forest
from sense7_qual.power_figures import power_curve
from sense7_qual.specification_figures import specification_curve
from sense7_qual.validity_figures import code_dimension_matrix

__all__ = [
    "Figure",
    "agreement_plot",
    "code_dimension_matrix",
    "disruption",
    "drift_plot",
    "link_forest",
    "link_plot",
    "pairwise_plot",
    "power_curve",
    "rating_distributions",
    "specification_curve",
    "unit_plot",
]


def agreement_plot(
    agreement: pd.DataFrame,
    *,
    codebook: Codebook | None = None,
    columns: Columns = 1,
) -> Figure:
    """Draw Krippendorff's alpha of each code with its interval.

    One row per code, from the top in the codebook's order (without one, in the frame's). Dashed lines stand
    at .667 and .800, Krippendorff's conventions; they decide nothing. A code whose interval is missing is a
    hollow point marked "no interval"; one whose alpha is missing is marked "not computable".

    Parameters
    ----------
    agreement : DataFrame
        The result of `agreement.by_code`: code, alpha, alpha_low, alpha_high (each at most 1),
        confidence_level.
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    columns : {1, 2}
        Width on the page: one column (85 mm) or two (178 mm).

    Raises
    ------
    TableError
        A column is missing, a code has several rows, or rows were computed with different levels.
    CodebookError
        A code is not in the codebook.
    QualError
        `columns` is out of range.

    References
    ----------
    Krippendorff (2004), Content Analysis: An Introduction to Its Methods (2nd ed.), chapter 11.

    Examples
    --------
    >>> result = pd.DataFrame({"code": ["prosocial"], "alpha": [0.77], "alpha_low": [0.64],
    ...     "alpha_high": [0.87], "confidence_level": [0.95]})
    >>> print(agreement_plot(result).description)
    Krippendorff's α with 95% CI for each code. prosocial: .77 [.64, .87].
    """
    names = ("alpha", "alpha_low", "alpha_high")
    rows, interval = _points(agreement, names, frame_name="agreement", codebook=codebook)
    title = f"Krippendorff's α with {interval}"
    lowest = min([0.0, *(row[name] for row in rows for name in ("at", "low") if row[name] is not None)])
    return _drawn(
        rows,
        domain=(math.floor((lowest + 0.002) * 5) / 5, 1.0),
        titles=(title, "Dashed: conventions .667 and .800"),
        marks={0.667: ".667", 0.8: ".800"},
        columns=columns,
        description=f"{title} for each code.",
    )


def link_plot(
    links: pd.DataFrame,
    *,
    source: str,
    codebook: Codebook | None = None,
    columns: Columns = 1,
) -> Figure:
    """Draw the rank-biserial correlation of each code with the rating, with its interval, for one source.

    One row per code, from the top in the codebook's order (without one, in the frame's); right of the line
    at zero, texts with the code are rated higher. A code whose interval is missing is a hollow point marked
    "no interval"; one whose correlation is missing is marked "not computable".

    Parameters
    ----------
    links : DataFrame
        The result of `links.code_to_rating`: code, source, rank_biserial, rank_biserial_low,
        rank_biserial_high (each −1 to 1), confidence_level.
    source : str
        Whose decisions: a coder, "majority" or "consensus".
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    columns : {1, 2}
        Width on the page: one column (85 mm) or two (178 mm).

    Raises
    ------
    TableError
        A column is missing, there is no such source, a code has several rows for it, or rows were computed
        with different levels.
    CodebookError
        A code is not in the codebook.
    QualError
        `columns` is out of range.

    Examples
    --------
    >>> result = pd.DataFrame({"code": ["prosocial"], "source": ["majority"], "rank_biserial": [0.21],
    ...     "rank_biserial_low": [-0.01], "rank_biserial_high": [0.41], "confidence_level": [0.95]})
    >>> print(link_plot(result, source="majority").description)
    Rank-biserial r with 95% CI (majority) for each code. prosocial: .21 [−.01, .41].
    """
    names = ("rank_biserial", "rank_biserial_low", "rank_biserial_high")
    chosen = results.of_source(links, source)
    rows, interval = _points(chosen, names, frame_name="links", codebook=codebook)
    title = f"Rank-biserial r with {interval} ({source})"
    sizes = [abs(row[name]) for row in rows for name in ("at", "low", "high") if row[name] is not None]
    limit = min(1.0, max(0.4, math.ceil(max(sizes, default=0.0) * 5) / 5))
    return _drawn(
        rows,
        domain=(-limit, limit),
        titles=(title, "← rated lower with code · higher →"),
        marks={0.0: ""},
        columns=columns,
        description=f"{title} for each code.",
    )


def _points(
    result: pd.DataFrame, names: tuple[str, str, str], *, frame_name: str, codebook: Codebook | None
) -> tuple[list[dict[str, Any]], str]:
    """Return label, at, low and high (None where missing) of each code, and what its interval is called."""
    columns = ("code", *names, "confidence_level")
    found = results.rows(result, columns, frame_name=frame_name, codebook=codebook)
    keyed = dict(zip(("at", "low", "high"), names, strict=True))
    points = [
        {"label": row["label"]}
        | {key: None if pd.isna(row[name]) else float(row[name]) for key, name in keyed.items()}
        for row in found
    ]
    return points, results.interval_name(found, frame_name=frame_name)


def _drawn(
    rows: Sequence[Mapping[str, Any]],
    *,
    domain: tuple[float, float],
    titles: tuple[str, str],
    marks: Mapping[float, str],
    columns: Columns,
    description: str,
) -> Figure:
    """Draw rows of points with intervals and reference lines, and put them into words."""
    import altair as alt

    check_columns(columns)
    words = f"{description} {' '.join(_in_words(row) for row in rows)}".strip()
    lines, height = label_lines([str(row["label"]) for row in rows], columns)
    frame = _placed(rows, lines, domain)
    x = alt.Scale(domain=list(domain), nice=False, zero=False)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[height, 0], nice=False, zero=False), axis=row_axis(lines))
    base = alt.Chart(frame).encode(y=y)
    chart = alt.layer(
        guides(base, domain, x),
        *reference_lines(marks, x),
        *_intervals(base, x, number_axis(domain, title_lines(titles, columns))),
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


def _in_words(row: Mapping[str, Any]) -> str:
    if row["at"] is None:
        return f"{row['label']}: not computable."
    interval = results.interval(row["low"], row["high"], 2)
    words = "no interval" if interval == results.MISSING else interval
    return f"{row['label']}: {results.coefficient(row['at'], 2)} {words}."
