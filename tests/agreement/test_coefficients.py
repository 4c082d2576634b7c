"""Coefficients of agreement against published values, other packages, and what they must not depend on."""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Callable

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual import agreement
from sense7_qual.agreement import _intervals, coefficients
from sense7_qual.agreement.coefficients import _icc_kendall
from sense7_qual.agreement.coefficients._patterns import from_values
from sense7_qual.agreement.coefficients._weights import agreement_weights, difference
from sense7_qual.errors import QualError, TableError
from tests.helpers.places import PUBLISHED
from tests.helpers.reference import as_table, own_codes

pytestmark = pytest.mark.filterwarnings("ignore:values. read as:RuntimeWarning")  # drawn tables of any shape

REFERENCE = PUBLISHED / "agreement_reference.json"
LEVELS = ("nominal", "ordinal", "interval", "ratio")
RENAMED = {
    "mean_pairwise_cohen_kappa": "light_kappa",
    "conger_kappa (irr exact Fleiss)": "conger_kappa",
    "krippendorff_alpha_weighted": "krippendorff_alpha",
}
ELSEWHERE = {"Estimate", "Patterns", "estimate", "icc", "kendall_w", "patterns", "per_category"}
LISTED = [name for name in coefficients.__all__ if name not in ELSEWHERE]
EVERY = [name for name in LISTED if name not in ("krippendorff_alpha", "specific_agreement")]
TWO_CODERS = ("cohen_kappa", "scott_pi")


def published(*statistics: str, stating: str | None = None) -> list[object]:
    entries = json.loads(REFERENCE.read_text(encoding="utf-8"))
    return [
        pytest.param(
            entry, id="-".join(map(str, (entry["name"], entry["statistic"], *entry["params"].values())))
        )
        for entry in entries
        if entry["statistic"] in statistics and (stating is None or stating in entry["params"])
    ]


def options_of(entry: dict[str, object], table: list[list[object]]) -> dict[str, object]:
    params = entry["params"]
    assert isinstance(params, dict)
    if entry["statistic"] == "krippendorff_alpha":
        return {"level": params["metric"]}
    weights = params.get("weights")
    weights = None if weights in (None, "unweighted", "identity") else weights
    if entry["statistic"] == "krippendorff_alpha_weighted":
        values = pd.unique(pd.Series([value for row in table for value in row]).dropna())
        return {"level": 1 - agreement_weights(np.sort(values), weights)}
    return {"weights": weights}


COEFFICIENTS = [name for name in LISTED if name != "specific_agreement"]
ALL_ROWS = published(*COEFFICIENTS, *RENAMED)


def test_no_row_is_forgotten() -> None:
    assert len(ALL_ROWS) == 108


@pytest.mark.parametrize("entry", ALL_ROWS)
def test_a_coefficient_equals_the_published_value(entry: dict[str, object]) -> None:
    table = as_table(entry["data"])
    name = RENAMED.get(entry["statistic"], entry["statistic"])
    options = options_of(entry, table)
    if codes := own_codes(table):
        options["categories"] = codes
    found = getattr(coefficients, name)(table, **options)
    assert found == pytest.approx(entry["value"], abs=entry["tolerance"]), entry["source"]
    from_counts = getattr(coefficients, name)(from_values(table, keep_coders=True), **options)
    assert from_counts == pytest.approx(found, abs=1e-12)


GWETS = [name for name in COEFFICIENTS if name != "krippendorff_alpha"]


@pytest.mark.parametrize("entry", published(*GWETS, stating="pa"))
def test_agreement_and_chance_are_the_published_ones(entry: dict[str, object]) -> None:
    params, table = entry["params"], as_table(entry["data"])
    observed = coefficients.percent_agreement(table, **options_of(entry, table))
    assert observed == pytest.approx(params["pa"], abs=1e-9), entry["source"]
    value = getattr(coefficients, entry["statistic"])(table, **options_of(entry, table))
    assert value == pytest.approx((params["pa"] - params["pe"]) / (1 - params["pe"]), abs=1e-9)


@pytest.mark.parametrize("entry", published(*COEFFICIENTS, *RENAMED, stating="se"))
def test_gwets_standard_errors_and_intervals(entry: dict[str, object]) -> None:
    params, table = entry["params"], as_table(entry["data"])
    name = RENAMED.get(entry["statistic"], entry["statistic"])
    found = _intervals.estimate(table, name, ci="gwet", **options_of(entry, table))
    assert found.standard_error == pytest.approx(params["se"], abs=5.1e-6), entry["source"]
    assert [found.low, found.high] == pytest.approx(params["ci95"], abs=5.1e-4), entry["source"]


@pytest.mark.parametrize("entry", published("fleiss_kappa_per_category"))
def test_fleiss_kappa_of_each_category(entry: dict[str, object]) -> None:
    category = entry["params"]["category"]
    columns = entry["data"].get("columns")
    frame = agreement.coefficients.per_category(as_table(entry["data"])).set_index("category")
    found = frame.loc[columns.index(category) if columns else category, "fleiss_kappa"]
    assert found == pytest.approx(entry["value"], abs=entry["tolerance"]), entry["source"]


# ---- other packages -----------------------------------------------------------------------------------


def random_table(rng: np.random.Generator, *, coders: int | None = None, missing: float = 0.6) -> np.ndarray:
    coders = coders or int(rng.integers(2, 7))
    units, values = rng.integers(4, 30), rng.integers(2, 9)
    table = rng.choice(rng.integers(0, 20, values), (coders, units)).astype(float)
    shared = rng.random(units) < 0.6
    table[:, shared] = table[0, shared]
    table[rng.random((coders, units)) < rng.uniform(0, missing)] = np.nan
    return table


@pytest.mark.long
def test_alpha_equals_the_krippendorff_package_on_a_thousand_tables() -> None:
    rng = np.random.default_rng(21)
    compared = 0
    while compared < 1000:
        table = random_table(rng)
        pairable = table[:, (~np.isnan(table)).sum(axis=0) >= 2]
        if len(np.unique(pairable[~np.isnan(pairable)])) < 2:
            continue
        level = LEVELS[compared % 4]
        expected = krippendorff.alpha(reliability_data=table, level_of_measurement=level)
        found = agreement.coefficients.krippendorff_alpha(table, level=level, categories=range(20))
        assert found == pytest.approx(expected, abs=1e-12)
        compared += 1


def test_kappas_equal_statsmodels() -> None:
    from statsmodels.stats import inter_rater

    rng = np.random.default_rng(22)
    for _ in range(60):
        table = random_table(rng, missing=0.0)
        table[:2, :2] = [[0, 1], [1, 0]]  # statsmodels divides by 0 without variation
        counts = np.stack([(table == value).sum(axis=0) for value in np.unique(table)], axis=1)
        scale = np.unique(table)
        found = agreement.coefficients.fleiss_kappa(table, categories=scale)
        assert found == pytest.approx(inter_rater.fleiss_kappa(counts), abs=1e-12)
        # statsmodels' "randolph" is chance of one over the categories: Brennan and Prediger's.
        randolph = inter_rater.fleiss_kappa(counts, method="randolph")
        assert agreement.coefficients.brennan_prediger(table, categories=scale) == pytest.approx(
            randolph, abs=1e-12
        )
        places = np.searchsorted(np.unique(table[:2]), table[:2])
        cross = np.zeros((places.max() + 1, places.max() + 1))
        np.add.at(cross, tuple(places), 1)
        for theirs, ours in ((None, None), ("linear", "linear"), ("quadratic", "quadratic")):
            expected = inter_rater.cohens_kappa(cross, wt=theirs, return_results=False)
            found = agreement.coefficients.cohen_kappa(places, weights=ours, categories=range(len(cross)))
            assert found == pytest.approx(expected, abs=1e-12)


def test_light_is_the_mean_of_scikit_learns_kappas_and_conger_of_two_is_cohen() -> None:
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(23)
    for _ in range(30):
        table = rng.integers(0, 3, (4, 25))
        pairs = [cohen_kappa_score(*table[[a, b]]) for a, b in itertools.combinations(range(4), 2)]
        assert agreement.coefficients.light_kappa(table) == pytest.approx(np.mean(pairs), abs=1e-12)
        assert agreement.coefficients.conger_kappa(table[:2]) == pytest.approx(pairs[0], abs=1e-12)
        assert agreement.coefficients.scott_pi(table[:2]) == pytest.approx(
            agreement.coefficients.fleiss_kappa(table[:2]), abs=1e-12
        )


def test_weighted_alpha_is_alpha_with_a_distance() -> None:
    rng = np.random.default_rng(24)
    table = rng.integers(1, 6, (3, 40)).astype(float)
    table[rng.random(table.shape) < 0.2] = np.nan
    squares = (np.arange(1, 6)[:, None] - np.arange(1, 6)) ** 2
    interval = agreement.coefficients.krippendorff_alpha(table, level="interval")
    assert agreement.coefficients.krippendorff_alpha(table, level=squares) == pytest.approx(
        interval, abs=1e-12
    )
    by_function = agreement.coefficients.krippendorff_alpha(table, level=lambda a, b: (a - b) ** 2)
    assert by_function == pytest.approx(interval, abs=1e-12)
    quadratic = 1 - agreement_weights(np.arange(1, 6), "quadratic")
    assert agreement.coefficients.krippendorff_alpha(table, level=quadratic) == pytest.approx(
        interval, abs=1e-12
    )


# ---- by hand ------------------------------------------------------------------------------------------

# Two coders, ten units (Krippendorff 2011, section A): 1 both, 3 and 1 one of them, 5 neither.
PAIR = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]


def test_two_coders_by_hand() -> None:
    assert agreement.coefficients.percent_agreement(PAIR) == pytest.approx(0.6)
    # Chance: Cohen .2·.4 + .8·.6 = .56; Scott .3² + .7² = .58; Bennett .5; Gwet 2·.3·.7 = .42.
    assert agreement.coefficients.cohen_kappa(PAIR) == pytest.approx(0.04 / 0.44)
    assert agreement.coefficients.scott_pi(PAIR) == pytest.approx(0.02 / 0.42)
    assert agreement.coefficients.brennan_prediger(PAIR) == pytest.approx(0.2)
    assert agreement.coefficients.gwet_ac(PAIR) == pytest.approx(0.18 / 0.58)
    assert agreement.coefficients.krippendorff_alpha(PAIR, level="nominal") == pytest.approx(
        1 - 19 * 0.4 / (20 * 0.42)
    )
    assert agreement.coefficients.specific_agreement(PAIR, category=1) == pytest.approx(2 / 6)
    assert agreement.coefficients.specific_agreement(PAIR, category=0) == pytest.approx(10 / 14)


def test_categories_that_nobody_gave_count_where_the_coefficient_depends_on_them() -> None:
    three = {"categories": [0, 1, 2]}
    assert agreement.coefficients.brennan_prediger(PAIR, **three) == pytest.approx((0.6 - 1 / 3) / (2 / 3))
    # Gwet: pe = (.3·.7 + .7·.3) / (3 − 1) = .21.
    assert agreement.coefficients.gwet_ac(PAIR, **three) == pytest.approx((0.6 - 0.21) / 0.79)
    assert agreement.coefficients.percent_agreement(PAIR, weights="linear", **three) == pytest.approx(
        0.6 + 0.4 * 0.5
    )
    for name in ("cohen_kappa", "scott_pi", "fleiss_kappa", "conger_kappa", "light_kappa"):
        function = getattr(agreement.coefficients, name)
        assert function(PAIR, **three) == pytest.approx(function(PAIR))
    assert np.isnan(
        agreement.coefficients.estimate([[None], [None]], "gwet_ac", categories=["a", "b"]).estimate
    )
    everybody_absent = [[0, 0, 0], [0, 0, 0]]
    assert agreement.coefficients.gwet_ac(everybody_absent, categories=[0, 1]) == 1.0
    with pytest.raises(QualError, match="found 1 of 2 missing from the categories"):
        agreement.coefficients.gwet_ac(PAIR, categories=[0, 2])


def test_missing_values_follow_gwets_conventions() -> None:
    # Agreement from the two units with two values (1 and 0), chance from all four: shares 5/8 and 3/8.
    values = [[0, 0, 0, None], [0, 1, None, 1]]
    chance = (5 / 8) ** 2 + (3 / 8) ** 2
    assert agreement.coefficients.percent_agreement(values) == 0.5
    assert agreement.coefficients.fleiss_kappa(values) == pytest.approx((0.5 - chance) / (1 - chance))
    assert agreement.coefficients.gwet_ac(values) == pytest.approx((0.5 - 15 / 32) / (17 / 32))
    # Conger: the first coder gave 0 always, the second 0 in one of three.
    assert agreement.coefficients.conger_kappa(values) == pytest.approx((0.5 - 1 / 3) / (2 / 3))
    # Cohen and Scott: the two units with both values alone.
    assert agreement.coefficients.cohen_kappa(values) == pytest.approx(0.0)
    assert agreement.coefficients.scott_pi(values) == pytest.approx((0.5 - 10 / 16) / (6 / 16))


def test_per_category_by_hand() -> None:
    frame = agreement.coefficients.per_category(
        [["a", "a", "b", "c", "d"], ["a", "b", "b", "c", None]]
    ).set_index("category")
    assert frame["n_units"].to_dict() == {"a": 2, "b": 2, "c": 1, "d": 0}
    assert frame.loc["a", "prevalence"] == pytest.approx(3 / 8)
    assert frame.loc["a", "specific_agreement"] == pytest.approx(2 / 3)
    # a against the rest: disagreement 2/4 · …: n = 8, n1 = 3: alpha = 1 − 7 · 2 / (2 · 3 · 5).
    assert frame.loc["a", "alpha"] == pytest.approx(1 - 7 * 2 / 30)
    assert frame.loc["c", "alpha"] == 1.0
    assert frame.loc["d", "reason"] == "no_variation"
    assert frame["reason"].isna().tolist() == [True, True, True, False]


# ---- not computable -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    ("values", "why"),
    [([[1, None], [None, 2]], "two or more coders|both"), ([[], []], "two or more coders|both")],
)
def test_nan_and_one_warning_without_pairs(name: str, values: list[list[object]], why: str) -> None:
    with pytest.warns(RuntimeWarning, match=f"{name} is not defined here .*({why})") as caught:
        assert np.isnan(getattr(agreement.coefficients, name)(values))
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize("name", [name for name in EVERY if name != "percent_agreement"])
def test_nan_and_one_warning_without_variation(name: str) -> None:
    with pytest.warns(RuntimeWarning, match=f"{name} is not defined here") as caught:
        assert np.isnan(getattr(agreement.coefficients, name)([[1, 1, 1], [1, 1, 1]]))
    assert len(caught) == 1
    assert agreement.coefficients.percent_agreement([[1, 1, 1], [1, 1, 1]]) == 1.0


def test_one_coder_is_said_to_be_alone() -> None:
    with pytest.warns(RuntimeWarning, match="there is one coder"):
        assert np.isnan(agreement.coefficients.fleiss_kappa([[1, 2, 3]]))
    with pytest.warns(RuntimeWarning, match="nobody gave the category in the 10 units"):
        assert np.isnan(agreement.coefficients.specific_agreement(PAIR, category=7))


def test_light_leaves_out_pairs_that_share_nothing() -> None:
    values = [[0, 1, 1, 0, None, None], [0, 1, 0, 0, 1, 0], [None, None, None, None, 1, 0]]
    expected = np.mean([agreement.coefficients.cohen_kappa(values[:2]), 1.0])
    assert agreement.coefficients.light_kappa(values) == pytest.approx(expected)


@pytest.mark.parametrize("name", TWO_CODERS)
def test_two_coders_are_two(name: str) -> None:
    with pytest.raises(TableError, match="expected two coders – found 3"):
        getattr(agreement.coefficients, name)(np.ones((3, 4)))
    with pytest.raises(TableError, match="expected two coders – found 3"):
        getattr(agreement.coefficients, name)(from_values(np.ones((3, 4)), keep_coders=True))


@pytest.mark.parametrize("name", ["cohen_kappa", "scott_pi", "conger_kappa", "light_kappa"])
def test_patterns_without_coders_are_not_enough_for_some(name: str) -> None:
    with pytest.raises(QualError, match="keep_coders=True"):
        getattr(agreement.coefficients, name)(from_values(PAIR))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: agreement.coefficients.fleiss_kappa(PAIR, weights="quadartic"), "did you mean 'quadratic'"),
        (lambda: agreement.coefficients.gwet_ac(PAIR, weights=np.eye(3)), r"matrix of 2 × 2 .* found 3 × 3"),
        (lambda: agreement.coefficients.gwet_ac(PAIR, weights=[[1, 0.5], [0.2, 1]]), "symmetric"),
        (lambda: agreement.coefficients.gwet_ac(PAIR, weights=[[0, 1], [1, 0]]), "1 for equal categories"),
        (
            lambda: agreement.coefficients.gwet_ac(PAIR, weights=[["linear"]]),
            "or a matrix of numbers – found a list",
        ),
        (lambda: agreement.coefficients.gwet_ac(PAIR, weights=2), "found a single number"),
        (
            lambda: agreement.coefficients.krippendorff_alpha(PAIR, level=None),
            "expected nominal, ordinal, .* or nothing",
        ),
        (
            lambda: agreement.coefficients.krippendorff_alpha(PAIR, level=lambda a, b: None),
            "missing or infinite",
        ),
        (lambda: agreement.coefficients.krippendorff_alpha(PAIR, level=lambda a, b: a - b), "not symmetric"),
        (
            lambda: agreement.coefficients.gwet_ac(PAIR, categories=["0", "1"]),
            "list of numbers, as the values are",
        ),
        (lambda: agreement.coefficients.gwet_ac(PAIR, categories=[0, 1, None]), "none of them missing"),
        (lambda: agreement.coefficients.gwet_ac(PAIR, categories="01"), "found '01'"),
        (
            lambda: agreement.coefficients.gwet_ac([["a", "b"], ["a", "a"]], categories=[1, 2]),
            "list of strings",
        ),
        (lambda: agreement.coefficients.specific_agreement(PAIR, category=[0, 1]), "one number or string"),
        (
            lambda: agreement.coefficients.krippendorff_alpha(PAIR, level=[[0, -1], [-1, 0]]),
            "differences ≥ 0",
        ),
        (
            lambda: agreement.coefficients.krippendorff_alpha(PAIR, level=[[1, 1], [1, 0]]),
            "0 of a value from itself",
        ),
        (lambda: agreement.coefficients.fleiss_kappa([[-0.5, 2], [2, 2]], weights="ratio"), "categories ≥ 0"),
        (lambda: _icc_kendall.icc(PAIR, kind="consistent"), "did you mean 'consistency'"),
        (lambda: _icc_kendall.icc(PAIR, kind="agreement", n_averaged=0), "n_averaged"),
        (lambda: _icc_kendall.icc([["a"], ["b"]], kind="agreement"), "expected numbers"),
    ],
)
def test_settings_that_are_none_are_refused(call: Callable[[], float], message: str) -> None:
    with pytest.raises(QualError, match=message):
        call()


# ---- what coefficients must not depend on -------------------------------------------------------------

tables = st.tuples(st.integers(2, 4), st.integers(2, 12), st.integers(0, 10**6)).map(
    lambda shape: _table(np.random.default_rng(shape[2]), shape[0], shape[1])
)


def _table(rng: np.random.Generator, coders: int, units: int) -> np.ndarray:
    table = rng.choice([0.0, 1.0, 2.0, 4.0], (coders, units), p=[0.5, 0.2, 0.2, 0.1])
    table[rng.random(table.shape) < 0.25] = np.nan
    return table


def quiet(name: str, table: object, **options: object) -> float:
    if name == "krippendorff_alpha":
        options = {"level": "nominal", **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return getattr(coefficients, name)(table, **options)


@settings(max_examples=40, deadline=None)
@given(tables, st.sampled_from(COEFFICIENTS), st.randoms(use_true_random=False))
def test_order_of_coders_and_units_and_unseen_units_mean_nothing(
    table: np.ndarray, name: str, random: object
) -> None:
    table = table[:2] if name in TWO_CODERS else table
    rows, columns = list(range(table.shape[0])), list(range(table.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    mixed = np.hstack([table[rows][:, columns], np.full((len(rows), 2), np.nan)])
    expected = quiet(name, table)
    assert quiet(name, mixed) == pytest.approx(expected, abs=1e-10, nan_ok=True)
    words = np.where(
        np.isnan(table), None, np.array(["a", "c", "b", "", "z"])[np.nan_to_num(table).astype(int)]
    )
    assert quiet(name, words) == pytest.approx(expected, abs=1e-10, nan_ok=True)
    patterns = from_values(table, keep_coders=True)
    assert quiet(name, patterns) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@settings(max_examples=40, deadline=None)
@given(tables, st.sampled_from(COEFFICIENTS), st.sampled_from(LEVELS))
def test_duplicating_all_units_changes_alpha_by_its_correction_alone(
    table: np.ndarray, name: str, level: str
) -> None:
    table = table[:2] if name in TWO_CODERS else table
    twice = np.hstack([table, table])
    if name != "krippendorff_alpha":
        assert quiet(name, twice) == pytest.approx(quiet(name, table), abs=1e-10, nan_ok=True)
        return
    once, doubled = quiet(name, table, level=level), quiet(name, twice, level=level)
    seen = ~np.isnan(table)
    n = int(seen[:, seen.sum(axis=0) >= 2].sum())
    if n:  # 1 − alpha = (n − 1) · observed / expected, and expected grows fourfold, observed twofold
        assert 1 - doubled == pytest.approx((1 - once) * (2 * n - 1) / (2 * (n - 1)), abs=1e-10, nan_ok=True)


# ---- scales -------------------------------------------------------------------------------------------


def test_the_ordinal_difference_of_krippendorff_is_not_gwets_ordinal_weight() -> None:
    # Krippendorff (2011, section D): frequencies 9, 13, 10, 5, 3 → δ² of 1 and 2 is ((9 + 13) / 2)² = 121.
    apart = difference([1, 2, 3, 4, 5], "ordinal", [9, 13, 10, 5, 3])
    assert apart[0, 1] == 121
    assert apart[0, 2] == (9 + 13 + 10 - (9 + 10) / 2) ** 2
    # Gwet (2014): 1 − 3/10 for categories two apart out of five.
    assert agreement_weights([1, 2, 3, 4, 5], "ordinal")[0, 2] == pytest.approx(0.7)
    words = agreement_weights(["high", "low", "mid"], "linear")
    assert words.tolist() == [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]


def test_alpha_of_wide_scales_equals_the_narrow_way() -> None:
    from sense7_qual.agreement.coefficients._patterns import coded
    from sense7_qual.agreement.coefficients._sums import alpha_totals
    from sense7_qual.agreement.coefficients._weights import wide_alpha

    rng = np.random.default_rng(25)
    for trial in range(40):
        table, level = random_table(rng), LEVELS[trial % 4]
        patterns = from_values(table).pairable()
        if len(patterns.categories) < 2:
            continue
        narrow, wide = alpha_totals(patterns, level=level), wide_alpha(patterns, level=level)
        assert wide.estimate == pytest.approx(narrow.estimate, abs=1e-12)
        assert wide_alpha(coded(table), level=level).estimate == pytest.approx(narrow.estimate, abs=1e-12)
        for conditional in (False, True):
            expected = narrow.influence(conditional=conditional)
            assert wide.influence(conditional=conditional) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("level", LEVELS)
def test_the_influence_is_the_derivative(level: str) -> None:
    from sense7_qual.agreement.coefficients._sums import alpha_totals

    table = np.random.default_rng(26).integers(0, 4, (3, 30)).astype(float)
    totals = alpha_totals(from_values(table), level=level)
    units, step = totals.n_units.astype(float), 1e-5
    slopes = []
    for one in np.eye(len(units)) * step:
        up, down = totals.value((units + one) @ totals.rows), totals.value((units - one) @ totals.rows)
        slopes.append(30 * (up - down) / (2 * step))
    expected = np.array(slopes) - units @ slopes / 30
    assert totals.influence() == pytest.approx(expected, abs=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_sliders_and_real_numbers_need_no_table_of_distances(level: str) -> None:
    rng = np.random.default_rng(27)
    truth = rng.normal(50, 15, 40_000)
    table = truth + rng.normal(0, 8, (3, 40_000))  # 120,000 values, all different: that table takes 115 GB
    found = agreement.coefficients.krippendorff_alpha(table, level=level)
    # Coders share 225 of 225 + 64 of the variance; normal ranks keep 6/π · asin(r/2) of it.
    share = 225 / 289
    expected = {"nominal": 0.0, "interval": share, "ordinal": 6 / np.pi * np.arcsin(share / 2)}[level]
    assert found == pytest.approx(expected, abs=0.01)
    slider = np.clip(np.round(table[:, :1500]), 0, 100)
    assert agreement.coefficients.krippendorff_alpha(slider, level=level) == pytest.approx(
        krippendorff.alpha(slider, level_of_measurement=level), abs=1e-12
    )


@pytest.mark.long
def test_ratio_alpha_of_a_wide_scale() -> None:
    rng = np.random.default_rng(28)
    table = np.exp(rng.normal(0, 1, 100) + rng.normal(0, 0.3, (2, 100)))
    expected = krippendorff.alpha(table, level_of_measurement="ratio")
    assert agreement.coefficients.krippendorff_alpha(table, level="ratio") == pytest.approx(
        expected, abs=1e-12
    )


def test_a_large_offset_costs_no_digits() -> None:
    rng = np.random.default_rng(29)
    table = rng.integers(0, 300, (3, 400)).astype(float)
    far = agreement.coefficients.krippendorff_alpha(table + 1e9, level="interval")
    assert far == pytest.approx(agreement.coefficients.krippendorff_alpha(table, level="interval"), abs=1e-10)


# Shrout and Fleiss (1979), tables 2 and 4.
@pytest.mark.parametrize(
    ("kind", "single", "mean"),
    [("one_way", 0.17, 0.44), ("agreement", 0.29, 0.62), ("consistency", 0.71, 0.91)],
)
def test_icc_of_shrout_and_fleiss(kind: str, single: float, mean: float) -> None:
    values = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]
    assert _icc_kendall.icc(values, kind=kind) == pytest.approx(single, abs=0.0051)
    assert _icc_kendall.icc(values, kind=kind, n_averaged=4) == pytest.approx(mean, abs=0.0051)
    incomplete = [[*row, 5] for row in values[:3]] + [[*values[3], None]]
    assert _icc_kendall.icc(incomplete, kind=kind) == pytest.approx(_icc_kendall.icc(values, kind=kind))


def test_kendalls_w_is_friedmans_statistic() -> None:
    from scipy import stats

    table = np.random.default_rng(30).integers(0, 6, (4, 12)).astype(float)
    chi_squared = stats.friedmanchisquare(*table.T).statistic
    assert _icc_kendall.kendall_w(table) == pytest.approx(chi_squared / (4 * 11))
    with pytest.warns(RuntimeWarning, match="kendall_w is not defined"):
        assert np.isnan(_icc_kendall.kendall_w(np.ones((3, 5))))
    with pytest.warns(RuntimeWarning, match="icc is not defined"):
        assert np.isnan(_icc_kendall.icc(np.ones((3, 5)), kind="agreement"))
