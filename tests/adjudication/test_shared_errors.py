"""How sure the error rates of coders are, and whether coders share errors: intervals and residuals."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from sense7_qual import adjudication
from sense7_qual._bootstrap import widened_quantile
from sense7_qual.adjudication import _latent_class
from sense7_qual.adjudication._latent_class import Patterns, fit_latent_class, log_likelihood
from sense7_qual.adjudication._shared_errors import Draws, residuals

# Agresti (2002), Categorical Data Analysis, 2nd ed., table 13.1: seven pathologists, 118 slides of Landis and
# Koch (1977), their decisions, the number of slides, and that expected under two latent classes.
CARCINOMA = """
0000000 34 23.0; 0000100 2 6.6; 0100000 6 12.7; 0100001 1 1.7; 0100100 4 3.6; 0100101 5 0.5; 1000000 2 3.0
1010101 1 0.2; 1100000 2 1.7; 1100001 1 0.3; 1100100 2 0.5; 1100101 7 3.7; 1100111 1 2.6; 1101001 1 0.1
1101101 2 4.3; 1101111 3 3.1; 1110101 13 11.5; 1110111 5 8.4; 1111101 10 13.5; 1111111 16 9.9
"""


def carcinoma() -> tuple[Patterns, np.ndarray, np.ndarray]:
    rows = [row.split() for row in CARCINOMA.strip().replace("\n", ";").split(";")]
    kinds = np.array([[int(mark) for mark in row[0]] for row in rows], dtype=float)
    n, expected = (np.array([float(row[place]) for row in rows]) for place in (1, 2))
    return Patterns(kinds, 1 - kinds, np.zeros(20, dtype=np.int64), 1), n, expected


def test_the_model_is_agrestis_and_its_residuals_show_where_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """R's poLCA gives the log-likelihood −317.2568; without the half decision it is a maximum of it."""
    monkeypatch.setattr(_latent_class, "_PSEUDO", 1e-9)
    patterns, n, published = carcinoma()
    at = fit_latent_class(patterns, n).parameters
    assert log_likelihood(patterns, n, at) == pytest.approx(-317.2568, abs=2e-4)
    every = np.array(list(itertools.product([0, 1], repeat=7)), dtype=float)
    of_class = [
        share * np.prod(np.where(every == 1, rate, 1 - rate), axis=1)
        for share, rate in ((at.prevalence[0], at.sensitivity), (1 - at.prevalence[0], 1 - at.specificity))
    ]
    expected = 118 * (of_class[0] + of_class[1])
    place = (patterns.applied @ 2 ** np.arange(7)[::-1]).astype(int)
    assert expected[place] == pytest.approx(published, abs=0.051)
    table = residuals(patterns, n, list("ABCDEFG"))
    assert len(table) == 21
    for row in residuals(patterns, n, list("ABCDEFG"), at, Draws([], [], 118, 0.95)).itertuples():
        one, other = (every[:, "ABCDEFG".index(str(name))] for name in (row.coder_a, row.coder_b))
        assert row.expected == pytest.approx(expected[one == other].sum() / 118)
        seen = patterns.applied[:, "ABCDEFG".index(str(row.coder_a))]
        assert row.observed == n[seen == patterns.applied[:, "ABCDEFG".index(str(row.coder_b))]].sum() / 118


def study(n: int, shared: float, seed: int, n_coders: int = 4) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    case = np.repeat(np.arange(n), 10)
    truth = rng.random(10 * n) < rng.beta(1, 2, size=n)[case]
    applied = truth[:, None] == (rng.random((10 * n, n_coders)) < 0.88)
    astray = rng.random(10 * n) < shared
    applied[astray, :2] = ~truth[astray, None]
    ids = [f"u{place:03}" for place in range(10 * n)]
    parts = [
        pd.DataFrame({"unit_id": ids, "coder": f"c{one}", "code": "x", "applied": applied[:, one]})
        for one in range(n_coders)
    ]
    return pd.concat(parts), pd.DataFrame({"unit_id": ids, "case_id": [f"p{one}" for one in case]})


def test_two_who_share_errors_stand_out_and_those_who_do_not_do_not() -> None:
    for shared in (0.0, 0.15):
        decisions, units = study(40, shared, seed=5, n_coders=6)
        fitted = adjudication.dawid_skene(decisions, units=units, cluster="case_id", n_draws=100, seed=1)
        pairs = fitted.residuals.set_index(["coder_a", "coder_b"])
        first = pairs.loc[("c0", "c1")]
        assert (first["low"] > 0) == (shared > 0)
        if shared:
            assert pairs["difference"].idxmax() == ("c0", "c1")
        assert (pairs["difference"] == pairs["observed"] - pairs["expected"]).all()
        wide = decisions.pivot(index="unit_id", columns="coder", values="applied")
        assert first["observed"] == pytest.approx((wide["c0"] == wide["c1"]).mean())
        assert (fitted.coders["sensitivity_low"] < fitted.coders["sensitivity"]).all()
        assert (fitted.coders["specificity"] < fitted.coders["specificity_high"]).all()


def test_the_intervals_of_pairs_hold_together() -> None:
    """Four coders are six pairs: each interval has the level 1 − .05 / 6, so that all hold in 95 %."""
    decisions, units = study(20, 0.0, seed=3)
    halves = []
    for level in (0.95, 1 - 6 * 0.05):
        fitted = adjudication.dawid_skene(
            decisions, units=units, cluster="case_id", n_draws=100, seed=1, confidence_level=level
        ).residuals
        halves.append(((fitted["high"] - fitted["low"]) / 2).to_numpy())
    wider = widened_quantile(20, 1 - 0.05 / 6) / widened_quantile(20, 0.95)
    assert halves[0] == pytest.approx(wider * halves[1])


def test_intervals_are_over_participants_and_need_draws_of_them() -> None:
    decisions, units = study(30, 0.0, seed=6)
    widths = []
    for cluster in ("case_id", None):
        fitted = adjudication.dawid_skene(decisions, units=units, cluster=cluster, n_draws=100, seed=1)
        [row] = fitted.prevalence.to_dict("records")
        assert row["prevalence_low"] < row["prevalence"] < row["prevalence_high"]
        widths.append(row["prevalence_high"] - row["prevalence_low"])
    assert widths[0] > 1.3 * widths[1]
    few = adjudication.dawid_skene(decisions, units=units, cluster="case_id", n_draws=99, seed=1)
    assert few.prevalence["prevalence_low"].isna().all()
    assert few.residuals["low"].isna().all()
    assert few.residuals["difference"].notna().all()
    narrower = adjudication.dawid_skene(
        decisions, units=units, cluster="case_id", n_draws=100, confidence_level=0.5, seed=1
    )
    [row] = narrower.prevalence.to_dict("records")
    assert row["prevalence_high"] - row["prevalence_low"] < widths[0] / 2


def test_three_coders_are_met_exactly_and_two_have_no_model() -> None:
    decisions, _ = study(30, 0.1, seed=7, n_coders=3)
    three = adjudication.dawid_skene(decisions, n_draws=100).residuals
    assert three["reason"].tolist() == ["saturated"] * 3
    assert three["difference"].abs().max() < 0.01
    assert three["low"].isna().all()
    two = adjudication.dawid_skene(decisions[decisions["coder"] != "c2"]).residuals
    assert two["reason"].tolist() == ["not_identified"]
    assert two["expected"].isna().all()
    assert two["observed"].notna().all()
