"""Figures for a paper: agreement and links as points with intervals, one row per code.

Every function takes an unrounded result frame and returns a `Figure`, drawn without a network, that can be
written as SVG, PNG and PDF at the width of one or two columns of a page. Figures show aggregates only. What
could not be computed keeps its row and says so. Points, lines and their dashes can be told apart in grey.
"""

from __future__ import annotations

import base64
import html
import json
import math
import re
import textwrap
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import pandas as pd

from sense7_qual import results
from sense7_qual.codebook import Codebook
from sense7_qual.errors import QualError, did_you_mean

__all__ = ["Figure", "agreement_plot", "link_plot"]

Columns = Literal[1, 2]

_MM: Final = 96 / 25.4  # CSS pixels in a millimetre
_POINT: Final = 96 / 72  # CSS pixels in a typographic point
_WIDTHS: Final[Mapping[int, float]] = {1: 85 * _MM, 2: 178 * _MM}
_FONT: Final = "Arial, Helvetica, Liberation Sans, DejaVu Sans, sans-serif"
_DARK: Final = "#1a3f66"  # as dark as 75 % grey in print
_GREY: Final = "#6b6b6b"
_SIZE: Final = re.compile(r'\b(width|height)="([0-9.]+)"')  # the drawing's own stand first
_LINE: Final = 13  # pixels from line to line of a label
_ROW: Final = 22  # least height of a row in pixels


@dataclass(frozen=True, slots=True)
class Figure:
    """A finished drawing, with a description in words for those who cannot see it.

    Parameters
    ----------
    description : str
        What the figure shows, as alternative text.
    """

    description: str
    _svg: str = field(repr=False)

    def svg(self) -> str:
        """Return the figure as SVG; its width and height are in CSS pixels (96 in an inch)."""
        return self._svg

    def png(self, scale: float = 2) -> bytes:
        """Return the figure as PNG with `scale` dots for each CSS pixel; 3.125 gives 300 dots per inch."""
        import vl_convert

        if not 0.1 <= scale <= 20:
            raise QualError(f"figure: expected a scale from 0.1 to 20 – found {scale} – 3.125 gives 300 dpi.")
        # The library's scale is for 72 pixels in an inch, an SVG has 96: so the file says its true size.
        return bytes(vl_convert.svg_to_png(self._svg, scale=0.75, ppi=96 * scale))

    def pdf(self) -> bytes:
        """Return the figure as a PDF page of its own size, with lines and letters as vectors."""
        import vl_convert

        # The library makes a point of every pixel; the view box stays, so that the drawing shrinks with it.
        smaller = _SIZE.sub(lambda at: f'{at[1]}="{float(at[2]) / _POINT:.4f}"', self._svg, count=2)
        return bytes(vl_convert.svg_to_pdf(smaller))

    def write(self, path: str | Path) -> None:
        """Write the figure to `path` in the format of its suffix: .svg, .png (300 dpi) or .pdf.

        Raises
        ------
        QualError
            The suffix is another one; nothing was written.
        """
        path = Path(path)
        formats: dict[str, Callable[[], bytes]] = {
            ".svg": lambda: self._svg.encode(),
            ".png": lambda: self.png(scale=300 / 96),
            ".pdf": self.pdf,
        }
        if path.suffix.lower() not in formats:
            raise QualError(
                f"figure: expected a path that ends in {', '.join(formats)} – found {path.name!r} – "
                f"{did_you_mean(path.suffix, formats)}"
            )
        path.write_bytes(formats[path.suffix.lower()]())

    def _repr_mimebundle_(
        self, include: Container[str] | None = None, exclude: Container[str] | None = None
    ) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
        """Show the figure in a notebook: as SVG, and as PNG for where SVG is not trusted or not known."""
        forms: dict[str, Callable[[], str]] = {
            "image/svg+xml": self.svg,
            "image/png": lambda: base64.b64encode(self.png()).decode("ascii"),
        }
        shown = {
            kind: form()
            for kind, form in forms.items()
            if (include is None or kind in include) and (exclude is None or kind not in exclude)
        }
        size: dict[str, Any] = {name: round(float(pixels)) for name, pixels in _SIZE.findall(self._svg)[:2]}
        return shown, {kind: size | {"alt": self.description} for kind in shown}


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
    import vl_convert

    if columns not in _WIDTHS:
        raise QualError(
            f"figure: expected columns 1 or 2 – found {columns!r} – 1 is 85 mm wide, 2 is 178 mm."
        )
    words = f"{description} {' '.join(_in_words(row) for row in rows)}".strip()
    lines, height = _label_lines([str(row["label"]) for row in rows], columns)
    frame = _placed(rows, lines, domain)
    x = alt.Scale(domain=list(domain), nice=False, zero=False)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[height, 0], nice=False, zero=False), axis=_row_axis(lines))
    base = alt.Chart(frame).encode(y=y)
    chart = alt.layer(
        _guides(base, domain, x),
        *_reference_lines(marks, x),
        *_intervals(base, x, _number_axis(domain, _title_lines(titles, columns))),
    ).properties(
        width=_WIDTHS[columns],
        height=height,
        autosize={"type": "fit-x", "contains": "padding"},
        background="white",
        padding=_padding(lines),
    )
    spec = chart.configure(font=_FONT).configure_view(stroke=None).to_dict()
    drawn = str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))
    return Figure(words, drawn.replace(">", f' role="img" aria-label="{html.escape(words)}">', 1))


def _label_lines(labels: Sequence[str], columns: Columns) -> tuple[list[list[tuple[int, str]]], int]:
    """Return every line of every label with its place from the top in pixels, and the height of them all.

    The lines of a label stand around the middle of its row, which axis labels of several lines would not.
    """
    placed, top = [], 0
    for label in labels:
        block = textwrap.wrap(label, 22 if columns == 1 else 40, max_lines=3, placeholder="…") or [label]
        height = max(_ROW, _LINE * len(block) + 8)
        first = top + (height - _LINE * (len(block) - 1)) // 2
        placed.append([(first + _LINE * number, line) for number, line in enumerate(block)])
        top += height
    return placed, max(top, _ROW)


def _title_lines(titles: Sequence[str], columns: Columns) -> list[str]:
    """Break the titles of the axis so that they are no wider than the plot."""
    longest = 34 if columns == 1 else 80
    return [line for title in titles for line in textwrap.wrap(title, longest)]


def _padding(lines: Sequence[Sequence[tuple[int, str]]]) -> dict[str, float]:
    """Return the margins in pixels, with room for letters wider than those that were measured.

    A viewer without Arial, or the like of it, draws an SVG with a font that can be a tenth wider.
    """
    longest = max((len(line) for block in lines for _, line in block), default=0)
    return {"left": 2 + 0.6 * longest, "right": 6, "top": 2, "bottom": 2}


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


def _row_axis(lines: Sequence[Sequence[tuple[int, str]]]) -> Any:
    import altair as alt

    names = {at: line for block in lines for at, line in block}
    return alt.Axis(
        values=list(names),
        tickCount=len(names),
        # JSON is a literal of the expression language: a label in it is data, whatever it holds.
        labelExpr=f"{json.dumps(names)}[datum.value]",
        title=None,
        ticks=False,
        domain=False,
        grid=False,
        labelFontSize=8 * _POINT,
        labelColor="black",
        labelLimit=0,
        labelOverlap=False,
        labelPadding=6,
    )


def _guides(base: Any, domain: tuple[float, float], x: Any) -> Any:
    """Return a faint line through every row, from its label to its point."""
    import altair as alt

    return base.mark_rule(color="#d9d9d9", strokeWidth=0.6).encode(
        x=alt.X(datum=domain[0], type="quantitative", scale=x), x2=alt.X2(datum=domain[1])
    )


def _reference_lines(marks: Mapping[float, str], x: Any) -> list[Any]:
    import altair as alt

    layers = []
    for (at, name), side in zip(marks.items(), ("right", "left"), strict=False):
        line = alt.Chart(pd.DataFrame({"x": [at]})).encode(x=alt.X("x:Q", scale=x))
        layers.append(line.mark_rule(color=_GREY, strokeWidth=1, strokeDash=[4, 3] if name else [1, 0]))
        if name:
            text = line.mark_text(align=side, dx=-2 if side == "right" else 2, dy=-6, fontSize=7 * _POINT)
            layers.append(text.encode(y=alt.value(0), text=alt.value(name)))
    return layers


def _intervals(base: Any, x: Any, axis: Any) -> list[Any]:
    import altair as alt

    bars = base.transform_filter("isValid(datum.low) && isValid(datum.high)")
    points = base.transform_filter("isValid(datum.at)")
    fill = alt.Color("whole:N", scale=alt.Scale(domain=[True, False], range=[_DARK, "white"]), legend=None)
    layers = [
        bars.mark_rule(color=_DARK, strokeWidth=2).encode(x=alt.X("low:Q", scale=x), x2="high:Q"),
        points.mark_point(filled=True, size=45, stroke=_DARK, strokeWidth=1.5, opacity=1).encode(
            x=alt.X("at:Q", scale=x, axis=axis), fill=fill
        ),
    ]
    for side, dx in (("left", 7), ("right", -7)):
        notes = base.transform_filter(f"datum.note != '' && datum.side == '{side}'").encode(
            x=alt.X("note_at:Q", scale=x), text="note:N"
        )
        style = {"align": side, "dx": dx, "fontSize": 7 * _POINT, "fontStyle": "italic"}
        halo = notes.mark_text(**style, stroke="white", strokeWidth=4)
        layers += [halo, notes.mark_text(**style)]
    return layers


def _number_axis(domain: tuple[float, float], titles: Sequence[str]) -> Any:
    import altair as alt

    step = 0.2 if domain[1] - domain[0] <= 1.61 else 0.5
    first, last = math.ceil(domain[0] / step - 1e-9), math.floor(domain[1] / step + 1e-9)
    values = [round(number * step, 1) for number in range(first, last + 1)]
    return alt.Axis(
        title=titles,
        titleFontSize=8 * _POINT,
        titleFontWeight="normal",
        titleColor="black",
        titlePadding=6,
        values=values,
        tickCount=len(values),  # without it every other one is dropped in a narrow figure
        labelExpr="datum.value == 0 ? '0' : replace(format(datum.value, '.1f'), '0.', '.')",
        labelFontSize=8 * _POINT,
        labelColor="black",
        labelOverlap=False,
        labelFlush=False,
        grid=False,
        domainColor="black",
        tickColor="black",
    )


def _in_words(row: Mapping[str, Any]) -> str:
    if row["at"] is None:
        return f"{row['label']}: not computable."
    interval = results.interval(row["low"], row["high"], 2)
    words = "no interval" if interval == results.MISSING else interval
    return f"{row['label']}: {results.coefficient(row['at'], 2)} {words}."
