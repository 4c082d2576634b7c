"""What missing ratings could do to a link: the numbers by second ways, and with files that people bring."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

from sense7_qual import corpus, links
from sense7_qual.errors import QualError
from sense7_qual.links.models import missing_ratings
from tests.helpers.nightly import nightly_but
from tests.helpers.rating_studies import frames, people, study
from tests.helpers.simulation import studies

COLUMNS = {"rating": "empathy", "cluster": "case_id"}


def with_gaps(seed: int = 3, *, spared: int = 4, **design: object) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A study in which ratings are missing more often on texts with the code; one participant gave none."""
    rng = np.random.default_rng(seed)
    applied, rating, case = study(rng, **design)
    rating = np.where(rng.random(len(rating)) < np.where(applied, 0.45, 0.2), np.nan, rating)
    rating[case == spared] = np.nan
    return frames(applied, rating, case)


def found(decisions: pd.DataFrame, units: pd.DataFrame, **settings: object) -> pd.DataFrame:
    return missing_ratings(decisions, units, **{**COLUMNS, **settings}).set_index(["direction", "delta"])


# A second way: weights by a selection model, pairs of texts, participants left out of the frames ---------


def adjusted(
    decisions: pd.DataFrame, units: pd.DataFrame, shifts: tuple[float, float]
) -> tuple[float, float]:
    """Return the effects: each missing rating is the observed ones of its side, weighted by exp(γ rating)."""
    frame = decisions.merge(units, on="unit_id")
    values, weights = [], []
    for side, shift in zip((True, False), shifts, strict=True):
        ratings = frame.loc[frame["applied"] == side, "empathy"]
        y, n = ratings.dropna().to_numpy(), int(ratings.isna().sum())

        def off(slope: float, y: np.ndarray = y, shift: float = shift) -> float:
            return np.average(y, weights=np.exp(slope * (y - 3))) - y.mean() - shift

        tilt = np.exp(optimize.brentq(off, -60, 60) * (y - 3))
        values.append(y)
        weights.append(1 + n * tilt / tilt.sum())
    pairs = np.sign(values[0][:, None] - values[1][None, :]) * weights[0][:, None] * weights[1][None, :]
    means = [np.average(y, weights=w) for y, w in zip(values, weights, strict=True)]
    return pairs.sum() / (weights[0].sum() * weights[1].sum()), means[0] - means[1]


@pytest.mark.parametrize(("direction", "signs"), [("same", (1, 1)), ("opposite", (1, -1))])
@pytest.mark.parametrize("delta", [-0.7, 0.4])
def test_effects_and_intervals_are_those_of_a_selection_model_and_the_jackknife(
    direction: str, signs: tuple[int, int], delta: float
) -> None:
    decisions, units = with_gaps(shift=0.7)
    row = found(decisions, units, deltas=[delta]).loc[(direction, delta)]
    shifts = (signs[0] * delta, signs[1] * delta)
    effects = adjusted(decisions, units, shifts)
    assert row[["rank_biserial", "mean_difference"]].tolist() == pytest.approx(effects, abs=1e-8)
    cases = units["case_id"].unique()
    without = np.array([adjusted(decisions, units[units["case_id"] != case], shifts) for case in cases])
    n = len(cases)
    errors = np.sqrt((n - 1) / n * np.square(without - without.mean(axis=0)).sum(axis=0))
    rated = decisions.merge(units.dropna(subset=["empathy"]), on="unit_id")
    df = rated.groupby("applied")["case_id"].nunique().min() - 1
    half = stats.t.ppf(0.975, df) * errors
    for name, effect, by in zip(("rank_biserial", "mean_difference"), effects, half, strict=True):
        assert row[[f"{name}_low", f"{name}_high"]].tolist() == pytest.approx([effect - by, effect + by])
    assert row["p"] == pytest.approx(2 * stats.t.sf(abs(effects[0]) / errors[0], df))


@pytest.mark.parametrize("seed", range(3))
def test_delta_0_is_what_code_to_rating_finds(seed: int) -> None:
    decisions, units = people(np.random.default_rng(seed))
    gone = np.random.default_rng(seed + 10).random(len(units)) < 0.3
    units["empathy"] = units["empathy"].mask(gone | (units["case_id"] == "p3"))
    table = links.code_to_rating(decisions, units, **COLUMNS, n_boot=1, odds_ratios=False, details=True)
    table = table[table["source"] != "pooled"]
    every = missing_ratings(decisions, units, **COLUMNS)
    for direction in ("same", "opposite"):
        own = every[(every["delta"] == 0) & (every["direction"] == direction)]
        for name in ("n_with", "n_without", "mean_difference", "rank_biserial", "p"):
            assert own[name].tolist() == pytest.approx(table[name].tolist(), rel=1e-9), name
        assert own["source"].tolist() == table["source"].tolist()
    assert (every["n_clusters_unrated"] == 1).all()


# Higgins, White & Wood (2008), Clinical Trials 5, 225–239: the trial of Beasley. 29 of 47 responded to the
# drug and 22 are missing, 20 of 34 without it and 34 are missing. Their p* with an IMOR (odds of responding
# of the missing over those of the observed) is as in R's metasens::metamiss.
BEASLEY = {True: (29, 18, 22), False: (20, 14, 34)}


def beasley() -> tuple[pd.DataFrame, pd.DataFrame]:
    rows = [
        (side, value)
        for side, numbers in BEASLEY.items()
        for value, n in zip((1.0, 0.0, np.nan), numbers, strict=True)
        for _ in range(n)
    ]
    applied, rating = (np.array(column) for column in zip(*rows, strict=True))
    return frames(applied, rating, np.arange(len(rows)))


def with_imor(numbers: tuple[int, int, int], imor: float) -> tuple[float, float]:
    """Return p*, and how far the missing are from the observed."""
    responded, failed, missing = numbers
    p, gone = responded / (responded + failed), missing / sum(numbers)
    of_missing = p * imor / (p * imor + 1 - p)
    return p * (1 - gone) + of_missing * gone, of_missing - p


@pytest.mark.parametrize("imor", [0.5, 2.0, 5.0])
def test_two_levels_are_as_with_an_informative_missingness_odds_ratio(imor: float) -> None:
    of_drug, delta = with_imor(BEASLEY[True], imor)
    # that of the others for the same delta:
    p = 20 / 34
    other = ((p + delta) / (1 - p - delta)) / (p / (1 - p))
    of_none, _ = with_imor(BEASLEY[False], other)
    row = found(*beasley(), deltas=[delta]).loc[("same", delta)]
    assert row["rank_biserial"] == pytest.approx(of_drug - of_none, abs=1e-10)
    assert row["mean_difference"] == pytest.approx(of_drug - of_none, abs=1e-10)
    gone, n = np.array([22 / 69, 34 / 68]), np.array([69, 68])
    p_observed, n_observed = np.array([29 / 47, 20 / 34]), np.array([47, 34])
    variance = (p_observed * (1 - p_observed) / n_observed + delta**2 * gone * (1 - gone) / n).sum()
    half = stats.t.ppf(0.975, 33) * np.sqrt(variance)
    assert (row["mean_difference_high"] - row["mean_difference_low"]) / 2 == pytest.approx(
        half, rel=0.03
    )  # 34 / 33


def test_bounds_are_those_of_the_best_and_the_worst_case() -> None:
    row = found(*beasley(), deltas=[0]).loc[("same", 0.0)]
    assert row["lowest"] == pytest.approx(29 / 69 - 54 / 68)
    assert row["highest"] == pytest.approx(51 / 69 - 20 / 68)
    assert row[["mean_lowest", "mean_highest"]].tolist() == pytest.approx(row[["lowest", "highest"]].tolist())
    assert row["bounds_low"] < row["lowest"] < row["highest"] < row["bounds_high"]


def test_no_filling_in_of_missing_ratings_leaves_the_bounds() -> None:
    decisions, units = with_gaps(participants=12, shift=1)
    row = found(decisions, units, rating_range=(1, 5)).iloc[0]
    rng = np.random.default_rng(5)
    for _ in range(50):
        chances = rng.dirichlet(np.full(5, 0.3), 2)
        applied = units["unit_id"].map(decisions.set_index("unit_id")["applied"]).to_numpy()
        drawn = np.array([rng.choice([1.0, 2, 3, 4, 5], p=chances[int(one)]) for one in applied])
        full = units.assign(empathy=units["empathy"].fillna(pd.Series(drawn)))
        table = links.code_to_rating(decisions, full, **COLUMNS, n_boot=1, odds_ratios=False).iloc[0]
        assert row["lowest"] <= table["rank_biserial"] <= row["highest"]
        assert row["mean_lowest"] <= table["mean_difference"] <= row["mean_highest"]


@pytest.mark.parametrize("direction", ["same", "opposite"])
def test_at_the_tipping_delta_the_link_is_0_and_the_interval_ends_there(direction: str) -> None:
    decisions, units = with_gaps(5, shift=0.4)
    first = found(decisions, units).loc[direction].iloc[0]
    turns, holds = first["delta_sign"], first["delta_interval"]
    assert turns < holds < 0
    table = found(decisions, units, deltas=[turns, holds, turns / 2]).loc[direction]
    assert table.loc[turns, "rank_biserial"] == pytest.approx(0, abs=1e-5)
    assert table.loc[turns / 2, "rank_biserial"] > 0
    ends = table.loc[holds, ["rank_biserial_low", "rank_biserial_high"]]
    assert np.abs(ends).min() == pytest.approx(0, abs=1e-4)
    assert table.loc[holds, "p"] == pytest.approx(0.05, abs=1e-3)
    assert table.loc[0.0, "p"] < 0.05


def test_the_difference_of_means_is_linear_in_delta() -> None:
    decisions, units = with_gaps(shift=0.7)
    table = found(decisions, units, deltas=[-0.5, 0.5])
    same, opposite = (table.loc[way]["mean_difference"] for way in ("same", "opposite"))
    gone = table[["missing_with", "missing_without"]].iloc[0]
    apart, together = gone["missing_with"] - gone["missing_without"], gone.sum()
    assert same.diff().dropna().tolist() == pytest.approx([apart / 2] * 2)
    assert opposite.diff().dropna().tolist() == pytest.approx([together / 2] * 2)


def test_a_shift_beyond_the_scale_stops_at_its_end() -> None:
    row = found(*with_gaps(), deltas=[4.0], rating_range=(1, 5)).loc[("opposite", 4.0)]
    assert row[["mean_missing_with", "mean_missing_without"]].tolist() == pytest.approx([5, 1])
    assert row["rank_biserial"] == pytest.approx(row["highest"])


MICE = """
suppressMessages(library(mice))
data <- read.csv(commandArgs(TRUE)[1])
sides <- lapply(c(1, 0), function(side) {
  own <- data[data$applied == side, c("empathy", "applied")]
  made <- mice(own, m = 400, maxit = 1, method = c("sample", ""), printFlag = FALSE, seed = 7,
               post = c("imp[[j]][, i] <- imp[[j]][, i] + DELTA", ""))
  mean(sapply(1:400, function(i) mean(complete(made, i)$empathy)))
})
cat(sides[[1]] - sides[[2]])
"""


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
@pytest.mark.parametrize("delta", [-1.0, 0.5])
def test_the_difference_of_means_is_that_of_imputation_by_mice(tmp_path: Path, delta: float) -> None:
    decisions, units = with_gaps()
    frame = decisions.merge(units, on="unit_id")
    frame.assign(applied=frame["applied"].astype(int)).to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "impute.R").write_text(MICE.replace("DELTA", str(delta)))
    ran = subprocess.run(
        ["Rscript", "impute.R", "data.csv"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    if "there is no package" in ran.stderr:
        pytest.skip("R's mice is not installed")
    row = found(decisions, units, deltas=[delta]).loc[("same", delta)]
    assert row["mean_difference"] == pytest.approx(float(ran.stdout), abs=0.02)


# With files ------------------------------------------------------------------------------------------------


def read(
    tmp_path: Path, ratings: list[object], *, participants: int = 8
) -> tuple[pd.DataFrame, pd.DataFrame]:
    path = tmp_path / "texts.csv"
    whose = [f"p{i % participants}" for i in range(len(ratings))]
    rows = zip(whose, ratings, strict=True)
    lines = [
        f"{i},{who},Text number {i},{'' if stars is None else stars}" for i, (who, stars) in enumerate(rows)
    ]
    path.write_text("\n".join(["id,who,said,stars", *lines]), encoding="utf-8")
    units = corpus.read(path, text="said", unit_id="id", case_id="who", ratings=["stars"])
    applied = np.arange(len(units)) // participants % 2 == 0
    return pd.DataFrame({"unit_id": units["unit_id"], "coder": "ana", "code": "c", "applied": applied}), units


STARS = [3, 4, 2, 5, 1, 4, 3, 2]


def asked(decisions: pd.DataFrame, units: pd.DataFrame, **settings: object) -> pd.DataFrame:
    return missing_ratings(decisions, units, rating="stars", cluster="case_id", **settings)


def test_no_rating_missing(tmp_path: Path) -> None:
    table = asked(*read(tmp_path, STARS * 4), rating_range=(1, 5))
    assert (table[["n_missing_with", "n_missing_without", "n_clusters_missing"]] == 0).all(axis=None)
    assert table["rank_biserial"].nunique() == 1
    assert table["lowest"].tolist() == pytest.approx(table["highest"].tolist())
    assert table["delta_sign"].dropna().isin([0]).all()


def test_every_rating_missing(tmp_path: Path) -> None:
    decisions, units = read(tmp_path, [None] * 32)
    table = asked(decisions, units, rating_range=(1, 5))
    assert set(table["reason"]) == {"no_rated_units"}
    assert table[["lowest", "highest"]].iloc[0].tolist() == [-1, 1]
    assert table["rank_biserial"].isna().all()
    assert table[["n_missing_with", "n_missing_without"]].iloc[0].tolist() == [16, 16]
    without_scale = asked(decisions, units)
    assert without_scale["delta"].unique().tolist() == [0]
    assert without_scale["lowest"].isna().all()


def test_no_rating_of_texts_with_the_code(tmp_path: Path) -> None:
    table = asked(*read(tmp_path, ([None] * 8 + STARS) * 2), rating_range=(1, 5))
    assert set(table["reason"]) == {"code_never_applied"}
    assert table["missing_with"].iloc[0] == 1
    assert table[["lowest", "highest"]].iloc[0].between(-1, 1).all()
    assert table["lowest"].iloc[0] < 0 < table["highest"].iloc[0]


def test_one_participant(tmp_path: Path) -> None:
    table = asked(*read(tmp_path, [3, None, 4, 1] * 8, participants=1))
    assert set(table["reason"]) == {"one_cluster"}
    assert table["rank_biserial"].notna().all()
    assert (
        table[["p", "rank_biserial_low", "delta_interval", "missing_p", "bounds_low"]].isna().all(axis=None)
    )


def test_a_code_for_missing_is_refused(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="looks like a code for missing"):
        decisions, units = read(tmp_path, [*STARS, *[-99] * 8] * 2)
    with pytest.raises(QualError, match="-99"):
        asked(decisions, units)


def test_ratings_all_alike(tmp_path: Path) -> None:
    table = asked(*read(tmp_path, [3, None, 3, 3] * 8), rating_range=(1, 5))
    assert set(table["reason"]) == {"constant_rating"}
    assert table["lowest"].iloc[0] < 0 < table["highest"].iloc[0]


def test_a_delta_larger_than_the_scale_is_refused(tmp_path: Path) -> None:
    decisions, units = read(tmp_path, STARS * 4)
    with pytest.raises(QualError, match="within the length of the scale, 4"):
        asked(decisions, units, deltas=[5], rating_range=(1, 5))


def test_which_ratings_are_missing_depends_on_the_code_by_participants() -> None:
    assert found(*with_gaps()).iloc[0]["missing_p"] < 0.01
    row = found(*with_gaps()).iloc[0]
    assert row["missing_with"] > row["missing_without"]
    assert row["n_clusters_unrated"] == 1


# Simulated: a few of the studies of benchmarks/missing_ratings.md ------------------------------------------


@pytest.mark.simulation
@pytest.mark.parametrize("participants", nightly_but((12, 40), here=[12]))
def test_the_interval_covers_where_the_rated_texts_alone_do_not(participants: int) -> None:
    from benchmarks.missing_ratings import DESIGNS, adjusted as rows_of, draw

    design = DESIGNS[3]
    slopes, rng, held = design.slopes(), np.random.default_rng(participants), []
    for _ in studies(150):
        table = rows_of(design, *draw(design, slopes, participants, rng)).set_index("delta")
        ends = table[["rank_biserial_low", "rank_biserial_high"]]
        held.append([ends.loc[at].iloc[0] <= 0 <= ends.loc[at].iloc[1] for at in (design.delta, 0.0)])
    adjusted_for, alone = np.mean(held, axis=0)
    assert adjusted_for > 0.9
    assert alone < 0.85
