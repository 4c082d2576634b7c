from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sense7_qual import suggestions
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ArgumentError, CodebookError, TableError
from sense7_qual.suggestions._screen import binomial_p, fallback, likeness
from tests.helpers.simulation import studies

BOOK = Codebook(name="one", codes=(Code(id="asked", label="Asked"),))


def study(n: int, seed: int, *, alike: float = 1.0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw participants of 1 to 8 texts: units with their suggestions, and what is true."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n), rng.integers(1, 9, n))
    seen = rng.normal(-3, 4, len(person))
    applied = rng.random(len(person)) < 1 / (1 + np.exp(-(seen + rng.normal(0, alike, n)[person])))
    chance = 1 / (1 + np.exp(-seen / np.sqrt(1 + 0.346 * alike**2)))
    ids = [f"u{i:05}" for i in range(len(person))]
    made = pd.DataFrame(
        {
            "unit_id": ids,
            "case_id": [f"p{i}" for i in person],
            "code": "asked",
            "probability": chance,
            "suggested": False,
            "start": None,
            "end": None,
        }
    )
    true = pd.DataFrame({"unit_id": ids, "coder": "ana", "code": "asked", "applied": applied})
    return made, true


MADE, TRUE = study(400, 1)
N_SAMPLE = int((MADE["case_id"].str[1:].astype(int) < 200).sum())
SAMPLE = TRUE.head(N_SAMPLE)


def test_the_exact_test_counts_participants_where_their_texts_are_all_alike() -> None:
    single = np.ones(22)
    assert binomial_p(0 * single, single, 0.1, 0.0) == pytest.approx(0.9**22)
    assert binomial_p(0 * single, 5 * single, 0.1, 1.0) == pytest.approx(0.9**22)
    assert binomial_p(0 * single, 5 * single, 0.1, 0.0) == pytest.approx(0.9**110)
    # Three errors of 40: P(X ≤ 3; 40, .1), as tabulated
    errors = np.array([1.0] * 3 + [0.0] * 37)
    assert binomial_p(errors, np.ones(40), 0.1, 0.0) == pytest.approx(0.4231, abs=0.01)
    together = np.array([3.0] + [0.0] * 13)  # in one participant they say less
    assert binomial_p(together, np.full(14, 40 / 14), 0.1, 0.0) > binomial_p(errors, np.ones(40), 0.1, 0.0)
    assert binomial_p(np.zeros(3), np.zeros(3), 0.1, 0.0) == 1
    assert binomial_p(single, single, 0.1, 0.0) == 1


def test_fallback_by_hand() -> None:
    assert fallback([0.02, 0.05, 0.06], [0.3, 0.3, 0.4], 0.1) == [True, True, True]
    assert fallback([0.04, 0.05, 0.04], [0.3, 0.3, 0.4], 0.1) == [False, False, True]
    assert fallback([0.02, 0.07, 0.041], [0.3, 0.3, 0.4], 0.1) == [True, False, False]


def test_likeness_is_the_intraclass_correlation_and_one_standard_error() -> None:
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(400), 5)
    residual = rng.normal(0, 1, 400)[groups] * np.sqrt(0.3) + rng.normal(0, np.sqrt(0.7), 2000)
    assert likeness(residual, groups) == pytest.approx(0.3, abs=0.08)
    assert likeness(rng.normal(size=2000), groups) < 0.05
    assert likeness(rng.normal(size=3), np.arange(3)) == 1  # one text each: nothing says how alike


def test_what_a_model_may_decide() -> None:
    found = suggestions.screen(MADE, SAMPLE, BOOK, units=MADE)
    row, verdicts = found.codes.iloc[0], found.verdicts
    assert set(verdicts["unit_id"]) == set(TRUE["unit_id"].iloc[N_SAMPLE:])
    chance = verdicts.merge(MADE, on="unit_id")["probability"]
    absent = (verdicts["verdict"] == "absent").to_numpy()
    assert (absent == (chance <= row["absent_up_to"])).all()
    assert absent.sum() == row["n_absent"] > len(verdicts) / 4
    assert row[["n_absent", "n_decided_present", "n_people"]].sum() == len(verdicts)
    assert row["n_sample"] == N_SAMPLE
    assert row["n_clusters"] == 200
    assert row["lost"] <= 0.1
    assert row["false_absent"] <= 0.05
    assert repr(found).startswith(f"Screening({row['n_absent']:,} absent")
    stricter = suggestions.screen(MADE, SAMPLE, BOOK, units=MADE, lost_share=0.02).codes.iloc[0]
    assert stricter["n_absent"] < row["n_absent"]


@pytest.mark.simulation
def test_the_promise_is_broken_in_at_most_delta_of_studies() -> None:
    large, true = study(40_000, 7, alike=2.0)
    chance, applied = large["probability"].to_numpy(), true["applied"].to_numpy()
    runs, broken, decided = studies(40), 0, 0
    for seed in runs:
        made, decisions = study(120, 100 + seed, alike=2.0)
        row = suggestions.screen(made, decisions, BOOK, units=made, delta=0.2).codes.iloc[0]
        out, there = chance <= row["absent_up_to"], chance >= row["present_from"]
        wrong = (out & applied).sum()
        bad = (
            wrong > 0.05 * out.sum()
            or wrong > 0.1 * applied.sum()
            or (there & ~applied).sum() > 0.05 * there.sum()
        )
        broken, decided = broken + bool(bad), decided + bool(out.any())
    assert broken <= 0.2 * len(runs)
    assert decided > 0.1 * len(runs)


def test_refusals_say_why() -> None:
    def reason(sample: pd.DataFrame, **more: object) -> object:
        found = suggestions.screen(MADE, sample, BOOK, units=MADE, **more)  # type: ignore[arg-type]
        assert found.verdicts["verdict"].eq("people").all()
        return found.codes["reason"].iloc[0]

    assert reason(SAMPLE.head(0)) == "not_decided"
    assert reason(SAMPLE.assign(applied=False)) == "code_never_applied"
    assert reason(SAMPLE.head(12)) in {"few_clusters", "code_never_applied"}
    assert reason(SAMPLE, false_share=0.0001) == "promise_not_kept"
    lot = SAMPLE.assign(coder="ben", applied=np.random.default_rng(1).random(N_SAMPLE) < 0.3)
    assert reason(pd.concat([SAMPLE, lot])) == "low_agreement"
    stated = pd.DataFrame({"code": ["asked"], "positive_agreement": [0.59]})
    assert reason(SAMPLE, agreement=stated) == "low_agreement"


def test_agreement_is_that_of_presences() -> None:
    ben = SAMPLE.assign(coder="ben")
    turned = ben.index[ben["applied"]][:10]
    ben.loc[turned, "applied"] = False
    n = int(SAMPLE["applied"].sum())
    found = suggestions.screen(MADE, pd.concat([SAMPLE, ben]), BOOK, units=MADE).codes.iloc[0]
    assert found["agreement"] == pytest.approx(2 * (n - 10) / (2 * n - 10))


def test_participants_that_a_model_learned_from_are_for_people() -> None:
    learned = MADE.assign(learned=MADE["case_id"].isin(["p0", "p399"]))
    found = suggestions.screen(learned, SAMPLE, BOOK, units=MADE)
    assert found.codes["n_clusters"].iloc[0] == 199
    known = found.verdicts.merge(learned, on="unit_id")
    assert known.loc[known["learned"], "verdict"].eq("people").all()
    assert known["learned"].any()


def test_a_text_is_free_only_where_no_code_is_left_to_people() -> None:
    both = Codebook(name="two", codes=(*BOOK.codes, Code(id="other", label="Other")))
    made = pd.concat([MADE, MADE.assign(code="other", probability=MADE["probability"].to_numpy()[::-1])])
    sample = pd.concat([SAMPLE, SAMPLE.assign(code="other", applied=np.arange(N_SAMPLE) % 2 == 0)])
    alone = suggestions.screen(MADE, SAMPLE, BOOK, units=MADE)
    assert (alone.n_free, alone.n_texts) == (
        len(MADE) - N_SAMPLE - alone.codes["n_people"].sum(),
        len(MADE) - N_SAMPLE,
    )
    found = suggestions.screen(made, sample, both, units=MADE)
    assert found.codes.set_index("code")["n_people"].to_dict()["other"] == found.n_texts
    assert (found.verdicts["verdict"] == "absent").sum() > 0
    assert found.n_free == 0
    assert repr(found).endswith(f"; 0 of {found.n_texts:,} texts need nobody)")


def test_errors_of_the_screen() -> None:
    with pytest.raises(TableError, match="a suggestion for every decision of the sample – found none for"):
        suggestions.screen(MADE.tail(50), SAMPLE, BOOK, units=MADE)
    with pytest.raises(TableError, match="that are not in units"):
        suggestions.screen(MADE, SAMPLE, BOOK, units=MADE.head(3))
    with pytest.raises(ArgumentError, match="lost_share between 0 and 1"):
        suggestions.screen(MADE, SAMPLE, BOOK, units=MADE, lost_share=1)
    with pytest.raises(CodebookError, match="codable codes"):
        suggestions.screen(MADE.assign(code="cold"), SAMPLE, BOOK, units=MADE)
    with pytest.raises(TableError, match="a column 'positive_agreement'"):
        suggestions.screen(MADE, SAMPLE, BOOK, units=MADE, agreement=pd.DataFrame({"code": ["asked"]}))
