"""Statistics beyond the record: a row of a table, a sentence whose numbers have calls, an objection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sense7_qual import adjudication, links, report
from sense7_qual.agreement.coefficients import estimate
from sense7_qual.agreement.diagnosis import alternative_annotator_test
from sense7_qual.errors import TableError
from sense7_qual.store import Store
from tests.helpers.written_studies import alone


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return alone(tmp_path_factory.mktemp("study") / "study")


@pytest.fixture(scope="module")
def further() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    case = np.repeat(np.arange(30), 6)
    level = rng.normal(size=30)[case] + 0.5 * rng.normal(size=180)
    rated = level + 0.5 * rng.normal(size=(3, 180))
    warm = pd.Series((rng.random(180) < 0.5) * 1.0, name="warm")
    mood = rng.logistic(size=180) + rng.normal(size=30)[case]
    rating = 1 + (mood + 3 * warm > -1) + (mood + 1 * warm > 0) + (mood - warm > 1)
    return {
        "Empathy": estimate(rated, "icc", kind="agreement", groups=case),
        "Warmth": estimate(level[:9] + 4 * rng.normal(size=(3, 9)), "icc", kind="one_way", n_averaged=3),
        "Rating": links.models.proportional_odds(rating, warm, groups=pd.Series(case), model="marginal"),
    }


def test_each_is_a_row_and_an_odds_ratio_one_for_each_split(further: dict[str, Any]) -> None:
    table = report.tables.further(further, notes=["More."])
    icc = further["Empathy"]
    first = table.rows[0]
    assert first[:3] == ("intraclass correlation (absolute agreement, one coder)", "Empathy", "180")
    assert float(first[3]) == pytest.approx(icc.estimate, abs=0.0051)
    assert first[4] == f"[{icc.low:.2f}, {icc.high:.2f}]".replace("0.", ".")
    assert "the mean of 3 coders" in table.rows[1][0]
    assert [row[0] for row in table.rows[2:]] == [
        "Odds ratio, marginal model",
        "… the same at all splits",
        "… of 2 or more",
        "… of 3 or more",
        "… of 4 or more",
    ]
    odds = further["Rating"]
    assert [row[3] for row in table.rows[4:]] == [f"{one:.2f}" for one in odds["odds_ratio"][1:]]
    assert table.rows[3][5] == "< .001"
    assert "95% CI" in table.headers


def test_each_has_a_sentence_and_its_numbers_come_from_its_calls(
    store: Store, further: dict[str, Any]
) -> None:
    text = report.methods(store, further=further)
    [paragraph] = [one for one in text.paragraphs if one.heading == "Further statistics"]
    assert len(paragraph.sentences) == 3
    said = str(paragraph)
    assert "over 30 participants)" in said
    assert "taking texts as independent" in said
    assert "in the marginal ordinal model" in said
    numbers = [one for sentence in paragraph.sentences for one in sentence.numbers]
    assert len(numbers) == 6 + 5 + 6
    for one in numbers:
        value = eval(one.call + one.where, {"further": further})  # noqa: S307
        assert value == one.value
    assert "Further statistics" not in str(report.methods(store))


def test_a_reviewer_objects_to_what_is_wrong_with_them(store: Store, further: dict[str, Any]) -> None:
    plain = report.review(store, n_boot=20)
    found = report.review(store, n_boot=20, further=further)
    new = [one for one in found if one not in plain.objections]
    assert [one.kind for one in new] == ["further_unclustered", "icc_poor", "not_proportional"]
    assert "“Warmth”" in new[0].seen
    assert "“warm”" in new[2].seen
    assert found.n_checked == plain.n_checked + 3


def test_coders_who_err_and_a_model_have_rows_sentences_and_objections(store: Store) -> None:
    rng = np.random.default_rng(5)
    truth = rng.random(400) < 0.4
    right = rng.random((7, 400)) < 0.9
    right[:2, rng.random(400) < 0.15] = False
    applied = truth == right
    ids = [f"u{place}" for place in range(400)]
    names = ["ana", "ben", "cleo", "dora", "eva", "finn", "model-a"]
    decisions = pd.concat(
        [
            pd.DataFrame({"unit_id": ids, "coder": name, "code": "warm", "applied": row})
            for name, row in zip(names, applied, strict=True)
        ]
    )
    units = pd.DataFrame({"unit_id": ids, "case_id": [f"p{place // 10}" for place in range(400)]})
    people = decisions[decisions["coder"] != "model-a"]
    over = {"units": units, "cluster": "case_id"}
    further = {
        "Codes": adjudication.dawid_skene(people, **over, n_draws=100),
        "Model": alternative_annotator_test(decisions, epsilon=0.2, **over),
        "Texts": alternative_annotator_test(decisions, epsilon=0.2),
    }
    rows = report.tables.further(further).rows
    assert len(rows) == 2 * 6 + 15 + 2
    assert rows[0][:3] == ("Sensitivity of ana (Dawid and Skene)", "Codes, warm", "400")
    assert rows[-1][:2] == ("Winning rate ω of model-a (ε 0.2)", "Texts, warm")
    [paragraph] = [
        one
        for one in report.methods(store, further=further).paragraphs
        if one.heading == "Further statistics"
    ]
    assert len(paragraph.sentences) == 3
    assert "over participants" in str(paragraph.sentences[1])
    assert "over texts" in str(paragraph.sentences[2])
    for one in (one for sentence in paragraph.sentences for one in sentence.numbers):
        assert eval(one.call + one.where, {"further": further}) == one.value  # noqa: S307
    plain = report.review(store, n_boot=20)
    new = [one for one in report.review(store, n_boot=20, further=further) if one not in plain.objections]
    assert [one.kind for one in new] == ["shared_errors", "further_unclustered"]
    assert "ana and ben (warm)" in new[0].seen


def test_other_results_are_refused(store: Store, tmp_path: Path) -> None:
    for function in (report.tables.further, lambda further: report.methods(store, further=further)):
        with pytest.raises(TableError, match="found another for 'Empathy'"):
            function({"Empathy": pd.DataFrame({"alpha": [0.5]})})
    with pytest.raises(TableError, match="one result or more"):
        report.tables.further({})
