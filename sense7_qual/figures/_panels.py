"""Points with intervals in panels side by side: links by source, poor turns, themes by condition."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import pandas as pd

from sense7_qual import _present
from sense7_qual._present import Look
from sense7_qual.errors import ArgumentError
from sense7_qual.figures._figure import (
    DARK,
    GREY,
    NOT_SAID,
    POINT,
    ROW,
    WIDTHS,
    Columns,
    Figure,
    axis_of,
    check_columns,
    code_lines,
    finished,
    label_lines,
    literal,
    middle,
    padding,
    plot_width,
    row_axis,
    title_lines,
)
from sense7_qual.figures._lettering import wrapped

MOST: Final[Mapping[int, int]] = {1: 3, 2: 6}
"""Panels of effects that fit side by side in one and in two columns."""
_GAP: Final = 0.16  # between panels, in widths of one
_HEAD: Final = 16  # pixels of a line above the panels


@dataclass(frozen=True, slots=True)
class PanelPoint:
    """An effect in one row and panel; `note` is the letter of why something is missing.

    Several in one row and panel have each a `name`, a `shape`, and a place `down` from the middle in pixels.
    A line goes to the point from `start`, a number and its own place down.
    """

    row: int
    panel: int
    at: float | None
    low: float | None
    high: float | None
    note: str
    name: str = ""
    shape: str = "circle"
    down: float = 0.0
    start: tuple[float, float] | None = None


def draw_panels(
    points: Sequence[PanelPoint],
    labels: Sequence[str],
    panels: Sequence[str],
    *,
    scale: EffectScale | Sequence[EffectScale],
    titles: Sequence[str],
    columns: Columns,
    words: str,
    references: Sequence[float] = (),
    most: Mapping[int, int] = MOST,
    looks: Sequence[Look | None] = (),
    keys: Sequence[Mapping[str, str]] = (),
    basis: Mapping[str, Sequence[str]] = NOT_SAID,
) -> Figure:
    """Draw panels of points with intervals side by side: one plot, with its x-axis cut into pieces.

    `scale` is that of all panels, or one for each; `references` are a number per row, marked in each panel;
    `most` is how many panels fit in 1 or 2 columns; `looks` are those of the rows' codes; `keys` say for each
    panel what its shapes mean, below its name; `basis` says what the numbers rest on.
    """
    import altair as alt

    check_columns(columns)
    if len(panels) > most[columns]:
        raise ArgumentError(
            f"figure: expected at most {most[columns]} panels in {columns} columns – found {len(panels)} – "
            "choose fewer, or draw them in several figures."
        )
    scales = [scale] * len(panels) if isinstance(scale, EffectScale) else list(scale)
    deepest = max((abs(point.down) for point in points), default=0.0)
    lines, height = label_lines(labels, columns, least=max(ROW, round(2 * deepest) + 18))
    width = plot_width(columns, lines, looks)
    heads = wrapped(panels, width / (1 + _GAP) / max(len(panels), 1), most=3, bold=True)
    named = max((len(lines) for lines in heads), default=1)
    head = _HEAD * (named + max(map(len, keys), default=0)) + 4
    x = alt.Scale(domain=[-0.04, max(len(panels), 1) * (1 + _GAP) - _GAP + 0.04], nice=False, zero=False)
    y = alt.Scale(domain=[height, -head], nice=False, zero=False)
    middles = [middle(block) for block in lines]
    frame = _placed(points, middles, scales)
    if any(frame["cut_low"]) or any(frame["cut_high"]):
        titles = [*titles, "Arrow: the interval goes on"]
    axis = _panel_axis(scales, title_lines(titles, width))
    rows = alt.Y("y:Q", scale=y, axis=row_axis(lines, looks=looks))
    base = alt.Chart(frame).encode(y=rows)
    chart = alt.layer(
        *_ground(base, height, x, rows, scales),
        *_references(references, middles, scales, x, y),
        *_marks(base, x, axis),
        *_heads(heads, head, x, y),
        *_keys(keys, head - _HEAD * named, x, y),
        *code_lines(lines, looks, y),
    ).properties(
        width=WIDTHS[columns],
        height=height + head,
        autosize={"type": "fit-x", "contains": "padding"},
        background="white",
        padding=padding(lines),
    )
    told = f"{words} {_in_words(points, labels, panels, scales)}".strip()
    return finished(chart, told, basis=basis)


def _offset(panel: int) -> float:
    return panel * (1 + _GAP)


_PLACED: Final = [
    "y",
    "panel",
    "shape",
    "start",
    "from",
    "at",
    "low",
    "high",
    "whole",
    "cut_low",
    "cut_high",
    "note",
    "note_at",
    "side",
]


def _placed(
    points: Sequence[PanelPoint], rows: Sequence[float], scales: Sequence[EffectScale]
) -> pd.DataFrame:
    """Return the marks at their places."""
    drawn = []
    for point in points:
        scale = scales[point.panel]
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
                "y": rows[point.row] + point.down,
                "shape": point.shape,
                "panel": point.panel,
                "start": None if point.start is None else scale.place(point.start[0]) + _offset(point.panel),
                "from": None if point.start is None else rows[point.row] + point.start[1],
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
    return pd.DataFrame(drawn, columns=_PLACED)


def _ground(base: Any, height: int, x: Any, rows: Any, scales: Sequence[EffectScale]) -> list[Any]:
    """Return faint lines through the rows, a line at no effect, and the floor of each panel."""
    import altair as alt

    layers = []
    for panel, scale in enumerate(scales):
        low, high = _offset(panel), _offset(panel) + 1
        edges = {"x": alt.X(datum=low, type="quantitative", scale=x), "x2": alt.X2(datum=high)}
        own = base.transform_filter(f"datum.panel == {panel}")
        layers.append(own.mark_rule(color="#d9d9d9", strokeWidth=0.6).encode(**edges))
        none = alt.Chart(pd.DataFrame({"x": [low + scale.place(scale.none)], "y": [0], "y2": [height]}))
        layers.append(
            none.mark_rule(color=GREY, strokeWidth=1).encode(x=alt.X("x:Q", scale=x), y=rows, y2="y2:Q")
        )
        floor = alt.Chart(pd.DataFrame({"x": [low], "x2": [high], "y": [height]}))
        layers.append(
            floor.mark_rule(color="black", strokeWidth=1).encode(x=alt.X("x:Q", scale=x), x2="x2:Q", y=rows)
        )
    return layers


def _references(
    values: Sequence[float], rows: Sequence[float], scales: Sequence[EffectScale], x: Any, y: Any
) -> list[Any]:
    """Return a short upright line at the number of each row, in each panel."""
    import altair as alt

    marks = [
        {"x": _offset(panel) + scale.place(value), "y": row - 7, "y2": row + 7}
        for panel, scale in enumerate(scales)
        for value, row in zip(values, rows, strict=False)
        if not pd.isna(value)
    ]
    if not marks:
        return []
    base = alt.Chart(pd.DataFrame(marks)).mark_rule(color=GREY, strokeWidth=1.5)
    return [base.encode(x=alt.X("x:Q", scale=x), y=alt.Y("y:Q", scale=y), y2="y2:Q")]


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
    joined = base.transform_filter("isValid(datum.start) && isValid(datum.at)")
    layers.append(
        joined.mark_rule(color=GREY, strokeWidth=1).encode(
            x=alt.X("at:Q", scale=x), x2="start:Q", y2="from:Q"
        )
    )
    points = base.transform_filter("isValid(datum.at)")
    layers.append(
        points.mark_point(filled=True, size=40, stroke=DARK, strokeWidth=1.5, opacity=1).encode(
            x=alt.X("at:Q", scale=x, axis=axis), fill=fill, shape=alt.Shape("shape:N", scale=None)
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


def _keys(keys: Sequence[Mapping[str, str]], head: int, x: Any, y: Any) -> list[Any]:
    """Return the key of each panel: one line for each shape, with its name."""
    import altair as alt

    placed = [
        {"x": _offset(panel), "y": -head + _HEAD * (number + 0.6), "shape": shape, "name": name}
        for panel, shapes in enumerate(keys)
        for number, (shape, name) in enumerate(shapes.items())
    ]
    if not placed:
        return []
    base = alt.Chart(pd.DataFrame(placed)).encode(y=alt.Y("y:Q", scale=y))
    across = {"x": alt.X("x:Q", scale=x)}
    return [
        base.mark_point(filled=True, size=40, color=DARK, opacity=1, xOffset=5).encode(
            **across, shape=alt.Shape("shape:N", scale=None)
        ),
        base.mark_text(align="left", dx=14, fontSize=7 * POINT).encode(**across, text="name:N"),
    ]


def _panel_axis(scales: Sequence[EffectScale], titles: Sequence[str]) -> Any:
    ticks = {
        round(_offset(panel) + at, 3): name for panel, scale in enumerate(scales) for at, name in scale.ticks
    }
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
    points: Sequence[PanelPoint], labels: Sequence[str], panels: Sequence[str], scales: Sequence[EffectScale]
) -> str:
    sentences = []
    for panel, (name, scale) in enumerate(zip(panels, scales, strict=True)):
        of_panel = [
            " ".join(
                filter(None, (labels[point.row], point.name, scale.words(point.at, point.low, point.high)))
            )
            for point in points
            if point.panel == panel
        ]
        sentences.append(f"{name}: {'; '.join(of_panel)}.")
    return " ".join(sentences)


Kind = Literal["correlation", "odds_ratio", "difference", "share"]

_LIMITS: Final = (0.4, 0.6, 0.8, 1.0)
_SHARES: Final = (0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
_STEPS: Final = (0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
_FOLDS: Final = (2, 5, 10, 100, 1000, 10_000)


@dataclass(frozen=True, slots=True)
class EffectScale:
    """A scale around no effect, as far to the left as to the right; that of a share begins at 0.

    Attributes
    ----------
    kind : {"correlation", "odds_ratio", "difference", "share"}
        Odds ratios have a logarithmic axis.
    limit : float
        The end of the scale: of a correlation or difference, or the logarithm of an odds ratio.
    ticks : tuple of (float, str)
        The place of each tick and what is printed there.
    """

    kind: Kind
    limit: float
    ticks: tuple[tuple[float, str], ...]

    @property
    def none(self) -> float:
        """The number of no effect, or of no text."""
        return 1.0 if self.kind == "odds_ratio" else 0.0

    def place(self, value: float) -> float:
        """Return the place of a number from 0 (the left end) to 1, at an end if it lies beyond."""
        return min(max(self._share(value), 0.0), 1.0)

    def beyond(self, value: float) -> int:
        """Return −1 or 1 where a number lies left or right of the scale, else 0."""
        share = self._share(value)
        return -1 if share < -1e-9 else 1 if share > 1 + 1e-9 else 0

    def words(self, at: float | None, low: float | None, high: float | None) -> str:
        """Return an effect with its interval as it is printed."""
        if at is None:
            return "not computable"
        if self.kind in ("correlation", "share"):
            value, ends = _present.coefficient(at, 2), _present.interval(low, high, 2)
        else:
            value, ends = _present.number(at, 2), _present.number_interval(low, high, 2)
        return f"{value} {'no interval' if ends == _present.MISSING else ends}"

    def _share(self, value: float) -> float:
        if self.kind == "odds_ratio":
            value = math.log(value) if value > 0 else -math.inf
        return value / self.limit if self.kind == "share" else 0.5 + value / (2 * self.limit)


def effect_scale(kind: Kind, estimates: Iterable[float], ends: Iterable[float]) -> EffectScale:
    """Return a scale that holds all estimates, and of the ends of intervals those that are not far out.

    An interval that is many times wider than the effects would press all others to the middle: it is cut at
    the edge, where the figure says so.

    Examples
    --------
    >>> effect_scale("correlation", [0.31], [0.12, 0.55]).ticks
    ((0.083333, '−.5'), (0.5, '0'), (0.916667, '.5'))
    >>> scale = effect_scale("odds_ratio", [0.5, 3.2], [0.2, 70.0])
    >>> [name for _, name in scale.ticks], scale.beyond(0.2), scale.beyond(70.0)
    (['0.2', '1', '5'], 0, 1)
    >>> effect_scale("share", [0.12, 0.0], [0.31]).ticks
    ((0.0, '0'), (0.666667, '.2'))
    """
    if kind == "share":
        return _share_scale(estimates, ends)
    ratio = kind == "odds_ratio"
    sizes = [abs(math.log(value)) if ratio else abs(value) for value in estimates]
    wide = [abs(math.log(value)) if ratio else abs(value) for value in ends if value > 0 or not ratio]
    largest = max(sizes, default=0.0)
    least = {"correlation": 0.4, "odds_ratio": math.log(2.5), "difference": 0.5}[kind]
    needed = max(least, largest, min(max(wide, default=0.0), max(1.5 * largest, 2 * least)))
    if kind == "correlation":  # which cannot be far out
        needed = max(needed, *wide) if wide else needed
        limit = next((limit for limit in _LIMITS if limit >= needed - 1e-9), 1.0)
        tick = 0.2 if limit < 0.6 else 0.5
        return EffectScale(kind, limit, _ticks(limit, tick, f"−.{10 * tick:.0f}", "0", f".{10 * tick:.0f}"))
    limit = 1.05 * needed
    if kind == "difference":
        tick = max(step for step in _STEPS if step <= 0.85 * limit)
        return EffectScale(kind, limit, _ticks(limit, tick, f"−{tick:g}", "0", f"{tick:g}"))
    fold = max(fold for fold in _FOLDS if math.log(fold) <= 0.85 * limit)
    return EffectScale(kind, limit, _ticks(limit, math.log(fold), f"{1 / fold:g}", "1", f"{fold:g}"))


def _share_scale(estimates: Iterable[float], ends: Iterable[float]) -> EffectScale:
    """Return a scale from 0 that holds all shares; intervals that are far out are cut at its end."""
    largest = max(estimates, default=0.0)
    needed = max(largest, min(max(ends, default=0.0), max(2 * largest, _SHARES[0])))
    limit = next(limit for limit in (*_SHARES, math.inf) if limit >= min(needed, 1.0) - 1e-9)
    tick = max(step for step in (0.05, 0.1, 0.2, 0.5) if step <= 0.85 * limit)
    return EffectScale("share", limit, ((0.0, "0"), (round(tick / limit, 6), f"{tick:g}"[1:])))


def _ticks(limit: float, tick: float, low: str, none: str, high: str) -> tuple[tuple[float, str], ...]:
    """Return a tick on each side, so far from the edges that the numbers of two panels do not meet."""
    places = (0.5 - tick / (2 * limit), 0.5, 0.5 + tick / (2 * limit))
    return tuple(zip((round(place, 6) for place in places), (low, none, high), strict=True))
