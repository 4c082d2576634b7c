from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from benchmarks import disruption_designs
from sense7_qual import links
from sense7_qual.errors import QualError, TableError
from sense7_qual.links import _disruption_contrasts
from tests.helpers.simulation import studies


def conversations(
    rng: np.random.Generator,
    *,
    participants: int = 50,
    turns: float = 6,
    icc: float = 0.4,
    carry: float = 0.0,
    drift: float = 0.0,
) -> pd.DataFrame:
    """Ratings 1–5, about four conversations a participant; a poor turn lowers the later ones by `carry`."""
    rows = []
    for case in range(participants):
        person = rng.normal() * np.sqrt(icc / 2)
        for _ in range(1 + rng.poisson(3)):
            level = 3.6 + person + rng.normal() * np.sqrt(icc / 2)
            document, fallen = len(rows), False
            for turn in range(1 + rng.poisson(turns - 1)):
                noise = rng.normal() * np.sqrt(1 - icc)
                rating = float(np.clip(np.round(level + drift * turn - carry * fallen + noise), 1, 5))
                rows.append((f"u{len(rows)}", f"p{case}", f"d{document}", turn, rating))
                fallen = fallen or rating <= 2
    units = pd.DataFrame(rows, columns=["unit_id", "case_id", "document_id", "position", "empathy"])
    return units.assign(useful=units.groupby("document_id")["empathy"].transform("mean").round())


def disruption(units: pd.DataFrame, **settings: object) -> pd.DataFrame:
    columns = {
        "rating": "empathy",
        "document_id": "document_id",
        "position": "position",
        "cluster": "case_id",
    }
    return links.disruption(units, **{**columns, "n_boot": 200, **settings}).set_index("contrast")


def written(*rated: list[float], **columns: object) -> pd.DataFrame:
    rows = [(f"d{d}", t, r) for d, ratings in enumerate(rated) for t, r in enumerate(ratings)]
    units = pd.DataFrame(rows, columns=["document_id", "position", "empathy"])
    return units.assign(unit_id=[f"u{i}" for i in range(len(units))], **columns)


def test_later_turns_by_hand() -> None:
    """Turns take part until the first poor one; the later mean is of all later turns."""
    found = disruption(written([4, 2, 3, 2], [5, 4, 4, 5], [2], [1, 5]), cluster=None).loc["later_turns"]
    # With: the 2 (later mean 2.5) and the 1 (5). Without: 4 (7/3), 5 (13/3), 4 (4.5), 4 (5).
    assert (found["n_with"], found["n_without"], found["n_documents"]) == (2, 4, 3)
    assert found["mean_with"] == pytest.approx((2.5 + 5) / 2)
    assert found["mean_without"] == pytest.approx((7 / 3 + 13 / 3 + 4.5 + 5) / 4)


def test_cohens_d_divides_by_the_pooled_spread() -> None:
    units = conversations(np.random.default_rng(1))
    found = disruption(units, outcomes=["useful"]).loc["useful"]
    once = units.groupby("document_id").agg(useful=("useful", "first"), least=("empathy", "min"))
    poor = once["least"] <= 2
    one, other = once["useful"][poor], once["useful"][~poor]
    pooled = ((len(one) - 1) * one.var() + (len(other) - 1) * other.var()) / (len(one) + len(other) - 2)
    assert found["cohens_d"] == pytest.approx((one.mean() - other.mean()) / pooled**0.5)
    assert (found["n_with"], found["n_without"]) == (poor.sum(), (~poor).sum())
    assert found["d_low"] < found["cohens_d"] < found["d_high"] < 0
    assert found["p"] < 0.001


def test_the_adjusted_contrast_is_least_squares() -> None:
    import statsmodels.formula.api as smf

    units = conversations(np.random.default_rng(2))
    rows = []
    for _, turns in units.groupby("document_id"):
        ratings = turns["empathy"].tolist()
        for at, rating in enumerate(ratings):
            if at and at + 1 < len(ratings) and min(ratings[:at]) > 2:
                place = min(at + 1, 8)  # the eighth turn and all after it are one level
                rows.append((np.mean(ratings[at + 1 :]), rating <= 2, rating, np.mean(ratings[:at]), place))
    frame = pd.DataFrame(rows, columns=["later", "poor", "rating", "earlier", "place"]).astype(float)
    expected = smf.ols("later ~ poor + rating + earlier + C(place)", frame).fit().params["poor"]
    found = disruption(units).loc["later_turns_adjusted"]
    assert found["mean_difference"] == pytest.approx(expected)
    assert found["n_with"] == frame["poor"].sum()


@pytest.mark.long
@pytest.mark.parametrize("ratings", [(5, 2, 1, 3), (3, 2, 4, 2), (4, 5, 1)])
def test_within_document_is_zero_over_all_orders(ratings: tuple[float, ...]) -> None:
    """Over every order whose first poor turn is not at an end, the excess averages out to nothing."""
    excess = []
    for order in set(itertools.permutations(ratings)):
        first = next(at for at, rating in enumerate(order) if rating <= 2)
        if 0 < first < len(order) - 1:
            found = disruption(written(list(order), [4, 4], [5, 5]), cluster=None)
            excess.append(found.loc["within_document", "mean_difference"])
    assert excess
    assert np.mean(excess) == pytest.approx(0, abs=1e-12)
    assert np.ptp(excess) > 0


def test_share_of_the_gap_by_enumeration() -> None:
    for n, n_poor in [(4, 2), (6, 3), (7, 1), (5, 4)]:
        after = []
        for places in itertools.combinations(range(1, n + 1), n_poor):
            if 1 < places[0] < n:
                after.append((n_poor - 1) / (n - places[0]))
        assert _disruption_contrasts._share_of_gap(n, n_poor) == pytest.approx(np.mean(after))


@pytest.mark.long
def test_selection_alone_fools_the_plain_contrast_and_not_the_one_within() -> None:
    rng = np.random.default_rng(4)
    plain, within = [], []
    for _ in range(30):
        found = disruption(conversations(rng), n_boot=100)
        plain.append(found.loc["later_turns", "difference_high"] < 0)
        row = found.loc["within_document"]
        within.append((row["mean_difference"], row["p"] < 0.05, row["d_low"] <= 0 <= row["d_high"]))
    difference, rejected, covered = np.mean(within, axis=0)
    assert np.mean(plain) > 0.9
    # So it has no p, and says what it is; the adjusted contrast has one, and no caution.
    assert found["p"].isna().to_dict() == {
        "later_turns": True,
        "later_turns_adjusted": False,
        "within_document": False,
    }
    assert found["caution"].fillna("").tolist() == ["selection", "", "turn_or_mood"]
    assert abs(difference) < 0.06
    assert rejected < 0.2
    assert covered > 0.8


@pytest.mark.long
def test_a_drift_alone_is_no_disruption() -> None:
    rng = np.random.default_rng(5)
    found = [disruption(conversations(rng, drift=-0.1), n_boot=1).loc["within_document"] for _ in range(20)]
    assert abs(np.mean([row["mean_difference"] for row in found])) < 0.07


@pytest.mark.long
def test_a_carry_over_is_found_and_measured_where_nothing_selects() -> None:
    rng = np.random.default_rng(6)
    found = [disruption(conversations(rng, icc=0, carry=0.8), n_boot=1) for _ in range(12)]
    plain, adjusted, within = (
        np.mean([one.loc[name, "mean_difference"] for one in found])
        for name in ("later_turns", "later_turns_adjusted", "within_document")
    )
    # .8 less what the scale's end cuts off and what later poor turns do to those "without".
    assert -0.8 < plain < -0.5
    assert plain - 0.1 < adjusted < -0.4
    assert plain < within < -0.2
    for name in ("later_turns_adjusted", "within_document"):
        assert np.mean([one.loc[name, "p"] < 0.05 for one in found]) > 0.7


@pytest.mark.nightly
@pytest.mark.long
@pytest.mark.parametrize("design", disruption_designs.NULLS)
def test_neither_better_first_turns_nor_moods_are_a_disruption(design: str) -> None:
    """The first of the studies of benchmarks/disruption_designs.md; there the share is 3 to 6 %."""
    found = disruption_designs.found_in(disruption_designs.NULLS[design], 25, 50, 2)
    adjusted = found.loc["later_turns_adjusted"]
    assert abs(adjusted["mean_difference"]) < 0.06
    assert adjusted["significant"] <= 0.2


@pytest.mark.long
def test_an_effect_is_found_beside_better_first_turns_and_moods() -> None:
    effect = disruption_designs.EFFECTS["all three, effect"]
    adjusted = disruption_designs.found_in(effect, 15, 50, 2).loc["later_turns_adjusted"]
    assert adjusted["mean_difference"] < -0.2
    assert adjusted["significant"] > 0.4


def test_two_different_ratings_leave_no_line_to_step_down_from() -> None:
    rng = np.random.default_rng(12)
    units = conversations(rng).assign(empathy=lambda rows: np.where(rows["empathy"] <= 2, 2.0, 4.0))
    adjusted = disruption(units).loc["later_turns_adjusted"]
    assert adjusted["reason"] == "no_comparison"
    assert np.isnan(adjusted["mean_difference"])


@pytest.mark.simulation
def test_intervals_of_d_cover_the_true_value() -> None:
    rng = np.random.default_rng(7)
    large = disruption(conversations(rng, participants=500, carry=0.5), n_boot=1)["cohens_d"]
    covered = []
    for _ in studies(25):
        found = disruption(conversations(rng, carry=0.5))
        covered.append((found["d_low"] <= large) & (large <= found["d_high"]))
    assert (np.mean(covered, axis=0) > 0.8).all()


def test_by_what_the_poor_turn_was_coded_as() -> None:
    units = conversations(np.random.default_rng(8), carry=0.5)
    rng = np.random.default_rng(9)
    decisions = pd.DataFrame(
        {
            "unit_id": units["unit_id"],
            "coder": "ana",
            "code": "relational",
            "applied": rng.random(len(units)) < 0.5,
        }
    )
    never = decisions.assign(code="interest", applied=False)
    found = disruption(
        units, decisions=pd.concat([decisions, never]), source="ana", outcomes=["useful"]
    ).reset_index()
    assert found["code"].isna().sum() == 4
    later = (
        found[found["contrast"] == "later_turns"]
        .assign(code=lambda rows: rows["code"].fillna("all"))
        .set_index("code")
    )
    rows = later.loc[["all", "relational"]]
    assert rows["n_with"].tolist()[1] < rows["n_with"].tolist()[0]
    assert rows["n_without"].nunique() == 1
    assert rows["mean_without"].nunique() == 1
    assert set(found.loc[found["code"] == "interest", "reason"]) == {"no_poor_turn"}
    scored = found[(found["contrast"] == "useful") & (found["code"] == "relational")].iloc[0]
    firsts = units[units["empathy"] <= 2].drop_duplicates("document_id")
    coded = firsts.merge(decisions, on="unit_id").query("applied")
    assert scored["n_with"] == len(coded)


def test_order_comes_from_the_position_and_unrated_turns_do_not_count() -> None:
    units = conversations(np.random.default_rng(10))
    expected = disruption(units)
    more = units.assign(unit_id=units["unit_id"] + "x", empathy=np.nan, position=-units["position"] - 1)
    shuffled = pd.concat([units.assign(position=units["position"] * 1.5), more]).sample(
        frac=1, random_state=1
    )
    pd.testing.assert_frame_equal(disruption(shuffled), expected)


def test_what_cannot_be_computed_says_why() -> None:
    def reasons(units: pd.DataFrame) -> list[object]:
        return disruption(units, cluster=None)["reason"].tolist()

    assert reasons(written([4, 5, 4], [3, 4])) == ["no_poor_turn"] * 3
    assert reasons(written([2], [1])) == ["no_rated_units"] * 3
    assert reasons(written([np.nan, np.nan])) == ["no_rated_units"] * 3
    assert reasons(written([1, 5, 3], [2, 4]))[0] == "no_comparison"
    few = disruption(written(*[[4, 2, 3], [4, 3, 4]] * 3), cluster=None)
    assert few.loc["later_turns", "reason"] == "few_clusters"
    assert few["p"].isna().all()
    constant = disruption(written(*[[2, 3, 3], [3, 3, 3]] * 8), cluster=None).loc["later_turns"]
    assert constant["reason"] == "constant_rating"


def test_bad_input_is_refused_in_words() -> None:
    units = conversations(np.random.default_rng(11), participants=8)
    with pytest.raises(TableError, match="each once per conversation"):
        disruption(units.assign(position=1))
    with pytest.raises(TableError, match="found none for units 'u0'"):
        disruption(units.assign(position=None))
    with pytest.raises(TableError, match="finite numbers in column 'position'"):
        disruption(units.assign(position="first"))
    with pytest.raises(TableError, match="one value of 'empathy' per 'document_id'"):
        disruption(units, outcomes=["empathy"])
    with pytest.raises(TableError, match="one value of 'case_id' per 'document_id'"):
        disruption(units.assign(case_id=units["unit_id"]))
    with pytest.raises(QualError, match="expected threshold to be a finite number"):
        disruption(units, threshold="poor")
    decisions = pd.DataFrame({"unit_id": ["u0"], "coder": "ana", "code": "c", "applied": True})
    with pytest.raises(QualError, match="expected the source"):
        disruption(units, decisions=decisions)
    with pytest.raises(TableError, match="found others: 'stranger'"):
        disruption(units, decisions=decisions.assign(unit_id="stranger"), source="ana")
    with pytest.raises(TableError, match="found 'pooled'"):
        disruption(units, decisions=decisions, source="pooled")


def test_the_conversation_is_the_column_document_id_unless_another_is_named() -> None:
    units = pd.DataFrame(
        {"unit_id": list("abcd"), "document_id": list("ttss"), "turn": [1, 2, 1, 2], "stars": 3.0}
    )
    given = {"rating": "stars", "position": "turn", "n_boot": 10}
    by_name = links.disruption(units, document_id="document_id", **given)
    pd.testing.assert_frame_equal(links.disruption(units, **given), by_name)
