"""How ratings are distributed with and without each code, as stacked bars."""

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
from sense7_qual.errors import TableError
from sense7_qual.figures._figure import (
    POINT,
    WIDTHS,
    Columns,
    Figure,
    axis_of,
    check_columns,
    code_lines,
    finished,
    label_lines,
    middle,
    padding,
    plot_width,
    row_axis,
    title_lines,
)
from sense7_qual.links import DISTRIBUTIONS

__all__ = ["rating_distributions"]

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
    """Draw how ratings are distributed among the texts with and without each code, for one source.

    Two bars per code: above the texts with it, below those without it; each level of the rating takes its
    share, the lowest at the left and palest. At the right stands how many texts a bar is of. A rating with
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
    return finished(chart, f"{title}. {_in_words(rows, counts, levels)}".strip())


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
