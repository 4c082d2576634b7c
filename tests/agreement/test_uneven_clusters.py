"""Intervals from uneven clusters: how many of equal size they are worth, and how often they cover."""

from __future__ import annotations

import numpy as np
import pytest

from sense7_qual import agreement
from sense7_qual.agreement._human_model import cross_kappa
from sense7_qual.agreement._intervals._bootstrap import (
    Resampling,
    bias_corrected,
    effective_clusters,
    interval_of_resamples,
    left_out,
    resampled,
    resampled_interval,
    summed,
)
from sense7_qual.agreement.coefficients._compute import compute
from sense7_qual.agreement.coefficients._patterns import coded
from sense7_qual.agreement.spans import _mean_f1
from tests.helpers.simulation import studies

FIVE = [0.1, 0.2, 0.4, 0.2, 0.1]


def uneven(rng: np.random.Generator, size: np.ndarray, shares: list[float]) -> np.ndarray:
    """Values of coders who did shares of the units: .7 of pairs of units of a cluster have the same truth."""
    number, units = np.repeat(np.arange(len(size)), size), int(size.sum())
    clear = rng.beta(2.4, 1.6, len(size))[number]
    common = rng.choice(5, len(size), p=FIVE)[number]
    truth = np.where(rng.random(units) < np.sqrt(0.7), common, rng.choice(5, units, p=FIVE))
    sees = rng.random((len(shares), units)) < np.sqrt(clear)
    table = np.where(sees, truth, rng.choice(5, (len(shares), units), p=FIVE)).astype(float)
    table[rng.random(table.shape) >= np.array(shares)[:, None]] = np.nan
    return table


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("statistic", "options", "shares"),
    [
        ("krippendorff_alpha", {"level": "ordinal"}, [1, 1]),
        ("light_kappa", {}, [1, 0.7, 0.5, 0.3]),
    ],
)
def test_intervals_of_uneven_clusters_cover(
    statistic: str, options: dict[str, object], shares: list[float]
) -> None:
    """Fourteen clusters, the largest with 40 times the units of the smallest: .90 if taken for even."""
    rng, size = np.random.default_rng(15), np.round(np.geomspace(1, 40, 14)).astype(int)
    number, covered = np.repeat(np.arange(14), size), []
    for _ in studies(500):
        table = uneven(rng, size, shares)
        found = agreement.coefficients.estimate(
            table, statistic, groups=number, n_boot=500, seed=1, **options
        )
        covered.append(found.low <= 0.6 <= found.high)
    assert 0.935 <= np.mean(covered) <= 0.98


def test_even_clusters_are_worth_their_number() -> None:
    """Whatever the units say; and large ones that are alike as many as their squares count."""
    rng, even = np.random.default_rng(16), np.repeat(np.arange(12), 5)
    for influence in (rng.normal(size=60), rng.normal(size=12)[even]):
        assert effective_clusters(influence, np.ones(60), even) == pytest.approx(12)
    size = np.array([8, 4, 2, 2, 2, 2])
    cluster = np.repeat(np.arange(6), size)
    independent = effective_clusters(np.tile([1.0, -1.0], 10), np.ones(20), cluster)
    assert independent == pytest.approx(20**2 / (size**2).sum())
    alike = effective_clusters(np.array([1, -1, 1, -1, 1, -1])[cluster], np.ones(20), cluster)
    assert alike == pytest.approx((size**2).sum() ** 2 / (size**4).sum())
    # A unit counts by its load: one of load 3 is as three that are alike.
    loads = effective_clusters(np.array([3.0, -3.0, 1.0, -1.0]), np.array([3.0, 3, 1, 1]), np.arange(4))
    assert loads == pytest.approx((9 + 9 + 1 + 1) ** 2 / (81 + 81 + 1 + 1))


def test_uneven_clusters_widen_the_interval_and_even_ones_do_not() -> None:
    rng = np.random.default_rng(17)
    table, even = uneven(rng, np.full(12, 10), [1, 1]), np.arange(120) // 10
    sizes = np.repeat(np.arange(12), [50, 20, 12, 8, 6, 5, 5, 4, 4, 2, 2, 2])
    for cluster in (even, sizes):
        options = {"level": "ordinal", "groups": cluster, "n_boot": 2000, "seed": 1}
        computed = compute("krippendorff_alpha", coded(table), {"level": "ordinal"}, locate=True)
        rows = summed(computed.coefficient.rows, computed.group, cluster)
        once = np.ones(12, dtype=np.int64)
        drawn = resampled(
            rows, once, computed.coefficient.value, n_boot=2000, seed=1, size=computed.coefficient.size
        )
        low, high = bias_corrected(
            drawn,
            computed.coefficient.estimate,
            deviations=left_out(rows, once, computed.coefficient.value),
            times=once,
            n_groups=12,
            confidence_level=0.95,
        )
        found = agreement.coefficients.estimate(table, "krippendorff_alpha", **options)
        if cluster is even:
            assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)
        else:
            assert found.low < low < high < found.high


def test_a_pair_of_coders_that_a_resample_does_not_hold_is_left_out_of_lights_kappa() -> None:
    """The mean is over the pairs who have units in common, in a table as in a resample of it."""
    rng = np.random.default_rng(18)
    table = uneven(rng, np.full(60, 1), [1, 1, 1])
    table[2, 5:] = np.nan  # the third coder did the first five units alone
    found = compute("light_kappa", coded(table), {}).coefficient
    rest = compute("light_kappa", coded(table), {}, locate=True)
    rows = rest.coefficient.rows[rest.group[5:]].sum(axis=0)
    assert found.estimate == pytest.approx(agreement.coefficients.light_kappa(table))
    assert float(rest.coefficient.value(rows)) == pytest.approx(
        agreement.coefficients.cohen_kappa(table[:2, 5:])
    )


def test_intervals_of_models_and_of_spans_are_widened_alike() -> None:
    """A person and a model on 120 units; the shared and the marked characters of 120 texts."""
    rng, how = np.random.default_rng(19), Resampling(1000, 0.95, 1)
    person, model = rng.random((2, 120)) < 0.4
    model = np.where(rng.random(120) < 0.6, person, model)
    both = np.stack([2 * (person != model), np.full(120, 2), person, ~person, model, ~model], axis=1)
    spans = np.stack([rng.integers(0, 50, 120), rng.integers(100, 150, 120)], axis=1)
    sizes = np.repeat(np.arange(12), [50, 20, 12, 8, 6, 5, 5, 4, 4, 2, 2, 2])
    for parts, value in ((both.astype(float), cross_kappa), (spans.astype(float), _mean_f1)):
        for cluster in (np.arange(120) // 10, sizes):
            rows = summed(parts, np.arange(120), cluster)
            once = np.ones(12, dtype=np.int64)
            drawn = resampled(rows, once, value, n_boot=1000, seed=1, size=rows.shape[1])
            as_if_even = interval_of_resamples(
                drawn, float(value(rows.sum(axis=0))), left_out(rows, once, value), 12, how
            )
            found = resampled_interval(parts, cluster, value, how)
            if cluster is sizes:
                assert found.low < as_if_even.low < as_if_even.high < found.high
            else:
                assert (found.low, found.high) == pytest.approx((as_if_even.low, as_if_even.high), abs=1e-9)


@pytest.mark.parametrize("sizes", [[15] * 8, [64, 20, 12, 8, 6, 4, 3, 3]])
def test_few_uneven_clusters_have_fewer_degrees_of_freedom(sizes: list[int]) -> None:
    """Fewer than ten clusters are left out in turn: even ones with Satterthwaite's degrees of freedom."""
    table = uneven(np.random.default_rng(20), np.array(sizes), [1, 1])
    number = np.repeat(np.arange(8), sizes)
    found = agreement.coefficients.estimate(
        table, "krippendorff_alpha", groups=number, level="ordinal", seed=1
    )
    assert found.reason == "few_clusters"
    value = compute("krippendorff_alpha", coded(table), {"level": "ordinal"}).coefficient.estimate
    t = np.log((1 - value) / (1 - found.high)) * (1 - value) / found.standard_error
    # Of three degrees of freedom, which even clusters exceed, Student's t is tabulated as 3.182.
    assert (t > 3.182) == (len(set(sizes)) > 1)
