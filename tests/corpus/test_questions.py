"""Several questions in one study: a unit is an answer to one question, and its participant stays."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual import agreement, corpus, links
from sense7_qual.errors import TableError
from tests.helpers.exports import qualtrics, written

TABLE = pd.DataFrame(
    {
        "id": ["r1", "r2", "r3"],
        "pid": ["p1", "p1", "p2"],
        "Q1": ["It was kind.", " ", "It was cold."],
        "Q2": ["No, nothing.", "Yes, the end.", ""],
        "q1_inf": ["4", "3", "1"],
        "q2_inf": ["2", "5", ""],
        "stars": ["5", "4", "3"],
        "age": ["20", "20", "30"],
    }
)


def read(table: pd.DataFrame | Path, **roles: object) -> tuple[pd.DataFrame, list[str]]:
    """Return the units, and what was said when they were read."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        units = corpus.read(table, **roles)
    return units, [str(one.message) for one in said]


def test_a_unit_is_an_answer_to_one_question() -> None:
    roles = {"text": ["Q1", "Q2"], "unit_id": "id", "case_id": "pid"}
    units, said = read(
        TABLE, ratings={"stars": "stars", "informative": ["q1_inf", "q2_inf"]}, variables=["age"], **roles
    )
    assert units["unit_id"].tolist() == ["r1/Q1", "r3/Q1", "r1/Q2", "r2/Q2"]
    assert units["text"].tolist() == ["It was kind.", "It was cold.", "No, nothing.", "Yes, the end."]
    assert units["case_id"].tolist() == ["p1", "p2", "p1", "p1"]
    assert units["question"].tolist() == ["Q1", "Q1", "Q2", "Q2"]
    assert units["stars"].tolist() == [5, 3, 5, 4]
    assert units["informative"].tolist() == [4, 1, 2, 5]
    assert units["age"].tolist() == ["20", "30", "20", "20"]
    assert units["document_id"].isna().all()
    assert units["position"].isna().all()
    assert said == ["left out 2 blank answers (1 to 'Q1', 1 to 'Q2')."]


def test_the_question_stands_above_the_answer_and_above_its_conversation(tmp_path: Path) -> None:
    export = qualtrics([(4, "It was kind to me."), (2, "Not really, no.")])
    rows = [
        [*row, more]
        for row, more in zip(
            export.rows(),
            ["Q3", "Anything else?", '{"ImportId":"QID3_TEXT"}', "Thank you all.", "No, thanks."],
            strict=True,
        )
    ]
    units, _ = read(written(rows, tmp_path, "csv"), text=["Q2", "Q3"], unit_id="ResponseId")
    assert [json.loads(turns) for turns in units["context"]] == [
        *2 * [[{"role": "question", "text": "Why did you say so?\nPlease explain."}]],
        *2 * [[{"role": "question", "text": "Anything else?"}]],
    ]
    roles = {"text": {"Q1": "first"}, "context": "before", "unit_id": "id", "empty": "skip"}
    units, _ = read(TABLE.assign(before="Hello."), **roles)
    assert units["unit_id"].tolist() == ["r1/first", "r3/first"]
    assert json.loads(units["context"][0]) == [
        {"role": "question", "text": "Q1"},
        {"role": "", "text": "Hello."},
    ]


def test_a_name_that_is_a_whole_question_is_its_wording_and_the_number_of_the_column() -> None:
    table = TABLE.rename(columns={"Q2": "Is there anything else that you want to say?"})
    units, said = read(table, text=["Q1", table.columns[3]], unit_id="id")
    assert units["unit_id"].tolist() == ["r1/Q1", "r3/Q1", "r1/Q4", "r2/Q4"]
    assert json.loads(units["context"][3]) == [{"role": "question", "text": table.columns[3]}]
    assert said == ["left out 2 blank answers (1 to 'Q1', 1 to 'Q4')."]


def test_the_answers_of_a_row_are_of_one_participant_whatever_is_named() -> None:
    units, _ = read(TABLE, text=["Q1", "Q2"])
    assert units["case_id"].tolist() == ["row-1", "row-3", "row-1", "row-2"]
    assert units["unit_id"].tolist()[0] == "row-1/Q1"


def test_rows_blank_in_all_questions_are_empty_and_others_are_not() -> None:
    blank = pd.concat([TABLE, TABLE.tail(1).assign(id="r4", Q1="", Q2=" ")])
    with pytest.raises(TableError, match="in every row of one of columns 'Q1', 'Q2' – found none in row 4 –"):
        corpus.read(blank, text=["Q1", "Q2"], unit_id="id")
    units, said = read(blank, text=["Q1", "Q2"], unit_id="id", empty="skip")
    assert len(units) == 4
    assert said == ["left out 2 blank answers (1 to 'Q1', 1 to 'Q2')."]


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"ratings": {"informative": ["q1_inf"]}}, "expected 2 columns of rating 'informative'"),
        ({"text": ["Q1", "Q9"]}, "expected a column 'Q9'"),
        ({"text": {"Q1": "a", "Q2": "a"}}, "found 'a' more than once"),
        ({"text": []}, "expected a column of texts – found none"),
        ({"case_id": "Q2"}, "the column of texts 'Q2' has another role"),
        ({"ratings": {"x": ["stars", "Q1"]}}, "the column of texts 'Q1' has another role"),
        ({"ratings": {"question": ["q1_inf", "q2_inf"]}}, "no rating or variable named .* question"),
        ({"variables": {"age": "question"}}, "no rating or variable named .* question"),
        ({"unit_id": "age"}, "expected each age once"),
    ],
)
def test_what_cannot_be_is_refused(roles: dict[str, object], message: str) -> None:
    with pytest.raises(TableError, match=message):
        corpus.read(TABLE, **{"text": ["Q1", "Q2"], "unit_id": "id"} | roles)


def test_the_questions_are_assigned_alike() -> None:
    table = pd.DataFrame({"Q1": [f"One, {n}." for n in range(20)], "Q2": [f"Two, {n}." for n in range(20)]})
    units, _ = read(table, text=["Q1", "Q2"])
    plan = corpus.assign(units, coders=["ana", "ben"], overlap=0.5, stratify="question")
    for part in plan.values():
        assert part["question"].value_counts().to_dict() == {"Q1": 15, "Q2": 15}


answers = st.sampled_from(["", " ", "It was kind.", "It was cold to me.", "No."])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(answers, answers, st.integers(1, 5)), min_size=1, max_size=12))
def test_several_questions_are_the_single_readings_put_together(rows: list[tuple[str, str, int]]) -> None:
    table = pd.DataFrame(rows, columns=["a", "b", "stars"]).assign(id=[f"r{n}" for n in range(len(rows))])
    roles = {"unit_id": "id", "case_id": "id", "ratings": "stars", "empty": "skip"}
    n_filled = {name: (table[name].str.strip() != "").sum() for name in "ab"}
    if not all(n_filled.values()):
        return
    both, said = read(table, text=["a", "b"], variables=(), **roles)
    single = [corpus.read(table, text=name, variables=(), **roles) for name in "ab"]
    alone = pd.concat(
        [part.assign(unit_id=part["unit_id"] + f"/{name}") for part, name in zip(single, "ab", strict=True)]
    ).reset_index(drop=True)
    same = [name for name in alone if name != "context"]
    pd.testing.assert_frame_equal(both[same], alone[same])
    answered = (table["a"].str.strip() != "") | (table["b"].str.strip() != "")
    n_blank = 2 * answered.sum() - len(both)
    counted = sum(int(word) for word in "".join(said).replace("(", "").split() if word.isdecimal())
    assert counted == 2 * n_blank  # in all, and by question


def coded(units: pd.DataFrame, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    is_so = rng.random(len(units)) < 0.4
    rows = [
        (unit, coder, "warm", bool(applied ^ (rng.random() < 0.15)))
        for coder in ("ana", "ben")
        for unit, applied in zip(units["unit_id"], is_so, strict=True)
    ]
    return pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])


def survey(n_people: int = 30) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "pid": [f"p{n}" for n in range(n_people)],
            "Q1": [f"To the first, {n}." for n in range(n_people)],
            "Q2": [f"To the second, {n}." for n in range(n_people)],
            "stars": rng.integers(1, 6, n_people).astype(str),
        }
    )


def test_links_and_agreement_take_whole_participants_over_all_their_questions() -> None:
    table, named = survey(), {"unit_id": "pid", "case_id": "pid", "ratings": "stars"}
    units, _ = read(table, text=["Q1", "Q2"], **named)
    decisions, how = coded(units, 3), {"n_boot": 200, "seed": 1}
    by_hand = pd.concat(
        [corpus.read(table, text=name, **named).assign(question=name) for name in ("Q1", "Q2")]
    )
    by_hand["unit_id"] += "/" + by_hand["question"]
    linked = {"rating": "stars", "odds_ratios": False, **how}
    together = links.code_to_rating(decisions, units, cluster="case_id", **linked)
    pd.testing.assert_frame_equal(
        together, links.code_to_rating(decisions, by_hand, cluster="case_id", **linked)
    )
    assert together["n_clusters"].max() == 30
    agreed = agreement.by_code(decisions, units=units, cluster="case_id", **how)
    pd.testing.assert_frame_equal(
        agreed, agreement.by_code(decisions, units=by_hand, cluster="case_id", **how)
    )


def test_two_studies_of_a_question_each_give_each_code_the_alpha_of_its_own_question() -> None:
    units, _ = read(survey(), text=["Q1", "Q2"], unit_id="pid")
    parts = dict(iter(units.groupby("question")))
    decisions = [coded(part, n).assign(code=f"of-{name}") for n, (name, part) in enumerate(parts.items())]
    how = {"units": units, "cluster": "case_id", "n_boot": 200}
    both = agreement.by_code(pd.concat(decisions), **how).set_index("code")
    for own, name in zip(decisions, parts, strict=True):
        alone = agreement.by_code(own, **how).set_index("code")
        for column in ("alpha", "n_units"):
            assert both.loc[f"of-{name}", column] == alone.loc[f"of-{name}", column]
