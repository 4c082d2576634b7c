from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sense7_qual import links
from sense7_qual.errors import QualError, TableError
from tests.helpers.simulation import studies

# Strength of a chemical paste, 10 batches of 3 casks of 2 assays: Davies & Goldsmith (1972), Statistical
# Methods in Research and Production, table 6.8 (also `Pastes` in R's lme4).
PASTES = """
62.8 62.6 60.1 62.3 62.7 63.1 60.0 61.4 57.5 56.9 61.1 58.9 58.7 57.5 63.9 63.1 65.4 63.7 57.1 56.4
56.9 58.6 64.7 64.5 55.1 55.1 54.7 54.2 58.8 57.5 63.4 64.9 59.3 58.1 60.5 60.0 62.5 62.6 61.0 58.7
56.9 57.7 59.2 59.4 65.2 66.0 64.8 64.1 54.8 54.8 64.0 64.0 57.7 56.8 58.3 59.3 59.2 59.2 58.9 56.6
"""


def drawn(
    rng: np.random.Generator, components: tuple[float, float, float], *, participants: int, size: float = 5
) -> pd.DataFrame:
    """Unequal numbers of conversations and of turns, with the given variances between and within them."""
    case = np.repeat(np.arange(participants), 1 + rng.poisson(size - 1, participants))
    turns = 1 + rng.poisson(size - 1, len(case))
    document, case = np.repeat(np.arange(len(case)), turns), np.repeat(case, turns)
    sd = np.sqrt(components)
    rating = (
        sd[0] * rng.standard_normal(participants)[case]
        + sd[1] * rng.standard_normal(document[-1] + 1)[document]
        + sd[2] * rng.standard_normal(len(case))
    )
    return pd.DataFrame(
        {
            "unit_id": [f"u{i}" for i in range(len(case))],
            "case_id": [f"p{c}" for c in case],
            "document_id": [f"d{d}" for d in document],
            "empathy": rating,
        }
    )


def shares(units: pd.DataFrame, **settings: object) -> pd.DataFrame:
    chosen = {"rating": "empathy", "levels": ["case_id", "document_id"], "n_boot": 200, **settings}
    return links.variance_shares(units, **chosen)


def test_the_published_components_of_the_pastes() -> None:
    """Bates (2010), lme4: Mixed-effects modeling with R, section 2.2: REML 1.657, 8.434 and 0.678."""
    units = pd.DataFrame(
        {
            "unit_id": [str(i) for i in range(60)],
            "empathy": [float(value) for value in PASTES.split()],
            "case_id": [str(i // 6) for i in range(60)],
            "document_id": [str(i // 2) for i in range(60)],
        }
    )
    found = shares(units)
    np.testing.assert_allclose(found["variance"], [1.657, 8.434, 0.678], atol=5e-4)
    np.testing.assert_allclose(found["share"].sum(), 1)
    assert found["n_groups"].tolist() == [10, 30, 60]
    assert found["level"].tolist() == ["case_id", "document_id", "remainder"]


@pytest.mark.long
def test_close_to_restricted_maximum_likelihood_where_groups_are_unequal() -> None:
    from statsmodels.regression.mixed_linear_model import MixedLM

    units = drawn(np.random.default_rng(5), (0.4, 0.2, 0.4), participants=60)
    model = MixedLM.from_formula(
        "empathy ~ 1", groups="case_id", vc_formula={"d": "0 + C(document_id)"}, re_formula="1", data=units
    ).fit(reml=True)
    expected = [model.cov_re.iloc[0, 0], model.vcomp[0], model.scale]
    np.testing.assert_allclose(shares(units)["variance"], expected, atol=0.03)


@pytest.mark.long
def test_unbiased_where_groups_are_unequal() -> None:
    rng = np.random.default_rng(6)
    found = np.array(
        [shares(drawn(rng, (0.3, 0.2, 0.5), participants=40), n_boot=1)["variance"] for _ in range(60)]
    )
    error = found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - [0.3, 0.2, 0.5]) < 3.5 * error).all()


@pytest.mark.simulation
@pytest.mark.parametrize("participants", [12, 40])
def test_intervals_cover_the_true_share(participants: int) -> None:
    rng = np.random.default_rng(7)
    covered = []
    for _ in studies(70):
        found = shares(drawn(rng, (0.4, 0.2, 0.4), participants=participants))
        covered.append((found["low"] <= [0.4, 0.2, 0.4]) & (found["high"] >= [0.4, 0.2, 0.4]))
    assert (np.mean(covered, axis=0) > 0.85).all()  # 95 % less the simulation's own error
    assert np.mean(covered) < 0.995


def test_one_level_is_the_intraclass_correlation() -> None:
    """Shrout & Fleiss (1979), table 2: the ICC(1) of their six targets and four judges is .17."""
    ratings = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    units = pd.DataFrame(
        {
            "unit_id": [str(i) for i in range(24)],
            "empathy": np.ravel(ratings),
            "case_id": np.repeat(list("abcdef"), 4),
        }
    )
    found = shares(units, levels="case_id")
    assert found.loc[0, "share"] == pytest.approx(0.17, abs=0.005)
    assert found["level"].tolist() == ["case_id", "remainder"]


def test_a_negative_component_counts_as_none_and_is_said_so() -> None:
    units = drawn(np.random.default_rng(1), (0.0, 0.0, 1.0), participants=30)
    units["empathy"] -= units.groupby("case_id")["empathy"].transform("mean")
    found = shares(units)
    assert found.loc[0, ["variance", "share", "reason"]].tolist() == [0, 0, "negative_estimate"]
    assert found.loc[0, "low"] == 0
    assert found["share"].sum() == pytest.approx(1)
    assert found.loc[0, "n_boot"] == 200


def test_missing_ratings_are_left_out_and_scale_does_not_matter() -> None:
    units = drawn(np.random.default_rng(2), (0.4, 0.2, 0.4), participants=20)
    more = pd.concat([units, units.assign(unit_id=units["unit_id"] + "x", empathy=np.nan, case_id=None)])
    pd.testing.assert_frame_equal(shares(more), shares(units))
    scaled = shares(units.assign(empathy=10 * units["empathy"] + 3))
    np.testing.assert_allclose(scaled["share"], shares(units)["share"])
    np.testing.assert_allclose(scaled["low"], shares(units)["low"])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"empathy": np.nan}, "no_rated_units"),
        ({"empathy": 3.0}, "constant_rating"),
        ({"case_id": "p"}, "one_cluster"),
    ],
)
def test_what_cannot_be_computed_says_why(change: dict[str, object], reason: str) -> None:
    found = shares(drawn(np.random.default_rng(3), (1, 1, 1), participants=9).assign(**change))
    assert found["reason"].tolist() == [reason] * 3
    assert found[["variance", "share", "low", "high"]].isna().all(axis=None)


def test_levels_that_cannot_be_told_apart() -> None:
    units = drawn(np.random.default_rng(3), (1, 1, 1), participants=9)
    firsts = units.drop_duplicates("document_id")
    assert set(shares(firsts)["reason"]) == {"levels_not_separable"}


def test_few_participants_have_shares_but_no_intervals() -> None:
    found = shares(drawn(np.random.default_rng(4), (1, 1, 1), participants=5))
    assert found["share"].notna().all()
    assert found["low"].isna().all()
    assert "few_clusters" in set(found["reason"])


def test_bad_input_is_refused_in_words() -> None:
    units = drawn(np.random.default_rng(3), (1, 1, 1), participants=9)
    with pytest.raises(TableError, match="within one 'case_id' – found 'd0'"):
        shares(pd.concat([units, units.head(1).assign(unit_id="new", case_id="other")]))
    with pytest.raises(TableError, match="did you mean 'empathy'"):
        shares(units, rating="empaty")
    with pytest.raises(TableError, match="finite numbers in column 'empathy'"):
        shares(units.assign(empathy="good"))
    with pytest.raises(TableError, match="label in column 'case_id'"):
        shares(units.assign(case_id=None))
    with pytest.raises(TableError, match="one or more different columns as levels"):
        shares(units, levels=[])
    with pytest.raises(QualError, match="confidence_level"):
        shares(units, confidence_level=95)
