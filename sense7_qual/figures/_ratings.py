"""Ratings and codes: how ratings are distributed with and without each code, and codes × dimensions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
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
    basis_of,
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
from sense7_qual.links import BY_DIMENSION, DISTRIBUTIONS

_ROW: Final = 38  # pixels of a code's two bars
_BAR: Final = 13
_MOST_LEVELS: Final = 9
_CLASSES: Final = 7
# From low to high also in print without colours: pale to dark.
_LADDER: Final = ((0.0, (0xF6, 0xE6, 0xC8)), (0.5, (0x7D, 0xA5, 0xC4)), (1.0, (0x16, 0x35, 0x57)))


def rating_distributions(
    distributions: pd.DataFrame,
    *,
    source: str,
    codebook: Codebook | None = None,
    columns: Columns = 2,
) -> Figure:
    """Draw the distribution of ratings of texts with and without each code, for one source.

    Two bars per code: above the texts with it, below those without it; each level of the rating takes its
    share, the lowest at the left and palest. The number of texts is at the right of each bar. A rating with
    more than nine levels is cut into seven classes of equal width.

    Parameters
    ----------
    distributions : DataFrame
        The result of `links.distributions`: code, source, applied, level, n, share.
    source : str
        Whose decisions: a coder, "majority" or "consensus".
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    columns : {1, 2}
        Width on the page: one column (85 mm) or two (178 mm).

    Raises
    ------
    TableError
        A column is missing, there is no such source, or a code has a level twice on one side.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `columns` is out of range.

    Examples
    --------
    >>> result = pd.DataFrame({"code": "prosocial", "source": "ana", "applied": [True, True, False, False],
    ...     "level": [4.0, 5.0, 4.0, 5.0], "n": [1, 3, 1, 0]})
    >>> result["share"] = [0.25, 0.75, 1.0, 0.0]
    >>> print(rating_distributions(result, source="ana").description)  # doctest: +ELLIPSIS
    Ratings (%) with and without each code (ana). prosocial, with (4): 4 25.0, 5 75.0; without (1): 4 100.0...
    """
    check_arguments(rating_distributions, locals())
    import altair as alt

    check_columns(columns)
    DISTRIBUTIONS.require(distributions)
    chosen = _present.of_source(distributions, source)
    _refuse_repeats(chosen)
    levels, counts = _in_classes(chosen)
    rows = _present.rows(chosen.drop_duplicates("code"), frame_name="distributions", codebook=codebook)
    lines, height = label_lines([str(row["label"]) for row in rows], columns, least=_ROW)
    looks = _present.looks_of((str(row["code"]) for row in rows), codebook)
    bars, sides = _placed(rows, counts, levels, [middle(block) for block in lines])
    title = f"Ratings (%) with and without each code ({source})"
    titles = [title, "Upper bar: texts with the code, lower bar: without it (number of texts)"]
    x = alt.Scale(domain=[0, 1.2 if columns == 2 else 1.42], nice=False, zero=False)
    y = alt.Scale(domain=[height, 0], nice=False, zero=False)
    chart = alt.layer(
        *_drawn_bars(
            bars,
            levels,
            x,
            y,
            row_axis(lines, looks=looks),
            _axis(title_lines(titles, plot_width(columns, lines, looks))),
        ),
        *code_lines(lines, looks, y),
        alt.Chart(sides)
        .mark_text(align="left", dx=4, fontSize=7 * POINT)
        .encode(x=alt.X("x:Q", scale=x), y=alt.Y("y:Q", scale=y), text="name:N"),
    ).properties(
        width=WIDTHS[columns],
        height=height,
        autosize={"type": "fit-x", "contains": "padding"},
        background="white",
        padding=padding(lines),
    )
    return finished(chart, f"{title}. {_in_words(rows, counts, levels)}".strip(), basis=basis_of(chosen))


def _refuse_repeats(chosen: pd.DataFrame) -> None:
    twice = chosen.duplicated(["code", "applied", "level"])
    if twice.any():
        raise TableError(
            "distributions: expected one row per code, applied and level – found several for "
            f"{first_three(chosen.loc[twice, 'code'].unique())} – pass the result of one call."
        )


def _in_classes(chosen: pd.DataFrame) -> tuple[list[str], dict[tuple[str, bool], list[int]]]:
    """Return the names of the levels, or of classes of them, and the number of texts in each."""
    values = np.sort(chosen["level"].astype("float64").unique())
    if len(values) <= _MOST_LEVELS:
        names, place = [f"{value:g}" for value in values], {value: n for n, value in enumerate(values)}
    else:
        edges = np.linspace(values[0], values[-1], _CLASSES + 1)
        which = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, _CLASSES - 1)
        names = [f"{low:.3g} to {high:.3g}" for low, high in itertools.pairwise(edges)]
        place = dict(zip(values, which.tolist(), strict=True))
    counts: dict[tuple[str, bool], list[int]] = {}
    for row in chosen.to_dict("records"):
        of_side = counts.setdefault((str(row["code"]), bool(row["applied"])), [0] * len(names))
        of_side[place[float(row["level"])]] += int(row["n"])
    return names, counts


def _placed(
    rows: Sequence[Mapping[str, Any]],
    counts: Mapping[tuple[str, bool], Sequence[int]],
    levels: Sequence[str],
    middles: Sequence[float],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the pieces of the bars, and the words at their right."""
    bars, sides = [], []
    for row, at in zip(rows, middles, strict=True):
        for applied, top in ((True, at - _BAR - 1), (False, at + 1)):
            of_side = counts.get((str(row["code"]), applied), [0] * len(levels))
            total = sum(of_side)
            ends = np.cumsum([0, *of_side]) / max(total, 1)
            for level, low, high in zip(levels, ends[:-1], ends[1:], strict=True):
                if high > low:
                    bars.append({"x": low, "x2": high, "y": top, "y2": top + _BAR, "level": level})
            name = f"{'with' if applied else 'without'} ({_present.count(total)})"
            sides.append({"x": 1.0 if total else 0.0, "y": top + _BAR / 2, "name": name})
    return (
        pd.DataFrame(bars, columns=["x", "x2", "y", "y2", "level"]),
        pd.DataFrame(sides, columns=["x", "y", "name"]),
    )


def _drawn_bars(bars: pd.DataFrame, levels: Sequence[str], x: Any, y: Any, rows: Any, axis: Any) -> list[Any]:
    import altair as alt

    legend = alt.Legend(
        title="Rating",
        titleFontSize=7 * POINT,
        titleFontWeight="normal",
        titleOrient="left",
        orient="top",
        direction="horizontal",
        columns=0,
        labelFontSize=7 * POINT,
        labelColor="black",
        labelLimit=0,
        symbolType="square",
        symbolSize=90,
        symbolStrokeWidth=0,
    )
    colours = alt.Scale(domain=list(levels), range=_colours(len(levels)))
    base = alt.Chart(bars).mark_rect(stroke="white", strokeWidth=0.8)
    return [
        base.encode(
            x=alt.X("x:Q", scale=x, axis=axis),
            x2="x2:Q",
            y=alt.Y("y:Q", scale=y, axis=rows),
            y2="y2:Q",
            color=alt.Color("level:N", scale=colours, legend=legend, sort=list(levels)),
        )
    ]


def _colours(n: int) -> list[str]:
    """Return `n` colours from pale to dark."""
    places = np.linspace(0, 1, n) if n > 1 else [1.0]
    stops = [stop for stop, _ in _LADDER]
    mixed = [[np.interp(at, stops, [rgb[part] for _, rgb in _LADDER]) for part in range(3)] for at in places]
    return ["#" + "".join(f"{math.floor(part):02x}" for part in rgb) for rgb in mixed]


def _axis(titles: Sequence[str]) -> Any:

    return axis_of(
        titles,
        values=[0, 0.25, 0.5, 0.75, 1],
        tickCount=5,
        labelExpr="format(100 * datum.value, '.0f')",
        labelOverlap=False,
        labelFlush=False,
        domain=False,
    )


def _in_words(
    rows: Sequence[Mapping[str, Any]],
    counts: Mapping[tuple[str, bool], Sequence[int]],
    levels: Sequence[str],
) -> str:
    sentences = []
    for row in rows:
        sides = []
        for applied in (True, False):
            of_side = counts.get((str(row["code"]), applied), [0] * len(levels))
            total = sum(of_side)
            shares = (
                [f"{level} {_present.percent(n / total)}" for level, n in zip(levels, of_side, strict=True)]
                if total
                else []
            )
            sides.append(
                f"{'with' if applied else 'without'} ({_present.count(total)}): {', '.join(shares) or 'none'}"
            )
        sentences.append(f"{row['label']}, {'; '.join(sides)}.")
    return " ".join(sentences)


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
    """Draw the links of codes with the rating of each dimension as a matrix, with a contrast for the own one.

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
    frame, notes = _dimensions_placed(cells, dimensions, [middle(block) for block in lines], columns, least)
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
    words = f"{title}. {_matrix_in_words(cells, labels)}".strip()
    return finished(chart, words, basis=basis_of(by_dimension))


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


def _dimensions_placed(
    cells: Sequence[Mapping[str, Any]],
    dimensions: Sequence[str],
    rows: Sequence[float],
    columns: Columns,
    height: int,
) -> tuple[pd.DataFrame, list[str]]:
    """Return the marks of each cell, and the lines that say what its letters mean."""
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


def _matrix_in_words(cells: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> str:
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
