from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sense7_qual import links
from sense7_qual.errors import TableError
from tests.helpers.simulation import studies

RATINGS = ["Affective", "Cognitive", "Interest"]


def study(
    rng: np.random.Generator,
    *,
    participants: int = 40,
    own: float = 0.0,
    other: float = 0.0,
    missing: float = 0,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The code raises its own rating by `own`, and the two others by `other`."""
    case = np.repeat(np.arange(participants), 6)
    applied = rng.random(len(case)) < 0.4
    person = 0.7 * rng.standard_normal(participants)[case]
    values = (
        3
        + person[:, None]
        + rng.standard_normal((len(case), 3))
        + np.array([own, other, other]) * applied[:, None]
    )
    values = np.clip(np.round(values), 1, 5)
    values[rng.random(values.shape) < missing] = np.nan
    ids = [f"u{i}" for i in range(len(case))]
    units = pd.DataFrame(values, columns=RATINGS).assign(unit_id=ids, case_id=[f"p{c}" for c in case])
    return pd.DataFrame({"unit_id": ids, "coder": "ana", "code": "affective", "applied": applied}), units


def matrix(decisions: pd.DataFrame, units: pd.DataFrame, **settings: object) -> pd.DataFrame:
    chosen = {"ratings": RATINGS, "cluster": "case_id", "source": "ana", "n_boot": 200, "seed": 7, **settings}
    return links.by_dimension(decisions, units, **chosen)


@pytest.mark.long
def test_every_cell_is_the_link_of_the_code_with_that_rating() -> None:
    decisions, units = study(np.random.default_rng(1), own=0.8, missing=0.3)
    found = matrix(decisions, units).set_index("dimension")
    for rating in RATINGS:
        link = links.code_to_rating(
            decisions, units, rating=rating, cluster="case_id", sources=["ana"], n_boot=200, seed=7
        ).iloc[0]
        row = found.loc[rating]
        assert row["estimate"] == pytest.approx(link["rank_biserial"])
        assert row[["n_with", "n_without"]].tolist() == link[["n_with", "n_without"]].tolist()
    assert found["own"].tolist()[:3] == [True, False, False]


def test_with_every_rating_there_interval_and_p_are_those_of_the_link() -> None:
    decisions, units = study(np.random.default_rng(2), own=0.5)
    found = matrix(decisions, units).set_index("dimension").loc["Affective"]
    link = links.code_to_rating(
        decisions, units, rating="Affective", cluster="case_id", sources=["ana"], n_boot=200, seed=7
    ).iloc[0]
    for ours, theirs in (("low", "rank_biserial_low"), ("high", "rank_biserial_high")):
        assert found[ours] == pytest.approx(link[theirs])


def test_the_contrast_is_the_own_link_less_the_mean_of_the_others() -> None:
    decisions, units = study(np.random.default_rng(3), own=0.8, other=0.3)
    found = matrix(decisions, units)
    links_of = found["estimate"].tolist()
    assert links_of[3] == pytest.approx(links_of[0] - (links_of[1] + links_of[2]) / 2)
    assert found["dimension"].isna().tolist() == [False, False, False, True]
    # Correlated errors cancel: the contrast is known better than by independent intervals.
    assert found.loc[3, "low"] > 0


@pytest.mark.simulation
def test_contrasts_are_seldom_found_where_there_are_none_and_their_intervals_cover() -> None:
    rng = np.random.default_rng(4)
    large = matrix(*study(rng, participants=1500, own=0.8, other=0.3), n_boot=1).loc[3, "estimate"]
    p, covered = [], []
    for _ in studies(40):
        p.append(matrix(*study(rng, participants=20, own=0.5, other=0.5), n_boot=1).loc[3, "p"])
        row = matrix(*study(rng, participants=20, own=0.8, other=0.3)).loc[3]
        covered.append(row["low"] <= large <= row["high"])
    assert np.mean(np.array(p) < 0.05) < 0.16
    assert np.mean(covered) > 0.84


@pytest.mark.long
def test_p_is_adjusted_by_family() -> None:
    from statsmodels.stats.multitest import multipletests

    decisions, units = study(np.random.default_rng(5), own=0.4)
    other = decisions.assign(code="interest", applied=np.random.default_rng(6).random(len(decisions)) < 0.5)
    found = matrix(pd.concat([decisions, other]), units)
    cells = found["dimension"].notna()
    for family in (cells, ~cells):
        for name, method in (("p_adjusted", "fdr_bh"), ("p_holm", "holm")):
            expected = multipletests(found.loc[family, "p"], method=method)[1]
            np.testing.assert_allclose(found.loc[family, name], expected)
    assert cells.sum() == 6


def test_codes_are_matched_by_name_or_by_mapping() -> None:
    decisions, units = study(np.random.default_rng(7), own=0.5)
    renamed = decisions.assign(code="warmth")
    unmatched = matrix(renamed, units)
    assert unmatched["own"].isna().all()
    assert unmatched.loc[3, "reason"] == "no_own_rating"
    mapped = matrix(renamed, units, mapping={"warmth": "Affective"}).drop(columns="code")
    pd.testing.assert_frame_equal(mapped, matrix(decisions, units).drop(columns="code"))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda d, u: (d.assign(applied=False), u), "code_never_applied"),
        (lambda d, u: (d.assign(applied=True), u), "code_always_applied"),
        (lambda d, u: (d, u.assign(Affective=3.0)), "constant_rating"),
        (lambda d, u: (d, u.assign(Affective=np.nan)), "no_rated_units"),
        (lambda d, u: (d, u.assign(Affective=1.0 + d["applied"])), "complete_separation"),
        (lambda d, u: (d, u.assign(case_id="p")), "few_clusters"),
    ],
)
def test_what_cannot_be_computed_says_why(change: object, reason: str) -> None:
    found = matrix(*change(*study(np.random.default_rng(8), participants=12)))  # type: ignore[operator]
    assert found.loc[0, "reason"] == reason
    assert np.isnan(found.loc[0, "p"])
    if reason in ("constant_rating", "no_rated_units"):
        assert found.loc[3, "reason"] == "rating_not_computable"
        assert found.loc[1, "p"] == found.loc[1, "p"]


def test_bad_input_is_refused_in_words() -> None:
    decisions, units = study(np.random.default_rng(9), participants=8)
    with pytest.raises(TableError, match="two or more different columns"):
        matrix(decisions, units, ratings=["Affective"])
    with pytest.raises(TableError, match="did you mean 'affective'"):
        matrix(decisions, units, mapping={"afective": "Affective"})
    with pytest.raises(TableError, match="expected a rating in mapping"):
        matrix(decisions, units, mapping={"affective": "Affectiv"})
    with pytest.raises(TableError, match="expected source 'ben'"):
        matrix(decisions, units, source="ben")
    with pytest.raises(TableError, match="found others: 'stranger'"):
        matrix(decisions.replace("u0", "stranger"), units)
    with pytest.raises(TableError, match="finite numbers in column 'Interest'"):
        matrix(decisions, units.assign(Interest="much"))
