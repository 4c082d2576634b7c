"""The whole error: the arms of a model's run as sources, one interval over all, and one p for all choices."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks.whole_error import BASE, CELLS, held
from sense7_qual import coders, corpus, figures, links, report
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.links._whole_error import whole_p
from tests.helpers.scripted_model import CODEBOOK, says
from tests.helpers.simulation import studies

RATED = {"rating": "empathy", "cluster": "case_id", "n_boot": 200, "seed": 7}
CURVE = {"analyses": ["rank_biserial"], "exclusions": ["none", "disputed"]}
WHOLE = ["human", "model-a", "model-a + human"]


@cache
def study() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, coders.Run]:
    """Texts with a rating that "flawed" lowers, two coders on a draw, and a run that errs by its wording."""
    rng = np.random.default_rng(3)
    case = np.repeat(np.arange(60), 8)
    true = rng.random(480) < rng.beta(1, 3, 60)[case]
    latent = rng.normal(size=60)[case] - 1.4 * true + rng.normal(size=480)
    units = pd.DataFrame(
        {
            "unit_id": [f"u{i:03}" for i in range(480)],
            "text": [f"Text number {i}." for i in range(480)],
            "document_id": [f"d{i:03}" for i in range(480)],
            "position": 0,
            "case_id": [f"p{c:02}" for c in case],
            "empathy": 1.0 + np.digitize(latent, [-2, -1, 0, 1]),
        }
    )
    sample = corpus.hand_sample(units, n=160, seed=7)
    people = pd.concat(
        [
            units[["unit_id"]].assign(coder=coder, code=code, applied=codes ^ (rng.random(480) < 0.08))
            for coder in ("ana", "ben")
            for code, codes in (("flawed", true), ("sound", rng.random(480) < 0.3))
        ]
    )
    people = people[people["unit_id"].isin(sample.loc[sample["drawn"], "unit_id"])]
    noise = {name: rng.random(480) for name in ("brief", "plain")}

    def chat(messages: list[dict[str, str]]) -> str:
        number = int(messages[1]["content"].rpartition("number ")[2].split(".")[0])
        brief = messages[0]["content"].startswith("Does this code apply")
        wrong = noise["brief" if brief else "plain"][number] < (0.25 if brief else 0.12)
        return says("yes", "Text number") if bool(true[number]) ^ wrong else says("no")

    plan = coders.variants(runs=2, wordings=["plain", "brief"], orders=2, n=200, seed=5)
    run = coders.code(units, CODEBOOK, chat=chat, coder="model-a", plan=plan)
    return people, units, sample, run


@cache
def curve() -> pd.DataFrame:
    people, units, sample, run = study()
    return links.multiverse(people, units, arms={run.coder: run.answers}, inclusion=sample, **CURVE, **RATED)


def test_each_arm_is_a_source_on_its_own_texts() -> None:
    found, (*_, run) = curve(), study()
    rows = found[(found["code"] == "flawed") & (found["exclusion"] == "none")].set_index("source")
    arms = [f"model-a: {name}" for name in run.answers["variant"].unique()]
    assert set(rows.index) == {*arms, "ana", "ben", "majority", "pooled", *WHOLE}
    assert rows.loc[arms, "n_units"].tolist() == [480, 200, 200, 200]
    base = links.code_to_rating(run.decisions, study()[1], sources=["model-a"], odds_ratios=False, **RATED)
    own = base.set_index("code").loc["flawed", ["rank_biserial", "rank_biserial_low", "p"]]
    assert rows.loc["model-a: base", ["estimate", "low", "p"]].tolist() == own.tolist()


def test_the_whole_error_is_over_coders_and_prompts_and_never_wider_than_people() -> None:
    whole = curve().query("analysis == 'whole' and code == 'flawed'").set_index("source")
    assert whole.index.tolist() == WHOLE
    assert whole["n_coders"].tolist() == [2, pd.NA, 2]
    assert whole["n_prompts"].tolist() == [pd.NA, 3, 1]  # the second run has the prompt of the first
    assert whole["rank"].isna().all()
    width = whole["high"] - whole["low"]
    assert width["model-a + human"] < width["human"]
    assert whole.loc["model-a + human", "estimate"] == pytest.approx(whole.loc["human", "estimate"], abs=0.15)
    assert (whole.loc[["human", "model-a + human"], "p"] < 0.05).all()
    assert whole.loc["model-a", "between_share"] > 0.5  # "brief" errs more


def test_with_one_coder_and_one_prompt_the_rows_are_those_of_with_model() -> None:
    people, units, sample, run = study()
    ana, base = people[people["coder"] == "ana"], run.answers[run.answers["variant"] == "base"]
    found = links.multiverse(ana, units, arms={"model-a": base}, inclusion=sample, **CURVE, **RATED)
    whole = found[found["analysis"] == "whole"].set_index(["code", "source"])
    other = links.models.with_model(
        ana,
        units,
        model=run.decisions,
        inclusion=sample,
        rating="empathy",
        cluster="case_id",
        odds_ratios=False,
    ).replace({"model": "model-a", "model + human": "model-a + human"})
    other = other.set_index(["code", "source"]).loc[whole.index]
    for name in ("", "_low", "_high"):
        mine = whole[name.removeprefix("_") or "estimate"]
        np.testing.assert_allclose(mine, other[f"rank_biserial{name}"], rtol=1e-9)


def test_what_coders_differ_is_in_the_interval() -> None:
    people, units, sample, run = study()
    turned = people["coder"].eq("ben") & people["unit_id"].lt("u240")
    people = people.assign(
        applied=people["applied"] ^ turned
    )  # half of what ben codes, he codes the wrong way
    found = links.multiverse(people, units, arms={"model-a": run.answers}, inclusion=sample, **CURVE, **RATED)
    both = found.query("code == 'flawed' and source == 'model-a + human'").iloc[0]
    before = curve().query("code == 'flawed' and source == 'model-a + human'").iloc[0]
    assert both["between_share"] > 0.3
    assert both["high"] - both["low"] > 2 * (before["high"] - before["low"])


def test_one_p_for_all_choices_is_that_of_permutations() -> None:
    p = curve().groupby("code")["whole_p"].agg(["nunique", "first"])
    assert p["nunique"].eq(1).all()
    assert p.loc["flawed", "first"] == pytest.approx(2 / 201)
    assert p.loc["sound", "first"] > 0.01
    # By hand: two participants of two texts have four arrangements, and the code goes with the rating in one.
    rated = pd.DataFrame({"unit_id": list("abcd"), "rating": [1.0, 2, 1, 2], "cluster": [0, 0, 1, 1]})
    code = pd.DataFrame({"unit_id": list("abcd"), "code": "warm", "applied": [False, True, False, True]})
    assert whole_p([code], "warm", rated, n=4000, seed=1) == pytest.approx(0.5, abs=0.04)
    assert np.isnan(whole_p([code], "warm", rated.assign(cluster=range(4)), n=10, seed=1))


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"inclusion": None}, ArgumentError, "expected inclusion with arms"),
        ({"coder": "ana"}, ArgumentError, "name of a model"),
        ({"variant": "run 2"}, TableError, "answers of the base"),
        ({"learned": True}, TableError, "of participants from whom the model has not learned"),
        ({"sources": []}, TableError, "people's decisions with arms"),
    ],
)
def test_what_measures_nothing_is_refused(
    changed: dict[str, Any], error: type[Exception], message: str
) -> None:
    people, units, sample, run = study()
    answers = run.answers.assign(**{key: changed[key] for key in ("learned",) if key in changed})
    if "variant" in changed:
        answers = answers[answers["variant"] == changed["variant"]]
    given = {"inclusion": sample} | {key: changed[key] for key in ("inclusion", "sources") if key in changed}
    with pytest.raises(error, match=message):
        links.multiverse(
            people, units, arms={changed.get("coder", "model-a"): answers}, **given, **CURVE, **RATED
        )


def test_texts_that_were_picked_are_refused() -> None:
    people, units, sample, run = study()
    flawed = run.decisions.query("code == 'flawed' and applied")["unit_id"]
    some = pd.concat([flawed, units["unit_id"].head(40)]).unique()
    picked = units[["unit_id"]].merge(pd.DataFrame({"code": ["flawed"]}), how="cross")
    picked = picked[picked["unit_id"].isin(some)].assign(coder="ana")
    picked["applied"] = np.arange(len(picked)) % 2 == 0
    arms = {run.coder: run.answers}
    with pytest.raises(TableError, match="multiverse: expected texts coded by hand that were drawn"):
        links.multiverse(picked, units, arms=arms, inclusion="equal", **CURVE, **RATED)
    with pytest.raises(TableError, match="leave these out, or draw texts"):
        links.multiverse(people, units, arms=arms, inclusion=sample.assign(drawn=False), **CURVE, **RATED)


def test_examples_of_the_codebook_and_missing_answers_are_not_decided() -> None:
    people, units, sample, run = study()
    answers = run.answers.assign(in_the_codebook=run.answers["unit_id"].le("u009"))
    answers.loc[answers["unit_id"].between("u010", "u019"), ["verdict", "reason"]] = ["unsure", "unsure"]
    found = links.multiverse(people, units, arms={"model-a": answers}, inclusion=sample, **CURVE, **RATED)
    base = found.query("source == 'model-a: base' and exclusion == 'none'")
    assert base["n_units"].tolist() == [460, 460]


@pytest.mark.long
def test_figure_and_text_print_the_same_whole_error(tmp_path: Any) -> None:
    from tests.helpers.example_papers import shipped

    store, found = shipped(tmp_path), curve()
    texts = [
        one(store, multiverse=found, n_boot=20, settled_by="rulings")
        for one in (report.methods, report.results)
    ]
    row = found.query("analysis == 'whole' and source == 'model-a + human' and code == 'flawed'").iloc[0]
    picture = figures.specification_curve(found, code="flawed", effect="rank_biserial").description
    said, printed = (
        str(texts[1]),
        [f"{row[name]:.2f}".replace("-", "−").replace("0.", ".") for name in ("estimate", "low", "high")],
    )
    at, low, high = printed
    assert f"was {at}, 95% CI [{low}, {high}]" in said
    assert f"{at}, 95% CI [{low}, {high}]" in picture
    p = f"p {'= ' if row['whole_p'] >= 0.001 else ''}{row['whole_p']:.3f}".replace("0.", ".")
    assert p in said
    assert p in picture
    method = str(texts[0])
    n = len(found.query("analysis != 'whole'")[["source", "exclusion"]].drop_duplicates())
    assert f"{n} combinations" in method
    assert "2 coders and 3 prompts" in method
    for text in texts:
        for number in text.frame.query("call.str.contains('multiverse')", engine="python").itertuples():
            value = eval(number.call + number.where, {"multiverse": found})  # noqa: S307
            assert value == number.value


@pytest.mark.simulation
def test_intervals_hold_and_that_of_one_prompt_does_not() -> None:
    n = len(studies(60))
    found = [held([design] * n, seed=at) for at, design in enumerate(CELLS)]
    for key in (("human", "people"), ("model-a", "prompts"), ("model-a + human", "people")):
        shares = np.array([one.share[key] for one in found])
        assert (shares > 0.93 - 3.5 * np.sqrt(0.05 * 0.95 / n)).all()
        assert 0.935 < shares.mean() < 0.985
    assert max(one.widest for one in found) <= 1 + 1e-9
    assert CELLS[0] == BASE
    assert found[0].share["one prompt", "people"] < 0.9
    assert found[0].share["one prompt", "prompts"] < 0.93
