"""What all figures have in common: the finished drawing, its fonts and sizes, labels and axes.

Everything is drawn without a network, at the width of one or two columns of a page.
"""

from __future__ import annotations

import base64
import colorsys
import html
import json
import math
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import pandas as pd

from sense7_qual import _reasons
from sense7_qual._arguments import check_arguments
from sense7_qual._atomic import write_by_suffix
from sense7_qual._basis import COLUMN, in_short
from sense7_qual._messages import UNPRINTABLE
from sense7_qual._present import PALETTE, Look
from sense7_qual.errors import ArgumentError, StoreError
from sense7_qual.figures._lettering import FONT, SIZE, in_order, widths, without_pictures_in_fonts, wrapped

Columns = Literal[1, 2]

_MM: Final = 96 / 25.4  # CSS pixels in a millimetre
POINT: Final = 96 / 72
"""CSS pixels in a typographic point."""
WIDTHS: Final[Mapping[int, float]] = {1: 85 * _MM, 2: 178 * _MM}
"""Width in CSS pixels of one and of two columns of a page."""
DARK: Final = "#1a3f66"
"""Points and intervals: as dark as 75 % grey in print."""
GREY: Final = "#6b6b6b"
"""Reference lines and notes."""
_SIZE: Final = re.compile(r'\b(width|height)="([0-9.]+)"')  # the drawing's own come first
_MOST_FOOT: Final = 6  # lines of the basis below a figure
NOT_SAID: Final[Mapping[str, Sequence[str]]] = {}
"""The basis of a result that does not say what its numbers rest on."""
_LINE: Final = 13  # pixels from line to line of a label
_COLOUR: Final = re.compile(r'(?<==")(?:black|white|#[0-9a-f]{6}|rgb\((\d+), (\d+), (\d+)\))(?=")')
_IMAGE: Final = (
    '<img class="{name}" style="display: {display}" width="{width}" height="{height}" alt="{alt}" '
    'src="{src}">'
)
# One picture for each theme of the notebook or the site. Where styles are taken out, as of a notebook that is
# not trusted, the second picture stays hidden.
_THEMES: Final = """<style>
:is([data-jp-theme-light="false"], .vscode-dark, [data-theme="dark"]) .s7-light {display: none !important}
:is([data-jp-theme-light="false"], .vscode-dark, [data-theme="dark"]) .s7-dark {display: inline !important}
</style>"""
_PAIRS: Final = dict(PALETTE)
_DARKEST: Final = 0x11 / 255  # of a notebook's page in JupyterLab's dark theme
_WIDER: Final = 1.12
"""How much wider than here a viewer without Arial may draw the titles of an SVG."""
_LABELS: Final[Mapping[int, int]] = {1: 120, 2: 225}  # pixels of the labels of rows
_BESIDE: Final = 6  # pixels between a label and the plot
_RIGHT: Final = 6  # pixels at the right edge
_CODE: Final = (18, 4)  # pixels of a code's line between its label and the plot, and to the plot
_DASHES: Final = ([1, 0], [8, 4], [3, 3], [9, 3, 3, 3])
"""The lines of codes as the widgets draw them: `_present.LINES`."""
_NUMBERS: Final = 66  # pixels of an axis of numbers with a title of two lines
ROW: Final = 22
"""Least height of a row."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A finished drawing, with a description in words for those who cannot see it.

    Parameters
    ----------
    description : str
        What the figure shows, as alternative text.

    Notes
    -----
    A letter that no font on this machine has is drawn as its name in brackets ("[thumbs up sign]", "[2 CJK
    letters]"), and a warning names it.
    """

    description: str
    _svg: str = field(repr=False)
    _specification: Mapping[str, Any] = field(repr=False, compare=False, default_factory=dict)

    @property
    def chart(self) -> Any:
        """The figure as an Altair chart, for a style of your own: a new one each time."""
        import altair as alt

        return alt.Chart.from_dict(dict(self._specification))

    def svg(self) -> str:
        """Return the figure as SVG; its width and height are in CSS pixels (96 in an inch)."""
        return self._svg

    def png(self, scale: float = 2) -> bytes:
        """Return the figure as PNG with `scale` dots for each CSS pixel; 3.125 gives 300 dots per inch."""
        check_arguments(Figure.png, locals())
        import vl_convert

        if not 0.1 <= scale <= 20:
            raise ArgumentError(
                f"figure: expected a scale from 0.1 to 20 – found {scale} – 3.125 gives 300 dpi."
            )
        # The library's scale is for 72 pixels in an inch, an SVG has 96: so the file says its true size.
        with _rendering():
            return bytes(vl_convert.svg_to_png(self._svg, scale=0.75, ppi=96 * scale))

    def pdf(self) -> bytes:
        """Return the figure as a PDF page of its own size, with lines and letters as vectors.

        A line with a letter that its font has as a picture alone (emoji in colour) is a picture of 600 dpi.
        """
        import vl_convert

        # The library makes a point of every pixel; the view box stays, so that the drawing shrinks with it.
        smaller = _SIZE.sub(lambda at: f'{at[1]}="{float(at[2]) / POINT:.4f}"', self._svg, count=2)
        with _rendering():
            return in_order(bytes(vl_convert.svg_to_pdf(without_pictures_in_fonts(smaller))))

    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the figure to `path` in the format of its suffix: .svg, .png (300 dpi) or .pdf.

        Raises
        ------
        ArgumentError
            The suffix is another one; nothing was written.
        StoreError
            There is a file and `overwrite` is false; it is unchanged.
        """
        check_arguments(Figure.write, locals())
        formats: dict[str, Callable[[], bytes]] = {
            ".svg": lambda: self._svg.encode(),
            ".png": lambda: self.png(scale=300 / 96),
            ".pdf": self.pdf,
        }
        write_by_suffix(path, formats, what="figure", overwrite=overwrite)

    def _repr_mimebundle_(
        self, include: Container[str] | None = None, exclude: Container[str] | None = None
    ) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
        """Show the figure in a notebook, in the colours of its theme, or as PNG where HTML is not known."""
        forms: dict[str, Callable[[], str]] = {
            "text/html": self._themed,
            "image/png": lambda: base64.b64encode(self.png()).decode("ascii"),
        }
        shown = {
            kind: form()
            for kind, form in forms.items()
            if (include is None or kind in include) and (exclude is None or kind not in exclude)
        }
        png: dict[str, Any] = {**self._size(), "alt": self.description}
        return shown, {"image/png": png} if "image/png" in shown else {}

    def _size(self) -> dict[str, int]:
        return {name: round(float(pixels)) for name, pixels in _SIZE.findall(self._svg)[:2]}

    def _themed(self) -> str:
        """Return a picture for light and one for dark themes, of which the page shows one."""
        drawn = {"s7-light": self._svg, "s7-dark": _COLOUR.sub(_in_the_dark, self._svg)}
        images = [
            _IMAGE.format(
                name=name,
                display="none" if name == "s7-dark" else "inline",
                alt=html.escape(self.description),
                src=f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode('ascii')}",
                **self._size(),
            )
            for name, svg in drawn.items()
        ]
        return "\n".join([_THEMES, *images])


def _in_the_dark(found: re.Match[str]) -> str:
    """Return a colour for the dark theme: a code's own, or the lightness turned round, from page to white."""
    colour = {"black": "#000000", "white": "#ffffff"}.get(found[0], found[0])
    if colour in _PAIRS:
        return _PAIRS[colour]
    parts = found.groups() if found[1] else [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    hue, lightness, saturation = colorsys.rgb_to_hls(*(int(part) / 255 for part in parts))
    turned = colorsys.hls_to_rgb(hue, 1 - (1 - _DARKEST) * lightness, saturation)
    return "#" + "".join(f"{round(255 * part):02x}" for part in turned)


@contextmanager
def _rendering() -> Iterator[None]:
    """Turn what the renderer cannot do into an error of ours; it holds no label."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        raise StoreError(
            f"figure: expected a drawing that can be rendered – found {type(error).__name__} in vl-convert – "
            "write it as .svg, and report the fault with the labels of the figure."
        ) from error


def check_columns(columns: int) -> None:
    """Raise `ArgumentError` where `columns` is not 1 or 2."""
    if columns not in WIDTHS:
        raise ArgumentError(
            f"figure: expected columns 1 or 2 – found {columns!r} – 1 is 85 mm wide, 2 is 178 mm."
        )


def basis_of(result: pd.DataFrame) -> dict[str, list[str]]:
    """Return each line of what the numbers of a result rest on, with its sources; none where it has none."""
    if COLUMN not in result.columns:
        return {}
    known = result[result[COLUMN].notna()]
    lines = known[COLUMN].astype(str)
    sources = known["source"].astype(str) if "source" in known else pd.Series("", index=known.index)
    return {line: list(sources[lines == line].unique()) for line in lines.unique()}


def _at_the_foot(chart: Any, basis: Mapping[str, Sequence[str]], width: float) -> Any:
    """Return a chart with its basis below it, in short: without who decided and what was left out."""
    import altair as alt

    [lines] = wrapped([f"Basis: {in_short(basis)}"], width / _WIDER - 2 * _RIGHT, most=_MOST_FOOT)
    foot = alt.TitleParams(
        text=lines,
        orient="bottom",
        anchor="start",
        frame="bounds",
        fontSize=SIZE,
        fontWeight="normal",
        color=GREY,
        offset=8,
        lineHeight=_LINE,
    )
    return chart.properties(title=foot)


def finished(chart: Any, words: str, *, basis: Mapping[str, Sequence[str]] = NOT_SAID) -> Figure:
    """Draw a chart as SVG with `words` as its alternative text, and below it what its numbers rest on."""
    import vl_convert

    if basis:
        chart = _at_the_foot(chart, basis, chart.width)
        of = {line: f" ({', '.join(sources)})" if len(basis) > 1 else "" for line, sources in basis.items()}
        words = " ".join([words, *(f"Basis{of[line]}: {line}." for line in basis)])
    words = UNPRINTABLE.sub("\ufffd", words)
    spec = _printable(chart.configure(font=FONT).configure_view(stroke=None).to_dict())
    with _rendering():
        drawn = str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))
    titled = drawn.replace(">", f' role="img" aria-label="{html.escape(words)}">', 1)
    return Figure(words, titled, {**spec, "description": words})


def _printable(value: Any) -> Any:
    """Return a specification with U+FFFD for each character at which the renderer would end the process."""
    if isinstance(value, dict):
        return {_printable(name): _printable(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_printable(part) for part in value]
    return UNPRINTABLE.sub("\ufffd", value) if isinstance(value, str) else value


def literal(names: Mapping[Any, Any]) -> str:
    """Return names as a literal of the renderer's expressions: a name in it is data, whatever it holds."""
    return json.dumps(_printable(dict(names)))


def label_lines(
    labels: Sequence[str], columns: Columns, *, least: int = ROW
) -> tuple[list[list[tuple[int, str]]], int]:
    """Return every line of every label with its place from the top in pixels, and the height of them all.

    `least` is the height of a row with a short label.

    The lines of a label are centred on its row, which axis labels of several lines would not.
    """
    placed, top = [], 0
    for block in wrapped(labels, _LABELS[columns], most=3):
        height = max(least, _LINE * len(block) + 8)
        first = top + (height - _LINE * (len(block) - 1)) // 2
        placed.append([(first + _LINE * number, line) for number, line in enumerate(block)])
        top += height
    return placed, max(top, ROW)


def plot_width(
    columns: Columns,
    lines: Sequence[Sequence[tuple[int, str]]] | None = None,
    looks: Sequence[Look | None] = (),
) -> float:
    """Return the width of the plot in pixels, next to the labels of its rows or an axis of numbers."""
    if lines is None:
        return WIDTHS[columns] - _NUMBERS
    names = max(widths([line for block in lines for _, line in block]), default=0.0)
    return WIDTHS[columns] - names - _beside(looks) - padding(lines)["left"] - _RIGHT


def _beside(looks: Sequence[Look | None]) -> int:
    """Return the pixels between labels and the plot, with room for the lines of codes."""
    return _BESIDE + (sum(_CODE) if any(looks) else 0)


def code_lines(lines: Sequence[Sequence[tuple[int, str]]], looks: Sequence[Look | None], y: Any) -> list[Any]:
    """Return the line of each row's code, between label and plot, in the colour and dashes of the widgets."""
    import altair as alt

    length, gap = _CODE
    return [
        alt.Chart(pd.DataFrame({"y": [middle(block)]}))
        .mark_rule(color=look.light, strokeDash=_DASHES[look.line], strokeWidth=3)
        .encode(x=alt.value(-length - gap), x2=alt.value(-gap), y=alt.Y("y:Q", scale=y))
        for block, look in zip(lines, looks, strict=False)
        if look is not None
    ]


def title_lines(titles: Sequence[str], room: float) -> list[str]:
    """Break the titles of the axis so that they are no wider than `room`, that of the plot."""
    return [line for block in wrapped(titles, room / _WIDER) for line in block]


def padding(lines: Sequence[Sequence[tuple[int, str]]]) -> dict[str, float]:
    """Return the margins in pixels, with room for letters wider than those that were measured.

    A viewer without Arial, or the like of it, draws an SVG with a font that is wider: DejaVu Sans by up to
    .7 pixels a letter, an m by 1.5.
    """
    wider = (0.7 * len(line) + 0.8 * line.lower().count("m") for block in lines for _, line in block)
    return {"left": 2 + max(wider, default=0), "right": _RIGHT, "top": 2, "bottom": 2}


def middle(block: Sequence[tuple[int, str]]) -> float:
    """Return the place of the middle of a label: that of its row."""
    return (block[0][0] + block[-1][0]) / 2


def lettered(whys: Sequence[str | None]) -> tuple[list[str], list[str]]:
    """Return a letter for each reason ("" where there is none), and lines that say what the letters mean.

    >>> lettered(["no interval: one text", None, "no interval: one text"])
    (['a', '', 'a'], ['a no interval: one text'])
    """
    known = list(dict.fromkeys(why for why in whys if why is not None))
    letters = {why: chr(ord("a") + place) for place, why in enumerate(known)}
    lines = [f"{letter} {why}" for why, letter in letters.items()]
    return ["" if why is None else letters[why] for why in whys], lines


def why_missing(at: Any, low: Any, high: Any, reason: Any) -> str | None:
    """Return the reason for an effect or interval that is not drawn; None if both are.

    >>> why_missing(0.3, None, None, "one_cluster")
    'no interval: all texts belong to one cluster'
    """
    if not any(pd.isna(number) for number in (at, low, high)):
        return None
    return f"{'not computable' if pd.isna(at) else 'no interval'}: {_reasons.reason_words(reason)}"


def row_axis(
    lines: Sequence[Sequence[tuple[int, str]]],
    *,
    bold: Sequence[int] = (),
    looks: Sequence[Look | None] = (),
) -> Any:
    """Return the axis that names the rows, from the lines of their labels; those at `bold` are headings.

    Where `looks` are given, labels leave room for `code_lines`.
    """

    names = {at: line for block in lines for at, line in block}
    heavy = {"condition": {"test": f"indexof({json.dumps(list(bold))}, datum.value) >= 0", "value": "bold"}}
    return axis_of(
        None,
        values=list(names),
        tickCount=len(names),
        labelExpr=f"{literal(names)}[datum.value]",
        ticks=False,
        domain=False,
        labelFontWeight=heavy | {"value": "normal"} if bold else "normal",
        labelLimit=0,
        labelOverlap=False,
        labelPadding=_beside(looks),
    )


def guides(base: Any, domain: tuple[float, float], x: Any) -> Any:
    """Return a faint line through every row, from its label to its point."""
    import altair as alt

    return base.mark_rule(color="#d9d9d9", strokeWidth=0.6).encode(
        x=alt.X(datum=domain[0], type="quantitative", scale=x), x2=alt.X2(datum=domain[1])
    )


def reference_lines(marks: Mapping[float, str], x: Any) -> list[Any]:
    """Return upright lines at up to three numbers, dashed where they have a name; the last has none."""
    import altair as alt

    layers = []
    for (at, name), side in zip(marks.items(), ("right", "left", "left"), strict=False):
        line = alt.Chart(pd.DataFrame({"x": [at]})).encode(x=alt.X("x:Q", scale=x))
        layers.append(line.mark_rule(color=GREY, strokeWidth=1, strokeDash=[4, 3] if name else [1, 0]))
        if name:
            text = line.mark_text(align=side, dx=-2 if side == "right" else 2, dy=-6, fontSize=7 * POINT)
            layers.append(text.encode(y=alt.value(0), text=alt.value(name)))
    return layers


def axis_of(titles: Sequence[str] | None, **settings: Any) -> Any:
    """Return an axis with a title of several lines in the style of all figures.

    `settings` are those of `altair.Axis`: what differs, or is added.
    """
    import altair as alt

    style = {
        "titleFontSize": SIZE,
        "titleFontWeight": "normal",
        "titleColor": "black",
        "titlePadding": 6,
        "labelFontSize": SIZE,
        "labelColor": "black",
        "grid": False,
        "domainColor": "black",
        "tickColor": "black",
    }
    return alt.Axis(title=titles if titles is None else list(titles), **(style | settings))


def number_axis(domain: tuple[float, float], titles: Sequence[str]) -> Any:
    """Return the axis of a coefficient, with numbers in the style of the APA and a title of several lines."""

    step = 0.2 if domain[1] - domain[0] <= 1.61 else 0.5
    first, last = math.ceil(domain[0] / step - 1e-9), math.floor(domain[1] / step + 1e-9)
    values = [round(number * step, 1) for number in range(first, last + 1)]
    return axis_of(
        titles,
        values=values,
        tickCount=len(values),  # without it every other one is dropped in a narrow figure
        labelExpr="datum.value == 0 ? '0' : replace(format(datum.value, '.1f'), '0.', '.')",
        labelOverlap=False,
        labelFlush=False,
    )
