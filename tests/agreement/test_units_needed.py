"""How many units to code twice: a published variance, and simulated studies."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sense7_qual.agreement import _units_needed
from sense7_qual.agreement._intervals import estimate
from sense7_qual.agreement._units_needed import units_needed
from sense7_qual.agreement.coefficients import krippendorff_alpha
from sense7_qual.errors import QualError
from tests.helpers.simulation import studies

PLAN = {"n_simulations": 5, "seed": 1}


@pytest.mark.parametrize("alpha", [0.2, 0.4, 0.6, 0.8, 0.95])
@pytest.mark.parametrize("prevalence", [0.05, 0.1, 0.3, 0.5, 0.8])
def test_two_coders_and_a_code_have_the_published_variance(alpha: float, prevalence: float) -> None:
    """Donner & Eliasziw (1992), after Bloch & Kraemer (1989): the large-sample variance of their kappa.

    (1 − κ) / N · [(1 − κ)(1 − 2κ) + κ(2 − κ) / (2π(1 − π))]; alpha differs from it by the order of 1 / N.
    """
    plan = units_needed(alpha=alpha, prevalence=prevalence, n_coders=2, width=0.3, **PLAN)
    inner = (1 - alpha) * (1 - 2 * alpha) + alpha * (2 - alpha) / (2 * prevalence * (1 - prevalence))
    published = np.sqrt((1 - alpha) * inner / plan.n_units)
    assert plan.standard_error == pytest.approx(published, rel=1e-9)


def test_the_number_is_the_smallest_that_does() -> None:
    plan = units_needed(alpha=0.7, prevalence=0.2, n_coders=3, width=0.2, **PLAN)
    assert plan.width <= 0.2
    assert plan.high - plan.low == plan.width
    assert plan.low < 0.7 < plan.high < 1
    spread = plan.standard_error * np.sqrt(plan.n_units)
    low, high = _units_needed._ends(plan.n_units - 1, spread, 0.7, 0.95)
    assert high - low > 0.2


def test_patterns_are_all_there_with_their_probabilities() -> None:
    """Two coders: P(both) = π² + απ(1 − π). Three values and four coders: pairs agree as alpha says."""
    counts = _units_needed._every_pattern(2, 2)
    chance = _units_needed._probability(counts, np.array([0.7, 0.3]), 0.6)
    both = dict(zip(map(tuple, counts.tolist()), chance, strict=True))
    assert both[0, 2] == pytest.approx(0.09 + 0.6 * 0.21)
    assert both[1, 1] == pytest.approx(2 * 0.4 * 0.21)
    shares = np.array([0.5, 0.3, 0.2])
    counts = _units_needed._every_pattern(4, 3)
    assert sorted(map(tuple, counts.tolist())) == sorted(
        pattern for pattern in itertools.product(range(5), repeat=3) if sum(pattern) == 4
    )
    chance = _units_needed._probability(counts, shares, 0.35)
    assert chance.sum() == pytest.approx(1)
    assert chance @ counts / 4 == pytest.approx(shares)
    differ = chance @ (16 - np.square(counts).sum(axis=1)) / 12
    assert 1 - differ / (1 - np.square(shares).sum()) == pytest.approx(0.35)


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("prevalence", "level", "n_coders", "alpha", "width"),
    [
        (0.3, None, 2, 0.7, 0.2),
        (0.15, None, 3, 0.6, 0.25),
        ([0.1, 0.2, 0.4, 0.2, 0.1], "ordinal", 3, 0.7, 0.15),
        ([0.5, 0.3, 0.2], "nominal", 2, 0.65, 0.2),
        ([0.2, 0.3, 0.3, 0.2], "interval", 4, 0.5, 0.2),
    ],
)
def test_simulated_studies_of_that_size_have_that_interval(
    prevalence: object, level: object, n_coders: int, alpha: float, width: float
) -> None:
    """Another simulation than the function's own: units with shares from a Dirichlet, then coders' values."""
    plan = units_needed(
        alpha=alpha,
        prevalence=prevalence,
        n_coders=n_coders,
        width=width,
        level=level,
        **PLAN,  # type: ignore[arg-type]
    )
    shares = np.array([1 - prevalence, prevalence] if isinstance(prevalence, float) else prevalence)
    rng = np.random.default_rng(5)
    found = []
    for _ in studies(120):
        unit = rng.dirichlet(shares * (1 - alpha) / alpha, size=plan.n_units)
        cut = np.cumsum(unit, axis=1)[:, :-1]
        drawn = (rng.random((n_coders, plan.n_units))[..., None] > cut).sum(axis=-1) + 1.0
        one = estimate(drawn, krippendorff_alpha, level=level or "nominal")
        found.append((one.estimate, one.high - one.low, one.standard_error))
    estimates, widths, errors = np.array(found).T
    assert estimates.mean() == pytest.approx(alpha, abs=0.025)
    assert estimates.std() == pytest.approx(plan.standard_error, rel=0.2)
    assert errors.mean() == pytest.approx(plan.standard_error, rel=0.1)
    assert np.median(widths) == pytest.approx(width, rel=0.1)


@pytest.mark.long
def test_the_simulation_tells_how_the_plan_fares() -> None:
    plan = units_needed(alpha=0.7, prevalence=0.3, n_coders=2, width=0.2, n_simulations=300, seed=3)
    assert plan.median_width == pytest.approx(0.2, rel=0.05)
    assert plan.median_width < plan.width_90 < 0.26
    assert 0.9 < plan.coverage <= 0.99
    assert plan.undefined == 0
    assert plan == units_needed(alpha=0.7, prevalence=0.3, n_coders=2, width=0.2, n_simulations=300, seed=3)
    other = units_needed(alpha=0.7, prevalence=0.3, n_coders=2, width=0.2, n_simulations=300, seed=4)
    assert other.n_units == plan.n_units
    assert other.median_width != plan.median_width
    # So rare a code that most small studies never meet it, or never disagree on it.
    rare = units_needed(alpha=0.9, prevalence=0.01, n_coders=2, width=1.2, n_simulations=50, seed=3)
    assert rare.undefined > 0.1
    assert rare.width_90 > 1.9


def test_what_raises_the_number_and_what_lowers_it() -> None:
    base = {"alpha": 0.7, "prevalence": 0.3, "n_coders": 2, "width": 0.2} | PLAN
    n_units = units_needed(**base).n_units  # type: ignore[arg-type]
    more = [{"width": 0.1}, {"prevalence": 0.05}, {"alpha": 0.5}, {"confidence_level": 0.99}]
    assert all(units_needed(**(base | change)).n_units > n_units for change in more)  # type: ignore[arg-type]
    assert units_needed(**(base | {"n_coders": 4})).n_units < n_units  # type: ignore[arg-type]
    clustered = units_needed(**(base | {"design_effect": 1.6}))  # type: ignore[arg-type]
    assert clustered.n_units == pytest.approx(1.6 * n_units, rel=0.01)
    assert clustered.width <= 0.2


def test_a_code_is_the_same_at_every_level_and_as_two_shares() -> None:
    base = {"alpha": 0.7, "n_coders": 3, "width": 0.25} | PLAN
    plans = [
        units_needed(prevalence=0.2, level=level, **base) for level in (None, "nominal", "ordinal", "ratio")
    ]  # type: ignore[arg-type]
    assert len(set(plans)) == 1
    assert units_needed(prevalence=[0.8, 0.2], **base) == plans[0]  # type: ignore[arg-type]
    # Units to which somebody applied the code: of two coders, 2π − P(both).
    two = units_needed(alpha=0.6, prevalence=0.3, n_coders=2, width=0.3, **PLAN)
    assert two.n_applied / two.n_units == pytest.approx(0.6 - (0.09 + 0.6 * 0.21))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 1.0}, "alpha above 0 and below 1"),
        ({"alpha": float("nan")}, "alpha (above 0|to be a finite number)"),
        ({"prevalence": 0.0}, "prevalence between 0 and 1"),
        ({"prevalence": [0.5, 0.6]}, "adding up to 1"),
        ({"prevalence": [0.5, 0.3, 0.2]}, "expected a level for a scale of 3 values"),
        ({"level": "ordinl", "prevalence": [0.5, 0.3, 0.2]}, "did you mean 'ordinal'"),
        ({"n_coders": 1}, "one coder agrees with nobody"),
        ({"n_coders": 60, "prevalence": [0.1] * 10, "level": "nominal"}, "patterns of values"),
        ({"width": 0.0}, "width from 0.001"),
        ({"width": 0.001, "alpha": 0.01, "prevalence": 0.000001}, "takes over"),
        ({"design_effect": 0.5}, "design_effect of 1 or more"),
        ({"confidence_level": 95}, "confidence_level between 0 and 1"),
        ({"seed": -1}, "seed to be a whole number"),
    ],
)
def test_plans_that_are_none_are_refused(change: dict[str, object], message: str) -> None:
    base = {"alpha": 0.7, "prevalence": 0.3, "n_coders": 2, "width": 0.2} | PLAN
    with pytest.raises(QualError, match=message):
        units_needed(**(base | change))  # type: ignore[arg-type]
