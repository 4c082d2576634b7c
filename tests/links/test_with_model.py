"""Links with a model's codes: the numbers by a second way, what is refused, and what is told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sense7_qual as qual
from sense7_qual.errors import QualError, TableError
from sense7_qual.links.models import by_hand, cumulative_mixed, marginal, with_model
from tests.helpers.model_studies import Design, draw, frames, rows
from tests.helpers.rating_studies import with_means

COLUMNS = {"rating": "empathy", "cluster": "case_id", "rating_range": (1, 5)}


def linked(given: dict[str, pd.DataFrame], **settings: object) -> pd.DataFrame:
    return with_model(**{**given, **COLUMNS, "odds_ratios": False, **settings}).set_index("source")


def study(seed: int = 3, **design: object) -> dict[str, pd.DataFrame]:
    return frames(draw(np.random.default_rng(seed), Design(**design)))


# A second way, from pairs of texts and from texts left out one participant at a time ------------------------


def pairwise(code: np.ndarray, y: np.ndarray, w: np.ndarray) -> float:
    """The rank-biserial effect as what it is: over all pairs, higher less lower."""
    with_code, without = code == 1, code == 0
    pairs = np.sign(y[with_code][:, None] - y[without][None, :])
    weight = w[with_code][:, None] * w[without][None, :]
    return float((pairs * weight).sum() / weight.sum())


def difference(code: np.ndarray, y: np.ndarray, w: np.ndarray) -> float:
    return float(
        np.average(y[code == 1], weights=w[code == 1]) - np.average(y[code == 0], weights=w[code == 0])
    )


def second_way(given: dict[str, pd.DataFrame], measure: str) -> dict[str, float]:
    """Predict-then-debias by the formulas, with participants left out of the frames themselves."""
    effect = {"rank_biserial": lambda *a: np.arctanh(pairwise(*a)), "mean_difference": difference}[measure]
    frame = given["units"].merge(given["inclusion"], on="unit_id")
    for name, decided in (("human", given["decisions"]), ("model", given["model"])):
        frame[name] = frame["unit_id"].map(decided.set_index("unit_id")["applied"].astype(float))

    def three(part: pd.DataFrame) -> list[float]:
        every = part[part["model"].notna()]
        hand, same = part[part["human"].notna()], part[part["human"].notna() & part["model"].notna()]
        return [
            effect(every["model"].to_numpy(), every["empathy"].to_numpy(), np.ones(len(every))),
            effect(hand["human"].to_numpy(), hand["empathy"].to_numpy(), 1 / hand["probability"].to_numpy()),
            effect(same["model"].to_numpy(), same["empathy"].to_numpy(), 1 / same["probability"].to_numpy()),
        ]

    def effects_alone(part: pd.DataFrame) -> list[float]:
        return [np.tanh(one) for one in three(part)] if measure == "rank_biserial" else three(part)

    a, h, p = three(frame)
    moved = np.zeros((3, frame["case_id"].nunique()))
    there = [frame["model"].notna(), frame["human"].notna(), frame["human"].notna() & frame["model"].notna()]
    for at, case in enumerate(frame["case_id"].unique()):
        moved[:, at] = effects_alone(frame[frame["case_id"] != case])
    for row, known in zip(moved, there, strict=True):
        own = np.isin(frame["case_id"].unique(), frame.loc[known, "case_id"])
        n = own.sum()
        row[own] = (row[own] - row[own].mean()) * np.sqrt((n - 1) / n)
        row[~own] = 0
    if measure == "rank_biserial":
        moved /= (1 - np.tanh([a, h, p]) ** 2)[:, None]
    c = moved @ moved.T
    hand = frame[frame["human"].notna()]
    k = min(hand.loc[hand["human"] == value, "case_id"].nunique() for value in (0, 1))
    v_d, cov = c[0, 0] + c[2, 2] - 2 * c[0, 2], c[1, 2] - c[0, 1]
    r2 = cov**2 / (v_d * c[1, 1])
    omega = min(max(cov / v_d * max(0.0, 1 - (1 - r2) / ((k - 2) * r2)), 0.0), 1.0)
    v = (c[1, 1] - 2 * omega * cov + omega**2 * v_d) * (1 + 1 / (k - 3))
    if v >= c[1, 1]:
        omega, v = 0.0, c[1, 1]
    middle, half = h + omega * (a - p), stats.t.ppf(0.975, k - 1) * np.sqrt(v)
    ends = np.array([middle, middle - half, middle + half])
    ends = np.tanh(ends) if measure == "rank_biserial" else ends
    p_value = 2 * stats.t.sf(abs(middle) / np.sqrt(v), k - 1)
    return {
        "estimate": ends[0],
        "low": ends[1],
        "high": ends[2],
        "weight": omega,
        "worth": r2,
        "p": p_value,
        "width": np.sqrt(v / c[1, 1]),
    }


@pytest.mark.parametrize("drawn", ["texts", "participants", "by the model"])
@pytest.mark.parametrize("measure", ["rank_biserial", "mean_difference"])
def test_the_numbers_are_those_of_the_formulas(drawn: str, measure: str) -> None:
    given = study(drawn=drawn, participants=50, texts=6, share=0.5, errors=0.3)
    said = given["model"]["unit_id"].str[-1] != "7"  # the model abstains on a tenth of the texts
    given["model"] = given["model"][said]
    row, other = linked(given).loc["model + human"], second_way(given, measure)
    found = row[[measure, f"{measure}_low", f"{measure}_high"]].astype(float).to_numpy()
    assert found == pytest.approx([other[name] for name in ("estimate", "low", "high")], abs=1e-10)
    if measure == "rank_biserial":
        of_rank = row[["model_weight", "worth", "width_ratio", "p"]].astype(float).to_numpy()
        assert of_rank == pytest.approx(
            [other[name] for name in ("weight", "worth", "width", "p")], abs=1e-10
        )
        assert 0 < other["weight"] < 1


def test_the_rows_of_people_and_of_the_model_are_each_its_own_link() -> None:
    given = study(participants=40)
    table = linked(given)
    for source, decisions in (("human", given["decisions"]), ("model", given["model"])):
        alone = qual.links.code_to_rating(
            decisions,
            given["units"],
            **COLUMNS,
            sources=[decisions["coder"].iloc[0]],
            odds_ratios=False,
            n_boot=1,
            details=True,
        ).iloc[0]
        same = ["n_with", "n_without", "n_clusters", "n_clusters_with", "mean_difference", "rank_biserial"]
        assert table.loc[source, same].astype(float).to_numpy() == pytest.approx(alone[same].astype(float))
        assert table.loc[source, "p"] == pytest.approx(alone["p"], rel=0.5)  # of the effect, not of its z


@pytest.mark.parametrize("drawn", ["texts", "hand_sample", "by the model"])
def test_frames_give_what_simulated_studies_give(drawn: str) -> None:
    texts = draw(np.random.default_rng(8), Design(drawn=drawn))
    table, row = linked(frames(texts)), rows(texts)
    for source, found in row.items():
        for name in ("rank_biserial", "rank_biserial_low", "mean_difference_high", "n_by_hand"):
            assert table.loc[source, name] == pytest.approx(found[name])


def test_every_text_coded_by_hand_leaves_people_as_they_are() -> None:
    given = study(share=1.0)
    table = linked(given, inclusion="equal")
    both, human = table.loc["model + human"], table.loc["human"]
    assert both["model_weight"] == 0
    assert np.isnan(both["worth"])
    assert both["caution"] == "model_not_used"
    for name in ("rank_biserial", "rank_biserial_low", "rank_biserial_high", "mean_difference_low", "p"):
        assert both[name] == human[name]


def test_a_model_without_a_link_of_its_own_is_not_used() -> None:
    given = study()
    never = given["model"].assign(applied=False)
    table = linked({**given, "model": never})
    assert table.loc["model", "reason"] == "code_never_applied"
    assert table.loc["model + human", ["model_weight", "width_ratio", "caution"]].tolist() == [
        0,
        1,
        "model_not_used",
    ]
    few = given["model"].assign(
        applied=given["model"]["unit_id"].isin(given["decisions"]["unit_id"].iloc[:3])
    )
    assert linked({**given, "model": few}).loc["model + human", "model_weight"] == 0
    # a code that people alone have, and one that the model alone has
    other = given["model"].assign(code="cold")
    both = linked({**given, "model": other}).reset_index().set_index(["source", "code"])
    assert both.loc[("model", "warm"), "reason"] == "no_rated_units"
    assert both.loc[("model + human", "warm"), "model_weight"] == 0
    assert both.loc[("model + human", "cold"), "reason"] == "no_rated_units"


def test_where_people_have_no_interval_nobody_has() -> None:
    given = study(participants=12, share=0.2)
    few = linked(given)
    assert few.loc[["human", "model + human"], "reason"].tolist() == ["few_clusters"] * 2
    assert few.loc["human", "rank_biserial"] == few.loc["model + human", "rank_biserial"]
    assert few[["rank_biserial_low", "p"]].loc[["human", "model + human"]].isna().to_numpy().all()
    given = study(participants=40)
    apart = given["decisions"].merge(given["units"], on="unit_id")
    apart = given["decisions"].assign(applied=(apart["empathy"] <= 2).to_numpy())
    found = linked({**given, "decisions": apart})
    assert found.loc["human", ["reason", "rank_biserial"]].tolist() == ["complete_separation", -1.0]
    weighted = study(participants=60, drawn="by the model")  # weights do not make −1 look like less
    apart = weighted["decisions"].merge(weighted["units"], on="unit_id")
    apart = weighted["decisions"].assign(applied=(apart["empathy"] <= 2).to_numpy())
    assert linked({**weighted, "decisions": apart}).loc["human", "reason"] == "complete_separation"


def test_a_model_that_reads_the_rating_is_told_from_people() -> None:
    given = study(1, model="reads poor ratings as the code", shift=0.0, participants=120)
    table = linked(given)
    assert table.loc["model", "caution"] == "model_differs"
    assert table.loc["model", "differs"] < 0
    assert table.loc["model", "differs_p_holm"] < 0.05
    assert table["differs"].notna().tolist() == [False, True, False]
    assert table.loc["model", "rank_biserial_high"] < 0 < table.loc["model + human", "rank_biserial_high"]


# The draw ---------------------------------------------------------------------------------------------------


def test_texts_that_were_not_drawn_are_refused() -> None:
    given = study()
    with pytest.raises(TypeError, match="inclusion"):
        with_model(
            given["decisions"], given["units"], model=given["model"], rating="empathy", cluster="case_id"
        )
    with pytest.raises(QualError, match="expected inclusion to be"):
        linked(given, inclusion="random")
    lacking = given["inclusion"].assign(drawn=lambda frame: frame["drawn"] & (frame.index > 20))
    with pytest.raises(TableError, match=r"that were drawn – found \d+ others: 'u000.*hand_sample"):
        linked(given, inclusion=lacking)
    without = given["inclusion"].drop(columns="drawn").iloc[21:]
    with pytest.raises(TableError, match=r"that were drawn – found \d+ others: 'u000"):
        linked(given, inclusion=without)
    with pytest.raises(TableError, match="True or False in column 'drawn'"):
        linked(given, inclusion=given["inclusion"].assign(drawn="False"))
    with pytest.raises(TableError, match="probabilities above 0"):
        linked(given, inclusion=given["inclusion"].assign(probability=0.0))


def test_texts_picked_by_the_models_answer_are_refused_unless_their_probabilities_are_given() -> None:
    given = study(drawn="by the model", participants=80)
    assert linked(given).loc["model + human", "reason"] is pd.NA
    with pytest.raises(TableError, match=r"the model applies 'warm' to \d\d% of them .*hand_sample"):
        linked(given, inclusion="equal")
    yes = set(given["model"].loc[given["model"]["applied"], "unit_id"])
    every = frames(draw(np.random.default_rng(3), Design(share=1.0, participants=80)))
    for picked in (every["decisions"]["unit_id"].isin(yes), ~every["decisions"]["unit_id"].isin(yes)):
        with pytest.raises(TableError, match="the model applies 'warm' to"):
            linked({**every, "decisions": every["decisions"][picked]}, inclusion="equal")


def test_drawn_texts_without_a_decision_are_told() -> None:
    given = study()
    table = linked({**given, "decisions": given["decisions"].iloc[3:]})
    assert table["caution"].fillna("").tolist() == ["drawn_not_coded", "", "drawn_not_coded"]
    assert table["n_by_hand"].unique().tolist() == [len(given["decisions"]) - 3]


# Who knows what ---------------------------------------------------------------------------------------------


def suggested(model: pd.DataFrame, **columns: object) -> pd.DataFrame:
    made = model[["unit_id", "code"]].assign(
        suggested=model["applied"], probability=0.5, start=None, end=None
    )
    return made.assign(**columns)


def test_what_the_model_learned_from_is_left_out_and_counted() -> None:
    given = study()
    cases = given["units"].set_index("unit_id")["case_id"]
    taught = given["model"]["unit_id"].map(cases) < 20
    found = linked({**given, "model": suggested(given["model"], learned=taught)})
    rest = {name: frame[frame["unit_id"].map(cases) >= 20] for name, frame in given.items()}
    alone = linked(rest)
    assert found["n_left_out"].unique().tolist() == [len(given["decisions"]) - len(rest["decisions"])]
    numbers = ["rank_biserial", "rank_biserial_low", "mean_difference", "n_by_hand", "n_clusters"]
    pd.testing.assert_frame_equal(found[numbers], alone[numbers])
    with pytest.raises(TableError, match="from whom the model has not learned – found none among"):
        linked({**given, "model": suggested(given["model"], learned=True)})
    with pytest.raises(TableError, match="expected a column 'learned'"):
        linked({**given, "model": suggested(given["model"])})


def test_suggestions_with_a_reason_say_nothing() -> None:
    given = study()
    blank = given["model"]["unit_id"].isin(given["units"]["unit_id"].iloc[::5])
    said = suggested(given["model"], learned=False, reason=np.where(blank, "blank_text", None))
    numbers = ["rank_biserial", "rank_biserial_low", "n_with", "n_without"]
    pd.testing.assert_frame_equal(
        linked({**given, "model": said})[numbers], linked({**given, "model": given["model"][~blank]})[numbers]
    )


def test_decisions_after_suggestions_were_seen_are_left_out() -> None:
    given = study()
    ids = given["decisions"]["unit_id"]
    shown = pd.Series([True] * 30 + [False] * (len(ids) - 30), index=pd.Index(ids, name="unit_id"))
    found = linked(given, shown=shown)
    assert found["n_left_out"].unique().tolist() == [30]
    assert found.loc["human", "n_by_hand"] == len(ids) - 30
    assert found.loc["model", "n_with"] == linked(given).loc["model", "n_with"]
    assert found["caution"].fillna("").tolist() == ["drawn_not_coded", "", "drawn_not_coded"]
    with pytest.raises(TableError, match="without seeing suggestions"):
        linked(given, shown=shown.where(shown, True))
    with pytest.raises(TableError, match="expected True or False by unit"):
        linked(given, shown=shown.astype(str))
    with pytest.raises(QualError, match="expected shown to be a Series"):
        linked(given, shown=shown.to_frame())


def test_a_model_is_one_model_and_never_the_standard() -> None:
    given = study()
    two = pd.concat([given["model"], given["model"].assign(coder="model-b")])
    for wrong in (two, given["model"].assign(coder="ana")):
        with pytest.raises(TableError, match=r"decisions of one model, called 'model-…' – found coders"):
            linked({**given, "model": wrong})
    with pytest.raises(TableError, match="expected people's decisions as source"):
        linked({**given, "decisions": given["model"]}, source="model-a")
    with pytest.raises(TableError, match="expected source 'ben'"):
        linked(given, source="ben")
    with pytest.warns(UserWarning, match="model-b"):
        mixed = linked({**given, "decisions": pd.concat([given["decisions"], two.tail(400)])})
    pd.testing.assert_frame_equal(mixed, linked(given))


def test_whose_decisions_are_the_standard() -> None:
    given = study()
    ben = given["decisions"].assign(
        coder="ben", applied=lambda frame: ~frame["applied"] | (frame.index % 2 == 0)
    )
    settled = given["decisions"].assign(coder="consensus")
    everybody = pd.concat([given["decisions"].assign(applied=True), ben, settled])
    numbers = ["rank_biserial", "rank_biserial_low", "n_by_hand"]
    same = linked({**given, "decisions": everybody})  # the consensus
    pd.testing.assert_frame_equal(same[numbers], linked(given)[numbers])
    assert same["n_tied"].isna().all()
    two = linked({**given, "decisions": everybody[everybody["coder"] != "consensus"]}, source="majority")
    assert two.loc["human", "n_tied"] > 0
    assert "ties_left_out" in two.loc["human", "caution"]
    assert np.isnan(float(two["n_tied"].astype("float64")["model"]))


def test_refusals_of_frames_and_settings() -> None:
    given = study()
    with pytest.raises(TableError, match="units of the frame `units`"):
        linked({**given, "units": given["units"].iloc[:9]})
    with pytest.raises(TableError, match="expected a column 'empathy'"):
        linked({**given, "units": given["units"].drop(columns="empathy")})
    with pytest.raises(QualError, match="confidence_level"):
        linked(given, confidence_level=95)
    with pytest.raises(TableError, match="numbers from 1 to 5"):
        linked({**given, "units": given["units"].assign(empathy=-99.0)})
    with pytest.raises(TableError, match="pandas DataFrame"):
        linked({**given, "model": "model-a"})


@pytest.mark.parametrize("picked", ["the poor ones", "the ends of the scale"])
def test_texts_that_were_chosen_by_their_rating_are_refused(picked: str) -> None:
    given = study(drawn="texts", share=1.0)
    by_rating = given["units"]["empathy"].to_numpy()
    odd = by_rating <= 3 if picked == "the poor ones" else np.isin(by_rating, [1, 5])
    rng = np.random.default_rng(1)
    taken = given["units"]["unit_id"][odd & (rng.random(len(odd)) < 0.6)]
    chosen = {**given, "decisions": given["decisions"][given["decisions"]["unit_id"].isin(taken)]}
    with pytest.raises(TableError, match="have 'empathy' of"):
        linked(chosen, inclusion="equal")
    at_random = given["units"]["unit_id"][rng.random(len(odd)) < 0.3]
    fair = {**given, "decisions": given["decisions"][given["decisions"]["unit_id"].isin(at_random)]}
    assert not linked(fair, inclusion="equal")["caution"].str.contains("sample_differs", na=False).any()


def test_texts_a_little_off_in_their_ratings_are_cautioned_about() -> None:
    given = study(drawn="texts", share=1.0)
    rng, rating = np.random.default_rng(3), given["units"]["empathy"].to_numpy()
    taken = given["units"]["unit_id"][rng.random(len(rating)) < np.where(rating <= 2, 0.42, 0.28)]
    chosen = {**given, "decisions": given["decisions"][given["decisions"]["unit_id"].isin(taken)]}
    caution = linked(chosen, inclusion="equal")["caution"].fillna("")
    assert {name: "sample_differs" in said for name, said in caution.items()} == {
        "human": True,
        "model": False,
        "model + human": True,
    }


def test_more_texts_than_the_probabilities_allow_are_refused() -> None:
    given = study(drawn="texts", share=1.0)
    chance = pd.DataFrame({"unit_id": given["units"]["unit_id"], "probability": 0.3})
    with pytest.raises(TableError, match="sum of the probabilities"):
        linked(given, inclusion=chance)


# Odds ratios ------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_mixed_odds_ratios_where_participants_were_drawn_and_gee_where_texts_were() -> None:
    given = study(drawn="participants", share=0.5, participants=60, errors=0.0)
    table = linked(given, odds_ratios=True)
    assert table["odds_ratio"].notna().all()
    assert table["gee_odds_ratio"].isna().all()
    frame = given["units"].merge(given["model"], on="unit_id")
    code = with_means(frame[["applied"]].astype(float).set_axis(["code"], axis=1), frame["case_id"])
    model = cumulative_mixed(frame["empathy"], code, groups=frame["case_id"])
    both = frame.groupby("case_id")["applied"].nunique().eq(2).sum()
    assert table.loc["model", "odds_ratio_df"] == table.loc["model", "n_clusters_both"] - 1 == both - 1
    assert table.loc["model", "odds_ratio"] == pytest.approx(float(np.exp(model.coefficients["code"])))
    width = np.log(table["odds_ratio_high"] / table["odds_ratio_low"])
    assert width["model + human"] < width["human"]

    texts = study(drawn="hand_sample", participants=40)
    table = linked(texts, odds_ratios=True)
    assert table["odds_ratio_reason"].fillna("").tolist() == ["", "", "texts_drawn"]
    assert table["gee_odds_ratio"].notna().all()
    frame = texts["units"].merge(texts["decisions"], on="unit_id")
    gee = marginal(frame["empathy"], frame["applied"].rename("code"), groups=frame["case_id"])
    assert table.loc["human", "gee_odds_ratio"] == pytest.approx(float(np.exp(gee.coefficients["code"])))
    width = np.log(table["gee_odds_ratio_high"] / table["gee_odds_ratio_low"])
    assert width["model + human"] <= width["human"] + 1e-12

    unequal = linked(study(drawn="by the model", participants=40), odds_ratios=True)
    assert unequal["odds_ratio_reason"].fillna("").tolist() == ["unequal_inclusion", "", "unequal_inclusion"]
    assert unequal["gee_odds_ratio"].isna().all()


# Printed ----------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_table_and_figure_take_the_rows() -> None:
    given = study(drawn="hand_sample", participants=40)
    table = with_model(**given, **COLUMNS)
    printed = qual.report.tables.link(
        table, source=["human", "model", "model + human"], cluster_name="people"
    )
    assert [row[1] for row in printed.rows] == ["human", "model", "model + human"]
    notes = " ".join(printed.notes)
    assert "bootstrap" not in notes
    percent = round(100 * float(table["width_ratio"].dropna().iloc[0]))
    assert f"people's alone: warm / model + human {percent}" in notes
    assert "people's, on the texts coded by hand; the model's, on all texts" in notes
    plot = qual.figures.link_plot(table, source="model + human")
    assert "(model + human) for each code. warm: −" in plot.description
    forest = qual.figures.link_forest(
        table, effect="rank_biserial", sources=["human", "model", "model + human"]
    )
    assert "model + human" in forest.description
    coder = qual.links.code_to_rating(
        given["decisions"].assign(coder="human"),
        given["units"],
        **COLUMNS,
        odds_ratios=False,
        n_boot=9,
        sources=["human"],
    )
    assert qual.report.tables.link(coder, source="human").notes[0] == "Basis: not stated · 104 texts: human"


# Planning ---------------------------------------------------------------------------------------------------


def test_a_forecast_for_the_pilot_itself_is_the_pilot() -> None:
    table = with_model(**study(drawn="hand_sample"), **COLUMNS, odds_ratios=False)
    n = int(table["n_by_hand"].iloc[0])
    plan = by_hand(table, n=[n // 4, n, 2 * n]).set_index("n")
    z = np.arctanh(table.set_index("source")[["rank_biserial", "rank_biserial_low", "rank_biserial_high"]])
    for name, source in (("half_width_human", "human"), ("half_width", "model + human")):
        middle = z.loc["model + human", "rank_biserial"]  # both widths are told at the better estimate
        half = (z.loc[source, "rank_biserial_high"] - z.loc[source, "rank_biserial_low"]) / 2
        width = np.tanh(middle + half) - np.tanh(middle - half)
        assert plan.loc[n, name] == pytest.approx(width / 2)
    assert plan["half_width"].is_monotonic_decreasing
    assert (plan["half_width"] <= plan["half_width_human"] + 1e-12).all()


def test_forecasts_that_cannot_be_made_say_why() -> None:
    few = with_model(**study(participants=12, share=0.2), **COLUMNS, odds_ratios=False)
    assert by_hand(few, n=[30])["reason"].tolist() == ["few_clusters"]
    table = with_model(**study(drawn="hand_sample"), **COLUMNS, odds_ratios=False)
    assert by_hand(table, n=[8])["reason"].tolist() == ["few_clusters"]
    assert by_hand(table, n=[]).empty
    for wrong in (0, 100_000):
        with pytest.raises(QualError, match="numbers of texts from 1 to"):
            by_hand(table, n=[wrong])
    with pytest.raises(TableError, match="expected a column 'var_model'"):
        by_hand(table.drop(columns="var_model"), n=[30])
    given = study(drawn="hand_sample")
    unused = with_model(
        **{**given, "model": given["model"].assign(applied=False)}, **COLUMNS, odds_ratios=False
    )
    plan = by_hand(unused, n=[100])
    assert plan["half_width"].tolist() == plan["half_width_human"].tolist()


def test_a_draw_is_not_refused_by_chance() -> None:
    rng = np.random.default_rng(12)
    from sense7_qual.links.models._by_hand import refuse_picked

    for drawn in ("texts", "participants", "hand_sample", "by the model"):
        for prevalence in (0.03, 0.2, 0.9):
            for _ in range(25):
                refuse_picked(
                    [draw(rng, replace(Design(drawn=drawn, participants=30), prevalence=prevalence))],
                    rating="rating",
                    function="with_model",
                )
