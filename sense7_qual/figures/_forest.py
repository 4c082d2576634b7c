"""Figures of effects in panels side by side: links by source, and what goes with a poor turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual._messages import did_you_mean
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ArgumentError
from sense7_qual.figures._effect_axis import EffectScale, Kind, effect_scale
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
    label_lines,
    lettered,
    literal,
    middle,
    padding,
    row_axis,
    title_lines,
    why_missing,
)
from sense7_qual.tables import require_column

__all__ = ["disruption", "link_forest"]

Effect = Literal["rank_biserial", "odds_ratio"]

_EFFECTS: Final[Mapping[str, str]] = {"rank_biserial": "Rank-biserial r", "odds_ratio": "Odds ratio"}
_REASONS: Final[Mapping[str, str]] = {"rank_biserial": "reason", "odds_ratio": "odds_ratio_reason"}
_MOST: Final[Mapping[int, int]] = {1: 3, 2: 6}  # panels that fit beside each other
_GAP: Final = 0.16  # between panels, in widths of one
_HEAD: Final = 16  # pixels of a line above the panels
_CONTRASTS: Final[Mapping[str, str]] = {
    "later_turns": "Later turns",
    "later_turns_adjusted": "Later turns, adjusted",
    "within_document": "Within conversation",
}


@dataclass(frozen=True, slots=True)
class _Point:
    """An effect in one row and panel; `note` is the letter of why something is missing."""

    row: int
    panel: int
    at: float | None
    low: float | None
    high: float | None
    note: str


def link_forest(
    links: pd.DataFrame,
    *,
    effect: Effect,
    sources: Sequence[str] | None = None,
    codebook: Codebook | None = None,
    columns: Columns = 2,
) -> Figure:
    """Draw the link of each code with the rating for several sources, side by side on one scale.

    One row per code, one panel per source. Right of the line, texts with the code are rated higher. An
    interval that is very wide is cut at the edge of the panel and ends in an arrow. A hollow point has no
    interval; a letter says why, or why there is no point.

    Parameters
    ----------
    links : DataFrame
        The result of `links.code_to_rating`: code, source, the effect with its _low and _high, its reason,
        confidence_level.
    effect : {"rank_biserial", "odds_ratio"}
        What is drawn; odds ratios stand on their logarithms, around 1.
    sources : sequence of str, optional
        Which sources, in this order; by default all: up to three in one column, six in two.
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    columns : {1, 2}
        Width on the page: one column (85 mm) or two (178 mm).

    Raises
    ------
    TableError
        A column is missing, a source is unknown or named twice, a code has several rows for a source, or
        rows were computed with different levels.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `effect` or `columns` is out of its range, or the sources do not fit.

    Examples
    --------
    >>> result = pd.DataFrame({"code": "prosocial", "source": ["ana", "majority"],
    ...     "rank_biserial": [0.3, 0.21], "rank_biserial_low": [0.1, -0.01],
    ...     "rank_biserial_high": [0.5, 0.41], "confidence_level": 0.95, "reason": None})
    >>> print(link_forest(result, effect="rank_biserial").description)
    Rank-biserial r with 95% CI. ana: prosocial .30 [.10, .50]. majority: prosocial .21 [−.01, .41].
    """
    check_arguments(link_forest, locals())
    if effect not in get_args(Effect):
        raise ArgumentError(
            f"figure: expected effect out of {', '.join(get_args(Effect))} – found {effect!r} – "
            f"{did_you_mean(str(effect), get_args(Effect))}"
        )
    names = (effect, f"{effect}_low", f"{effect}_high")
    for name in ("code", "source", *names, "confidence_level", _REASONS[effect]):
        require_column(links, name, frame_name="links")
    chosen = list(links["source"].astype(str).unique()) if sources is None else list(sources)
    rows = _present.of_sources(links, chosen, codebook)
    labels = list(dict.fromkeys(str(row["label"]) for row in rows))
    cells = {(str(row["label"]), str(row["source"])): row for row in rows}
    points, lines = _points(cells, labels, chosen, names, _REASONS[effect])
    title = f"{_EFFECTS[effect]} with {_present.interval_name(rows, frame_name='links')}"
    return _drawn(
        points,
        labels,
        chosen,
        scale=_scale_of(points, "odds_ratio" if effect == "odds_ratio" else "correlation"),
        titles=(title, "← rated lower with code · higher →", *lines),
        columns=columns,
        words=f"{title}.",
    )


def disruption(
    disruption: pd.DataFrame,
    *,
    codebook: Codebook | None = None,
    columns: Columns = 2,
) -> Figure:
    """Draw what goes with a conversation's first poor turn: Cohen's d of each contrast, overall and by code.

    One panel per contrast; the first row is for all poor turns, the others for those whose explanation has
    the code. Left of the line, ratings are lower where a turn was poor. A very wide interval is cut at the
    edge and ends in an arrow; a hollow point has no interval; a letter says why something is missing.

    Parameters
    ----------
    disruption : DataFrame
        The result of `links.disruption`: contrast, code, cohens_d, d_low, d_high, confidence_level, reason.
    codebook : Codebook, optional
        Gives the labels of the codes.
    columns : {1, 2}
        Width on the page: one column (85 mm) or two (178 mm).

    Raises
    ------
    TableError
        A column is missing, or rows were computed with different levels.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `columns` is out of its range, or the contrasts do not fit.

    Examples
    --------
    >>> result = pd.DataFrame({"contrast": ["later_turns"], "code": [None], "cohens_d": [-0.6],
    ...     "d_low": [-1.1], "d_high": [-0.1], "confidence_level": [0.95], "reason": [None]})
    >>> print(disruption(result).description)
    Cohen's d with 95% CI. Later turns: All poor turns −0.60 [−1.10, −0.10].
    """
    check_arguments(globals()["disruption"], locals())  # the parameter has its name
    names = ("cohens_d", "d_low", "d_high")
    for name in ("contrast", "code", *names, "confidence_level", "reason"):
        require_column(disruption, name, frame_name="disruption")
    rows = [{str(k): v for k, v in row.items()} for row in disruption.to_dict("records")]
    codes = [str(code) for code in disruption["code"].dropna().unique()]
    named = {code: _present.label(code, codebook) for code in codes}
    contrasts = [_CONTRASTS.get(str(c), str(c)) for c in disruption["contrast"].unique()]
    cells = {}
    for row in rows:
        label = "All poor turns" if pd.isna(row["code"]) else named[str(row["code"])]
        cells[label, _CONTRASTS.get(str(row["contrast"]), str(row["contrast"]))] = row
    labels = list(dict.fromkeys(label for label, _ in cells))
    points, lines = _points(cells, labels, contrasts, names, "reason")
    title = f"Cohen's d with {_present.interval_name(rows, frame_name='disruption')}"
    return _drawn(
        points,
        labels,
        contrasts,
        scale=_scale_of(points, "difference"),
        titles=(title, "← lower after, or with, a poor turn · higher →", *lines),
        columns=columns,
        words=f"{title}.",
    )


def _points(
    cells: Mapping[tuple[str, str], Mapping[str, Any]],
    labels: Sequence[str],
    panels: Sequence[str],
    names: tuple[str, str, str],
    reason: str,
) -> tuple[list[_Point], list[str]]:
    """Return the point of each row and panel, and the lines that say what its letters mean."""
    points: list[_Point] = []
    whys: list[str | None] = []
    for row, label in enumerate(labels):
        for panel, head in enumerate(panels):
            cell = cells.get((label, head))
            at, low, high = (
                None if cell is None or pd.isna(cell[name]) else float(cell[name]) for name in names
            )
            points.append(_Point(row, panel, at, low, high, ""))
            whys.append("no such row" if cell is None else why_missing(at, low, high, cell[reason]))
    letters, lines = lettered(whys)
    return [replace(point, note=note) for point, note in zip(points, letters, strict=True)], lines


def _scale_of(points: Sequence[_Point], kind: Kind) -> EffectScale:
    estimates = [point.at for point in points if point.at is not None]
    ends = [end for point in points for end in (point.low, point.high) if end is not None]
    return effect_scale(kind, estimates, ends)


def _drawn(
    points: Sequence[_Point],
    labels: Sequence[str],
    panels: Sequence[str],
    *,
    scale: EffectScale,
    titles: Sequence[str],
    columns: Columns,
    words: str,
) -> Figure:
    """Draw the panels in one plot, whose x-axis is cut into as many pieces."""
    import altair as alt

    check_columns(columns)
    if len(panels) > _MOST[columns]:
        raise ArgumentError(
            f"figure: expected at most {_MOST[columns]} panels in {columns} columns – found {len(panels)} – "
            "choose fewer, or draw them in several figures."
        )
    lines, height = label_lines(labels, columns)
    heads = [_wrapped(panel, columns, len(panels)) for panel in panels]
    head = _HEAD * max((len(lines) for lines in heads), default=1) + 4
    x = alt.Scale(domain=[-0.04, max(len(panels), 1) * (1 + _GAP) - _GAP + 0.04], nice=False, zero=False)
    y = alt.Scale(domain=[height, -head], nice=False, zero=False)
    frame = _placed(points, [middle(block) for block in lines], scale)
    if any(frame["cut_low"]) or any(frame["cut_high"]):
        titles = [*titles, "Arrow: the interval goes on"]
    axis = _panel_axis(scale, len(panels), title_lines(titles, columns))
    rows = alt.Y("y:Q", scale=y, axis=row_axis(lines))
    base = alt.Chart(frame).encode(y=rows)
    chart = alt.layer(
        *_ground(base, len(panels), height, x, rows), *_marks(base, x, axis), *_heads(heads, head, x, y)
    ).properties(
        width=WIDTHS[columns],
        height=height + head,
        autosize={"type": "fit-x", "contains": "padding"},
        background="white",
        padding=padding(lines),
    )
    return finished(chart, f"{words} {_in_words(points, labels, panels, scale)}".strip())


def _wrapped(panel: str, columns: Columns, n: int) -> list[str]:
    """Break the head of a panel so that it is no wider than the panel."""
    import textwrap

    room = max(6, int((30 if columns == 1 else 88) / max(n, 1)))
    return textwrap.wrap(panel, room, max_lines=3, placeholder="…") or [panel]


def _offset(panel: int) -> float:
    return panel * (1 + _GAP)


def _placed(points: Sequence[_Point], rows: Sequence[float], scale: EffectScale) -> pd.DataFrame:
    """Return what is drawn, at its place."""
    drawn = []
    for point in points:
        ends = [
            None if end is None else scale.place(end) + _offset(point.panel)
            for end in (point.low, point.high)
        ]
        middle_at = _offset(point.panel) + 0.5
        at = None if point.at is None else scale.place(point.at) + _offset(point.panel)
        # The letter stands beside its point, towards the middle of the panel where there is more room.
        side = "left" if at is None or at <= middle_at else "right"
        drawn.append(
            {
                "y": rows[point.row],
                "at": at,
                "low": ends[0],
                "high": ends[1],
                "whole": None not in ends,
                "cut_low": point.low is not None and scale.beyond(point.low) < 0,
                "cut_high": point.high is not None and scale.beyond(point.high) > 0,
                "note": point.note,
                "note_at": middle_at if at is None else at,
                "side": "middle" if at is None else side,
            }
        )
    names = ["y", "at", "low", "high", "whole", "cut_low", "cut_high", "note", "note_at", "side"]
    return pd.DataFrame(drawn, columns=names)


def _ground(base: Any, n: int, height: int, x: Any, rows: Any) -> list[Any]:
    """Return faint lines through the rows, a line at no effect, and the floor of each panel."""
    import altair as alt

    layers = []
    for panel in range(n):
        low, high = _offset(panel), _offset(panel) + 1
        edges = {"x": alt.X(datum=low, type="quantitative", scale=x), "x2": alt.X2(datum=high)}
        layers.append(base.mark_rule(color="#d9d9d9", strokeWidth=0.6).encode(**edges))
        none = alt.Chart(pd.DataFrame({"x": [low + 0.5], "y": [0], "y2": [height]}))
        layers.append(
            none.mark_rule(color=GREY, strokeWidth=1).encode(x=alt.X("x:Q", scale=x), y=rows, y2="y2:Q")
        )
        floor = alt.Chart(pd.DataFrame({"x": [low], "x2": [high], "y": [height]}))
        layers.append(
            floor.mark_rule(color="black", strokeWidth=1).encode(x=alt.X("x:Q", scale=x), x2="x2:Q", y=rows)
        )
    return layers


def _marks(base: Any, x: Any, axis: Any) -> list[Any]:
    """Return intervals, arrows where they are cut, points, and letters."""
    import altair as alt

    fill = alt.Color("whole:N", scale=alt.Scale(domain=[True, False], range=[DARK, "white"]), legend=None)
    bars = base.transform_filter("isValid(datum.low) && isValid(datum.high)")
    layers = [bars.mark_rule(color=DARK, strokeWidth=2).encode(x=alt.X("low:Q", scale=x), x2="high:Q")]
    for end, angle in (("low", 270), ("high", 90)):
        arrows = base.transform_filter(f"datum.cut_{end}")
        layers.append(
            arrows.mark_point(
                shape="triangle", angle=angle, filled=True, size=40, color=DARK, opacity=1
            ).encode(x=alt.X(f"{end}:Q", scale=x))
        )
    points = base.transform_filter("isValid(datum.at)")
    layers.append(
        points.mark_point(filled=True, size=40, stroke=DARK, strokeWidth=1.5, opacity=1).encode(
            x=alt.X("at:Q", scale=x, axis=axis), fill=fill
        )
    )
    for side, align, dx in (("left", "left", 6), ("right", "right", -6), ("middle", "center", 0)):
        notes = base.transform_filter(f"datum.note != '' && datum.side == '{side}'").encode(
            x=alt.X("note_at:Q", scale=x), text="note:N"
        )
        style: dict[str, Any] = {"align": align, "dx": dx, "fontSize": 7 * POINT, "fontStyle": "italic"}
        layers += [notes.mark_text(**style, stroke="white", strokeWidth=4), notes.mark_text(**style)]
    return layers


def _heads(heads: Sequence[Sequence[str]], head: int, x: Any, y: Any) -> list[Any]:
    """Return the names of the panels, above them."""
    import altair as alt

    placed = [
        {"x": _offset(panel) + 0.5, "y": -head + _HEAD * (number + 0.6), "name": line}
        for panel, lines in enumerate(heads)
        for number, line in enumerate(lines)
    ]
    names = alt.Chart(pd.DataFrame(placed, columns=["x", "y", "name"]))
    return [
        names.mark_text(fontSize=8 * POINT, fontWeight="bold").encode(
            x=alt.X("x:Q", scale=x), y=alt.Y("y:Q", scale=y), text="name:N"
        )
    ]


def _panel_axis(scale: EffectScale, n: int, titles: Sequence[str]) -> Any:

    ticks = {round(_offset(panel) + at, 3): name for panel in range(n) for at, name in scale.ticks}
    names = {f"{at:.3f}": name for at, name in ticks.items()}
    return axis_of(
        titles,
        values=list(ticks),
        tickCount=len(ticks),
        labelExpr=f"{literal(names)}[format(datum.value, '.3f')]",
        labelOverlap=False,
        labelFlush=False,
        labelLimit=0,
        domain=False,
    )


def _in_words(
    points: Sequence[_Point], labels: Sequence[str], panels: Sequence[str], scale: EffectScale
) -> str:
    sentences = []
    for panel, name in enumerate(panels):
        of_panel = [
            f"{labels[point.row]} {scale.words(point.at, point.low, point.high)}"
            for point in points
            if point.panel == panel
        ]
        sentences.append(f"{name}: {'; '.join(of_panel)}.")
    return " ".join(sentences)
