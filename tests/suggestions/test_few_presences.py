"""Codes with few presences, and texts that say nothing of a code: on how many texts they are suggested."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sense7_qual import suggestions
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import TableError
from sense7_qual.suggestions._learn import calibrate, folds, learn, out_of_fold, threshold
from tests.helpers.simulation import studies

BOOK = Codebook(name="one", codes=(Code(id="c1", label="c1"),))
WORDS = [f"{a}{b}" for a in "bcdfglmnprst" for b in ("an", "el", "ir", "om", "ut")]
Embed = Callable[[list[str]], Any]


def noise(
    n: int, present: int, seed: int, *, signal: float = 0, total: int = 130
) -> tuple[pd.DataFrame, pd.DataFrame, Embed]:
    """Draw random words with random vectors; `n` texts are coded, `present` of them as present."""
    rng = np.random.default_rng(seed)
    applied = rng.random(total) < present / n
    applied[:n] = rng.permutation(np.arange(n) < present)
    vector = rng.normal(size=(total, 32))
    vector[:, 0] += signal * applied
    texts = [f"{' '.join(rng.choice(WORDS, 12))} t{i}" for i in range(total)]
    known = dict(zip(texts, vector, strict=True))
    ids = [f"u{i:04}" for i in range(total)]
    units = pd.DataFrame({"unit_id": ids, "text": texts, "document_id": "d", "case_id": ids, "position": 1})
    decided = pd.DataFrame({"unit_id": ids, "coder": "ana", "code": "c1", "applied": applied})
    return (
        units,
        decided,
        lambda some: np.array([known.get(text, 32 * [1]) for text in some]),
    )


@pytest.mark.simulation
@pytest.mark.parametrize(("n", "present"), [(30, 3), (30, 13), (60, 3)])
@pytest.mark.parametrize("all_known", [True, False])
def test_noise_is_never_suggested_on_most_texts(n: int, present: int, all_known: bool) -> None:
    """Formerly on every text, with one probability, in half of the studies."""
    for seed in studies(20):
        units, decided, embed = noise(n, present, seed)
        known = units if all_known else units.head(n)
        found = suggestions.fit(known, decided.head(n), BOOK, embed=embed).suggest(units, with_spans=False)
        chosen = found["suggested"].to_numpy(dtype=bool)
        assert chosen[:n].mean() <= 0.6, seed
        assert chosen[n:].mean() <= 0.6, seed


@pytest.mark.simulation
def test_a_rare_code_that_vectors_show_is_told_from_others() -> None:
    """Six standard deviations in one of 32 dimensions, three presences among 30 coded texts."""
    from sklearn.metrics import roc_auc_score

    told = []
    for seed in studies(2):
        units, decided, embed = noise(30, 3, seed, signal=6)
        found = suggestions.fit(units, decided.head(30), BOOK, embed=embed).suggest(units, with_spans=False)
        chance = found["probability"].fillna(0).to_numpy(dtype=float)[30:]
        told.append(roc_auc_score(decided["applied"].to_numpy(dtype=bool)[30:], chance))
        assert len(np.unique(chance)) > 10, seed
    assert np.mean(told) > 0.75


@pytest.mark.simulation
def test_scores_of_noise_out_of_fold_do_not_run_against_the_code() -> None:
    """Held-out presences of a rare code score no lower on average than absences."""
    from scipy import stats

    differences = []
    for seed in studies(12):
        rng = np.random.default_rng(seed)
        rows, applied = rng.normal(size=(30, 40)), rng.permutation(np.arange(30) < 3)
        usual = rng.normal(size=(300, 40))

        def learned(some: Any, rows: Any = rows, applied: Any = applied, usual: Any = usual) -> Any:
            return learn(rows[some], applied[some], usual)

        score = out_of_fold(rows, learned, folds(applied, np.arange(30), seed))
        differences.append(score[applied].mean() - score[~applied].mean())
    assert stats.ttest_1samp(differences, 0).pvalue > 0.001


def test_a_model_no_better_than_chance_suggests_nothing_and_says_so() -> None:
    n = 80
    kind = np.arange(n) % 2 == 0
    person = np.arange(n) // 16
    # In three participants the code goes with one kind, in two with the other: who is held out contradicts.
    applied = kind ^ (person % 2 == 0)
    ids = [f"u{i:03}" for i in range(n)]
    units = pd.DataFrame(
        {
            "unit_id": ids,
            "text": [f"text {i}" for i in range(n)],
            "document_id": "d",
            "case_id": [f"p{i}" for i in person],
            "position": 1,
        }
    )
    decided = pd.DataFrame({"unit_id": ids, "coder": "ana", "code": "c1", "applied": applied})

    def embed(texts: list[str]) -> Any:
        return np.array([[1.0, 0.0] if text[-1] in "02468" else [0.0, 1.0] for text in texts])

    suggester = suggestions.fit(units, decided, BOOK, embed=embed)
    assert suggester.codes["reason"].tolist() == ["no_better_than_chance"]
    assert suggester.codes[["source", "threshold", "f1"]].isna().all(axis=None)
    found = suggester(units)
    assert not found["suggested"].any()
    assert found["probability"].isna().all()
    assert found["reason"].eq("no_better_than_chance").all()
    assert suggestions.check(found, units, BOOK)["suggested"].sum() == 0
    screened = suggestions.screen(found.assign(learned=False), decided.head(40), BOOK, units=units)
    assert screened.codes["reason"].tolist() == ["no_probabilities"]
    assert screened.verdicts["verdict"].eq("people").all()
    with pytest.raises(TableError, match="models no better than chance, give none"):
        suggestions.order(units, n=3, by="uncertainty", suggestions=found)


def test_the_slope_is_drawn_to_the_usual_one_while_little_is_coded() -> None:
    rng = np.random.default_rng(1)
    applied = np.arange(30) < 3
    assert calibrate(np.where(applied, 0.5, -0.5) + 1e-6 * rng.normal(size=30), applied).slope < 3
    against = calibrate(np.where(applied, -0.5, 0.1), applied).slope
    assert 0 < against < 0.8  # three presences cannot say that it runs the other way
    many = np.arange(3000) < 300
    assert calibrate(np.where(many, -0.5, 0.1), many).slope == 0


@pytest.mark.parametrize("present", [2, 5, 20, 50])
def test_the_cut_leaves_out_most_texts_where_probabilities_tell_little(present: int) -> None:
    rng = np.random.default_rng(present)
    applied = rng.permutation(np.arange(100) < present)
    flat = present / 100 + 1e-3 * rng.random(100)
    usual = present / 100 + 1e-3 * rng.random(400)
    cut, _ = threshold(flat, applied, usual)
    most = min(0.475, 2 * (present + 1) / 102)
    for chance in (flat, usual):
        assert (chance >= cut).mean() <= most
    assert (flat >= cut).mean() > most - 0.15
    assert threshold(np.full(100, 0.2), applied, usual)[0] > 0.2  # equal probabilities are left out together


def test_a_code_on_most_texts_may_be_suggested_on_most() -> None:
    rng = np.random.default_rng(1)
    applied = rng.random(200) < 0.8
    chance = np.clip(0.8 + 0.1 * (applied - 0.8) + 0.01 * rng.normal(size=200), 0, 1)
    cut, f1 = threshold(chance, applied, chance)
    assert (chance >= cut).mean() > 0.7
    assert f1 > 0.85


@pytest.mark.long
def test_a_label_alone_is_no_feature_and_a_definition_is_one() -> None:
    units, decided, _ = noise(60, 20, 1)
    first = decided.head(60)

    def probabilities(code: Code) -> Any:
        book = Codebook(name="one", codes=(code,))
        found = suggestions.fit(units, first, book, embed=meaning)
        return found.suggest(units, with_spans=False)["probability"].to_numpy(dtype=float)

    def meaning(some: list[str]) -> Any:
        return np.array([[len(t) % 7, 1, t.startswith(("x", "Long"))] for t in some], dtype=float)

    plain = probabilities(Code(id="c1", label="c1"))
    np.testing.assert_array_equal(plain, probabilities(Code(id="c1", label="xyz another label")))
    assert not np.array_equal(plain, probabilities(Code(id="c1", label="c1", definition="Long texts")))
