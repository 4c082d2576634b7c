"""Figures: every number stands where it belongs, every code has its row, and nothing comes from a network."""

from __future__ import annotations

import base64
import re
import struct
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import vl_convert

from sense7_qual import _present, figures
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import CodebookError, QualError, StoreError, TableError
from tests.helpers.drawn_frames import AGREEMENT, CODES, LINKS

SENSE7 = Codebook.read("sense7")


@pytest.fixture(scope="module")
def agreement_figure() -> figures.Figure:
    return figures.agreement_plot(AGREEMENT)


@pytest.fixture(scope="module")
def link_figure() -> figures.Figure:
    return figures.link_plot(LINKS, source="majority")


def parsed(figure: figures.Figure) -> ElementTree.Element:
    return ElementTree.fromstring(figure.svg())  # noqa: S314 – our own drawing


def marks(figure: figures.Figure, kind: str) -> list[tuple[float, float, ElementTree.Element]]:
    """Return x, y and element of every drawn point, rule or text."""
    found = []
    for element in parsed(figure).iter():
        at = re.match(r"translate\(([-0-9.e]+),([-0-9.e]+)\)", element.get("transform", ""))
        if at and element.get("aria-roledescription") == kind:
            found.append((float(at[1]), float(at[2]), element))
    return found


def texts(figure: figures.Figure) -> list[str]:
    return [element.text or "" for element in parsed(figure).iter() if element.tag.endswith("text")]


def axis(figure: figures.Figure, low: float, high: float) -> np.ndarray:
    """Return slope and start of the x-axis from two reference lines drawn at known values."""
    lines = [x for x, _, element in marks(figure, "rule mark") if element.get("stroke") == "#6b6b6b"]
    return np.polyfit([low, high], lines, 1)


def test_points_and_intervals_stand_at_their_numbers(agreement_figure: figures.Figure) -> None:
    slope, start = axis(agreement_figure, 0.667, 0.8)
    points = marks(agreement_figure, "point")
    assert [(x - start) / slope for x, _, _ in points] == pytest.approx([0.82, -0.08, 0.4], abs=1e-6)
    bars = [(x, e) for x, _, e in marks(agreement_figure, "rule mark") if e.get("stroke") == "#1a3f66"]
    ends = [((x - start) / slope, (x + float(e.get("x2", 0)) - start) / slope) for x, e in bars]
    assert np.ravel(ends) == pytest.approx([0.74, 0.89, -0.21, 0.12], abs=1e-6)


def test_axis_numbers_stand_at_their_values(agreement_figure: figures.Figure) -> None:
    slope, start = axis(agreement_figure, 0.667, 0.8)
    printed = {}
    for group in parsed(agreement_figure).iter():
        if "role-axis-label" in group.get("class", ""):
            for text in group:
                x = float(re.match(r"translate\(([-0-9.e]+),", text.get("transform", ""))[1])
                printed[text.text] = (x - start) / slope
    numbers = {
        float(name.replace("−", "-")): x for name, x in printed.items() if re.fullmatch(r"−?[0-9.]+", name)
    }
    assert set(numbers) == {-0.4, -0.2, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0}
    # Vega sets ticks on half pixels.
    assert [abs(value - at) * slope <= 1 for value, at in numbers.items()] == [True] * 8
    assert ".2" in printed
    assert "0.2" not in printed


def test_every_code_keeps_its_row(agreement_figure: figures.Figure) -> None:
    shown = texts(agreement_figure)
    assert [shown.count(code) for code in CODES] == [1, 1, 1, 1]
    assert "no interval" in shown
    assert "not computable" in shown
    rows = sorted({y for _, y, e in marks(agreement_figure, "rule mark") if e.get("stroke") == "#d9d9d9"})
    assert len(rows) == 4
    assert [y for _, y, _ in marks(agreement_figure, "point")] == rows[:3]


def test_a_point_without_interval_is_hollow(agreement_figure: figures.Figure) -> None:
    fills = [element.get("fill") for _, _, element in marks(agreement_figure, "point")]
    assert fills == ["#1a3f66", "#1a3f66", "white"]


def test_conventions_are_named_as_such(agreement_figure: figures.Figure) -> None:
    shown = texts(agreement_figure)
    assert ".667" in shown
    assert ".800" in shown
    assert "Dashed: conventions .667 and .800" in "".join(parsed(agreement_figure).itertext())


def test_links_stand_around_zero(link_figure: figures.Figure) -> None:
    zero = [x for x, _, e in marks(link_figure, "rule mark") if e.get("stroke") == "#6b6b6b"]
    xs = [x - zero[0] for x, _, _ in marks(link_figure, "point")]
    assert xs[1] / xs[0] == pytest.approx(-0.25 / 0.3)
    assert xs[2] / xs[0] == pytest.approx(0.9 / 0.3)
    shown = "".join(parsed(link_figure).itertext())
    assert "Rank-biserial r with 95% CI (majority)" in shown
    assert "← rated lower with code · higher →" in shown


def test_description_says_in_words_what_is_drawn(agreement_figure: figures.Figure) -> None:
    assert agreement_figure.description == (
        "Krippendorff's α with 95% CI for each code. a: .82 [.74, .89]. b: −.08 [−.21, .12]. "
        "c: .40 no interval. d: not computable."
    )
    root = parsed(agreement_figure)
    assert (root.get("role"), root.get("aria-label")) == ("img", agreement_figure.description)
    assert repr(agreement_figure).count("svg") == 0


@pytest.mark.long
def test_the_level_is_that_of_the_result() -> None:
    assert "α with 90% CI for" in figures.agreement_plot(AGREEMENT.assign(confidence_level=0.9)).description
    figure = figures.link_plot(LINKS.assign(confidence_level=0.999), source="majority", columns=2)
    assert "Rank-biserial r with 99.9% CI (majority)" in "".join(parsed(figure).itertext())


@pytest.mark.long
@pytest.mark.parametrize(("columns", "millimetres"), [(1, 85), (2, 178)])
def test_width_on_the_page_is_a_columns(columns: int, millimetres: float) -> None:
    figure = figures.agreement_plot(AGREEMENT, columns=columns)
    root = parsed(figure)
    assert float(root.get("width", 0)) / 96 * 25.4 == pytest.approx(millimetres)
    box = re.search(rb"/MediaBox \[0 0 ([0-9.]+) ", figure.pdf())
    assert box is not None
    assert float(box[1]) / 72 * 25.4 == pytest.approx(millimetres, abs=0.01)
    sizes = {float(t.get("font-size", "0px")[:-2]) * 72 / 96 for t in root.iter() if t.tag.endswith("text")}
    assert sorted(sizes) == pytest.approx([7, 8])


def test_png_has_its_size_and_resolution(agreement_figure: figures.Figure) -> None:
    image = agreement_figure.png(scale=3.125)
    width = struct.unpack(">I", image[16:20])[0]
    at = image.index(b"pHYs")
    dots = struct.unpack(">I", image[at + 4 : at + 8])[0] * 0.0254
    assert width / dots * 25.4 == pytest.approx(85, abs=0.1)
    assert dots == pytest.approx(300, abs=0.1)
    assert struct.unpack(">I", agreement_figure.png()[16:20])[0] == pytest.approx(width * 2 / 3.125, abs=1)


def test_write_by_suffix(tmp_path, agreement_figure: figures.Figure) -> None:
    for suffix, begin in ((".svg", b"<svg"), (".png", b"\x89PNG"), (".pdf", b"%PDF-")):
        agreement_figure.write(tmp_path / f"plot{suffix}")
        assert (tmp_path / f"plot{suffix}").read_bytes().startswith(begin)
    with pytest.raises(QualError, match=r"\.svg, \.png, \.pdf"):
        agreement_figure.write(tmp_path / "plot.jpg")
    assert not (tmp_path / "plot.jpg").exists()


def test_no_figure_is_overwritten_unless_told(tmp_path, agreement_figure: figures.Figure) -> None:
    path = tmp_path / "plot.svg"
    path.write_text("mine")
    with pytest.raises(StoreError, match=r"the file 'plot.svg' already exists and was left unchanged"):
        agreement_figure.write(path)
    assert path.read_text() == "mine"
    agreement_figure.write(path, overwrite=True)
    assert path.read_text("utf-8") == agreement_figure.svg()


@pytest.mark.long
def test_the_chart_is_the_same_drawing_and_may_be_styled(agreement_figure: figures.Figure) -> None:
    chart = agreement_figure.chart
    drawn = vl_convert.vegalite_to_svg(chart.to_dict())
    assert sorted(ElementTree.fromstring(drawn).itertext()) == sorted(parsed(agreement_figure).itertext())  # noqa: S314
    styled = chart.configure_axis(labelFontSize=20).to_dict()
    assert styled["config"]["axis"]["labelFontSize"] == 20
    assert "labelFontSize" not in str(agreement_figure.chart.to_dict()["config"])
    assert chart.to_dict()["description"] == agreement_figure.description


def test_the_same_drawing_is_the_same_pdf_whatever_its_fonts() -> None:
    """The library numbers fonts by chance: of 12 without our order, all are alike once in a million."""
    text = '<text y="{}" font-family="Liberation Sans, DejaVu Sans" {}>words</text>'
    words = (
        text.format(20, "") + text.format(40, 'font-style="italic"') + text.format(60, 'font-weight="bold"')
    )
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="90" height="70" viewBox="0 0 90 70">{words}</svg>'
    drawn = {figures.Figure("words", svg).pdf() for _ in range(12)}
    assert len(drawn) == 1
    (pdf,) = drawn
    assert pdf.count(b"/FontDescriptor\n") >= 2 or pdf.count(b"/Type /FontDescriptor") >= 2
    table = int(pdf.split(b"startxref")[1].split()[0])
    places = [int(line[:10]) for line in pdf[table:].splitlines() if line.endswith(b" n ")]
    assert [pdf[at:].startswith(b"%d 0 obj" % number) for number, at in enumerate(places, 1)] == [True] * len(
        places
    )


def test_the_same_result_gives_the_same_drawing(agreement_figure: figures.Figure) -> None:
    assert figures.agreement_plot(AGREEMENT.copy()) == agreement_figure


def test_nothing_is_fetched(agreement_figure: figures.Figure) -> None:
    addresses = set(re.findall(r'https?://[^"\s]+', agreement_figure.svg()))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "<script" not in agreement_figure.svg()


def drawings(shown: str) -> list[str]:
    """Return the drawings for light and for dark themes that a notebook is given."""
    return [base64.b64decode(each).decode() for each in re.findall(r"svg\+xml;base64,([^\"]+)", shown)]


def test_codes_have_the_colours_of_each_theme() -> None:
    looks = _present.looks(SENSE7)
    figure = figures.agreement_plot(AGREEMENT.assign(code=SENSE7.ids[: len(AGREEMENT)]), codebook=SENSE7)
    light, dark = drawings(figure._repr_mimebundle_()[0]["text/html"])
    for code in SENSE7.ids[: len(AGREEMENT)]:
        assert looks[code].light in light
        assert looks[code].dark in dark


def test_a_notebook_gets_a_picture_for_each_theme_and_png_of_one_size(
    agreement_figure: figures.Figure,
) -> None:
    from IPython.core.formatters import DisplayFormatter

    shown, about = DisplayFormatter().format(agreement_figure)
    assert set(shown) == {"text/html", "image/png", "text/plain"}
    light, dark = drawings(shown["text/html"])
    assert light == agreement_figure.svg()
    assert 'fill="white"' not in dark
    assert 'stroke="black"' not in dark
    shows = re.findall(r'<img class="s7-(\w+)" style="display: (\w+)"', shown["text/html"])
    assert shows == [("light", "inline"), ("dark", "none")]
    image = base64.b64decode(shown["image/png"], validate=True)
    assert image == agreement_figure.png()
    pixels = struct.unpack(">II", image[16:24])
    root = parsed(agreement_figure)
    for side, count in zip(("width", "height"), pixels, strict=True):
        assert about["image/png"][side] == round(float(root.get(side, 0)))
        assert count == pytest.approx(2 * about["image/png"][side], abs=1.01)
    assert about["image/png"]["alt"] == agreement_figure.description


def test_a_notebook_gets_only_what_it_asks_for(agreement_figure: figures.Figure) -> None:
    for kind in ("text/html", "image/png"):
        assert set(agreement_figure._repr_mimebundle_(include={kind})[0]) == {kind}
        assert kind not in agreement_figure._repr_mimebundle_(exclude={kind})[0]


def test_labels_are_text_whatever_they_hold() -> None:
    labels = ['<b>"it\'s"</b> & \\ ${x}', "Same", "Same", "word " * 30]
    codebook = Codebook(
        name="x", codes=tuple(Code(id=code, label=label) for code, label in zip(CODES, labels, strict=True))
    )
    shown = texts(figures.agreement_plot(AGREEMENT, codebook=codebook))
    assert labels[0] in shown
    assert "Same (b)" in shown
    assert "Same (c)" in shown
    assert sum(text.startswith("word") for text in shown) == 3
    assert any(text.endswith("…") for text in shown)


@pytest.mark.long
def test_a_control_character_does_not_end_the_process() -> None:
    """The renderer aborts on one, wherever it stands: in a child, or the tests would end with it."""
    code = """
from sense7_qual import figures
from tests.helpers.drawn_frames import DRIFT, PAIRS, UNITS
from tests.helpers.drawn_frames import AGREEMENT, LINKS
bad = "a\\x01\\x0c\\ufffe\\\\u0001"
drawn = [
    figures.agreement_plot(AGREEMENT.replace({"code": {"a": bad}})),
    figures.link_plot(LINKS.replace({"code": {"a": bad}}), source="majority"),
    figures.pairwise_plot(PAIRS.replace("ana", bad), code="x"),
    figures.drift_plot(DRIFT.assign(slice=[bad + str(n) for n in range(len(DRIFT))]), code="x", columns=2),
    figures.unit_plot(UNITS.assign(unit_id=[bad + str(n) for n in range(len(UNITS))]), code="x"),
]
for one in drawn:
    assert "a\ufffd\ufffd\ufffd\\\\u0001" in one.svg(), one.svg()
    assert one.png() and one.pdf()
print(len(drawn))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.stdout.strip() == "5", found.stderr[-2000:]


@pytest.mark.long
@pytest.mark.parametrize("rows", [0, 1])
def test_few_rows(rows: int) -> None:
    assert len(marks(figures.agreement_plot(AGREEMENT.head(rows)), "point")) == rows


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(TableError, match="'alpha_low'"):
        figures.agreement_plot(AGREEMENT.drop(columns="alpha_low"))
    with pytest.raises(TableError, match="'confidence_level'"):
        figures.link_plot(LINKS.drop(columns="confidence_level"), source="majority")
    with pytest.raises(TableError, match=r"one confidence_level in all rows – found '0.95', '0.9' –"):
        figures.agreement_plot(AGREEMENT.assign(confidence_level=[0.95, 0.95, 0.9, 0.9]))
    with pytest.raises(TableError, match="several for 'a'"):
        figures.agreement_plot(pd.concat([AGREEMENT] * 2))
    with pytest.raises(CodebookError, match="found 'a'"):
        figures.agreement_plot(AGREEMENT, codebook=Codebook(name="x", codes=(Code(id="z", label="z"),)))
    with pytest.raises(TableError, match="did you mean 'majority'"):
        figures.link_plot(LINKS, source="majorty")
    with pytest.raises(QualError, match="columns to be 1 or 2"):
        figures.agreement_plot(AGREEMENT, columns=3)  # type: ignore[arg-type]
    with pytest.raises(QualError, match="scale from"):
        figures.agreement_plot(AGREEMENT).png(scale=0)


@pytest.mark.long
def test_importing_figures_loads_nothing_heavy() -> None:
    heavy = ("altair", "vl_convert", "scipy", "matplotlib")
    code = f"import sys, sense7_qual.figures; print([m for m in {heavy!r} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
