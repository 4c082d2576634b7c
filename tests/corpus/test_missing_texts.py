"""A word for "no answer" in a column of texts is asked about as a blank row is."""

from __future__ import annotations

import pandas as pd
import pytest

from sense7_qual import corpus
from sense7_qual.errors import TableError

SAID = [
    "It heard me.",
    "-99",
    "N/A",
    "None",
    "It asked how I was.",
    "n/a",
    "-",
    "-",
    "-77",
    "Nothing, really.",
]
SURVEY = pd.DataFrame({"id": [f"r{i}" for i in range(len(SAID))], "why": SAID})
ANSWERS = ["It heard me.", "None", "It asked how I was.", "Nothing, really."]


def test_words_for_no_answer_are_asked_about() -> None:
    with pytest.raises(TableError, match="in 6 a word for “no answer”"):
        corpus.read(SURVEY, text="why", unit_id="id")
    units = corpus.read(SURVEY, text="why", unit_id="id", empty="skip")
    assert units["text"].tolist() == ANSWERS  # a single "None" may be an answer
    assert corpus.read(SURVEY, text="why", unit_id="id", empty="keep")["text"].tolist() == SAID


def test_of_several_questions_they_are_no_answer() -> None:
    two = SURVEY.assign(what="The tone.")
    with pytest.warns(UserWarning, match="6 blank answers"):
        units = corpus.read(two, text=["why", "what"], unit_id="id", case_id="id")
    assert units["text"].tolist() == ANSWERS + ["The tone."] * len(SAID)


def test_a_blank_row_is_an_error_also_where_words_are_kept() -> None:
    with pytest.raises(TableError, match="expected a text in every row"):
        corpus.read(SURVEY.assign(why=["", *SAID[1:]]), text="why", unit_id="id", empty="keep")


def test_a_code_for_missing_among_ratings_is_said_at_reading() -> None:
    rated = pd.DataFrame({"why": ["One.", "Two.", "Three.", "Four."], "stars": ["1", "5", "3", "-99"]})
    with pytest.warns(UserWarning, match="code for missing"):
        corpus.read(rated, text="why", ratings=["stars"])
    units = corpus.read(rated, text="why", ratings=["stars"], rating_labels={"-99": None})
    assert units["stars"].isna().tolist() == [False, False, False, True]
