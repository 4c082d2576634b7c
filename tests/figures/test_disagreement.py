"""Heat map, drift line and unit bars: every number stands where it belongs, and what is missing says so."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from sense7_qual import figures
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import CodebookError, QualError, TableError
from tests.helpers.drawn_frames import DRIFT, PAIRS, UNITS

BOOK = Codebook(name="x", codes=(Code(id="x", label="<Interest> & co"),))


def parsed(figure: figures.Figure) -> ElementTree.Element:
    return ElementTree.fromstring(figure.svg())  # noqa: S314 – our own drawing


def said(figure: figures.Figure) -> str:
    return "|".join(parsed(figure).itertext())


def marks(figure: figures.Figure, kind: str) -> list[tuple[float, float, ElementTree.Element]]:
    found = []
    for element in parsed(figure).iter():
        at = re.match(r"translate\(([-0-9.e]+),([-0-9.e]+)\)", element.get("transform", ""))
        if at and element.get("aria-roledescription") == kind:
            found.append((float(at[1]), float(at[2]), element))
    return found


# ---- coder × coder ------------------------------------------------------------------------------------


def darkness(element: ElementTree.Element) -> int:
    colours = re.findall(r"\d+", element.get("fill", ""))
    return 3 * 255 - sum(map(int, colours))


def test_a_cell_for_each_pair_darker_for_better_agreement() -> None:
    figure = figures.pairwise_plot(PAIRS, code="x", statistic="kappa")
    cells = [e for e in parsed(figure).iter() if e.get("aria-roledescription") == "rect mark"]
    by_pair = {tuple(re.findall(r"coder_[ab]: (\w+)", e.get("aria-label", ""))): e for e in cells}
    assert len(by_pair) == 3
    shades = [darkness(by_pair[pair]) for pair in (("ana", "ben"), ("ana", "cleo"), ("ben", "cleo"))]
    assert shades[0] > shades[1] > shades[2]
    assert {".75", ".50", ".25"} <= set(said(figure).split("|"))


@pytest.mark.long
def test_pairs_without_a_number_have_a_dash_and_negative_ones_their_sign() -> None:
    figure = figures.pairwise_plot(PAIRS, code="x")
    shown = said(figure).split("|")
    assert {".77", "−.20", "–"} <= set(shown)
    assert any("– = not computable" in text for text in shown)
    assert "not computable" not in said(figures.pairwise_plot(PAIRS, code="x", statistic="percent"))
    assert figure.description == (
        "Krippendorff's α of every two coders (x). ana, ben: .77. ana, cleo: not computable. ben, cleo: −.20."
    )
    assert "ben, cleo: 100.0." in figures.pairwise_plot(PAIRS, code="x", statistic="percent").description


def test_many_coders_have_a_legend_in_place_of_numbers() -> None:
    names = [f"c{i:02}" for i in range(12)]
    rows = [("x", a, b, i / 66) for i, (a, b) in enumerate((a, b) for a in names for b in names if a < b)]
    many = pd.DataFrame(rows, columns=["code", "coder_a", "coder_b", "alpha"])
    one, two = (figures.pairwise_plot(many, code="x", columns=columns) for columns in (1, 2))
    assert ".15" not in said(one).split("|")
    assert ".15" in said(two).split("|")
    assert one.description == (
        "Krippendorff's α of every two coders (x). 66 pairs, 66 computable; lowest c00, c01: .00; "
        "highest c10, c11: .98."
    )


# ---- over time ----------------------------------------------------------------------------------------


def test_drift_stands_at_its_numbers_in_time() -> None:
    figure = figures.drift_plot(DRIFT, code="x", columns=2)
    lines = [y for _, y, e in marks(figure, "rule mark") if e.get("stroke-dasharray")]
    slope, start = np.polyfit([0.667, 0.8], lines, 1)
    points = marks(figure, "point")
    assert [(y - start) / slope for _, y, _ in points] == pytest.approx([0.5, 0.4, 0.8], abs=1e-6)
    xs = [x for x, _, _ in points]
    assert (xs[1] - xs[0]) / (xs[2] - xs[1]) == pytest.approx(
        2
    )  # first, third, fourth: the second is missing
    bars = [(y, e) for _, y, e in marks(figure, "rule mark") if e.get("stroke") == "#1a3f66"]
    ends = sorted(((y - start) / slope, (y + float(e.get("y2", 0)) - start) / slope) for y, e in bars)
    assert np.sort(np.ravel(ends)) == pytest.approx([-0.3, 0.2, 0.7, 0.9], abs=1e-6)
    assert [e.get("fill") for _, _, e in points] == ["#1a3f66", "#1a3f66", "white"]


@pytest.mark.long
def test_drift_names_slices_conventions_and_what_is_missing() -> None:
    figure = figures.drift_plot(DRIFT, code="x", codebook=BOOK, columns=2)
    shown = said(figure)
    for text in (
        "first",
        "n = 1,200",
        "not computable",
        ".667",
        ".800",
        "conventions",
        "Hollow: no interval",
    ):
        assert text in shown
    assert "By round (<Interest> & co)" in shown
    assert figure.description == (
        "Krippendorff's α with 90% CI by round (<Interest> & co). first (n = 20): .50 [.20, .70]. "
        "second (n = 60): not computable. third (n = 1,200): .40 [−.30, .90]. "
        "fourth (n = 5): .80 no interval."
    )
    whole = figures.drift_plot(DRIFT.assign(alpha=0.5, alpha_low=0.4, alpha_high=0.6), code="x")
    assert "Hollow" not in said(whole)


def test_many_slices_turn_their_names() -> None:
    weeks = pd.concat([DRIFT.head(1).assign(slice=f"2026-W{i:02}", place=i) for i in range(1, 15)])
    assert "2026-W07, n = 1,200" in said(figures.drift_plot(weeks, code="x"))


# ---- units --------------------------------------------------------------------------------------------


def test_units_that_cost_most_come_first() -> None:
    figure = figures.unit_plot(UNITS, code="x")
    shown = said(figure).split("|")
    assert {"m1", "m3"} < set(shown)
    assert not {"m2", "m4"} & set(shown)
    bars = [(y, abs(float(e.get("x2", 0)))) for _, y, e in marks(figure, "rule mark")]
    assert bars[0][0] < bars[1][0]
    assert bars[0][1] == pytest.approx(4 * bars[1][1])
    assert [e.text for _, _, e in marks(figure, "text mark")] == ["1 of 2", "1 of 3"]
    assert (
        figure.description
        == "Krippendorff's α without the unit, minus α (x). m3 (1 of 2): .040. m1 (1 of 3): .010."
    )
    assert "m1" not in said(figures.unit_plot(UNITS, code="x", most=1)).split("|")


def test_no_unit_costs_anything() -> None:
    figure = figures.unit_plot(UNITS.assign(cost=0.0), code="x")
    assert "No unit lowers α" in said(figure)
    assert figure.description.endswith("No unit lowers α.")


# ---- all ----------------------------------------------------------------------------------------------

ALL = [(figures.pairwise_plot, PAIRS), (figures.drift_plot, DRIFT), (figures.unit_plot, UNITS)]


@pytest.mark.long
@pytest.mark.parametrize(("plot", "frame"), ALL)
@pytest.mark.parametrize(("columns", "millimetres"), [(1, 85), (2, 178)])
def test_width_and_type_are_those_of_a_page(
    plot: object, frame: pd.DataFrame, columns: int, millimetres: float
) -> None:
    figure = plot(frame, code="x", columns=columns)  # type: ignore[operator]
    root = parsed(figure)
    assert float(root.get("width", 0)) / 96 * 25.4 == pytest.approx(millimetres)
    sizes = {float(t.get("font-size", "0px")[:-2]) * 72 / 96 for t in root.iter() if t.tag.endswith("text")}
    assert sorted(sizes) == pytest.approx([7, 8])
    addresses = set(re.findall(r'https?://[^"\s]+', figure.svg()))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert root.get("aria-label") == figure.description
    assert figure.png().startswith(b"\x89PNG")
    assert figure.pdf().startswith(b"%PDF")


@pytest.mark.parametrize(("plot", "frame"), ALL)
def test_what_cannot_be_drawn_is_refused(plot: object, frame: pd.DataFrame) -> None:
    with pytest.raises(TableError, match="expected rows of code 'y' – found codes 'x'"):
        plot(frame, code="y")  # type: ignore[operator]
    with pytest.raises(TableError, match="expected one row per"):
        plot(pd.concat([frame, frame]), code="x")  # type: ignore[operator]
    with pytest.raises(TableError, match="expected a column"):
        plot(frame.iloc[:, :2], code="x")  # type: ignore[operator]
    with pytest.raises(CodebookError):
        plot(frame, code="x", codebook=Codebook(name="z", codes=(Code(id="z", label="z"),)))  # type: ignore[operator]
    with pytest.raises(QualError, match="columns to be 1 or 2"):
        plot(frame, code="x", columns=3)  # type: ignore[operator]
    with pytest.raises(QualError, match="did you mean 'kappa'"):
        figures.pairwise_plot(PAIRS, code="x", statistic="kapa")  # type: ignore[arg-type]
    with pytest.raises(QualError, match="most from 1"):
        figures.unit_plot(UNITS, code="x", most=0)
    with pytest.raises(TableError, match="one confidence_level"):
        figures.drift_plot(DRIFT.assign(confidence_level=[0.9, 0.9, 0.95, 0.9]), code="x")
