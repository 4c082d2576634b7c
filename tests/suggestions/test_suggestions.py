from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from sense7_qual import suggestions
from sense7_qual.errors import ArgumentError, CodebookError, TableError
from sense7_qual.suggestions._features import SURFACE, sentences, surface
from sense7_qual.suggestions._learn import calibrate, threshold
from sense7_qual.suggestions._suggest import _systematic
from tests.helpers.suggested_texts import BOOK, DECIDED, SPANS, UNITS, embed

FIRST = DECIDED[DECIDED["unit_id"] < "u080"]
REST = UNITS[UNITS["unit_id"] >= "u080"].reset_index(drop=True)


@pytest.fixture(scope="module")
def learned() -> suggestions.Suggester:
    return suggestions.fit(UNITS, FIRST, BOOK, embed=embed)


def words_of(frame: pd.DataFrame, units: pd.DataFrame) -> list[str]:
    texts = units.set_index("unit_id")["text"]
    return [texts[row.unit_id][row.start : row.end] for row in frame.itertuples()]


def test_sentences_are_counted_in_code_points() -> None:
    text = "  It was 😀 good... “Was it?” No!\nYes"
    found = [text[start:end] for start, end in sentences(text)]
    assert found == ["It was 😀 good...", "“Was it?”", "No!", "Yes"]
    assert sentences(" \n ") == []
    assert dict(zip(SURFACE, surface(["I don't know?"])[0], strict=True))["questions"] == np.log(2)


def test_what_was_coded_is_suggested_with_the_sentence_that_carries_it(
    learned: suggestions.Suggester,
) -> None:
    found = learned(REST)
    true = found.merge(DECIDED, on=["unit_id", "code"])
    assert (true["suggested"] == true["applied"]).all()
    asked = found[found["suggested"] & (found["code"] == "asked")]
    assert all("asked" in words for words in words_of(asked, REST))
    assert found.loc[~found["suggested"], ["start", "end"]].isna().all(axis=None)
    assert found["unit_id"].tolist() == REST["unit_id"].repeat(3).tolist()
    assert found["code"].tolist() == list(BOOK.ids) * len(REST)


def test_a_code_that_was_never_applied_is_not_suggested_and_says_why(learned: suggestions.Suggester) -> None:
    never = learned(REST).query("code == 'never'")
    assert not never["suggested"].any()
    assert never["probability"].isna().all()
    assert never["reason"].eq("code_never_applied").all()
    assert learned.codes.set_index("code").loc["never", ["n_present", "n_absent"]].tolist() == [0, 80]


def test_while_nothing_is_coded_definitions_suggest() -> None:
    suggester = suggestions.fit(UNITS, DECIDED.head(0), BOOK, embed=embed)
    found = suggester(UNITS).merge(DECIDED, on=["unit_id", "code"])
    assert suggester.codes["reason"].tolist() == ["not_decided"] * 3
    assert found["probability"].isna().all()
    asked = found[found["code"] == "asked"]
    assert asked.loc[asked["suggested"], "applied"].all()
    assert asked["suggested"].sum() > 10
    assert suggester.nearest(found.head(0), UNITS).empty


def test_units_that_were_learned_from_get_what_models_without_their_participant_gave() -> None:
    """A third of the labels is turned by lot: only a model that has seen them can know which."""
    rng = np.random.default_rng(5)
    about = rng.random(100) < 0.5
    noise = [" ".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), 12)) for _ in range(100)]
    texts = [f"{'cold' if one else 'asked'} {more}" for one, more in zip(about, noise, strict=True)]
    units = UNITS.head(100).assign(text=texts)
    applied = about ^ (rng.random(100) < 0.33)
    lots = pd.DataFrame({"unit_id": units["unit_id"], "coder": "ana", "code": "cold", "applied": applied})
    found = suggestions.fit(units, lots, BOOK, embed=embed)(units).query("code == 'cold'")
    level = found["probability"].to_numpy(dtype=float)
    assert level[about].mean() - level[~about].mean() > 0.1
    assert (
        max(level[side & applied].mean() - level[side & ~applied].mean() for side in (about, ~about)) < 0.02
    )


def test_the_order_of_rows_changes_nothing(learned: suggestions.Suggester) -> None:
    other = suggestions.fit(
        UNITS.sample(frac=1, random_state=1), FIRST.sample(frac=1, random_state=2), BOOK, embed=embed
    )
    pd.testing.assert_frame_equal(other(REST), learned(REST))


@pytest.mark.long
def test_where_spans_were_coded_sentences_are_learned() -> None:
    suggester = suggestions.fit(UNITS, FIRST, BOOK, embed=embed, codings=SPANS, coder="ana")
    found = suggester(REST)
    true = found.merge(DECIDED, on=["unit_id", "code"])
    assert (true["suggested"] == true["applied"]).mean() > 0.97
    shown = found[found["suggested"]]
    coded = SPANS[["unit_id", "code", "start", "end"]].astype({"unit_id": "string", "code": "string"})
    met = shown.merge(coded, on=["unit_id", "code"])
    assert (met["start_x"] == met["start_y"]).mean() > 0.97
    near = suggester.nearest(found, REST)
    quotes = near.assign(unit_id=near["quote_unit_id"])
    asked = (near["code"] == "asked").to_numpy()
    assert all("asked" in words for words in words_of(quotes[asked], UNITS))
    assert near.groupby(["unit_id", "code"])["rank"].apply(list).map(lambda ranks: ranks == [1, 2, 3]).all()


def test_a_quote_is_never_of_the_unit_itself(learned: suggestions.Suggester) -> None:
    near = learned.nearest(learned(UNITS), UNITS, k=5)
    assert len(near) > 100
    assert (near["unit_id"] != near["quote_unit_id"]).all()
    assert near["similarity"].between(-1.001, 1.001).all()


def test_blank_texts_get_nothing(learned: suggestions.Suggester) -> None:
    found = learned(REST.head(2).assign(text=["  ", REST["text"].iloc[1]]))
    assert found["reason"].head(3).eq("blank_text").all()
    assert not found["suggested"].head(3).any()
    assert learned(REST.head(0)).empty


@pytest.mark.long
def test_coders_teach_together_and_ties_teach_nothing() -> None:
    ben = FIRST.assign(coder="ben", applied=~FIRST["applied"])
    both = pd.concat([FIRST, ben])
    tied = suggestions.fit(UNITS, both, BOOK, embed=embed)
    assert tied.codes[["n_present", "n_absent"]].eq(0).all(axis=None)
    settled = pd.concat([both, FIRST.assign(coder="consensus")])
    assert suggestions.fit(UNITS, settled, BOOK, embed=embed).codes["n_present"].sum() == int(
        FIRST["applied"].sum()
    )
    of_ben = suggestions.fit(UNITS, both, BOOK, embed=embed, coder="ben")
    assert of_ben.codes["n_absent"].sum() == int(FIRST["applied"].sum())


def test_errors_say_what_to_do() -> None:
    with pytest.raises(CodebookError, match="did you mean 'asked'"):
        suggestions.fit(UNITS, FIRST.assign(code="askd").head(1), BOOK, embed=embed)
    with pytest.raises(TableError, match="decisions on units of the frame – found 80 units"):
        suggestions.fit(REST, FIRST, BOOK, embed=embed)
    with pytest.raises(TableError, match="rows of finite numbers"):
        suggestions.fit(UNITS, FIRST, BOOK, embed=lambda texts: np.ones(len(texts)))
    with pytest.raises(TableError, match="coder 'bn'"):
        suggestions.fit(UNITS, FIRST, BOOK, embed=embed, coder="bn")
    with pytest.raises(TableError, match="spans inside the units' texts – found others on 'u"):
        suggestions.fit(UNITS, FIRST, BOOK, embed=embed, codings=SPANS.assign(end=900))


def test_a_repr_shows_no_text(learned: suggestions.Suggester) -> None:
    assert repr(learned) == "Suggester(3 codes: 2 by model)"
    shown = repr([*learned.by_code.values(), learned.features])
    assert "cold" not in shown


ROW = {"unit_id": "u080", "code": "asked", "probability": 0.5, "suggested": True, "start": 0, "end": 3}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"probability": 1.5}, "probabilities from 0 to 1 in column 'probability' – found 1 others"),
        ({"end": 10_000}, "spans inside the unit's text"),
        ({"start": None}, "spans inside the unit's text"),
        ({"start": 3}, "spans inside the unit's text"),
        ({"unit_id": "x"}, "the ids of these units – found 'x'"),
        ({"suggested": "yes"}, "True or False in column 'suggested'"),
        ({"probability": "likely"}, "number values in column 'probability'"),
    ],
)
def test_suggestions_of_any_function_are_checked(change: dict[str, Any], message: str) -> None:
    def suggester(units: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame([ROW | change])

    with pytest.raises(TableError, match=message):
        suggestions.suggest(REST, suggester, BOOK, share_withheld=0)


def test_suggestions_of_unknown_codes_or_without_columns() -> None:
    frame = pd.DataFrame([ROW])
    assert suggestions.check(frame, REST, BOOK)["probability"].tolist() == [0.5]
    with pytest.raises(CodebookError, match="codable codes"):
        suggestions.check(frame.assign(code="warm"), REST, BOOK)
    with pytest.raises(TableError, match="a column 'suggested'"):
        suggestions.check(frame.drop(columns="suggested"), REST, BOOK)
    with pytest.raises(TableError, match="expected a pandas DataFrame"):
        suggestions.suggest(REST, lambda units: None, BOOK)  # type: ignore[arg-type, return-value]


def test_withheld_units_stay_withheld_and_their_texts_are_not_shown_to_the_function() -> None:
    ids = [f"m{i}" for i in range(4_000)]
    out = suggestions.withheld(ids, seed=1)
    assert 0.085 < out.mean() < 0.115
    again = suggestions.withheld(ids[:5:-1], seed=1)
    assert (again == out[again.index]).all()
    other = suggestions.withheld(ids, seed=2)
    assert 0.005 < (out & other).mean() < 0.015
    seen: list[str] = []

    def suggester(units: pd.DataFrame) -> pd.DataFrame:
        seen.extend(units["unit_id"])
        return pd.DataFrame([ROW]).head(0)

    suggestions.suggest(REST, suggester, BOOK, share_withheld=0.5, seed=1)
    hidden = suggestions.withheld(REST["unit_id"], share=0.5, seed=1)
    assert seen == [unit_id for unit_id in REST["unit_id"] if not hidden[unit_id]]
    assert 0 < len(seen) < len(REST)


@pytest.mark.long
def test_units_are_drawn_as_often_as_said() -> None:
    few = REST.head(8)
    unsure = pd.DataFrame(
        {
            "unit_id": few["unit_id"],
            "code": "asked",
            "suggested": False,
            "start": None,
            "end": None,
            "probability": [0.5, 0.5, 0.4, 0.1, 0.01, 0.99, None, 0.0],
        }
    )
    drawn = [
        suggestions.order(few, n=3, by="uncertainty", suggestions=unsure, seed=seed) for seed in range(200)
    ]
    often = pd.concat(drawn).groupby("unit_id")["drawn"].mean()
    said = drawn[0].set_index("unit_id")["inclusion"].reindex(often.index)
    assert (often - said).abs().max() < 0.12
    assert said.sum() == pytest.approx(3)
    assert all(one["drawn"].sum() == 3 and one["drawn"].head(3).all() for one in drawn)
    assert said.iloc[0] > 4 * said.iloc[4]
    rng, chance = np.random.default_rng(1), said.to_numpy()
    mean = np.mean([_systematic(chance, rng) for _ in range(5_000)], axis=0)
    assert np.abs(mean - chance).max() < 0.025


def test_random_order() -> None:
    first = suggestions.order(REST, n=10, seed=4)
    assert first["inclusion"].eq(0.25).all()
    assert first["drawn"].tolist() == [True] * 10 + [False] * 30
    pd.testing.assert_frame_equal(first, suggestions.order(REST[::-1], n=10, seed=4))
    assert suggestions.order(REST)["inclusion"].eq(1).all()
    assert set(first["unit_id"]) == set(REST["unit_id"])
    with pytest.raises(ArgumentError, match="n from 1 to the number of units, 40"):
        suggestions.order(REST, n=41)
    with pytest.raises(ArgumentError, match="n and suggestions"):
        suggestions.order(REST, n=3, by="uncertainty")
    with pytest.raises(TableError, match="with probabilities"):
        suggestions.order(
            REST, n=3, by="uncertainty", suggestions=pd.DataFrame([ROW | {"probability": None}])
        )


def test_effect_by_hand() -> None:
    ids = [f"u{i:02}" for i in range(16)]
    units = pd.DataFrame({"unit_id": ids, "case_id": [f"p{i // 2}" for i in range(16)]})
    shown = pd.Series([i % 2 == 0 for i in range(16)], index=pd.Index(ids, name="unit_id"))
    ana = pd.DataFrame(
        {
            "unit_id": ids,
            "coder": "ana",
            "code": "asked",
            "applied": [i % 4 == 0 or i == 1 for i in range(16)],
        }
    )
    ben = ana.assign(coder="ben", applied=[i % 4 == 0 for i in range(16)])
    made = pd.DataFrame(
        {
            "unit_id": ids,
            "code": "asked",
            "probability": 0.5,
            "start": None,
            "end": None,
            "suggested": [i % 4 == 0 for i in range(16)],
        }
    )
    found = suggestions.effect(pd.concat([ana, ben]), shown, units=units, suggestions=made).set_index(
        "measure"
    )
    assert found.loc["applied", ["shown", "withheld", "n_shown", "n_withheld"]].tolist() == [
        0.5,
        1 / 16,
        8,
        8,
    ]
    assert found.loc["between_coders", ["shown", "withheld"]].tolist() == [1.0, 7 / 8]
    assert found.loc["with_suggestion", "withheld"] == 15 / 16
    # per participant, shown − withheld: a paired t of 8, widened because one side carries the uncertainty
    paired = np.array([0.5, 0, 1, 0, 1, 0, 1, 0])
    half = 2.3646 * paired.std(ddof=1) / np.sqrt(8) * np.sqrt(8 / 7)
    assert found.loc["applied", "high"] - found.loc["applied", "difference"] == pytest.approx(half, abs=1e-3)
    few = suggestions.effect(ana[ana["unit_id"] < "u10"], shown, units=units)
    assert few["reason"].tolist() == ["few_clusters"]
    assert few[["low", "high"]].isna().all(axis=None)
    with pytest.raises(TableError, match="True or False by unit"):
        suggestions.effect(ana, shown.astype(float) + 1, units=units)


def test_platts_line_and_the_cut() -> None:
    rng = np.random.default_rng(1)
    score = rng.normal(size=4000)
    applied = rng.random(4000) < 1 / (1 + np.exp(-(2 * score - 1)))
    line = calibrate(score, applied)
    assert (line.slope, line.intercept) == (pytest.approx(2, abs=0.2), pytest.approx(-1, abs=0.15))
    cut, f1 = threshold(line.probability(score), applied, line.probability(score))
    best = max(
        2 * ((score >= s) & applied).sum() / ((score >= s).sum() + applied.sum())
        for s in np.linspace(-2, 2, 81)
    )
    assert f1 > best - 0.01
    assert cut == pytest.approx(best / 2, abs=0.06)
    assert calibrate(-score, applied).slope == 0  # a score that points the wrong way says nothing
