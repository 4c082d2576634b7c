"""What the columns of a file are guessed to hold: by their names and the form of their cells."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from sense7_qual.corpus import read, recognise
from tests.helpers.exports import qualtrics, written
from tests.helpers.places import ROOT

TEXT = ["It listened to me, and I felt heard.", "It lectured me about my choices."]


def roles(**columns: list[str]) -> dict[str, str]:
    described = recognise(pd.DataFrame(columns)).columns.dropna(subset="role")
    return dict(zip(described["role"], described["column"], strict=True))


def test_the_example_is_described_as_its_own_notebook_reads_it() -> None:
    described = recognise(ROOT / "data" / "explanations.csv").columns.set_index("column")
    assert described["role"].dropna().to_dict() == {
        "MessageId": "unit_id",
        "TaskId": "document_id",
        "PID": "case_id",
        "Position": "position",
        "EmpathyOverall": "rating",
        "Comment": "text",
        "Context": "context",
    }
    assert described.loc["EmpathyOverall", ["number", "n_filled", "n_rows", "what"]].tolist() == [
        6,
        286,
        300,
        "numbers",
    ]
    assert described.loc["Context", "what"] == "conversation"


@pytest.mark.parametrize(
    "name", ["participant", "Participant ID", "subject_id", "USER-ID", "vpn", "PROLIFIC_PID"]
)
def test_participants_are_known_by_their_column(name: str) -> None:
    assert roles(**{name: ["p1", "p1"], "Why?": TEXT})["case_id"] == name


def test_the_text_is_prose_and_a_name_that_fits_goes_before_length() -> None:
    longer = [f"{text} {text}" for text in TEXT]
    assert roles(notes=longer, comment=TEXT)["text"] == "comment"
    assert roles(notes=longer)["text"] == "notes"
    assert (
        roles(said=["とても良かったです、本当に聞いてくれました", "説教されたように感じました"])["text"]
        == "said"
    )
    uuids = ["8d1f0a7e-0000-4000-8000-000000000001", "8d1f0a7e-0000-4000-8000-000000000002"]
    assert "text" not in roles(key=uuids, when=["2026-01-01 10:00:00", "2026-01-01 10:05:00"], n=["12", "13"])


def test_columns_that_fit_alike_are_texts_all_of_them() -> None:
    described = recognise(pd.DataFrame({"notes": TEXT, "other": TEXT, "n": ["1", "2"]})).columns
    assert described["role"].fillna("").tolist() == ["text", "text", ""]


def test_a_checklist_is_no_text_and_neither_are_personal_columns() -> None:
    ticked = ["It listened to me, It was kind", "It was kind; It was fast", "It listened to me, It was fast"]
    said = [*TEXT, "No, thank you, it was fine; really, it was."]
    table = pd.DataFrame({"why": ticked, "said": said, "address": [f"{text}, Vienna" for text in said]})
    described = recognise(table).columns.set_index("column")
    assert described["what"].to_dict() == {"why": "checklist", "said": "words", "address": "personal"}
    assert described["role"].dropna().to_dict() == {"said": "text"}


def test_what_a_column_is() -> None:
    columns = {
        "one": ["1", "2.5", "-3", "4"],
        "when": ["2026-01-31", "2026-02-01 10:00", "", "2026-02-03"],
        "gender": ["female", "male", "female", "male"],
        "consent": ["I agree."] * 4,
        "blank": ["", " ", "", ""],
        "reach": [f"p{n}@example.org" for n in range(4)],
        "said": ["It was kind.", "It was not.", "No idea.", "Fine."],
        "label": [["warm"], ["cold"], [], ["warm"]],
    }
    described = recognise(pd.DataFrame(columns)).columns
    assert described["what"].tolist() == [
        "numbers",
        "dates",
        "few answers",
        "the same in every row",
        "empty",
        "personal",
        "words",
        "labels",
    ]
    assert described["number"].tolist() == [*range(1, 9)]
    assert described["n_filled"].tolist() == [4, 3, 4, 4, 0, 4, 4, 4]
    assert set(described["n_rows"]) == {4}


def test_an_id_column_with_a_gap_or_a_repeat_is_no_id() -> None:
    assert "case_id" not in roles(pid=["p1", ""], why=TEXT)
    assert "unit_id" not in roles(id=["a", "a"], why=TEXT)
    assert roles(id=["a", "b"], why=TEXT)["unit_id"] == "id"


def test_a_rating_is_a_scale_of_numbers() -> None:
    assert "rating" not in roles(rating=["good", "poor"], why=TEXT)
    assert "rating" not in roles(age=["33", "33"], why=TEXT)
    assert roles(condition=["1", "2"], overall_score=["1", "5"], why=TEXT)["rating"] == "overall_score"


@pytest.mark.parametrize("stars", [["0", "1"], ["1.0", "0.0"], ["3", "4"]])
def test_zero_and_one_is_no_rating_and_neither_are_numbers_under_any_name(stars: list[str]) -> None:
    assert ("rating" in roles(rating=stars, why=TEXT)) == (stars == ["3", "4"])
    assert "rating" not in roles(warm=stars, why=TEXT)


def test_what_most_rows_repeat_is_no_text() -> None:
    agreed = ["I have read all of this and agree to take part."] * 4
    chosen = ["I would use it again, very often.", "I would never use it again, ever."] * 2
    said = [*TEXT, "It was kind enough to me.", "No help at all, really."]
    assert roles(consent=agreed, again=chosen, said=said)["text"] == "said"
    assert "text" not in roles(comment=agreed, why=chosen)
    assert roles(comment=TEXT[:1])["text"] == "comment"  # one response alone


def test_the_question_says_what_a_column_holds(tmp_path: Path) -> None:
    longer = [(n, f"{text} {text}") for n, text in enumerate(TEXT, start=1)]
    export = qualtrics(longer)
    names, asked, ids, *responses = export.rows()
    rows = [
        [*row, more]
        for row, more in zip(
            [names, asked, ids, *responses],
            ["Q3", "Anything else?", '{"ImportId":"QID3_TEXT"}', *(2 * t for _, t in longer)],
            strict=True,
        )
    ]
    described = recognise(written(rows, tmp_path, "csv")).columns.set_index("column")
    assert described["role"].dropna().to_dict() == {"ResponseId": "unit_id", "Q1": "rating", "Q2": "text"}
    assert described["wording"].tolist()[2:] == [
        "How satisfied were you?",
        "Why did you say so?\nPlease explain.",
        "Anything else?",
    ]


def test_every_guess_is_one_that_read_takes(tmp_path) -> None:
    described = recognise(ROOT / "data" / "explanations.csv").columns.dropna(subset="role")
    columns = dict(zip(described["role"], described["column"], strict=True))
    units = read(ROOT / "data" / "explanations.csv", ratings=[columns.pop("rating")], **columns)
    assert len(units) == 300


def test_no_cell_is_in_the_description() -> None:
    table = pd.DataFrame({"Comment": ["Sentinel-Quokka said so.", "Sentinel-Quokka again."]})
    assert "Quokka" not in recognise(table).columns.to_csv()


def test_a_column_without_a_filled_cell_has_no_role() -> None:
    described = recognise(pd.DataFrame({"comment": ["", ""], "why": TEXT})).columns.set_index("column")
    assert described.loc["comment", ["n_filled", "what"]].tolist() == [0, "empty"]
    assert described["role"].tolist() == [pd.NA, "text"]
