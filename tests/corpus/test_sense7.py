"""The SENSE-7 workbook, on a synthetic one of its shape."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pandas as pd
import pytest
from openpyxl import Workbook

from sense7_qual import corpus, ratings
from sense7_qual.corpus import _sense7
from sense7_qual.errors import ImportRefused, TableError
from sense7_qual.frames import UNITS
from tests.helpers.places import ROOT

BOOK = ROOT / "data" / "sense7_synthetic.xlsx"
DIMENSIONS = ["Affective", "Cognitive", "Response", "Prosocial", "Interest", "Contextual", "Relational"]
EXPERIENCE = [
    f"PostTaskExperience_{name}" for name in ("Successful", "Engaged", "PositiveInteraction", "UseAgain")
]


def task(task_id: object, pid: str, model: str, **changes: object) -> dict[str, object]:
    after = dict.fromkeys(EXPERIENCE, 4) | dict.fromkeys(
        [f"PostTaskEmpathy_{name}" for name in DIMENSIONS], 3
    )
    before = {"PreTaskChoice": "work", "PreTaskImportance": 5, "PreTaskDesiredEmpathy": 2}
    return {"PID": pid, "Model": model, "TaskId": task_id} | before | after | changes


def message(
    task_id: object, number: object, role: str, content: str | None, **changes: object
) -> dict[str, object]:
    rated = dict.fromkeys(["EmpathyOverall", *DIMENSIONS, "Comment"])
    return {
        "TaskId": task_id,
        "MessageId": number,
        "TimeOffsetSeconds": 1.5,
        "Role": role,
        "Content": content,
        "Retry": 0,
    } | (rated | changes)


TASKS = [task("t9", "p1", "System A"), task(7, "p2", "None", PreTaskImportance="unknown", PreTaskChoice="3")]
MESSAGES = [
    # Out of order on purpose: MessageId 10 comes after 9, and the sheet's order is not the conversation's.
    message(
        "t9", 10, "Assistant ", "I see.", EmpathyOverall="Very Good", Affective=5, Comment="It\r\nsaw me."
    ),
    message("t9", 9, "user", "I feel low."),
    message("t9", 8, "error", "timeout", Affective="garbage", Comment="not a unit"),
    message("t9", 8, "assistant", "Hello.", EmpathyOverall=" poor", Relational="unknown", Comment="NA"),
    message(7, 1, "user", "Help me.", Comment="I asked badly."),
    message(7, 2, "assistant", None, EmpathyOverall=3, Comment="  "),
    message(
        7,
        3,
        "assistant",
        "Sure.",
        EmpathyOverall="neutral",
        Interest="VERY POOR",
        Comment="Cold.",
        Retry="yes",
    ),
]


def write(path, tasks=TASKS, messages=MESSAGES, *, names=("Tasks", "Messages")):
    book = Workbook()
    book.remove(book.active)
    for name, rows in zip(names, (tasks, messages), strict=True):
        sheet = book.create_sheet(name)
        sheet.append(list(rows[0]))
        for row in rows:
            sheet.append(list(row.values()))
    book.save(path)
    return path


@pytest.fixture
def units(tmp_path):
    return corpus.read_sense7(write(tmp_path / "a.xlsx"))


def test_every_explanation_becomes_a_unit_in_the_order_of_its_conversation(units):
    assert units["unit_id"].tolist() == ["t9/8", "t9/10", "7/1", "7/3"]
    assert units["text"].tolist() == ["NA", "It\nsaw me.", "I asked badly.", "Cold."]
    assert units["document_id"].tolist() == ["t9", "t9", "7", "7"]
    assert units["case_id"].tolist() == ["p1", "p1", "p2", "p2"]
    assert units["position"].tolist() == [8, 10, 1, 3]
    assert units["Model"].tolist() == ["System A", "System A", "None", "None"]
    assert units["Role"].tolist() == ["assistant", "assistant", "user", "assistant"]
    pd.testing.assert_frame_equal(UNITS.check(units), units)


def test_the_context_runs_up_to_the_rated_turn_without_error_rows(units):
    contexts = [
        [(turn["role"], turn["text"]) for turn in json.loads(context)] for context in units["context"]
    ]
    assert contexts == [
        [("assistant", "Hello.")],
        [("assistant", "Hello."), ("user", "I feel low."), ("assistant", "I see.")],
        [("user", "Help me.")],
        [("user", "Help me."), ("assistant", ""), ("assistant", "Sure.")],
    ]


def test_ratings_are_numbers_and_unknown_is_missing(units):
    np.testing.assert_array_equal(units["EmpathyOverall"], [2, 5, np.nan, 3])
    np.testing.assert_array_equal(units["Affective"], [np.nan, 5, np.nan, np.nan])
    np.testing.assert_array_equal(units["Interest"], [np.nan, np.nan, np.nan, 1])
    assert units["Relational"].isna().all()
    assert units["TimeOffsetSeconds"].tolist() == [1.5] * 4
    assert units["Retry"].tolist() == ["0", "0", "0", "yes"]
    assert {str(units[name].dtype) for name in ["EmpathyOverall", *DIMENSIONS]} == {"float64"}
    assert {str(units[name].dtype) for name in ["Model", "Role", "Retry", "PreTaskChoice", "text"]} == {
        "string"
    }


def test_what_was_asked_before_and_after_the_task_comes_along(units):
    np.testing.assert_array_equal(units["PreTaskImportance"], [5, 5, np.nan, np.nan])
    assert units["PreTaskChoice"].tolist() == ["work", "work", "3", "3"]  # a choice, never a number
    for name in [*EXPERIENCE, *(f"PostTaskEmpathy_{dimension}" for dimension in DIMENSIONS)]:
        assert units[name].dtype == "float64"


def test_labels_in_a_task_column_stay_as_written(tmp_path):
    tasks = [TASKS[0] | {EXPERIENCE[0]: "strongly agree"}, TASKS[1]]
    units = corpus.read_sense7(write(tmp_path / "a.xlsx", tasks))
    assert units[EXPERIENCE[0]].tolist() == ["strongly agree", "strongly agree", "4", "4"]


@pytest.mark.parametrize("prefix", ["Empathy", "Empathy_"])
def test_dimension_columns_may_be_prefixed(tmp_path, units, prefix):
    messages = [
        {(prefix + name if name in DIMENSIONS else name): value for name, value in row.items()}
        for row in MESSAGES
    ]
    again = corpus.read_sense7(write(tmp_path / "b.xlsx", messages=messages))
    pd.testing.assert_frame_equal(again, units)


def test_two_columns_for_one_dimension_are_refused(tmp_path):
    messages = [row | {"EmpathyAffective": 1} for row in MESSAGES]
    with pytest.raises(TableError, match="one column for Affective – found Affective and EmpathyAffective"):
        corpus.read_sense7(write(tmp_path / "a.xlsx", messages=messages))


def test_a_workbook_without_comments_gives_no_units(tmp_path):
    units = corpus.read_sense7(
        write(tmp_path / "a.xlsx", messages=[row | {"Comment": None} for row in MESSAGES])
    )
    assert len(units) == 0
    assert {"unit_id", "EmpathyOverall", "Model"} <= set(units.columns)


def changed(place: int, **changes: object) -> list[dict[str, object]]:
    return [row | changes if i == place else row for i, row in enumerate(MESSAGES)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        (
            changed(0, Affective=6),
            "numbers from 1 to 5 .*in column 'Affective' – found '6' in Messages row 2",
        ),
        (changed(3, Relational="bad"), "in column 'Relational' – found 'bad' in Messages row 5"),
        (
            changed(0, TimeOffsetSeconds="soon"),
            "in column 'TimeOffsetSeconds' – found 'soon' in Messages row 2",
        ),
        (changed(5, TaskId=8), "TaskId of every message in the sheet Tasks – found '8' in Messages row 7"),
        (changed(6, MessageId=1), "each TaskId and MessageId once – found the same in Messages rows 6, 8"),
        (
            changed(6, MessageId="last"),
            "whole numbers in column 'MessageId' – found 'last' in Messages row 8",
        ),
        (
            changed(6, MessageId=None),
            "an id in every row of column 'MessageId' – found none in Messages row 8",
        ),
        (changed(6, Role=None), "user, assistant or error in column 'Role' – found none in Messages row 8"),
        (
            [{("Coment" if name == "Comment" else name): row[name] for name in row} for row in MESSAGES],
            "a column 'Comment' .* did you mean 'Coment'",
        ),
        (
            [{name: row[name] for name in row if name != "Response"} for row in MESSAGES],
            "a column 'Response'",
        ),
    ],
)
def test_bad_messages_are_refused(tmp_path, messages, reason):
    with pytest.raises(TableError, match=reason):
        corpus.read_sense7(write(tmp_path / "a.xlsx", messages=messages))


@pytest.mark.parametrize(
    ("tasks", "reason"),
    [
        (
            [TASKS[0], TASKS[1] | {"TaskId": "t9"}],
            "each TaskId once – found 't9' more than once, in Tasks rows 2, 3",
        ),
        ([TASKS[0] | {"PID": None}, TASKS[1]], "every row of column 'PID' – found none in Tasks row 2"),
        (
            [TASKS[0] | {"PID": "p2 "}, TASKS[1]],
            "same id with and without spaces around it in Tasks rows 2, 3",
        ),
    ],
)
def test_bad_tasks_are_refused(tmp_path, tasks, reason):
    with pytest.raises(TableError, match=reason):
        corpus.read_sense7(write(tmp_path / "a.xlsx", tasks))


def test_a_missing_sheet_is_named_with_the_nearest(tmp_path):
    with pytest.raises(
        ImportRefused, match=r"expected a sheet 'Messages' – found none – did you mean 'Message'\?"
    ):
        corpus.read_sense7(write(tmp_path / "a.xlsx", names=("Tasks", "Message")))


# Every turn


def test_every_turn_is_a_message_with_its_ratings(tmp_path):
    path = write(tmp_path / "a.xlsx")
    found = corpus.read_sense7_messages(path)
    assert found["unit_id"].tolist() == ["t9/8", "t9/9", "t9/10", "7/1", "7/2", "7/3"]
    assert found["Role"].tolist() == ["assistant", "user", "assistant", "user", "assistant", "assistant"]
    assert found["Content"].tolist() == ["Hello.", "I feel low.", "I see.", "Help me.", "", "Sure."]
    assert found["case_id"].tolist() == ["p1"] * 3 + ["p2"] * 3
    assert found["Model"].tolist() == ["System A"] * 3 + ["None"] * 3
    np.testing.assert_array_equal(found["EmpathyOverall"], [2, np.nan, 5, np.nan, 3, 3])
    assert not {"Comment", "text", "context"} & set(found.columns)
    # The turns that are explained are the units, number for number.
    units = corpus.read_sense7(path).set_index("unit_id")
    shared = [name for name in found.columns if name in units.columns]
    pd.testing.assert_frame_equal(found.set_index("unit_id").loc[units.index, shared], units[shared])


@pytest.mark.long
def test_the_truth_and_the_judge_take_the_messages_as_they_are():
    """All turns of the synthetic workbook: no warning, and the truth that the sheet itself gives."""
    messages = corpus.read_sense7_messages(BOOK)
    truth = ratings.ground_truth(messages)
    sheet = ratings.ground_truth(pd.read_excel(BOOK, sheet_name="Messages"), document_id="TaskId")
    np.testing.assert_array_equal(
        truth["truth"], truth["document_id"].map(sheet.set_index("document_id")["truth"])
    )
    assert truth["case_id"].notna().all()
    assert set(truth["document_id"]) == set(sheet["document_id"])
    judged = ratings.judge(messages, chat=lambda prompt: "4")
    assert judged["document_id"].tolist() == truth["document_id"].tolist()
    np.testing.assert_array_equal(judged["n_turns"], messages.groupby("document_id", sort=False).size())


def test_the_names_of_the_dimensions_stand_in_one_place():
    assert list(_sense7.SENSE7_DIMENSIONS) == DIMENSIONS
    assert (
        inspect.signature(ratings.ground_truth).parameters["dimensions"].default is _sense7.SENSE7_DIMENSIONS
    )
