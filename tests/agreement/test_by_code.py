from __future__ import annotations

import json
import warnings

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual import agreement, codings
from sense7_qual.agreement._intervals._bootstrap import resampled
from sense7_qual.errors import ArgumentError, QualError, TableError
from tests.helpers.places import PUBLISHED
from tests.helpers.reference import as_table, in_clusters, own_codes
from tests.helpers.simulation import studies

pytestmark = pytest.mark.filterwarnings("ignore:values. read as:RuntimeWarning")  # drawn tables of any shape

REFERENCE = PUBLISHED / "agreement_reference.json"
CONVABUSE = PUBLISHED / "convabuse_ratings.csv"
LEVELS = ("nominal", "ordinal", "interval", "ratio")

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section C.
KRIPPENDORFF_C = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, None],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


def decisions_of(table: np.ndarray, *, code: str = "interest") -> pd.DataFrame:
    """Decisions from (coders, units), NaN where a coder has not finished the unit."""
    coder, unit = np.nonzero(~np.isnan(table))
    return pd.DataFrame(
        {
            "unit_id": [f"u{i:04d}" for i in unit],
            "coder": [f"coder{i}" for i in coder],
            "code": code,
            "applied": table[coder, unit].astype(bool),
        }
    )


def study(
    rng: np.random.Generator, *, units: int, alpha: float, prevalence: float, coders: int = 2
) -> np.ndarray:
    """Values of coders who see the truth with probability √alpha and else guess: the true alpha is exact."""
    truth = rng.random(units) < prevalence
    sees = rng.random((coders, units)) < np.sqrt(alpha)
    return np.where(sees, truth, rng.random((coders, units)) < prevalence).astype(float)


def random_table(rng: np.random.Generator) -> np.ndarray:
    coders, units, values = rng.integers(2, 7), rng.integers(4, 30), rng.integers(2, 9)
    table = rng.choice(rng.integers(0, 20, values), (coders, units)).astype(float)
    shared = rng.random(units) < 0.6
    table[:, shared] = table[0, shared]
    table[rng.random((coders, units)) < rng.uniform(0, 0.6)] = np.nan
    return table


# ---- krippendorff_alpha -------------------------------------------------------------------------------


def published() -> list[object]:
    entries = json.loads(REFERENCE.read_text(encoding="utf-8"))
    chosen = [entry for entry in entries if entry["statistic"] == "krippendorff_alpha"]
    assert len(chosen) >= 22
    return [pytest.param(entry, id=f"{entry['name']}-{entry['params']['metric']}") for entry in chosen]


@pytest.mark.parametrize("entry", published())
def test_alpha_equals_the_published_value(entry: dict[str, object]) -> None:
    table = as_table(entry["data"])
    level = entry["params"]["metric"]
    found = agreement.coefficients.krippendorff_alpha(table, level=level, categories=own_codes(table))
    assert found == pytest.approx(entry["value"], abs=entry["tolerance"]), entry["source"]


# Krippendorff (2011), section C: .743, .815, .849, .797.
@pytest.mark.parametrize(
    ("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_alpha_of_krippendorffs_own_example(level: str, value: float) -> None:
    assert agreement.coefficients.krippendorff_alpha(KRIPPENDORFF_C, level=level) == pytest.approx(
        value, abs=0.0006
    )


@pytest.mark.long
@pytest.mark.parametrize("level", LEVELS)
def test_alpha_equals_the_krippendorff_package_on_random_tables(level: str) -> None:
    rng = np.random.default_rng(20)
    compared = 0
    while compared < 200:
        table = random_table(rng)
        pairable = table[:, (~np.isnan(table)).sum(axis=0) >= 2]
        if len(np.unique(pairable[~np.isnan(pairable)])) < 2:
            continue
        expected = krippendorff.alpha(reliability_data=table, level_of_measurement=level)
        found = agreement.coefficients.krippendorff_alpha(table, level=level, categories=range(20))
        assert found == pytest.approx(expected, abs=1e-12)
        compared += 1


def test_alpha_takes_strings_frames_and_every_kind_of_missing() -> None:
    words = [["a", None, "b", "b"], ["a", "a", "b", np.nan], [pd.NA, "a", "c", "b"]]
    numbers = [[0, None, 1, 1], [0, 0, 1, np.nan], [None, 0, 2, 1]]
    expected = agreement.coefficients.krippendorff_alpha(numbers, level="nominal")
    assert agreement.coefficients.krippendorff_alpha(words, level="nominal") == expected
    frame = agreement.from_wide(pd.DataFrame(words), coders="rows")
    assert agreement.coefficients.krippendorff_alpha(frame, level="nominal") == expected
    assert (
        agreement.coefficients.krippendorff_alpha(np.array(words, dtype=object), level="nominal") == expected
    )
    frame = agreement.from_wide(pd.DataFrame(numbers).T.astype("Int64"), coders="columns")
    assert agreement.coefficients.krippendorff_alpha(frame, level="nominal") == expected


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([[1, None], [None, 2]], "no unit has values from two"),
        ([[None, None], [None, None]], "no unit has values from two"),
        ([[], []], "no unit has values from two"),
        ([[1, 1, 5], [1, 1, None]], "all values are the same in the 2 units"),
    ],
)
@pytest.mark.parametrize("level", LEVELS)
def test_alpha_is_nan_with_a_warning_where_it_is_not_defined(
    values: list[list[object]], why: str, level: str
) -> None:
    with pytest.warns(RuntimeWarning, match=why) as caught:
        assert np.isnan(agreement.coefficients.krippendorff_alpha(values, level=level))
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("values", "level", "message"),
    [
        ([1, 2, 3], "nominal", "1 dimension"),
        ([[1, 2], [1]], "nominal", "unequal length"),
        (
            [["low", "high"], ["low", "low"]],
            "ordinal",
            "found strings at .* 'coder 0, unit 0'.* \\(4 in all\\)",
        ),
        ([["low", 1], ["low", 1]], "nominal", "strings among numbers"),
        ([[1, -0.5], [1, 2]], "ratio", "negative ones at .* 'coder 0, unit 1'"),
        ([[1, np.inf], [1, 2]], "interval", "infinite"),
        ([[1, {}], [1, 2]], "interval", "another kind"),
        (np.array([["a", np.nan], ["a", "b"]]), "nominal", "dtype=object"),
    ],
)
def test_alpha_refuses_what_it_cannot_read(values: object, level: str, message: str) -> None:
    with pytest.raises(TableError, match=message) as raised:
        agreement.coefficients.krippendorff_alpha(values, level=level)
    assert "low" not in str(raised.value)


def test_alpha_names_the_level_that_was_meant() -> None:
    with pytest.raises(QualError, match="did you mean 'ordinal'"):
        agreement.coefficients.krippendorff_alpha(KRIPPENDORFF_C, level="ordnial")


tables = st.integers(2, 4).flatmap(
    lambda coders: st.lists(
        st.lists(st.sampled_from([0.0, 1.0, 2.0, 4.0, np.nan]), min_size=coders, max_size=coders),
        min_size=2,
        max_size=12,
    )
)


def quiet_alpha(table: np.ndarray, level: str) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return agreement.coefficients.krippendorff_alpha(table, level=level)


@settings(max_examples=60, deadline=None)
@given(tables, st.sampled_from(LEVELS), st.randoms(use_true_random=False))
def test_alpha_does_not_depend_on_order_or_on_units_seen_by_one_coder(
    units: list[list[float]], level: str, random: object
) -> None:
    table = np.array(units).T
    expected = quiet_alpha(table, level)
    rows, columns = list(range(table.shape[0])), list(range(table.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    seen_once = np.full((table.shape[0], 3), np.nan)
    seen_once[0] = [0.0, 7.0, 9.0]
    mixed = np.hstack([table[rows][:, columns], seen_once])
    assert quiet_alpha(mixed, level) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@settings(max_examples=40, deadline=None)
@given(tables, st.permutations([0.0, 1.0, 2.0, 4.0]))
def test_nominal_alpha_does_not_depend_on_the_names_of_the_values(
    units: list[list[float]], names: list[float]
) -> None:
    table = np.array(units).T
    renamed = np.full_like(table, np.nan)
    for old, new in zip([0.0, 1.0, 2.0, 4.0], names, strict=True):
        renamed[table == old] = new
    expected = quiet_alpha(table, "nominal")
    assert quiet_alpha(renamed, "nominal") == pytest.approx(expected, abs=1e-12, nan_ok=True)


# ---- by_code ------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_values_known_on_real_data() -> None:
    ratings = pd.read_csv(CONVABUSE, dtype={"unit_id": str, "conversation_id": str})
    severity = ratings.pivot(index="coder", columns="unit_id", values="severity")
    # Known values of the data set's description, all coders.
    for level, value in (
        ("nominal", 0.4373744333609694),
        ("ordinal", 0.6597663979170505),
        ("interval", 0.7339219233702778),
    ):
        assert agreement.coefficients.krippendorff_alpha(severity, level=level) == pytest.approx(
            value, abs=1e-12
        )
    codes = ["ableism", "homophobic", "intellectual", "racist", "sexist", "sex_harassment", "transphobic"]
    decisions = codings.from_table(ratings, unit_id="unit_id", coder="coder", codes=codes)
    cluster = ratings.drop_duplicates("unit_id").set_index("unit_id")["conversation_id"]
    result = agreement.by_code(decisions, **in_clusters(cluster), n_boot=500, seed=7).set_index("code")
    assert list(result.index) == codes
    assert result.loc["sexist", "alpha"] == pytest.approx(0.648776, abs=5e-7)
    assert result.loc["transphobic", "alpha"] == pytest.approx(-0.000242, abs=5e-7)
    assert result.loc["transphobic", "reason"] == "few_clusters"
    assert (result["n_units"] == 4185).all()
    assert (result["n_coders"] == 8).all()
    for code in codes:
        table = ratings.pivot(index="coder", columns="unit_id", values=code).to_numpy()
        expected = krippendorff.alpha(reliability_data=table, level_of_measurement="nominal")
        assert result.loc[code, "alpha"] == pytest.approx(expected, abs=1e-12)
    told = result.drop(index="transphobic")
    assert ((told["alpha_low"] < told["alpha"]) & (told["alpha"] < told["alpha_high"])).all()


def test_counts_prevalence_and_percent_by_hand() -> None:
    # Units: 3 coders of whom 2 applied; 2 agree on applied; 2 agree on absent; 1 coder alone; nobody.
    table = np.array(
        [[1, 1, 0, 1, np.nan], [1, 1, 0, np.nan, np.nan], [0, np.nan, np.nan, np.nan, np.nan]], dtype=float
    )
    row = agreement.by_code(decisions_of(table), seed=1).iloc[0]
    assert (row["n_units"], row["n_coders"], row["n_clusters"]) == (3, 3, 3)
    assert row["prevalence"] == pytest.approx(4 / 7)
    assert row["percent"] == pytest.approx((1 / 3 + 1 + 1) / 3)
    # n = 7, n1 = 4, n0 = 3, summed disagreement 2·2·1/2 = 2: alpha = 1 − 6·2 / (2·4·3).
    assert row["alpha"] == pytest.approx(0.5)


def test_the_other_coefficients_are_those_of_the_units_that_count() -> None:
    rng = np.random.default_rng(15)
    two, three = (
        study(rng, units=80, alpha=0.5, prevalence=0.3),
        study(rng, units=80, alpha=0.5, prevalence=0.3, coders=3),
    )
    three[rng.random(three.shape) < 0.3] = np.nan
    never = np.zeros((2, 20))
    decisions = pd.concat(
        [
            decisions_of(table, code=code)
            for code, table in {"two": two, "three": three, "never": never}.items()
        ]
    )
    result = agreement.by_code(decisions, n_boot=10, seed=1).set_index("code")
    for code, table in {"two": two, "three": three}.items():
        pairable = table[:, (~np.isnan(table)).sum(axis=0) >= 2]
        kappa = agreement.coefficients.cohen_kappa if code == "two" else agreement.coefficients.conger_kappa
        assert result.loc[code, "kappa"] == pytest.approx(kappa(pairable), abs=1e-12)
        assert result.loc[code, "ac1"] == pytest.approx(agreement.coefficients.gwet_ac(pairable), abs=1e-12)
        for name, category in (("positive_agreement", 1), ("negative_agreement", 0)):
            expected = agreement.coefficients.specific_agreement(pairable, category=category)
            assert result.loc[code, name] == pytest.approx(expected, abs=1e-12)
    assert np.isnan(result.loc["never", ["kappa", "positive_agreement"]].astype(float)).all()
    assert result.loc["never", ["ac1", "negative_agreement"]].tolist() == [1.0, 1.0]


def test_a_coder_who_shares_no_unit_does_not_change_the_row() -> None:
    table = study(np.random.default_rng(16), units=60, alpha=0.5, prevalence=0.3)
    alone = np.vstack([np.hstack([table, np.full((2, 30), np.nan)]), np.full(90, np.nan)])
    alone[2, 60:] = np.arange(30) % 2
    pd.testing.assert_frame_equal(
        agreement.by_code(decisions_of(alone), n_boot=20, seed=1).drop(columns="basis"),
        agreement.by_code(decisions_of(table), n_boot=20, seed=1).drop(columns="basis"),
    )


# ---- overall ------------------------------------------------------------------------------------------


def codes_of(tables: dict[str, np.ndarray]) -> pd.DataFrame:
    return pd.concat([decisions_of(table, code=code) for code, table in tables.items()], ignore_index=True)


def test_overall_is_set_alpha_with_the_cluster_bootstrap() -> None:
    rng = np.random.default_rng(17)
    tables = {code: study(rng, units=90, alpha=0.6, prevalence=0.3, coders=3) for code in ("a", "b", "c")}
    for table in tables.values():  # the same coder has not finished the same units
        table[0, :20] = np.nan
    decisions = codes_of(tables)
    sets = [
        [
            None if np.isnan(tables["a"][coder, unit]) else {c for c, t in tables.items() if t[coder, unit]}
            for unit in range(90)
        ]
        for coder in range(3)
    ]
    from sense7_qual.agreement.sets import set_alpha

    for distance in ("masi", "jaccard", "dice"):
        row = agreement.overall(decisions, distance=distance, n_boot=200, seed=1).iloc[0]
        assert row["alpha"] == pytest.approx(set_alpha(sets, distance=distance), abs=1e-12)
        assert row["alpha_low"] < row["alpha"] < row["alpha_high"]
        assert (row["n_units"], row["n_coders"], row["n_clusters"], row["n_sets"]) == (90, 3, 90, 8)
    one = agreement.overall(codes_of({"a": tables["a"]}), distance="jaccard", n_boot=4000, seed=1).iloc[0]
    same = agreement.by_code(codes_of({"a": tables["a"]}), n_boot=4000, seed=1).iloc[0]
    for name in ("alpha", "percent"):
        assert one[name] == pytest.approx(same[name], abs=1e-12)
    for name in ("alpha_low", "alpha_high"):
        assert one[name] == pytest.approx(same[name], abs=0.02)
    cluster = pd.Series(np.repeat(np.arange(30), 3), index=[f"u{i:04d}" for i in range(90)])
    clustered = agreement.overall(decisions, **in_clusters(cluster), n_boot=200, seed=1).iloc[0]
    assert (clustered["n_clusters"], clustered["distance"]) == (30, "masi")


def test_overall_where_there_is_no_number() -> None:
    nothing = np.zeros((2, 12))
    row = agreement.overall(codes_of({"a": nothing, "b": nothing}), seed=1).iloc[0]
    assert (row["reason"], row["n_units"], row["n_sets"], row["percent"]) == ("no_variation", 12, 1, 1.0)
    assert pd.isna(row["n_boot"])
    alone = np.vstack([np.ones(4), np.full(4, np.nan)])
    assert agreement.overall(codes_of({"a": alone}), seed=1)["reason"].tolist() == ["no_pairable_units"]
    empty = agreement.overall(codes_of({"a": np.full((2, 2), np.nan)}), seed=1)
    assert empty["n_units"].tolist() == [0]
    with pytest.raises(QualError, match="did you mean 'masi'"):
        agreement.overall(codes_of({"a": nothing}), distance="massi", seed=1)
    with pytest.raises(QualError, match="overall: expected n_boot"):
        agreement.overall(codes_of({"a": nothing}), n_boot=0, seed=1)


@pytest.mark.long
def test_unfinished_is_missing_and_never_absent() -> None:
    """With 20 % of units coded twice, alpha is recovered; taking unseen units for absent destroys it."""
    rng = np.random.default_rng(4)
    missing, absent = [], []
    for _ in range(40):
        table = study(rng, units=1000, alpha=0.66, prevalence=0.3)
        twice = rng.random(1000) < 0.2
        first = rng.random(1000) < 0.5
        seen = np.stack([twice | first, twice | ~first])
        row = agreement.by_code(decisions_of(np.where(seen, table, np.nan)), n_boot=1, seed=1).iloc[0]
        assert row["n_units"] == twice.sum()
        missing.append(row["alpha"])
        absent.append(
            agreement.by_code(decisions_of(np.where(seen, table, 0.0)), n_boot=1, seed=1)["alpha"].iloc[0]
        )
    assert np.mean(missing) == pytest.approx(0.66, abs=0.03)
    assert np.mean(absent) < 0.2


def test_computed_decisions_are_not_coders() -> None:
    table = study(np.random.default_rng(5), units=60, alpha=0.5, prevalence=0.4)
    people = decisions_of(table)
    computed = pd.concat(
        [people[people["coder"] == "coder0"].assign(coder=n) for n in ("consensus", "majority")]
    )
    expected = agreement.by_code(people, seed=3)
    found = agreement.by_code(pd.concat([computed, people]), seed=3)
    pd.testing.assert_frame_equal(found, expected)
    alone = agreement.by_code(computed, seed=3).iloc[0]
    assert (alone["n_units"], alone["reason"]) == (0, "no_pairable_units")


def test_reasons_where_numbers_are_missing() -> None:
    same = np.ones((2, 30))
    alternating = np.tile([0.0, 1.0], (2, 15))
    one_off = alternating.copy()
    one_off[0, 0] = 1.0
    rare = np.zeros((2, 30))  # applied in five units, one of them disputed
    rare[:, :5] = 1.0
    rare[0, 0] = 0.0
    alone = np.array([[1.0, 0.0], [np.nan, np.nan]])
    tables = {"same": same, "perfect": alternating, "fine": one_off, "rare": rare, "alone": alone}
    decisions = pd.concat([decisions_of(table, code=code) for code, table in tables.items()])
    result = agreement.by_code(decisions, n_boot=200, seed=1).set_index("code")
    assert result["reason"].fillna("").to_dict() == {
        "same": "no_variation",
        "perfect": "no_disagreement",
        "fine": "",
        "rare": "few_clusters",
        "alone": "no_pairable_units",
    }
    assert result.loc["perfect", "alpha"] == 1.0
    assert np.isnan(result.loc["same", "alpha"])
    assert result.loc["same", "percent"] == 1.0
    told = result[["alpha_low", "alpha_high", "n_boot", "n_undefined"]].notna()
    assert told.loc["fine"].all()
    assert told.loc["perfect", ["alpha_low", "alpha_high"]].all()
    assert told.loc["rare", ["alpha_low", "alpha_high"]].all()
    assert not told.drop(index="fine")[["n_boot", "n_undefined"]].any(axis=None)
    assert not told.loc[["same", "alone"]].any(axis=None)
    one = pd.Series("p1", index=[f"u{i:04d}" for i in range(30)])
    clustered = agreement.by_code(decisions_of(one_off), **in_clusters(one), n_boot=200, seed=1).iloc[0]
    assert (clustered["reason"], clustered["n_clusters"]) == ("one_cluster", 1)


def test_undefined_resamples_are_counted() -> None:
    table = np.zeros((2, 12))
    table[:, :6] = 1.0
    table[1, 0] = 0.0
    rng = np.random.default_rng(8)
    resamples = [table[:, rng.integers(0, 12, 12)] for _ in range(4000)]
    expected = np.mean([np.ptp(resample) == 0 for resample in resamples])
    found = agreement.coefficients.estimate(
        table, "krippendorff_alpha", level="nominal", ci="unit", n_boot=40_000, seed=1
    )
    assert expected > 0
    assert found.n_undefined / found.n_boot == pytest.approx(expected, abs=0.0006)


def test_resampling_patterns_is_resampling_clusters() -> None:
    """The bootstrap distribution is that of drawing whole clusters and calling the krippendorff package."""
    rng = np.random.default_rng(9)
    table = study(rng, units=120, alpha=0.6, prevalence=0.3, coders=3)
    table[rng.random(table.shape) < 0.2] = np.nan
    cluster = np.repeat(np.arange(30), 4)
    members = np.arange(120).reshape(30, 4)
    slow = np.array(
        [
            krippendorff.alpha(
                reliability_data=table[:, members[rng.integers(0, 30, 30)].ravel()],
                level_of_measurement="nominal",
            )
            for _ in range(1500)
        ]
    )
    counts = np.stack([np.nansum(table == 1, axis=0), np.nansum(table == 0, axis=0)], axis=1)
    counts, cluster = counts[counts.sum(axis=1) >= 2], cluster[counts.sum(axis=1) >= 2]
    d = 2 * counts.prod(axis=1) / (counts.sum(axis=1) - 1)
    totals = np.stack([np.bincount(cluster, column, 30) for column in (d, *counts.T)], axis=1)

    def alpha(sums: np.ndarray) -> np.ndarray:
        d, n1, n0 = np.moveaxis(sums, -1, 0)
        return 1 - (n1 + n0 - 1) * d / (2 * n1 * n0)

    fast = resampled(totals, np.ones(30, dtype=int), alpha, n_boot=20_000, seed=1)
    assert fast.mean() == pytest.approx(slow.mean(), abs=4 * slow.std() / np.sqrt(1500))
    assert fast.std() == pytest.approx(slow.std(), rel=0.08)


def test_interval_is_scipys_bca_at_the_widened_level() -> None:
    from scipy import stats

    table = np.repeat(np.array([[1, 1, 0, 0], [1, 0, 1, 0]], dtype=float), [16, 3, 2, 29], axis=1)
    row = agreement.by_code(decisions_of(table), n_boot=40_000, seed=2).iloc[0]

    def alpha(first: np.ndarray, second: np.ndarray, axis: int) -> np.ndarray:
        n1 = (first + second).sum(axis=axis)
        n = 2 * first.shape[axis]
        return 1 - (n - 1) * np.abs(first - second).sum(axis=axis) / (n1 * (n - n1))

    z = stats.t.ppf(0.975, 49) * np.sqrt(50 / 49)
    expected = stats.bootstrap(
        tuple(table),
        alpha,
        paired=True,
        vectorized=True,
        n_resamples=40_000,
        method="BCa",
        batch=4000,
        confidence_level=2 * stats.norm.cdf(z) - 1,
        rng=np.random.default_rng(3),
    ).confidence_interval
    assert row["alpha_low"] == pytest.approx(expected.low, abs=0.012)
    assert row["alpha_high"] == pytest.approx(expected.high, abs=0.012)


@pytest.mark.simulation
@pytest.mark.parametrize("prevalence", [0.1, 0.3])
def test_interval_covers_the_true_alpha(prevalence: float) -> None:
    """40 participants × 7 units, alpha .6, participants differing in both the code's use and agreement."""
    rng = np.random.default_rng(11)
    covered = []
    for _ in studies(150):
        fits, clear = (rng.beta(4 * m, 4 * (1 - m), 40).repeat(7) for m in (prevalence, 0.6))
        sees = rng.random((2, 280)) < np.sqrt(clear)
        table = np.where(sees, rng.random(280) < fits, rng.random((2, 280)) < prevalence).astype(float)
        cluster = pd.Series(np.arange(40).repeat(7), index=[f"u{i:04d}" for i in range(280)])
        row = agreement.by_code(decisions_of(table), **in_clusters(cluster), n_boot=400, seed=1).iloc[0]
        covered.append(row["alpha_low"] <= 0.6 <= row["alpha_high"])
    assert 0.90 <= np.mean(covered) <= 0.99  # 95 % − 2.8 standard errors of 150 studies


def test_resampling_clusters_widens_the_interval() -> None:
    rng = np.random.default_rng(12)
    table = np.repeat(study(rng, units=40, alpha=0.6, prevalence=0.4), 7, axis=1)  # clusters of equal units
    cluster = pd.Series(np.arange(40).repeat(7), index=[f"u{i:04d}" for i in range(280)])
    whole = agreement.by_code(decisions_of(table), **in_clusters(cluster), seed=1).iloc[0]
    units = agreement.by_code(decisions_of(table), seed=1).iloc[0]
    assert whole["alpha"] == units["alpha"]
    ratio = (whole["alpha_high"] - whole["alpha_low"]) / (units["alpha_high"] - units["alpha_low"])
    assert ratio == pytest.approx(np.sqrt(7), rel=0.2)


@pytest.mark.long
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_by_code_does_not_depend_on_rows_names_or_singly_coded_units(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = study(rng, units=40, alpha=0.4, prevalence=0.5, coders=3)
    table[rng.random(table.shape) < 0.2] = np.nan
    decisions = decisions_of(table)
    cluster = pd.Series(rng.integers(0, 15, 40), index=[f"u{i:04d}" for i in range(40)])
    expected = agreement.by_code(decisions, **in_clusters(cluster), n_boot=50, seed=1)
    extra = pd.DataFrame(
        {"unit_id": ["x1", "x2"], "coder": "coder0", "code": "interest", "applied": [True, False]}
    )
    renamed = decisions.assign(coder=decisions["coder"].map({"coder0": "z", "coder1": "y", "coder2": "x"}))
    more = pd.concat([renamed, extra.assign(coder="z")]).sample(frac=1, random_state=seed)
    wider = pd.concat([cluster, pd.Series({"x1": 99, "x2": 3})]).sample(frac=1, random_state=seed)
    found = agreement.by_code(more, **in_clusters(wider), n_boot=50, seed=1)
    pd.testing.assert_frame_equal(found.drop(columns="basis"), expected.drop(columns="basis"))


def test_a_codes_row_depends_on_seed_but_not_on_other_codes() -> None:
    rng = np.random.default_rng(13)
    one = decisions_of(study(rng, units=80, alpha=0.5, prevalence=0.4), code="one")
    two = decisions_of(study(rng, units=80, alpha=0.7, prevalence=0.2), code="two")
    both = agreement.by_code(pd.concat([two, one]), n_boot=300, seed=5)
    assert list(both["code"]) == ["two", "one"]
    alone = agreement.by_code(one, n_boot=300, seed=5)
    pd.testing.assert_frame_equal(both.iloc[[1]].reset_index(drop=True), alone)
    again = agreement.by_code(one, n_boot=300, seed=6)
    assert again["alpha_low"].iloc[0] != alone["alpha_low"].iloc[0]
    wider = agreement.by_code(one, n_boot=300, confidence_level=0.99, seed=5)
    assert wider["alpha_low"].iloc[0] < alone["alpha_low"].iloc[0]


def test_every_row_says_with_what_level_and_seed_it_was_computed() -> None:
    table = study(np.random.default_rng(14), units=60, alpha=0.5, prevalence=0.4)
    same = decisions_of(np.ones((2, 60)), code="same")
    decisions = pd.concat([decisions_of(table), same])
    result = agreement.by_code(decisions, n_boot=20, confidence_level=0.9, seed=2**62)
    assert result["reason"].isna().tolist() == [True, False]
    assert result["confidence_level"].tolist() == [0.9, 0.9]
    assert result["seed"].tolist() == [2**62, 2**62]
    assert str(result["seed"].dtype) == "Int64"


def test_no_decisions_give_no_rows() -> None:
    empty = decisions_of(np.full((2, 3), np.nan))
    result = agreement.by_code(empty, seed=1)
    assert len(result) == 0
    assert list(result.columns[:4]) == ["code", "n_units", "n_coders", "n_clusters"]


def test_by_code_refuses_units_without_a_cluster_or_with_two() -> None:
    decisions = decisions_of(np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]))
    cluster = pd.Series(["p1", None], index=["u0000", "u0001"])
    with pytest.raises(TableError, match="found none for 'u0001', 'u0002'"):
        agreement.by_code(decisions, **in_clusters(cluster), seed=1)
    with pytest.raises(TableError, match="found several for 'u0000'"):
        agreement.by_code(decisions, **in_clusters(pd.Series(["p1", "p2"], index=["u0000"] * 2)), seed=1)
    units = in_clusters(cluster)["units"]
    with pytest.raises(TableError, match="did you mean 'case_id'"):
        agreement.by_code(decisions, units=units, cluster="case")
    for half in ({"units": units}, {"cluster": "case_id"}):
        with pytest.raises(ArgumentError, match="expected units and the name of their column, such as"):
            agreement.by_code(decisions, **half)
    with pytest.raises(TableError, match="'applied'"):
        agreement.by_code(decisions.drop(columns="applied"), seed=1)


@pytest.mark.parametrize(
    "wrong", [{"n_boot": 0}, {"n_boot": 10.5}, {"seed": -1}, {"seed": True}, {"confidence_level": 95}]
)
def test_by_code_refuses_settings_out_of_range(wrong: dict[str, object]) -> None:
    with pytest.raises(QualError, match=f"expected {next(iter(wrong))}"):
        agreement.by_code(decisions_of(np.ones((2, 2))), **{"seed": 1, **wrong})
