"""Intervals of coefficients: against other packages, brute force, simulation, and where there is none."""

from __future__ import annotations

import json

import krippendorff
import numpy as np
import pandas as pd
import pytest

from sense7_qual import agreement
from sense7_qual.agreement._intervals._bootstrap import resampled
from sense7_qual.agreement.coefficients._patterns import from_values
from sense7_qual.agreement.coefficients._sums import alpha_totals
from sense7_qual.errors import QualError, TableError
from tests.helpers.places import PUBLISHED
from tests.helpers.simulation import studies

REFERENCE = PUBLISHED / "agreement_reference.json"
KRIPPENDORFF_C = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, np.nan, np.nan, np.nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, np.nan, np.nan],
        [np.nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, np.nan],
    ]
)
FIVE = [0.1, 0.2, 0.4, 0.2, 0.1]


def study(
    rng: np.random.Generator, units: int, alpha: float, shares: list[float], coders: int = 2
) -> np.ndarray:
    """Values of coders who see the truth with probability √alpha and else guess: the true alpha is exact."""
    truth = rng.choice(len(shares), units, p=shares)
    sees = rng.random((coders, units)) < np.sqrt(alpha)
    return np.where(sees, truth, rng.choice(len(shares), (coders, units), p=shares)).astype(float)


def test_the_unit_bootstrap_of_another_implementation() -> None:
    entries = json.loads(REFERENCE.read_text(encoding="utf-8"))
    entry = next(e for e in entries if e["statistic"] == "krippendorff_alpha_ci_unit_bootstrap")
    totals = alpha_totals(from_values(entry["data"]["values"]), level=entry["params"]["metric"])
    # That one resamples the last unit too, which has one value only and never counts.
    rows = np.vstack([totals.rows, np.zeros(totals.rows.shape[1])])
    found = resampled(rows, np.append(totals.n_units, 1), totals.value, n_boot=20_000, seed=1)
    ends = np.nanquantile(found, [0.025, 0.975])
    assert ends == pytest.approx(entry["value"], abs=entry["tolerance"]), entry["source"]


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_the_analytic_error_is_that_of_the_jackknife(level: str) -> None:
    table = study(np.random.default_rng(1), 60, 0.6, FIVE, coders=3)
    left_out = [
        krippendorff.alpha(np.delete(table, i, axis=1), level_of_measurement=level) for i in range(60)
    ]
    found = agreement.coefficients.estimate(table, agreement.coefficients.krippendorff_alpha, level=level)
    expected = np.sqrt(59 / 60 * np.square(left_out - np.mean(left_out)).sum())
    assert found.standard_error == pytest.approx(expected, rel=1e-9)
    assert found.method == "analytic"
    assert (found.n_units, found.n_coders, found.n_pairable, found.seed) == (60, 3, 60, None)


def test_the_derivative_of_large_tables_continues_the_jackknife() -> None:
    table = study(np.random.default_rng(2), 1002, 0.6, FIVE)
    for name in ("krippendorff_alpha", "cohen_kappa", "gwet_ac", "percent_agreement", "light_kappa"):
        options = {"level": "ordinal"} if name == "krippendorff_alpha" else {}
        small = agreement.coefficients.estimate(table[:, :1000], name, **options)
        large = agreement.coefficients.estimate(table, name, **options)
        assert large.standard_error == pytest.approx(small.standard_error, rel=0.01)


@pytest.mark.simulation
@pytest.mark.parametrize(("units", "shares", "level"), [(20, [0.7, 0.3], "nominal"), (50, FIVE, "ordinal")])
def test_the_default_interval_covers_the_true_alpha(units: int, shares: list[float], level: str) -> None:
    rng = np.random.default_rng(3)
    covered = []
    for _ in studies(800):
        table = study(rng, units, 0.6, shares)
        found = agreement.coefficients.estimate(table, "krippendorff_alpha", level=level)
        if not np.isnan(found.low):
            covered.append(found.low <= 0.6 <= found.high)
    assert len(covered) > 0.75 * len(studies(800))
    assert 0.92 <= np.mean(covered) <= 0.98


@pytest.mark.simulation
def test_krippendorffs_algorithm_is_narrower_and_covers_less() -> None:
    rng = np.random.default_rng(4)
    covered, widths = [], []
    for _ in studies(200):
        table = study(rng, 30, 0.6, [0.7, 0.3])
        options = {"level": "nominal", "n_boot": 200, "seed": 1}
        theirs = agreement.coefficients.estimate(table, "krippendorff_alpha", ci="kalpha", **options)
        ours = agreement.coefficients.estimate(table, "krippendorff_alpha", level="nominal")
        if theirs.reason is None and ours.reason is None:
            covered.append(theirs.low <= 0.6 <= theirs.high)
            widths.append((theirs.high - theirs.low) / (ours.high - ours.low))
    assert np.mean(covered) < 0.94
    assert np.median(widths) < 0.95


def test_krippendorffs_algorithm_has_the_spread_of_independent_pairs() -> None:
    """A hundred units, two coders: each pair drawn disagrees with the observed probability."""
    table = np.repeat(np.array([[0, 1, 0], [0, 1, 1]], dtype=float), [50, 30, 20], axis=1)
    found = agreement.coefficients.estimate(
        table, "krippendorff_alpha", ci="kalpha", level="nominal", n_boot=4000, seed=1
    )
    expected = 2 * 120 * 80 / (200 * 199)
    assert found.standard_error == pytest.approx(np.sqrt(0.2 * 0.8 / 100) / expected, rel=0.05)
    assert found.method == "kalpha"


def test_whole_clusters_are_resampled() -> None:
    rng = np.random.default_rng(5)
    table = np.repeat(study(rng, 40, 0.6, FIVE), 5, axis=1)
    number = np.repeat(np.arange(40), 5)
    options = {"level": "ordinal", "n_boot": 1000, "seed": 1}
    by_cluster = agreement.coefficients.estimate(table, "krippendorff_alpha", groups=number, **options)
    by_unit = agreement.coefficients.estimate(table, "krippendorff_alpha", ci="unit", **options)
    assert by_cluster.method == "cluster"
    assert (by_cluster.n_clusters, by_unit.n_clusters) == (40, None)
    assert by_cluster.standard_error / by_unit.standard_error == pytest.approx(np.sqrt(5), rel=0.15)
    members = np.arange(200).reshape(40, 5)
    slow = [
        krippendorff.alpha(table[:, members[rng.integers(0, 40, 40)].ravel()], level_of_measurement="ordinal")
        for _ in range(600)
    ]
    assert by_cluster.standard_error == pytest.approx(np.std(slow), rel=0.12)
    mixed = rng.permutation(200)
    words = pd.Series([f"p{i}" for i in number[mixed]])
    again = agreement.coefficients.estimate(table[:, mixed], "krippendorff_alpha", groups=words, **options)
    assert again.standard_error == pytest.approx(by_cluster.standard_error, rel=0.1)


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["cohen_kappa", "fleiss_kappa", "conger_kappa", "gwet_ac", "percent_agreement"]
)
def test_a_bootstrap_of_patterns_is_one_of_units(name: str) -> None:
    rng = np.random.default_rng(6)
    table = study(rng, 80, 0.5, FIVE)
    function = getattr(agreement.coefficients, name)
    slow = [function(table[:, rng.integers(0, 80, 80)]) for _ in range(800)]
    found = agreement.coefficients.estimate(table, function, ci="unit", n_boot=4000, seed=1)
    assert found.standard_error == pytest.approx(np.std(slow), rel=0.12)
    analytic = agreement.coefficients.estimate(table, function)
    assert analytic.standard_error == pytest.approx(found.standard_error, rel=0.1)
    assert analytic.low < found.estimate < analytic.high


def test_resamples_of_very_large_tables_are_multinomial() -> None:
    """Drawing numbers of patterns is drawing units: multinomial, to the rare pattern of 7 units."""
    rng = np.random.default_rng(11)
    rows = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 2.0], [2.0, 1.0, 1.0], [0.0, 3.0, 0.0], [2.0, 2.0, 1.0]])
    times = np.array([150_000, 30_000, 20_000, 1_500, 7])

    def value(sums: np.ndarray) -> np.ndarray:
        d, n1, n0 = np.moveaxis(sums, -1, 0)
        return 1 - (n1 + n0 - 1) * d / (2 * n1 * n0)

    found = resampled(rows, times, value, n_boot=20_000, seed=1)
    exact = value(rng.multinomial(times.sum(), times / times.sum(), size=20_000).astype(float) @ rows)
    shares = [0.005, 0.025, 0.25, 0.5, 0.75, 0.975, 0.995]
    apart = (np.quantile(found, shares) - np.quantile(exact, shares)) / exact.std()
    assert np.abs(apart).max() < 0.08
    assert found.std() == pytest.approx(exact.std(), rel=0.02)
    last = resampled(rows, times, lambda sums: sums[..., 2] - 2 * sums[..., 1], n_boot=20_000, seed=2)
    spread = times.sum() * np.var(np.repeat(rows @ [0, -2, 1], times))
    assert last.std() == pytest.approx(np.sqrt(spread), rel=0.02)


@pytest.mark.long
def test_wide_scales_have_all_intervals() -> None:
    rng = np.random.default_rng(7)
    truth = rng.normal(50, 15, 1200)
    table = truth + rng.normal(0, 8, (2, 1200))
    sliders = np.round(table)
    for level in ("ordinal", "interval"):
        wide = agreement.coefficients.estimate(np.tile(table, 9), "krippendorff_alpha", level=level)
        narrow = agreement.coefficients.estimate(np.tile(sliders, 9), "krippendorff_alpha", level=level)
        assert wide.standard_error == pytest.approx(narrow.standard_error, rel=0.02)
    options = {"level": "ordinal", "n_boot": 100, "seed": 1}
    clusters = np.repeat(np.arange(300), 4)
    for cluster, method in ((clusters, "cluster"), (None, "unit")):
        found = agreement.coefficients.estimate(
            np.tile(table, 9),
            "krippendorff_alpha",
            ci=method,
            groups=None if cluster is None else np.tile(cluster, 9),
            **options,
        )
        assert found.low < found.estimate < found.high


def test_the_jackknife_over_coders() -> None:
    table = study(np.random.default_rng(8), 100, 0.6, FIVE, coders=5)
    found = agreement.coefficients.estimate(table, "krippendorff_alpha", ci="coders", level="nominal")
    left_out = [
        krippendorff.alpha(np.delete(table, i, axis=0), level_of_measurement="nominal") for i in range(5)
    ]
    assert found.standard_error == pytest.approx(
        np.sqrt(4 / 5 * np.square(left_out - np.mean(left_out)).sum())
    )
    # Student's t of 4 degrees of freedom is tabulated as 2.776.
    assert found.high - found.estimate == pytest.approx(2.776 * found.standard_error, rel=1e-3)
    patterns = from_values(table, keep_coders=True)
    again = agreement.coefficients.estimate(patterns, "krippendorff_alpha", ci="coders", level="nominal")
    assert again.standard_error == pytest.approx(found.standard_error)
    two = agreement.coefficients.estimate(table[:2], "krippendorff_alpha", ci="coders", level="nominal")
    assert (two.reason, np.isnan(two.low)) == ("few_coders", True)


def test_the_share_below_the_conventions() -> None:
    table = study(np.random.default_rng(9), 200, 0.7, [0.6, 0.4])
    analytic = agreement.coefficients.estimate(table, "krippendorff_alpha", level="nominal")
    boot = agreement.coefficients.estimate(
        table, "krippendorff_alpha", ci="unit", level="nominal", n_boot=4000, seed=1
    )
    for name in ("p_below_667", "p_below_800"):
        assert getattr(analytic, name) == pytest.approx(getattr(boot, name), abs=0.04)
    assert analytic.p_below_667 < analytic.p_below_800


def test_patterns_give_what_their_table_gives() -> None:
    for ci in ("analytic", "unit", "gwet", "kalpha"):
        options = {"ci": ci, "level": "ordinal", "n_boot": 100, "seed": 3}
        table = agreement.coefficients.estimate(KRIPPENDORFF_C, "krippendorff_alpha", **options)
        patterns = agreement.coefficients.estimate(
            from_values(KRIPPENDORFF_C), "krippendorff_alpha", **options
        )
        assert patterns.n_coders is None
        assert (table.low, table.high) == (patterns.low, patterns.high)
    assert (table.n_units, table.n_pairable, table.n_coders) == (12, 11, 4)


def test_the_same_seed_gives_the_same_interval() -> None:
    table = study(np.random.default_rng(10), 100, 0.6, FIVE)
    first, again, other = (
        agreement.coefficients.estimate(table, "gwet_ac", ci="unit", n_boot=200, seed=seed)
        for seed in (1, 1, 2)
    )
    assert (first.low, first.high) == (again.low, again.high)
    assert first.low != other.low
    assert (first.seed, first.n_boot, first.n_undefined) == (1, 200, 0)


SAME, PERFECT = np.ones((2, 30)), np.tile([0.0, 1.0], (2, 15))
RARE = np.zeros((2, 30))
RARE[0, :2], RARE[1, :1] = 1, 1


@pytest.mark.parametrize(
    ("table", "options", "reason"),
    [
        (np.array([[1.0, np.nan], [np.nan, 0.0]]), {}, "no_pairable_units"),
        (np.array([[1.0, 0.0]]), {}, "one_coder"),
        (SAME, {}, "no_variation"),
        (PERFECT, {"ci": "gwet"}, "no_disagreement"),
        (np.array([[1.0], [0.0]]), {}, "one_unit"),
        (np.tile([[0.0], [1.0]], 10), {}, "one_pattern"),
        (RARE, {}, "few_units"),
        (RARE, {"groups": np.arange(30), "seed": 1}, "few_clusters"),
        (RARE, {"groups": np.zeros(30), "seed": 1}, "one_cluster"),
        (np.array([[1.0], [0.0]]), {"ci": "unit", "seed": 1}, "one_unit"),
        (PERFECT, {"ci": "unit", "seed": 1}, "no_disagreement"),
        (PERFECT, {"ci": "kalpha", "seed": 1}, "no_disagreement"),
        (SAME, {"ci": "coders"}, "no_variation"),
    ],
)
def test_reasons_where_there_is_no_interval(
    table: np.ndarray, options: dict[str, object], reason: str
) -> None:
    found = agreement.coefficients.estimate(
        table, "krippendorff_alpha", level="nominal", n_boot=50, **options
    )
    assert found.reason == reason
    assert np.isnan([found.low, found.high, found.standard_error, found.p_below_667]).all()


def test_perfect_agreement_has_a_lower_limit() -> None:
    """Down to the alpha at which as many units without disagreement have a chance of 2.5 %."""
    found = agreement.coefficients.estimate(PERFECT, "krippendorff_alpha", level="nominal")
    disagreement = (1 - found.low) * 0.5  # half of the pairs would differ by chance
    assert (1 - disagreement) ** 30 == pytest.approx(0.025, rel=1e-12)
    assert (found.estimate, found.high, found.reason) == (1.0, 1.0, "no_disagreement")
    assert np.isnan([found.standard_error, found.p_below_667]).all()
    percent = agreement.coefficients.estimate(PERFECT, "percent_agreement")
    assert percent.low**30 == pytest.approx(0.025, rel=1e-12)
    # Two of three values are given, half of the time each: chance is (1/4 + 1/4) / 2 in AC1, and 1/3 in BP.
    for name, chance in (("gwet_ac", 1 / 4), ("brennan_prediger", 1 / 3)):
        other = agreement.coefficients.estimate(PERFECT, name, categories=[0, 1, 2])
        assert (1 - (1 - other.low) * (1 - chance)) ** 30 == pytest.approx(0.025, rel=1e-12)
    clustered = agreement.coefficients.estimate(
        PERFECT, "krippendorff_alpha", level="nominal", groups=np.arange(30) // 5, seed=1
    )
    assert (clustered.n_clusters, clustered.n_boot, clustered.high) == (6, None, 1.0)
    assert ((1 + clustered.low) / 2) ** 6 == pytest.approx(0.025, rel=1e-12)


def test_no_agreement_on_a_rare_value_leaves_room_above() -> None:
    """Eight units in which one coder found it and no one else: how many agreed ones could be missing?"""
    table = np.zeros((2, 60))
    table[0, :4], table[1, 4:8] = 1, 1
    found = agreement.coefficients.estimate(table, "krippendorff_alpha", level="nominal")
    agreed = 1 - 0.025 ** (1 / 8)
    assert found.high == pytest.approx(1 - (1 - found.estimate) * (1 - agreed) / (1 + agreed))
    table[:, 8] = 1
    seen = agreement.coefficients.estimate(table, "krippendorff_alpha", level="nominal")
    assert seen.estimate > found.estimate


def test_few_clusters_are_left_out_in_turn() -> None:
    rng = np.random.default_rng(12)
    table = study(rng, 40, 0.6, FIVE)
    number = np.arange(40) // 8
    found = agreement.coefficients.estimate(
        table, "krippendorff_alpha", level="interval", groups=number, seed=1
    )
    without = [
        agreement.coefficients.krippendorff_alpha(table[:, number != one], level="interval")
        for one in range(5)
    ]
    spread = np.square(np.array(without) - np.mean(without)).sum()
    assert found.standard_error == pytest.approx(np.sqrt(4 / 5 * spread), rel=1e-9)
    assert (found.reason, found.n_boot, found.n_clusters) == ("few_clusters", None, 5)
    assert found.low < found.estimate < found.high


@pytest.mark.simulation
@pytest.mark.parametrize(("size", "within"), [(1, (0.92, 0.98)), (2, (0.92, 0.99))])
def test_intervals_of_twenty_units_cover(size: int, within: tuple[float, float]) -> None:
    """Whatever was observed: also where the coders never disagreed."""
    rng, covered = np.random.default_rng(13), []
    for _ in studies(400):
        table = study(rng, 20, 0.6, [0.7, 0.3])
        options = {} if size == 1 else {"groups": np.arange(20) // size, "seed": 1, "n_boot": 200}
        found = agreement.coefficients.estimate(table, "krippendorff_alpha", level="nominal", **options)
        covered.append(found.low <= 0.6 <= found.high)
    assert within[0] <= np.mean(covered) <= within[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ci": "analitic"}, "did you mean 'analytic'"),
        ({"ci": "unit", "seed": None}, "expected seed"),
        ({"ci": "cluster", "seed": 1}, "expected groups"),
        ({"ci": "unit", "groups": [1, 2], "seed": 1}, "groups with ci='unit'"),
        ({"confidence_level": 95}, "confidence_level"),
        ({"n_boot": 0}, "n_boot"),
        ({"level": "nominel"}, "did you mean 'nominal'"),
        ({"groups": ["p1"], "seed": 1}, "1 labels"),
        ({"groups": ["p1"] * 11 + [None], "seed": 1, "level": "nominal"}, None),
        ({"groups": [None] + ["p1"] * 11, "seed": 1}, "found none for units '0'"),
    ],
)
def test_settings_out_of_range_are_refused(options: dict[str, object], message: str | None) -> None:
    options = {"level": "nominal", **options}
    if message is None:  # the last unit has one value, and needs no label
        assert (
            agreement.coefficients.estimate(KRIPPENDORFF_C, "krippendorff_alpha", **options).reason
            == "one_cluster"
        )
        return
    with pytest.raises(QualError, match=message):
        agreement.coefficients.estimate(KRIPPENDORFF_C, "krippendorff_alpha", **options)


def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(QualError, match="did you mean 'cohen_kappa'"):
        agreement.coefficients.estimate(KRIPPENDORFF_C, "cohens_kappa")
    with pytest.raises(QualError, match="expected the level"):
        agreement.coefficients.estimate(KRIPPENDORFF_C, "krippendorff_alpha")
    with pytest.raises(QualError, match="expected the category"):
        agreement.coefficients.estimate(KRIPPENDORFF_C, "specific_agreement")
    with pytest.raises(QualError, match="ci='kalpha' – found fleiss_kappa"):
        agreement.coefficients.estimate(KRIPPENDORFF_C, "fleiss_kappa", ci="kalpha", seed=1)
    with pytest.raises(QualError, match="pass the table"):
        agreement.coefficients.estimate(from_values(KRIPPENDORFF_C), "fleiss_kappa", groups=[1], seed=1)
    with pytest.raises(QualError, match="keep_coders=True"):
        agreement.coefficients.estimate(from_values(KRIPPENDORFF_C), "fleiss_kappa", ci="coders")
    with pytest.raises(TableError, match="expected two coders"):
        agreement.coefficients.estimate(KRIPPENDORFF_C, "cohen_kappa")


@pytest.mark.parametrize("unit", [1e-7, 1e6])
def test_the_unit_of_a_scale_does_not_move_an_interval(unit: float) -> None:
    table = study(np.random.default_rng(11), 60, 0.5, FIVE)
    for options in ({"ci": "unit"}, {"groups": np.arange(60) // 3}):
        settings = {"level": "interval", "n_boot": 200, "seed": 1, **options}
        one = agreement.coefficients.estimate(table, "krippendorff_alpha", **settings)
        other = agreement.coefficients.estimate(table * unit, "krippendorff_alpha", **settings)
        assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=1e-6)


def test_a_coder_who_leaves_takes_no_category_along() -> None:
    """The last category is one coder's alone: weights and differences are still those of the whole table."""
    table = study(np.random.default_rng(12), 40, 0.7, FIVE, coders=4)
    table[1:] = np.minimum(table[1:], 3)
    assert len(np.unique(table)) == 5
    matrix = 1 - np.abs(np.subtract.outer(np.arange(5), np.arange(5))) / 4
    named = agreement.coefficients.estimate(
        table, "gwet_ac", ci="coders", weights="linear", categories=range(5)
    )
    for weights in ("linear", matrix):
        found = agreement.coefficients.estimate(table, "gwet_ac", ci="coders", weights=weights)
        assert (found.low, found.high) == pytest.approx((named.low, named.high), abs=1e-12)
    interval = agreement.coefficients.estimate(table, "krippendorff_alpha", ci="coders", level="interval")
    squares = (4 * (1 - matrix)) ** 2
    given = agreement.coefficients.estimate(table, "krippendorff_alpha", ci="coders", level=squares)
    assert (given.low, given.high) == pytest.approx((interval.low, interval.high), abs=1e-12)


def test_a_share_is_not_below_0() -> None:
    rare = np.zeros((2, 200))
    rare[0, :3], rare[1, 1:4] = 1, 1
    found = agreement.coefficients.estimate(rare, "specific_agreement", category=1)
    assert (found.low, found.estimate) == (0.0, pytest.approx(2 / 3))
    assert found.high < 1


@pytest.mark.parametrize("ci", ["unit", "gwet", "cluster", "kalpha"])
def test_an_interval_without_width_is_none(ci: str) -> None:
    """All units disagree in the same way: resamples differ in nothing, which is not certainty."""
    table = np.tile([[0.0], [1.0]], 12)
    cluster = np.arange(12) if ci == "cluster" else None
    found = agreement.coefficients.estimate(
        table, "krippendorff_alpha", ci=ci, groups=cluster, level="nominal", n_boot=50, seed=1
    )
    assert np.isnan([found.low, found.high, found.standard_error]).all()
    assert found.reason == "one_pattern"


def test_the_interval_holds_the_coefficient() -> None:
    """Real numbers as names: no resample has the coefficient, because fewer different values are drawn."""
    table = np.random.default_rng(13).normal(size=(2, 30))
    found = agreement.coefficients.estimate(
        table, "krippendorff_alpha", ci="unit", level="nominal", n_boot=200, seed=1
    )
    assert found.low <= found.estimate <= found.high


def test_an_option_that_a_coefficient_does_not_take() -> None:
    with pytest.raises(QualError, match="fleiss_kappa: expected options among weights, categories"):
        agreement.coefficients.estimate(PERFECT, "fleiss_kappa", level="nominal")
    with pytest.raises(QualError, match="did you mean 'weights'"):
        agreement.coefficients.estimate(PERFECT, "gwet_ac", weight="linear")


@pytest.mark.long
def test_an_ordinal_scale_of_many_values_is_as_fast_as_one_of_few() -> None:
    """Beyond 64 values ranks are summed; the slope of all pairs of pairs of values would take minutes."""
    rng = np.random.default_rng(14)
    table = rng.integers(0, 200, 120) + rng.normal(0, 20, (3, 120))
    ranks = krippendorff.alpha(table, level_of_measurement="ordinal")
    for ci in ("analytic", "gwet", "unit"):
        found = agreement.coefficients.estimate(
            table, "krippendorff_alpha", ci=ci, level="ordinal", n_boot=200, seed=1
        )
        assert found.estimate == pytest.approx(ranks, abs=1e-12)
        assert 0 < found.standard_error < 0.1
