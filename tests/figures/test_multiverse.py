"""The specification curve: estimates in rising order, each with the choices that it is from."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from sense7_qual import figures
from sense7_qual.errors import QualError, TableError
from tests.helpers.pictures import boxes, marks, parsed, texts

EVERY = list(itertools.product(["majority", "ana"], ["mixed", "within"], ["none", "disputed"]))
CURVE = pd.DataFrame(EVERY, columns=["source", "analysis", "exclusion"]).assign(
    code="warm",
    effect="odds_ratio",
    estimate=[1.5, 0.8, 2.0, np.nan, 1.2, 3.0, 1.0, 1.1],
    low=[1.1, 0.5, 1.2, np.nan, np.nan, 1.4, 0.7, 0.6],
    high=[2.0, 1.3, 3.4, np.nan, np.nan, 900.0, 1.4, 2.0],
    confidence_level=0.95,
    reason=[None, None, None, "separation", "few_clusters", None, None, None],
)


@pytest.fixture(scope="module")
def figure() -> figures.Figure:
    return figures.specification_curve(CURVE, code="warm", effect="odds_ratio")


def test_estimates_rise_and_each_stands_over_its_choices(figure: figures.Figure) -> None:
    points = [(x, y) for x, y, e in marks(figure, "point") if e.get("stroke-width") == "1"]
    assert len(points) == 7
    assert points == sorted(points, key=lambda at: (at[0], -at[1]))
    assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)  # up the page
    ticks = [(left + width / 2, top) for left, top, width, _ in boxes(figure, "tick")]
    assert len(ticks) == 8 * 3
    columns = sorted({round(x, 1) for x, _ in ticks})
    assert len(columns) == 8
    assert [round(x, 1) for x, _ in points] == columns[:7]
    # In rising order: who decided, with ana's row above the majority's.
    expected = CURVE.sort_values("estimate", kind="stable", na_position="last")["source"].tolist()
    rows = sorted({y for _, y in ticks})[:2]
    found = {round(x, 1): rows.index(y) for x, y in ticks if y in rows}
    assert [("ana", "majority")[found[x]] for x in columns] == expected


def test_choices_are_named_and_what_is_missing_says_why(figure: figures.Figure) -> None:
    shown = texts(figure)
    assert {"Source", "ana", "majority", "Analysis", "mixed model", "within participants", "Left out"} <= set(
        shown
    )
    assert {"nothing", "disputed texts"} <= set(shown)
    whole = "".join(parsed(figure).itertext())
    assert "a no interval: too few clusters have, or lack, the code" in whole
    assert "b not computable: the code tells the ratings apart without exception" in whole
    assert "Arrow: the interval goes on" in whole
    assert "Lines: 95% CI" in whole
    assert figure.description == (
        "Odds ratio under 8 choices (warm), 7 computable: 0.80 to 3.00; 5 above 1, intervals without 1: 3."
    )


def test_a_choice_with_one_option_has_no_rows() -> None:
    shown = texts(
        figures.specification_curve(
            CURVE[CURVE["analysis"] == "mixed"], code="warm", effect="odds_ratio", columns=1
        )
    )
    assert "Analysis" not in shown
    assert "Source" in shown


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(TableError, match="did you mean 'warm'"):
        figures.specification_curve(CURVE, code="wram", effect="odds_ratio")
    with pytest.raises(TableError, match="effect 'rank_biserial'"):
        figures.specification_curve(CURVE, code="warm", effect="rank_biserial")
    with pytest.raises(QualError, match="effect to be 'rank_biserial' or 'odds_ratio'"):
        figures.specification_curve(CURVE, code="warm", effect="mixed")  # type: ignore[arg-type]
    with pytest.raises(TableError, match="found several"):
        figures.specification_curve(pd.concat([CURVE] * 2), code="warm", effect="odds_ratio")
    many = pd.concat(
        [
            CURVE.assign(source=f"c{number}", analysis=CURVE["source"] + CURVE["analysis"])
            for number in range(16)
        ]
    )
    with pytest.raises(QualError, match="at most 120 combinations – found 128"):
        figures.specification_curve(many, code="warm", effect="odds_ratio")
