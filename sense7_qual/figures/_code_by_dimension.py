"""The matrix of codes and dimensions: convergent and discriminant validity at a glance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual._messages import first_three
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.figures._figure import (
    DARK,
    POINT,
    WIDTHS,
    Columns,
    Figure,
    axis_of,
    check_columns,
    code_lines,
    finished,
    label_lines,
    lettered,
    middle,
    padding,
    plot_width,
    row_axis,
    title_lines,
    why_missing,
)
from sense7_qual.figures._lettering import widths, wrapped
from sense7_qual.links import BY_DIMENSION

__all__ = ["code_dimension_matrix"]

_LOW: Final = "#b35806"  # orange and blue, which nobody takes for each other
_CONTRAST: Final = "Own minus others"
_HEAD: Final = 13
_LONGEST: Final = 120  # pixels of an upright head
_MOST: Final[Mapping[int, int]] = {1: 7, 2: 12}


def code_dimension_matrix(
    by_dimension: pd.DataFrame,
    *,
    codebook: Codebook | None = None,
    columns: Columns = 2,
) -> Figure:
    """Draw the link of each code with each dimension's rating as a matrix, and the contrast of its own.

    A cell is bluer the higher texts with the code are rated on the dimension, more orange the lower, and
    holds the rank-biserial correlation; in two columns also its interval. A code's own dimension has a black
    frame. The last column is the own correlation less the mean of the others. A letter says why a number or
    an interval is missing.

    Parameters
    ----------
    by_dimension : DataFrame
        The result of `links.by_dimension`: code, source, dimension, own, estimate, low, high,
        confidence_level, reason.
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    columns : {1, 2}
        Width on the page: one column (85 mm; up to seven dimensions) or two (178 mm; up to twelve).

    Raises
    ------
    TableError
        A column is missing, rows are of several sources or computed with different levels, or a code has a
        dimension twice.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `columns` is out of range, or the dimensions do not fit.

    References
    ----------
    Campbell & Fiske (1959), Psychological Bulletin 56, 81–105.

    Examples
    --------
    >>> result = pd.DataFrame({"code": "affective", "source": "ana",
    ...     "dimension": ["Affective", "Interest", None], "own": [True, False, None],
    ...     "estimate": [0.5, 0.1, 0.4], "low": [0.3, -0.1, 0.2], "high": [0.7, 0.3, 0.6],
    ...     "confidence_level": 0.95, "reason": None})
    >>> print(code_dimension_matrix(result).description)  # doctest: +ELLIPSIS
    Rank-biserial r of each code with each rating, 95% CI (ana). affective: Affective (own) .50 [.30, .70]...
    """
    check_arguments(code_dimension_matrix, locals())
    import altair as alt

    check_columns(columns)
    BY_DIMENSION.require(by_dimension)
    dimensions = [str(name) for name in by_dimension["dimension"].dropna().unique()]
    source = _one_source(by_dimension)
    if len(dimensions) > _MOST[columns]:
        raise ArgumentError(
            f"figure: expected at most {_MOST[columns]} dimensions in {columns} columns – found "
            f"{len(dimensions)} – pass fewer rows."
        )
    cells, labels, interval = _cells(by_dimension, codebook)
    code_of = {cell["row"]: str(cell["code"]) for cell in cells}
    looks = _present.looks_of((code_of[number] for number in range(len(labels))), codebook)
    least = 34 if columns == 2 else 24
    lines, height = label_lines(labels, columns, least=least)
    width = plot_width(columns, lines, looks)
    heads, head = _head_lines([*dimensions, _CONTRAST], columns, width / (len(dimensions) + 1.2))
    frame, notes = _placed(cells, dimensions, [middle(block) for block in lines], columns, least)
    title = f"Rank-biserial r of each code with each rating, {interval} ({source})"
    titles = title_lines([title, "Framed: the code's own rating", *notes], width)
    x = alt.Scale(domain=[0, len(dimensions) + 1.2], nice=False, zero=False)
    y = alt.Scale(domain=[height, -head], nice=False, zero=False)
    chart = alt.layer(
        *_heat(frame, x, y, row_axis(lines, looks=looks), titles, 8 if columns == 2 else 7),
        *code_lines(lines, looks, y),
        _heads(heads, x, y, upright=columns == 1),
    ).properties(
        width=WIDTHS[columns],
        height=height + head,
        autosize={"type": "fit-x", "contains": "padding"},
        background="white",
        padding=padding(lines),
    )
    return finished(chart, f"{title}. {_in_words(cells, labels)}".strip())


def _one_source(by_dimension: pd.DataFrame) -> str:
    sources = [str(source) for source in by_dimension["source"].unique()]
    if len(sources) > 1:
        raise TableError(
            f"by_dimension: expected the rows of one source – found {first_three(sources)} – pass one at a "
            "time."
        )
    return sources[0] if sources else "none"


def _cells(
    by_dimension: pd.DataFrame, codebook: Codebook | None
) -> tuple[list[dict[str, Any]], list[str], str]:
    """Return the cells with the place of their row, the labels of the rows, and the interval's name."""
    rows: list[dict[str, Any]] = []
    for dimension in dict.fromkeys([*by_dimension["dimension"].dropna(), None]):
        contrast = dimension is None
        part = by_dimension[
            by_dimension["dimension"].isna() if contrast else by_dimension["dimension"] == dimension
        ]
        rows += _present.rows(part, frame_name="by_dimension", codebook=codebook)
    labels = list(dict.fromkeys(str(row["label"]) for row in rows))
    if codebook is not None:
        place = _present.places((str(row["code"]) for row in rows), codebook)
        order = {str(row["label"]): place[str(row["code"])] for row in rows}
        labels = sorted(labels, key=order.__getitem__)
    interval = _present.interval_name(rows, frame_name="by_dimension")
    at = {label: number for number, label in enumerate(labels)}
    return [row | {"row": at[str(row["label"])]} for row in rows], labels, interval


def _placed(
    cells: Sequence[Mapping[str, Any]],
    dimensions: Sequence[str],
    rows: Sequence[float],
    columns: Columns,
    height: int,
) -> tuple[pd.DataFrame, list[str]]:
    """Return what is drawn in each cell, and the lines that say what its letters mean."""
    whys = [why_missing(cell["estimate"], cell["low"], cell["high"], cell["reason"]) for cell in cells]
    letters, lines = lettered(whys)
    limit = max([0.4, *(abs(cell["estimate"]) for cell in cells if not pd.isna(cell["estimate"]))])
    drawn = []
    for cell, letter in zip(cells, letters, strict=True):
        contrast, value = pd.isna(cell["dimension"]), cell["estimate"]
        at = len(dimensions) + 0.2 if contrast else dimensions.index(str(cell["dimension"]))
        interval = _present.interval(cell["low"], cell["high"], 2)
        below = letter if interval == _present.MISSING else interval if columns == 2 else ""
        missing, middle_at = pd.isna(value), rows[cell["row"]]
        drawn.append(
            {
                "x": at,
                "x2": at + 1,
                "centre": at + 0.5,
                "y": middle_at - height / 2 + 1,
                "y2": middle_at + height / 2 - 1,
                "upper": middle_at - 6 if below else middle_at,
                "lower": middle_at + 7,
                "strength": None if missing or contrast else float(value) / limit,
                "framed": cell["own"] is True or (not pd.isna(cell["own"]) and bool(cell["own"])),
                "printed": _present.coefficient(value, 2),
                "below": below,
            }
        )
    return pd.DataFrame(drawn), lines


def _heat(frame: pd.DataFrame, x: Any, y: Any, rows: Any, titles: Sequence[str], size: int) -> list[Any]:
    import altair as alt

    axis = axis_of(
        titles,
        labels=False,
        ticks=False,
        domain=False,
    )
    colours = alt.Scale(domain=[-1, 0, 1], range=[_LOW, "#f7f7f7", DARK])
    base = alt.Chart(frame).encode(
        x=alt.X("x:Q", scale=x, axis=axis), x2="x2:Q", y=alt.Y("y:Q", scale=y, axis=rows), y2="y2:Q"
    )
    known = base.transform_filter("isValid(datum.strength)")
    framed = base.transform_filter("datum.framed")
    # White only where it stands out better than black does: on all but full orange black does.
    ink = alt.condition(
        "datum.strength > 0.7 || datum.strength < -0.92", alt.value("white"), alt.value("black")
    )
    text = alt.Chart(frame).encode(x=alt.X("centre:Q", scale=x), color=ink)
    y_of = {name: alt.Y(f"{name}:Q", scale=y) for name in ("upper", "lower")}
    return [
        known.mark_rect(stroke="white", strokeWidth=1).encode(
            color=alt.Color("strength:Q", scale=colours, legend=None)
        ),
        framed.mark_rect(filled=False, stroke="black", strokeWidth=2, fillOpacity=0),
        text.mark_text(fontSize=size * POINT).encode(y=y_of["upper"], text="printed:N"),
        text.mark_text(fontSize=7 * POINT).encode(y=y_of["lower"], text="below:N"),
    ]


def _head_lines(names: Sequence[str], columns: Columns, room: float) -> tuple[list[list[str]], int]:
    """Return the lines of the heads, and the pixels that they take; in one column they stand upright."""
    if columns == 1:
        lines = wrapped(names, _LONGEST, most=1)
        return lines, round(1.2 * max(widths([line for (line,) in lines]))) + 8
    lines = wrapped(names, room, most=3)
    return lines, _HEAD * max(map(len, lines)) + 6


def _heads(heads: Sequence[Sequence[str]], x: Any, y: Any, *, upright: bool) -> Any:
    """Return the names of the columns, above them, from the last line up."""
    import altair as alt

    placed = [
        {
            "x": panel + 0.5 + (0.2 if panel == len(heads) - 1 else 0),
            "y": -_HEAD * (len(lines) - number - 0.5) - 3,
            "name": line,
        }
        for panel, lines in enumerate(heads)
        for number, line in enumerate(lines)
    ]
    names = alt.Chart(pd.DataFrame(placed))
    style: dict[str, Any] = {"angle": 270, "align": "left", "dy": 0, "dx": -4} if upright else {}
    return names.mark_text(fontSize=8 * POINT, color="black", **style).encode(
        x=alt.X("x:Q", scale=x), y=alt.Y("y:Q", scale=y), text="name:N"
    )


def _in_words(cells: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> str:
    sentences = []
    for number, label in enumerate(labels):
        parts = []
        for cell in cells:
            if cell["row"] == number:
                name = _CONTRAST.lower() if pd.isna(cell["dimension"]) else str(cell["dimension"])
                own = " (own)" if not pd.isna(cell["own"]) and cell["own"] else ""
                interval = _present.interval(cell["low"], cell["high"], 2)
                value = (
                    "not computable"
                    if pd.isna(cell["estimate"])
                    else _present.coefficient(cell["estimate"], 2)
                )
                parts.append(
                    f"{name}{own} {value}" + ("" if interval == _present.MISSING else f" {interval}")
                )
        sentences.append(f"{label}: {'; '.join(parts)}.")
    return " ".join(sentences)
