"""Predict-then-debias: what follows from its formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual._debias import debiased


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(8, 60), fewest=st.integers(6, 60))
def test_the_variance_is_never_larger_than_peoples(seed: int, n: int, fewest: int) -> None:
    rng = np.random.default_rng(seed)
    moved = rng.normal(size=(3, 3)) @ rng.normal(size=(3, n)) * rng.choice([0, 1, 1e-6, 1e3], size=(3, 1))
    covariance, estimates = moved @ moved.T, rng.normal(size=3)
    if covariance[1, 1] == 0:
        return
    found = debiased(estimates, covariance, fewest)
    assert found.variance <= covariance[1, 1]
    assert 0 <= found.weight <= 1
    a, h, p = estimates
    assert found.estimate == pytest.approx(h + found.weight * (a - p))
    if found.weight == 0:
        assert (found.estimate, found.variance) == (h, covariance[1, 1])


def test_a_model_without_errors_leaves_the_variance_of_all_texts() -> None:
    """If h is p in every participant, people's link is that of all texts, but for what is charged for w."""
    rng = np.random.default_rng(1)
    everywhere, by_hand = rng.normal(size=400) / 40, rng.normal(size=400) / 10
    moved = np.array([everywhere, everywhere + by_hand, everywhere + by_hand])
    found = debiased(np.array([0.3, 0.4, 0.4]), moved @ moved.T, 400)
    assert found.weight == pytest.approx(1, abs=0.01)
    assert found.estimate == pytest.approx(0.3, abs=0.01)
    assert found.variance == pytest.approx((everywhere**2).sum(), rel=0.02)


def test_with_few_participants_the_model_weighs_less() -> None:
    covariance = np.array([[0.01, 0.01, 0.01], [0.01, 0.04, 0.03], [0.01, 0.03, 0.04]])
    weights = [debiased(np.zeros(3), covariance, fewest).weight for fewest in (6, 10, 30, 3000)]
    assert weights == sorted(weights)
    assert weights[-1] == pytest.approx(0.02 / 0.03, abs=1e-3)


def test_a_model_that_goes_the_other_way_is_not_used() -> None:
    covariance = np.array([[0.01, 0.0, 0.01], [0.0, 0.04, -0.02], [0.01, -0.02, 0.04]])
    assert debiased(np.zeros(3), covariance, 40).weight == 0
