"""Panels of effects: every number stands at its place, what is missing says why, and nothing is hidden."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest

from sense7_qual import figures, links
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import CodebookError, QualError, TableError
from sense7_qual.figures._panels import effect_scale
from tests.helpers.conversations import rated_turns
from tests.helpers.pictures import marks, parsed, size, texts

BOOK = Codebook(name="x", codes=(Code(id="b", label="<b> & co"), Code(id="a", label="A")))
LINKS = pd.DataFrame(
    {
        "code": ["a", "b"] * 2,
        "source": ["ana", "ana", "pooled", "pooled"],
        "odds_ratio": [2.0, 0.5, 4.0, np.nan],
        "odds_ratio_low": [1.0, np.nan, 0.01, np.nan],
        "odds_ratio_high": [4.0, np.nan, 1600.0, np.nan],
        "odds_ratio_reason": [None, "few_clusters", None, "separation"],
        "rank_biserial": [0.2, -0.3, 0.4, np.nan],
        "rank_biserial_low": [0.1, np.nan, -0.7, np.nan],
        "rank_biserial_high": [0.3, np.nan, 0.95, np.nan],
        "reason": [None, "few_clusters", None, "code_never_applied"],
        "confidence_level": 0.95,
    }
)


@pytest.fixture(scope="module")
def forest() -> figures.Figure:
    return figures.link_forest(LINKS, effect="odds_ratio", codebook=BOOK)


def zeros(figure: figures.Figure) -> list[float]:
    """The places of the lines at no effect, one per panel."""
    return sorted(x for x, _, e in marks(figure, "rule mark") if e.get("stroke") == "#6b6b6b")


def dots(figure: figures.Figure) -> list[tuple[float, float, str]]:
    """Points, without the arrowheads."""
    return [
        (x, y, str(e.get("fill")))
        for x, y, e in marks(figure, "point")
        if e.get("stroke") != "none" and e.get("stroke-width") == "1.5"
    ]


def test_odds_ratios_stand_on_their_logarithms_in_their_panels(forest: figures.Figure) -> None:
    left, right = zeros(forest)
    at = [(x - (left if x < (left + right) / 2 else right), fill) for x, _, fill in dots(forest)]
    step = at[1][0] / math.log(2)  # b, then a, of ana: 0.5 and 2; a of pooled: 4
    assert [x / step for x, _ in at] == pytest.approx([math.log(value) for value in (0.5, 2, 4)], abs=1e-4)
    assert [fill for _, fill in at] == ["white", "#1a3f66", "#1a3f66"]


def test_odds_ratios_of_own_texts_are_named_so() -> None:
    of_link = LINKS.assign(between_odds_ratio=1.0)
    named = figures.link_forest(of_link, effect="odds_ratio")
    assert named.description.startswith("Odds ratio (own texts) with 95% CI")
    assert "own texts" not in figures.link_forest(LINKS, effect="odds_ratio").description


def test_a_very_wide_interval_ends_in_an_arrow_and_is_told_in_full(forest: figures.Figure) -> None:
    arrows = [e for _, _, e in marks(forest, "point") if e.get("stroke-width") != "1.5"]
    assert len(arrows) == 2
    assert "Arrow: the interval goes on" in "".join(parsed(forest).itertext())
    assert "A 4.00 [0.01, 1600.00]" in forest.description
    narrow = figures.link_forest(LINKS.head(2), effect="odds_ratio")
    assert "Arrow" not in "".join(parsed(narrow).itertext())


def test_missing_points_and_intervals_have_a_letter_and_its_reason(forest: figures.Figure) -> None:
    shown = "".join(parsed(forest).itertext())
    assert {"a", "b"} <= set(texts(forest))
    # The order is the codebook's: b first.
    assert "a no interval: too few clusters have, or lack, the code" in shown
    assert "b not computable: the code tells the ratings apart without exception" in shown
    assert forest.description.startswith(
        "Odds ratio with 95% CI. ana: <b> & co 0.50 no interval; A 2.00 [1.00"
    )
    assert "pooled: <b> & co not computable;" in forest.description


def test_a_correlation_is_never_cut() -> None:
    figure = figures.link_forest(LINKS, effect="rank_biserial", columns=1)
    assert "Arrow" not in "".join(parsed(figure).itertext())
    assert "a .40 [−.70, .95]" in figure.description
    assert size(figure)[0] / 96 * 25.4 == pytest.approx(85)


@pytest.mark.long
def test_every_panel_has_its_ticks_and_its_name(forest: figures.Figure) -> None:
    shown = texts(forest)
    assert shown.count("1") == 2
    assert [name for name in shown if name in ("ana", "pooled")] == ["ana", "pooled"]
    six = pd.concat([LINKS.head(2).assign(source=name) for name in "uvwxyz"])
    shown = texts(figures.link_forest(six, effect="rank_biserial"))
    assert [shown.count(name) for name in ("−.2", "0", ".2")] == [6, 6, 6]


@pytest.mark.long
def test_a_code_that_a_source_does_not_have_is_said() -> None:
    figure = figures.link_forest(LINKS.iloc[[0, 2, 3]], effect="odds_ratio")
    assert "no such row" in "".join(parsed(figure).itertext())


@pytest.mark.long
def test_no_text_overlaps_with_25_codes_and_long_labels() -> None:
    codes = [f"code {number} with a long name that goes on and on" for number in range(25)]
    frame = pd.concat(
        [LINKS.head(1).assign(code=code, source=name) for code in codes for name in ("ana", "ben")]
    )
    figure = figures.link_forest(frame, effect="odds_ratio")
    rows = [y for _, y, e in marks(figure, "rule mark") if e.get("stroke") == "#d9d9d9"]
    assert min(np.diff(sorted(set(rows)))) >= 22 - 1e-6
    lines = sorted(
        float(re.findall(r"[-0-9.]+", element.get("transform", ""))[1])
        for element in parsed(figure).iter()
        if element.tag.endswith("text") and (element.text or "").startswith("code ")
    )
    assert len(lines) == 25
    assert min(np.diff(lines)) >= 22 - 1e-6


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(QualError, match="at most 3 panels in 1 columns – found 4"):
        figures.link_forest(
            pd.concat([LINKS.head(1).assign(source=name) for name in "wxyz"]), effect="odds_ratio", columns=1
        )
    with pytest.raises(QualError, match="did you mean 'odds_ratio'"):
        figures.link_forest(LINKS, effect="odds_ratios")  # type: ignore[arg-type]
    with pytest.raises(TableError, match="did you mean 'pooled'"):
        figures.link_forest(LINKS, effect="odds_ratio", sources=["poled"])
    with pytest.raises(TableError, match="different sources – found 'ana'"):
        figures.link_forest(LINKS, effect="odds_ratio", sources=["ana", "ana"])
    with pytest.raises(TableError, match="several for 'a'"):
        figures.link_forest(pd.concat([LINKS] * 2), effect="odds_ratio")
    with pytest.raises(TableError, match="one confidence_level"):
        figures.link_forest(LINKS.assign(confidence_level=[0.9, 0.95] * 2), effect="odds_ratio")
    with pytest.raises(CodebookError, match="found 'a'"):
        figures.link_forest(
            LINKS, effect="odds_ratio", codebook=Codebook(name="x", codes=(Code(id="b", label="b"),))
        )
    with pytest.raises(QualError, match="columns to be 1 or 2"):
        figures.link_forest(LINKS, effect="odds_ratio", columns=3)  # type: ignore[arg-type]


@pytest.mark.long
def test_disruption_has_a_panel_per_contrast_and_a_row_per_code() -> None:
    rng = np.random.default_rng(2)
    units = rated_turns(rng, "stars")
    decisions = units[["unit_id"]].assign(coder="ana", code="a", applied=rng.random(len(units)) < 0.4)
    found = links.disruption(
        units,
        rating="stars",
        document_id="document_id",
        position="turn",
        cluster="case_id",
        decisions=decisions,
        source="ana",
        n_boot=100,
    )
    figure = figures.disruption_plot(found, codebook=BOOK)
    shown = texts(figure)
    assert {"All poor turns", "A", "Later turns", "Later turns, adjusted", "Within conversation"} <= set(
        shown
    )
    first = found.iloc[0]
    told = f"All poor turns {first['cohens_d']:.2f} [{first['d_low']:.2f}, {first['d_high']:.2f}]".replace(
        "-", "−"
    )
    assert f"Later turns: {told}" in figure.description
    assert len(zeros(figure)) == 3
    assert not any(unit in figure.svg() for unit in ("t1/", "p11"))


@pytest.mark.parametrize("kind", ["correlation", "odds_ratio", "difference"])
def test_scales_hold_every_estimate_and_no_effect_is_in_the_middle(kind: str) -> None:
    none = 1.0 if kind == "odds_ratio" else 0.0
    for size_of in (0.001, 0.3, 0.99):
        estimates = [math.exp(size_of), math.exp(-size_of)] if kind == "odds_ratio" else [size_of, -size_of]
        scale = effect_scale(kind, estimates, [])  # type: ignore[arg-type]
        assert scale.place(none) == 0.5
        assert [scale.beyond(value) for value in estimates] == [0, 0]
        assert scale.place(estimates[0]) == pytest.approx(1 - scale.place(estimates[1]))
        assert scale.ticks[1][0] == 0.5
        assert 0 < scale.ticks[0][0] < 0.5 < scale.ticks[2][0] < 1
    far = effect_scale("odds_ratio", [2.0], [0.0, 1e9])
    assert (far.beyond(0.0), far.beyond(1e9), far.place(0.0), far.place(1e9)) == (-1, 1, 0.0, 1.0)


@pytest.mark.long
def test_nothing_at_all_is_still_a_picture() -> None:
    assert texts(figures.link_forest(LINKS.assign(odds_ratio=np.nan).head(2), effect="odds_ratio"))
