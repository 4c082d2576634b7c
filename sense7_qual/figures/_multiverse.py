"""The specification curve: a link under every choice of source, analysis and exclusion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    WIDTHS,
    Columns,
    Figure,
    axis_of,
    basis_of,
    check_columns,
    finished,
    lettered,
    padding,
    plot_width,
    row_axis,
    title_lines,
    why_missing,
)
from sense7_qual.figures._lettering import wrapped
from sense7_qual.figures._panels import EffectScale, effect_scale
from sense7_qual.links import MULTIVERSE

Effect = Literal["rank_biserial", "odds_ratio"]

_EFFECTS: Final[Mapping[str, str]] = {"rank_biserial": "Rank-biserial r", "odds_ratio": "Odds ratio"}
_CHOICES: Final[Mapping[str, str]] = {"source": "Source", "analysis": "Analysis", "exclusion": "Left out"}
_WORDS: Final[Mapping[str, str]] = {
    "rank_biserial": "rank-biserial",
    "mixed": "mixed model",
    "within": "within participants",
    "gee": "GEE",
    "none": "nothing",
    "single_texts": "participants with one text",
    "disputed": "disputed texts",
    "single_coder": "texts of one coder",
}
_CURVE: Final = 150  # pixels of the upper part
_STEP: Final = 15  # pixels of a choice
_MOST: Final = 120
_BAND: Final = "#dbe4ee"
_LONGEST: Final = 145  # pixels of the name of an option


def specification_curve(
    multiverse: pd.DataFrame,
    *,
    code: str,
    effect: Effect,
    codebook: Codebook | None = None,
    columns: Columns = 2,
) -> Figure:
    """Draw one code's link under every choice of source, analysis and exclusion, from lowest to highest.

    A band is the interval of the whole error, over participants, coders and prompts, where there is one.
    Above are the estimates with their intervals, around a line at no effect; below, a mark at each choice
    that the estimate is from. A choice with a single option has no rows. A very wide interval is cut at the
    edge and ends in an arrow; a hollow point has no interval; what could not be computed is at the right
    end, and a letter says why.

    Parameters
    ----------
    multiverse : DataFrame
        The result of `links.multiverse`: code, source, analysis, exclusion, effect, estimate, low, high,
        reason.
    code : str
        The code's id.
    effect : {"rank_biserial", "odds_ratio"}
        Only analyses with this kind of estimate are drawn: the two are on different scales.
    codebook : Codebook, optional
        Gives the label of the code.
    columns : {1, 2}
        Width on the page: one column (85 mm) or two (178 mm).

    Raises
    ------
    TableError
        A column is missing, there is no such row, or a combination of choices has several.
    CodebookError
        The code is not in the codebook.
    ArgumentError
        `effect` or `columns` is out of its range, or there are more than 120 combinations.

    References
    ----------
    Simonsohn, Simmons & Nelson (2020), Specification curve analysis, Nature Human Behaviour 4, 1208–1214.

    Examples
    --------
    >>> result = pd.DataFrame({"code": "prosocial", "source": ["ana", "ben"], "analysis": "mixed",
    ...     "exclusion": "none", "effect": "odds_ratio", "estimate": [1.5, 1.2], "low": [1.1, 0.7],
    ...     "high": [2.0, 2.1], "confidence_level": 0.95, "reason": None})
    >>> print(specification_curve(result, code="prosocial", effect="odds_ratio").description)
    Odds ratio under 2 choices (prosocial), 2 computable: 1.20 to 1.50; 2 above 1, intervals without 1: 1.
    """
    check_arguments(specification_curve, locals())
    import altair as alt

    check_columns(columns)
    every = _chosen(multiverse, code, effect)
    rows, whole = _apart(every)
    label = _present.label(code, codebook)
    choices = _choices(rows)
    known = rows[rows["estimate"].notna()]
    kind: Literal["odds_ratio", "correlation"] = "odds_ratio" if effect == "odds_ratio" else "correlation"
    scale = effect_scale(kind, known["estimate"], [*every["low"].dropna(), *every["high"].dropna()])
    names, bold, height = _labels(scale, choices)
    frame, notes = _placed(rows, scale)
    title = f"{_EFFECTS[effect]} under every choice ({label})"
    levels = [{"confidence_level": level} for level in rows["confidence_level"]]
    interval = _present.interval_name(levels, frame_name="multiverse")
    bands = [f"Band: {interval} over participants, coders and prompts ({one})" for one in whole["source"]]
    cut = ["Arrow: the interval goes on"] if frame[["cut_low", "cut_high"]].to_numpy().any() else []
    x = alt.Scale(domain=[0, max(len(rows), 1) + 1], nice=False, zero=False)
    y = alt.Scale(domain=[height, 0], nice=False, zero=False)
    lines = [list(names.items())]
    axes = (
        _axis(title_lines([title, f"Lines: {interval}", *notes, *cut, *bands], plot_width(columns, lines))),
        row_axis(lines, bold=bold),
    )
    chart = alt.layer(
        *_bands(whole, scale, len(rows), x, y),
        *_curve(frame, x, y, axes, len(rows)),
        *_marks(rows, choices, x, y),
    ).properties(
        width=WIDTHS[columns],
        height=height,
        autosize={"type": "fit-x", "contains": "padding"},
        background="white",
        padding=padding(lines),
    )
    words = _in_words(known, len(rows), effect, label) + _whole_in_words(every, whole, interval)
    return finished(chart, words, basis=basis_of(every))


def _chosen(multiverse: pd.DataFrame, code: str, effect: str) -> pd.DataFrame:
    """Return the rows of a code and effect in rising order, those without an estimate last."""
    if effect not in get_args(Effect):
        raise ArgumentError(
            f"figure: expected effect out of {', '.join(get_args(Effect))} – found {effect!r} – "
            f"{did_you_mean(str(effect), get_args(Effect))}"
        )
    MULTIVERSE.require(multiverse)
    codes = [str(name) for name in multiverse["code"].unique()]
    rows = multiverse[(multiverse["code"] == code) & (multiverse["effect"] == effect)]
    if rows.empty:
        raise TableError(
            f"multiverse: expected rows of code {code!r} with effect {effect!r} – found codes "
            f"{first_three(codes) or 'none'} – {did_you_mean(code, codes)}"
        )
    if rows.duplicated(list(_CHOICES)).any():
        raise TableError(
            "multiverse: expected one row per source, analysis and exclusion – found several – pass the "
            "result of one call."
        )
    n = int((rows["analysis"] != "whole").sum())
    if n > _MOST:
        raise ArgumentError(
            f"figure: expected at most {_MOST} combinations – found {n} – choose fewer sources, "
            "analyses or exclusions."
        )
    return rows.sort_values("estimate", kind="stable", na_position="last").reset_index(drop=True)


def _apart(every: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the curve, and the rows of the whole error that are to be reported: people's with a model."""
    of_whole = every["analysis"] == "whole"
    reported = of_whole & every["source"].str.endswith(" + human") & every["low"].notna()
    return every[~of_whole].reset_index(drop=True), every[reported]


def _choices(rows: pd.DataFrame) -> list[tuple[str, str | None]]:
    """Return the rows of the lower part: the name of a choice (None), then its options."""
    lines: list[tuple[str, str | None]] = []
    for choice in _CHOICES:
        options = sorted(rows[choice].astype(str).unique(), key=_order)
        if len(options) > 1:
            lines += [(choice, None), *((choice, option) for option in options)]
    return lines


def _order(option: str) -> tuple[int, str]:
    """Return the place of an option: coders by name, then what is made of them; analyses as listed."""
    last = ("majority", "consensus", "pooled")
    known = list(_WORDS)
    return (
        known.index(option) if option in known else last.index(option) + 1 if option in last else 0,
        option,
    )


def _row_at(number: int) -> float:
    return _CURVE + 18 + _STEP * (number + 0.5)


def _labels(
    scale: EffectScale, choices: Sequence[tuple[str, str | None]]
) -> tuple[dict[int, str], list[int], int]:
    """Return what stands at the left at which pixel, which of it is a heading, and the height of all."""
    names = {round(_upward(at)): name for at, name in scale.ticks}
    at = [round(_row_at(number)) for number in range(len(choices))]
    shown = [_CHOICES[choice] if option is None else _WORDS.get(option, option) for choice, option in choices]
    names |= zip(at, (name for (name,) in wrapped(shown, _LONGEST, most=1)), strict=True)
    bold = [place for place, (_, option) in zip(at, choices, strict=True) if option is None]
    return names, bold, round(_row_at(len(choices)))


def _upward(place: float) -> float:
    return 6 + (1 - place) * (_CURVE - 12)


def _placed(rows: pd.DataFrame, scale: EffectScale) -> tuple[pd.DataFrame, list[str]]:
    """Return the curve at its place, and the lines that say what its letters mean."""
    whys = [why_missing(row.estimate, row.low, row.high, row.reason) for row in rows.itertuples()]
    letters, lines = lettered(whys)
    drawn = []
    for number, (row, letter) in enumerate(zip(rows.to_dict("records"), letters, strict=True), start=1):
        at, low, high = (
            None if pd.isna(row[name]) else _upward(scale.place(float(row[name])))
            for name in ("estimate", "low", "high")
        )
        drawn.append(
            {
                "x": number,
                "at": at,
                "low": low,
                "high": high,
                "whole": low is not None and high is not None,
                "cut_low": low is not None and scale.beyond(float(row["low"])) < 0,
                "cut_high": high is not None and scale.beyond(float(row["high"])) > 0,
                "note": letter,
                "note_at": _upward(0.5) if at is None else at,
            }
        )
    return pd.DataFrame(drawn), lines


def _bands(whole: pd.DataFrame, scale: EffectScale, n: int, x: Any, y: Any) -> list[Any]:
    """Return a pale band for each interval of the whole error, and its estimate as a broken line."""
    import altair as alt

    placed = [
        {name: _upward(scale.place(float(row[name]))) for name in ("low", "high", "estimate")}
        | {"x": 0, "x2": n + 1}
        for row in whole.to_dict("records")
    ]
    if not placed:
        return []
    base = alt.Chart(pd.DataFrame(placed)).encode(x=alt.X("x:Q", scale=x), x2="x2:Q")
    band = base.mark_rect(color=_BAND, opacity=1).encode(y=alt.Y("low:Q", scale=y), y2="high:Q")
    middle = base.mark_rule(color=DARK, strokeWidth=1, strokeDash=[4, 3])
    return [band, middle.encode(y=alt.Y("estimate:Q", scale=y))]


def _curve(frame: pd.DataFrame, x: Any, y: Any, axes: tuple[Any, Any], n: int) -> list[Any]:
    """Return the line at no effect, intervals, arrows, points and letters."""
    import altair as alt

    across, up = alt.X("x:Q", scale=x, axis=axes[0]), alt.Y("at:Q", scale=y, axis=axes[1])
    base = alt.Chart(frame).encode(x=across, y=up)
    fill = alt.Color("whole:N", scale=alt.Scale(domain=[True, False], range=[DARK, "white"]), legend=None)
    none = alt.Chart(pd.DataFrame({"x": [0], "x2": [n + 1], "at": [_upward(0.5)]}))
    thin = max(1.0, min(2.0, 90 / n))
    bars = base.transform_filter("datum.whole").mark_rule(color=DARK, strokeWidth=thin)
    layers = [
        none.mark_rule(color=GREY, strokeWidth=1).encode(x=across, x2="x2:Q", y=up),
        bars.encode(y=alt.Y("low:Q", scale=y), y2="high:Q"),
    ]
    for end, angle in (("low", 180), ("high", 0)):
        arrows = base.transform_filter(f"datum.cut_{end}").encode(y=alt.Y(f"{end}:Q", scale=y))
        layers.append(
            arrows.mark_point(shape="triangle", angle=angle, filled=True, size=26, color=DARK, opacity=1)
        )
    points = base.transform_filter("isValid(datum.at)")
    layers.append(
        points.mark_point(
            filled=True, size=max(12, min(40, 900 / n)), stroke=DARK, strokeWidth=1, opacity=1
        ).encode(fill=fill)
    )
    notes = base.transform_filter("datum.note != ''").encode(y=alt.Y("note_at:Q", scale=y), text="note:N")
    style: dict[str, Any] = {"dy": -8, "fontSize": 7 * POINT, "fontStyle": "italic"}
    return [*layers, notes.mark_text(**style, stroke="white", strokeWidth=3), notes.mark_text(**style)]


def _marks(rows: pd.DataFrame, choices: Sequence[tuple[str, str | None]], x: Any, y: Any) -> list[Any]:
    """Return a faint line per option, and a mark in those that an estimate is from."""
    import altair as alt

    placed = [
        {"x": number, "y": _row_at(place)}
        for place, (choice, option) in enumerate(choices)
        for number, chosen in enumerate(rows[choice].astype(str), start=1)
        if option is not None and chosen == option
    ]
    lines = [
        {"x": 0, "x2": len(rows) + 1, "y": _row_at(place)}
        for place, (_, option) in enumerate(choices)
        if option is not None
    ]
    faint = alt.Chart(pd.DataFrame(lines, columns=["x", "x2", "y"]))
    marks = alt.Chart(pd.DataFrame(placed, columns=["x", "y"]))
    at = alt.Y("y:Q", scale=y)
    return [
        faint.mark_rule(color="#d9d9d9", strokeWidth=0.6).encode(x=alt.X("x:Q", scale=x), x2="x2:Q", y=at),
        marks.mark_tick(
            color=DARK, orient="vertical", opacity=1, thickness=max(1.5, min(4, 200 / len(rows))), size=9
        ).encode(x=alt.X("x:Q", scale=x), y=at),
    ]


def _axis(titles: Sequence[str]) -> Any:

    return axis_of(
        titles,
        labels=False,
        ticks=False,
        domain=False,
    )


def _in_words(known: pd.DataFrame, n: int, effect: str, label: str) -> str:
    lead = f"{_EFFECTS[effect]} under {n} choices ({label}), {len(known)} computable"
    if known.empty:
        return f"{lead}."
    none = 1 if effect == "odds_ratio" else 0
    printed = [
        _present.number(value, 2) if effect == "odds_ratio" else _present.coefficient(value, 2)
        for value in (known["estimate"].min(), known["estimate"].max())
    ]
    clear = int(((known["low"] > none) | (known["high"] < none)).sum())
    above = int((known["estimate"] > none).sum())
    return f"{lead}: {printed[0]} to {printed[1]}; {above} above {none}, intervals without {none}: {clear}."


def _whole_in_words(every: pd.DataFrame, whole: pd.DataFrame, level: str) -> str:
    said = [
        f" Whole error ({row['source']}): {_present.coefficient(row['estimate'], 2)}, "
        f"{level} "
        f"[{_present.coefficient(row['low'], 2)}, {_present.coefficient(row['high'], 2)}]."
        for row in whole.to_dict("records")
    ]
    p = every["whole_p"].dropna() if "whole_p" in every else pd.Series(dtype=float)
    together = f" All choices together: p {_p_with_sign(float(p.iloc[0]))}." if len(p) else ""
    return "".join(said) + together


def _p_with_sign(p: float) -> str:
    printed = _present.p_value(p)
    return printed if printed.startswith("<") else f"= {printed}"
