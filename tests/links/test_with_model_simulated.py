"""Links with a model's codes in simulated studies: what intervals hold, under participants' clustering."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.links_with_model import cells, forecast
from sense7_qual.links.models import with_model
from sense7_qual.links.models._by_hand import refuse_picked
from tests.helpers.model_studies import Design, draw, frames, held, rows, target
from tests.helpers.simulation import studies

BOTH = ("model + human", "rank_biserial")
READS = "reads poor ratings as the code"
LARGE = Design(participants=120, texts=6)
SOME = [
    Design(drawn="hand_sample"),
    Design(drawn="by the model", model=READS, shift=0.0),
    Design(drawn="participants", model="poor"),
]


@pytest.mark.long
def test_both_hold_where_the_model_alone_does_not_and_are_never_wider_than_people() -> None:
    n = 80
    found = [held(itertools.repeat(design, n), seed=at) for at, design in enumerate(SOME)]
    three_errors = 3 * np.sqrt(0.05 * 0.95 / n)
    assert all(one.share[BOTH] > 0.95 - three_errors for one in found)
    assert all(one.share["model", "rank_biserial"] < 0.7 for one in found)
    assert all(one.widest <= 1 for one in found)
    assert found[0].width["rank_biserial"] < 0.95
    assert all(abs(one.bias[BOTH]) < 0.03 for one in found)


@pytest.mark.simulation
def test_every_cell_holds() -> None:
    n = len(studies(40))
    found = [held(itertools.repeat(design, n), seed=at) for at, design in enumerate(cells())]
    some = [one for one in found if one.n >= n / 2]
    for name in ("rank_biserial", "mean_difference"):
        shares = np.array([one.share["model + human", name] for one in some])
        errors = np.sqrt(0.05 * 0.95 / np.array([one.n for one in some]))
        assert (shares > 0.94 - 3.5 * errors).all()
        assert 0.94 < shares.mean() < 0.98
    assert max(one.widest for one in some) <= 1
    even = [replace(LARGE, drawn=drawn) for drawn in ("participants", "texts", "hand_sample")]
    widths = [
        one.width["rank_biserial"] for one, design in zip(found, cells(), strict=True) if design in even
    ]
    assert max(widths) < 0.92


def dsl(design: Design, rng: np.random.Generator) -> tuple[float, float]:
    """The mean difference by predict-then-debias, and by design-based supervised learning.

    The latter (Egami, Hinck, Stewart & Wei 2023) is least squares with moments of the model's codes, to which
    the error of using them is added, from the texts coded by hand weighted by 1 / probability.
    """
    texts = draw(rng, design)
    y, drawn = texts.rating, texts.by_hand / (design.share if design.drawn == "texts" else 1 / texts.weight)
    said, true = (
        np.column_stack([np.ones(len(y)), np.nan_to_num(code)]) for code in (texts.model, texts.human)
    )
    products = [np.einsum("ij,ik->ijk", x, x) for x in (said, true)]
    left = (products[0] + drawn[:, None, None] * (products[1] - products[0])).sum(axis=0)
    right = (said * y[:, None] + (drawn * y)[:, None] * (true - said)).sum(axis=0)
    return float(rows(texts)["model + human"]["mean_difference"]), float(np.linalg.solve(left, right)[1])


@pytest.mark.simulation
@pytest.mark.parametrize("design", [LARGE, replace(LARGE, drawn="by the model", model=READS, shift=0.0)])
def test_mean_differences_agree_with_another_estimator(design: Design) -> None:
    rng = np.random.default_rng(4)
    pairs = np.array([dsl(design, rng) for _ in studies(120)])
    apart = pairs[:, 0] - pairs[:, 1]
    error = apart.std(ddof=1) / np.sqrt(len(apart))
    assert abs(apart.mean()) < max(3 * error, 0.01)
    assert np.corrcoef(pairs.T)[0, 1] > 0.6
    true = target(design)[1]
    assert (
        np.abs(pairs.mean(axis=0) - true).max() < 3.5 * pairs.std(axis=0).max() / np.sqrt(len(pairs)) + 0.01
    )


@pytest.mark.simulation
def test_odds_ratios_hold_by_the_rule_of_the_draw() -> None:
    """The truth: the odds ratio of people's codes in all texts of many participants."""
    for drawn, name in (("participants", "odds_ratio"), ("hand_sample", "gee_odds_ratio")):
        design = Design(drawn=drawn, participants=60, texts=8, model=READS)
        given = {"rating": "empathy", "cluster": "case_id", "rating_range": (1, 5)}
        large = frames(draw(np.random.default_rng(5), replace(design, participants=2500)))
        true = float(with_model(**large, **given).set_index("source").loc["human", name])
        inside, widths = [], []
        rng = np.random.default_rng(6)
        for _ in studies(60):
            table = with_model(**frames(draw(rng, design)), **given).set_index("source")
            row, human = table.loc["model + human"], table.loc["human"]
            if np.isfinite(row[f"{name}_low"]) and np.isfinite(row[f"{name}_high"]):
                inside.append(row[f"{name}_low"] <= true <= row[f"{name}_high"])
                widths.append(
                    np.log(row[f"{name}_high"] / row[f"{name}_low"])
                    / np.log(human[f"{name}_high"] / human[f"{name}_low"])
                )
        assert len(inside) > 0.9 * len(studies(60))
        assert np.mean(inside) > 0.95 - 3 * np.sqrt(0.05 * 0.95 / len(inside))
        assert np.max(widths) <= 1 + 1e-9
        assert np.median(widths) < 0.98


@pytest.mark.simulation
def test_forecasts_are_right_in_the_middle() -> None:
    """From a pilot of an eighth of the texts, the half width with a quarter and with a half of them."""
    rng = np.random.default_rng(7)
    pilot = Design(participants=75, texts=8, drawn="hand_sample", share=0.125)
    for share in (0.25, 0.5):
        told = np.nanmedian([forecast(draw(rng, pilot), share) for _ in studies(100)], axis=0)
        own = [forecast(draw(rng, replace(pilot, share=share)), share) for _ in studies(100)]
        assert told == pytest.approx(np.nanmedian(own, axis=0), rel=0.12)


@pytest.mark.simulation
def test_a_fair_draw_is_hardly_ever_refused() -> None:
    rng, refused = np.random.default_rng(8), 0
    designs = [
        Design(drawn=drawn, participants=n, prevalence=prevalence)
        for drawn in ("texts", "participants", "hand_sample", "by the model")
        for n in (15, 40)
        for prevalence in (0.03, 0.2, 0.9)
    ]
    for design in designs:
        for _ in studies(100):
            try:
                refuse_picked([draw(rng, design)], rating="rating", function="with_model")
            except ValueError:
                refused += 1
    assert refused < 0.003 * len(designs) * len(studies(100))
