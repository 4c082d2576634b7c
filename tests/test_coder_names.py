"""The rule that tells models from people by name, and what is called almost so."""

from __future__ import annotations

import contextlib
import warnings

import numpy as np
import pandas as pd
import pytest

from sense7_qual import acts, adjudication, agreement, codings, frames, links
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, TableError

N = 38
"""Texts: two people apply the code to 11 and differ on 7; the model applies it to 13."""
GIVEN = {
    "ana": [1] * 11 + [1] * 7 + [0] * 20,
    "ben": [1] * 11 + [0] * 7 + [0] * 20,
    "model-x": [0] + [1] * 10 + [1] * 3 + [0] * 24,
}


def decisions_of(given: dict[str, list[int]]) -> pd.DataFrame:
    rows = [
        (f"m{i:02}", coder, "interest", bool(value))
        for coder, row in given.items()
        for i, value in enumerate(row)
    ]
    return pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])


DECISIONS = decisions_of(GIVEN)
UNITS = pd.DataFrame(
    {
        "unit_id": [f"m{i:02}" for i in range(N)],
        "case_id": [f"p{i % 19}" for i in range(N)],
        "stars": [1 + i * 7 % 5 for i in range(N)],
    }
)


def test_a_model_does_not_raise_the_agreement_of_people() -> None:
    people = agreement.by_code(DECISIONS[DECISIONS["coder"] != "model-x"], n_boot=20)
    with pytest.warns(UserWarning, match="by_code: models are not counted .* left out: 'model-x'"):
        pd.testing.assert_frame_equal(agreement.by_code(DECISIONS, n_boot=20), people)
    assert people[["n_coders", "n_models", "alpha"]].round(3).values.tolist() == [[2, 0, 0.615]]


def test_who_asks_gets_the_model_counted_and_is_told_so() -> None:
    both = agreement.by_code(DECISIONS, with_models=True, n_boot=20)
    assert both[["n_coders", "n_models", "alpha"]].round(3).values.tolist() == [[3, 1, 0.701]]
    named = frames.as_people(DECISIONS, ["model-x"])
    assert agreement.by_code(named, n_boot=20)[["n_models", "alpha"]].round(3).values.tolist() == [[0, 0.701]]
    assert len(agreement.pairwise(DECISIONS, with_models=True)) == 3
    assert len(codings.majority(DECISIONS, with_models=True)) == N
    assert adjudication.queue(DECISIONS, with_models=True)["n_coders"].unique().tolist() == [3]


def test_the_models_of_a_code_are_those_on_its_pairable_units() -> None:
    alone = DECISIONS.query("coder == 'model-x'").assign(code="other")
    rows = agreement.by_code(pd.concat([DECISIONS, alone]), with_models=True, n_boot=5).set_index("code")
    assert rows["n_models"].to_dict() == {"interest": 1, "other": 0}
    assert rows["n_coders"].to_dict() == {"interest": 3, "other": 0}


@pytest.mark.long
def test_links_pool_a_model_only_where_it_is_asked_for() -> None:
    def linked(decisions: pd.DataFrame, **named: object) -> pd.DataFrame:
        return links.code_to_rating(
            decisions,
            UNITS,
            rating="stars",
            cluster="case_id",
            odds_ratios=False,
            n_boot=20,
            details=True,
            **named,  # type: ignore[arg-type]
        )

    people = linked(DECISIONS[DECISIONS["coder"] != "model-x"])
    with pytest.warns(UserWarning, match="code_to_rating"):
        pd.testing.assert_frame_equal(linked(DECISIONS), people)
    assert not people["caution"].str.contains("models_counted").any()
    asked = linked(DECISIONS, with_models=True).set_index("source")
    assert list(asked.index) == ["ana", "ben", "model-x", "majority", "pooled"]
    assert asked.loc["majority", "n_coders"] == 3
    counted = asked["caution"].str.contains("models_counted").fillna(False)
    assert counted[counted].index.tolist() == ["majority", "pooled"]


@pytest.mark.long
def test_a_model_is_a_source_where_it_is_named_and_changes_no_other_row() -> None:
    named = {"rating": "stars", "cluster": "case_id"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = links.code_to_rating(
            DECISIONS, UNITS, sources=["model-x", "pooled", "majority"], odds_ratios=False, n_boot=20, **named
        )
        curve = links.multiverse(
            DECISIONS, UNITS, sources=["model-x", "majority"], analyses=["rank_biserial"], n_boot=20, **named
        )
    people = links.code_to_rating(
        DECISIONS[DECISIONS["coder"] != "model-x"],
        UNITS,
        sources=["pooled", "majority"],
        odds_ratios=False,
        n_boot=20,
        **named,
    )
    assert rows["source"].tolist() == ["model-x", "pooled", "majority"]
    of_people = rows.iloc[1:].reset_index(drop=True)
    pd.testing.assert_frame_equal(of_people.drop(columns="basis"), people.drop(columns="basis"))
    assert of_people["basis"].astype(str).tolist() == people["basis"].astype(str).tolist()
    assert set(curve["source"]) == {"model-x", "majority"}
    assert curve.query("source == 'model-x'")["estimate"].notna().any()


def test_models_are_found_by_name_and_no_unnamed_one_is_a_human() -> None:
    found = agreement.human_model(DECISIONS, n_boot=20)
    assert found["model"].dropna().tolist() == ["model-x"]
    assert found["estimate"].round(3).tolist()[0] == 0.615
    second = DECISIONS.query("coder == 'model-x'").assign(coder="model-y")
    with pytest.warns(UserWarning, match="human_model: .*'model-y'"):
        one = agreement.human_model(pd.concat([DECISIONS, second]), models="model-x", n_boot=20)
    pd.testing.assert_frame_equal(one, found)
    with pytest.raises(TableError, match="a coder named 'model-…'"):
        agreement.human_model(DECISIONS[DECISIONS["coder"] != "model-x"])
    by_code = agreement.diagnosis.alternative_annotator_test(
        pd.concat([DECISIONS, DECISIONS.query("coder == 'ana'").assign(coder="cleo")]), epsilon=0.2
    )
    assert by_code.models == ("model-x",)


ALMOST = dict.fromkeys(("model", "Modell", "model_x", "Model"), True)
ALMOST |= dict.fromkeys(("modeller", "supermodel-x"), False)


@pytest.mark.parametrize("name", ALMOST)
def test_who_is_called_almost_so_is_a_person(name: str) -> None:
    assert not frames.is_model(name)
    named = DECISIONS.assign(coder=DECISIONS["coder"].replace("model-x", name))
    with pytest.warns(UserWarning, match="counts as a person") if ALMOST[name] else contextlib.nullcontext():
        assert agreement.by_code(named, n_boot=5)["n_coders"].tolist() == [3]
    assert acts.check_coder(name) == acts.check_person(name) == name


@pytest.mark.parametrize("name", ["Model-x", "MODEL-X", "model-", "Model-", " mOdel-x "])
def test_another_case_or_nothing_behind_it_is_refused(name: str) -> None:
    named = DECISIONS.assign(coder=DECISIONS["coder"].replace("model-x", name))
    for statistic in (agreement.by_code, codings.tally, codings.majority, adjudication.consensus):
        with pytest.raises(TableError, match="'model-…' in lower case"):
            statistic(named)
    wide = named.pivot_table(index="unit_id", columns="coder", values="applied")
    with pytest.raises(TableError, match="'model-…' in lower case"):
        agreement.from_wide(wide.rename_axis(columns=None), coders="columns")
    with pytest.raises(ActError):
        acts.check_coder(name)


def test_a_model_codes_and_no_person_is_called_so() -> None:
    assert acts.check_coder("model-qwen") == "model-qwen"
    with pytest.raises(ActError, match="names a model"):
        acts.check_person("model-qwen")
    assert (
        acts.finish(coder="model-qwen", unit_id="m1", codebook=Codebook.read("sense7")).coder == "model-qwen"
    )


def test_a_table_from_elsewhere_says_who_is_a_model() -> None:
    sheet = pd.DataFrame({"u": ["m1", "m1"], "c": ["ana", " GPT "], "interest": [1, 0]})
    decided = codings.from_table(sheet, unit_id="u", coder="c", codes=["interest"])
    named = frames.as_models(decided, ["GPT"])
    assert named["coder"].tolist() == ["ana", "model-GPT"]
    assert frames.people(named)["coder"].tolist() == ["ana"]
    assert frames.as_people(named, ["model-GPT"])["coder"].tolist() == ["ana", "person-GPT"]
    assert frames.as_people(decided, ["GPT"])["coder"].tolist() == ["ana", "person-GPT"]
    assert decided["coder"].tolist() == ["ana", "GPT"]
    assert frames.as_models(named, ["model-GPT"])["coder"].tolist() == ["ana", "model-GPT"]


def test_a_wide_table_says_so_too() -> None:
    scale = pd.CategoricalDtype(["low", "high"], ordered=True)
    sheet = pd.DataFrame(
        {"ana": ["low", "high", "low"], "ben": ["low", "high", "high"], "gpt": ["low", "low", "high"]}
    ).astype(scale)
    wide = frames.as_models(agreement.from_wide(sheet, coders="columns"), ["gpt"])
    assert list(wide.columns) == ["ana", "ben", "model-gpt"]
    assert wide.columns.name == "coder"
    assert set(wide.dtypes) == {scale}
    people = agreement.coefficients.krippendorff_alpha(
        agreement.from_wide(sheet[["ana", "ben"]], coders="columns"), level="ordinal"
    )
    with pytest.warns(UserWarning, match="values: .*'model-gpt'"):
        assert agreement.coefficients.krippendorff_alpha(wide, level="ordinal") == people
    turned = frames.as_models(agreement.from_wide(sheet.T, coders="rows"), ["gpt"])
    assert list(turned.index) == ["ana", "ben", "model-gpt"]


@pytest.mark.parametrize(
    ("rename", "models", "found"),
    [
        (frames.as_models, ["bert"], "expected coders of the frame"),
        (frames.as_models, ["consensus"], "expected coders of the frame"),
        (frames.as_models, ["x"], "already taken"),
        (frames.as_people, ["ana"], "expected names of models"),
        (frames.as_people, ["model-x"], "already taken"),
        (frames.as_people, ["model-consensus"], "already taken"),
    ],
)
def test_what_cannot_be_renamed_is_refused(rename: object, models: list[str], found: str) -> None:
    coders = ["ana", "x", "model-x", "consensus", "model-consensus"]
    frame = pd.DataFrame({"unit_id": "m1", "coder": coders, "code": "interest", "applied": True})
    with pytest.raises(TableError, match=found):
        rename(frame, models)  # type: ignore[operator]
    with pytest.raises(TableError, match="expected one column 'coder'"):
        rename(frame.drop(columns="coder"), ["model-x"])  # type: ignore[operator]


def test_drawn_models_enter_no_count() -> None:
    """Of 10,000 drawn decisions of people and models the tally has those of people, and no other."""
    rng = np.random.default_rng(7)
    coders = ["ana", "ben", "modeller", "model", "model-a", "model-b", "consensus"]
    drawn = pd.DataFrame(
        {
            "unit_id": rng.integers(0, 900, 10_000).astype(str),
            "coder": rng.choice(coders, 10_000),
            "code": rng.choice(["interest", "warm"], 10_000),
            "applied": rng.random(10_000) < 0.4,
        }
    ).drop_duplicates(["unit_id", "coder", "code"])
    own = drawn[drawn["coder"].isin(["ana", "ben", "modeller", "model"])]
    with pytest.warns(UserWarning, match="'model-a', 'model-b'"):
        counted = codings.tally(drawn)
    assert counted["n_coders"].sum() == len(own)
    assert counted["n_applied"].sum() == own["applied"].sum()
