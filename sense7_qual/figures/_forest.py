"""Figures of effects in panels side by side: links by source, and what goes with a poor turn."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, get_args

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual._basis import to_be_reviewed
from sense7_qual._messages import did_you_mean
from sense7_qual._reasons import Reason
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ArgumentError
from sense7_qual.figures._figure import (
    DARK,
    NOT_SAID,
    POINT,
    WIDTHS,
    Columns,
    Figure,
    basis_of,
    check_columns,
    code_lines,
    finished,
    guides,
    label_lines,
    lettered,
    number_axis,
    padding,
    plot_width,
    reference_lines,
    row_axis,
    title_lines,
    why_missing,
)
from sense7_qual.figures._panels import EffectScale, Kind, PanelPoint, draw_panels, effect_scale
from sense7_qual.frames import require_column

Effect = Literal["rank_biserial", "odds_ratio"]

_EFFECTS: Final[Mapping[str, str]] = {"rank_biserial": "Rank-biserial r", "odds_ratio": "Odds ratio"}
_REASONS: Final[Mapping[str, str]] = {"rank_biserial": "reason", "odds_ratio": "odds_ratio_reason"}
_CONTRASTS: Final[Mapping[str, str]] = {
    "later_turns": "Later turns",
    "later_turns_adjusted": "Later turns, adjusted",
    "within_document": "Within conversation",
}


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
        What is drawn; odds ratios have a logarithmic axis.
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
    code_of = {str(row["label"]): str(row["code"]) for row in rows}
    labels = list(code_of)
    cells = {(str(row["label"]), str(row["source"])): row for row in rows}
    points, lines = _points(cells, labels, chosen, names, _REASONS[effect])
    is_own = effect == "odds_ratio" and "between_odds_ratio" in links
    measure = f"{_EFFECTS[effect]} (own texts)" if is_own else _EFFECTS[effect]
    title = f"{measure} with {_present.interval_name(rows, frame_name='links')}"
    return draw_panels(
        points,
        labels,
        chosen,
        scale=_scale_of(points, "odds_ratio" if effect == "odds_ratio" else "correlation"),
        titles=(title, "← rated lower with code · higher\u00a0→", *lines),
        columns=columns,
        words=f"{title}.",
        looks=_present.looks_of(code_of.values(), codebook),
        basis=basis_of(links[links["source"].astype(str).isin(chosen)]),
    )


def disruption_plot(
    disruption: pd.DataFrame,
    *,
    codebook: Codebook | None = None,
    columns: Columns = 2,
) -> Figure:
    """Draw what goes with a conversation's first poor turn: Cohen's d of each contrast, overall and by code.

    One panel per contrast; the first row is for all poor turns, the others for those with the code in their
    explanation. Left of the line, ratings are lower where a turn was poor. A very wide interval is cut at the
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
    >>> print(disruption_plot(result).description)
    Cohen's d with 95% CI. Later turns: All poor turns −0.60 [−1.10, −0.10].
    """
    check_arguments(disruption_plot, locals())
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
    looks = dict(zip(named.values(), _present.looks_of(named, codebook), strict=True))
    points, lines = _points(cells, labels, contrasts, names, "reason")
    title = f"Cohen's d with {_present.interval_name(rows, frame_name='disruption')}"
    return draw_panels(
        points,
        labels,
        contrasts,
        scale=_scale_of(points, "difference"),
        titles=(title, "← lower after, or with, a poor turn · higher\u00a0→", *lines),
        columns=columns,
        words=f"{title}.",
        looks=[looks.get(label) for label in labels],
        basis=basis_of(disruption),
    )


def _points(
    cells: Mapping[tuple[str, str], Mapping[str, Any]],
    labels: Sequence[str],
    panels: Sequence[str],
    names: tuple[str, str, str],
    reason: str,
) -> tuple[list[PanelPoint], list[str]]:
    """Return the point of each row and panel, and the lines that say what its letters mean."""
    points: list[PanelPoint] = []
    whys: list[str | None] = []
    for row, label in enumerate(labels):
        for panel, head in enumerate(panels):
            cell = cells.get((label, head))
            at, low, high = (
                None if cell is None or pd.isna(cell[name]) else float(cell[name]) for name in names
            )
            points.append(PanelPoint(row, panel, at, low, high, ""))
            whys.append("no such row" if cell is None else why_missing(at, low, high, cell[reason]))
    letters, lines = lettered(whys)
    return [replace(point, note=note) for point, note in zip(points, letters, strict=True)], lines


def _scale_of(points: Sequence[PanelPoint], kind: Kind) -> EffectScale:
    estimates = [point.at for point in points if point.at is not None]
    ends = [end for point in points for end in (point.low, point.high) if end is not None]
    return effect_scale(kind, estimates, ends)


def read_points(
    result: pd.DataFrame, names: tuple[str, str, str], *, frame_name: str, codebook: Codebook | None
) -> tuple[list[dict[str, Any]], str]:
    """Return label, look, at, low and high (None where missing) of each code, and its interval's name."""
    for name in (*names, "confidence_level"):
        require_column(result, name, frame_name=frame_name)
    rows = _present.rows(result, frame_name=frame_name, codebook=codebook)
    keyed = dict(zip(("at", "low", "high"), names, strict=True))
    looks = _present.looks_of((str(row["code"]) for row in rows), codebook)
    points = [
        {"label": row["label"], "look": look, "to_review": _to_review(row)}
        | {key: None if pd.isna(row[name]) else float(row[name]) for key, name in keyed.items()}
        for row, look in zip(rows, looks, strict=True)
    ]
    return points, _present.interval_name(rows, frame_name=frame_name)


def _to_review(row: Mapping[str, Any]) -> str:
    """Return how much of a code without a figure is to be reviewed; empty for others."""
    reason = row.get("reason")
    if pd.isna(reason) or reason != Reason.WAITING_FOR_REVIEW:
        return ""
    return to_be_reviewed(row.get("basis"), str(row["code"]))


def draw_rows(
    rows: Sequence[Mapping[str, Any]],
    *,
    domain: tuple[float, float],
    titles: tuple[str, str],
    marks: Mapping[float, str],
    columns: Columns,
    description: str,
    basis: Mapping[str, Sequence[str]] = NOT_SAID,
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
    return finished(chart, words, basis=basis)


def _placed(
    rows: Sequence[Mapping[str, Any]], lines: Sequence[Sequence[tuple[int, str]]], domain: tuple[float, float]
) -> pd.DataFrame:
    """Return the marks of each row: point, interval, and a note where one of them is missing."""
    drawn = []
    for row, block in zip(rows, lines, strict=True):
        whole = row["low"] is not None and row["high"] is not None
        at = domain[0] if row["at"] is None else row["at"]
        note = _lacking(row) if row["at"] is None else "" if whole else "no interval"
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


def _lacking(row: Mapping[str, Any]) -> str:
    return row.get("to_review") or "not computable"


def _in_words(row: Mapping[str, Any], printed: Callable[[Any, int], str]) -> str:
    if row["at"] is None:
        return f"{row['label']}: {_lacking(row)}."
    interval = _present.interval(row["low"], row["high"], 2)
    words = "no interval" if interval == _present.MISSING else interval
    return f"{row['label']}: {printed(row['at'], 2)} {words}."


def agreement_plot(
    agreement: pd.DataFrame,
    *,
    codebook: Codebook | None = None,
    columns: Columns = 1,
) -> Figure:
    """Draw Krippendorff's alpha of each code with its interval.

    One row per code, from the top in the codebook's order (without one, in the frame's). Dashed lines
    mark Krippendorff's conventions, .667 and .800; they decide nothing. A code without an interval is a
    hollow point marked "no interval"; one without alpha is marked "not computable".

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
    ArgumentError
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
    check_arguments(agreement_plot, locals())
    names = ("alpha", "alpha_low", "alpha_high")
    rows, interval = read_points(agreement, names, frame_name="agreement", codebook=codebook)
    title = f"Krippendorff's α with {interval}"
    lowest = min([0.0, *(row[name] for row in rows for name in ("at", "low") if row[name] is not None)])
    return draw_rows(
        rows,
        domain=(math.floor((lowest + 0.002) * 5) / 5, 1.0),
        titles=(title, "Dashed: conventions .667 and .800"),
        marks={0.667: ".667", 0.8: ".800"},
        columns=columns,
        description=f"{title} for each code.",
        basis=basis_of(agreement),
        printed=_present.alpha,
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
    at zero, texts with the code are rated higher. A code without an interval is a hollow point marked
    "no interval"; one without a correlation is marked "not computable". Dashed lines are at the margin of
    equivalence, where links were computed with one.

    Parameters
    ----------
    links : DataFrame
        The result of `links.code_to_rating` or `links.models.with_model`: code, source, rank_biserial,
        rank_biserial_low, rank_biserial_high (each −1 to 1), confidence_level.
    source : str
        Whose decisions: a coder, "majority" or "consensus"; of `with_model` "human", "model" or "model +
        human".
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
    ArgumentError
        `columns` is out of range.

    Examples
    --------
    >>> result = pd.DataFrame({"code": ["prosocial"], "source": ["majority"], "rank_biserial": [0.21],
    ...     "rank_biserial_low": [-0.01], "rank_biserial_high": [0.41], "confidence_level": [0.95]})
    >>> print(link_plot(result, source="majority").description)
    Rank-biserial r with 95% CI (majority) for each code. prosocial: .21 [−.01, .41].
    """
    check_arguments(link_plot, locals())
    names = ("rank_biserial", "rank_biserial_low", "rank_biserial_high")
    chosen = _present.of_source(links, source)
    rows, interval = read_points(chosen, names, frame_name="links", codebook=codebook)
    title = f"Rank-biserial r with {interval} ({source})"
    sizes = [abs(row[name]) for row in rows for name in ("at", "low", "high") if row[name] is not None]
    marks = _margin(chosen)
    limit = min(1.0, max(0.4, math.ceil(max([*sizes, *marks]) * 5) / 5))
    return draw_rows(
        rows,
        domain=(-limit, limit),
        titles=(title, "← rated lower with code · higher\u00a0→"),
        marks=marks,
        columns=columns,
        description=f"{title} for each code."
        + (f" Margin: {' and '.join(filter(None, marks.values()))}." if len(marks) > 1 else ""),
        basis=basis_of(chosen),
    )


def _margin(links: pd.DataFrame) -> dict[float, str]:
    """Return the margin of equivalence on both sides of 0, where it is one of the correlation, and 0."""
    if "equivalence_margin" not in links or {*links["equivalence_effect"]} != {"rank_biserial"}:
        return {0.0: ""}
    margin = float(links["equivalence_margin"].iloc[0])
    return {end: _present.coefficient(end, 2) for end in (-margin, margin)} | {0.0: ""}
