"""What `read` does with a program's marks: its ids, its previews, rows that repeat a text; it looks once."""

from __future__ import annotations

import warnings
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import corpus
from sense7_qual.errors import ImportRefused, TableError
from tests.helpers.places import ROOT

EXPORT = ROOT / "data" / "survey_export.csv"
SENTINEL = "Sentinel-Quokka"


def read(source: object, **roles: object) -> tuple[pd.DataFrame, str]:
    """Return the units, and what was said when they were read."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        units = corpus.read(source, **roles)
    return units, "".join(str(one.message) for one in said)


def test_a_program_says_which_column_identifies_a_response_and_who_gave_it() -> None:
    units, _ = read(EXPORT, text="Q2", preview="skip")
    assert units["unit_id"].str.fullmatch(r"R_\w+").all()
    assert units["case_id"].equals(units["unit_id"])
    assert "ResponseId" not in units
    other, _ = read(EXPORT, text="Q2", preview="skip", unit_id=(), case_id="ExternalReference")
    assert other["unit_id"].tolist()[0] == "row-01"
    assert other["case_id"].unique().tolist() == ["synthetic"]


def test_previews_are_an_error_or_skipped_or_kept_as_it_is_said() -> None:
    with pytest.raises(
        ImportRefused, match='in lines 5, 6 – pass preview="skip" to leave them out, or "keep"'
    ):
        corpus.read(EXPORT, text="Q2")
    kept, said = read(EXPORT, text="Q2", preview="keep")
    assert "preview" not in said
    skipped, said = read(EXPORT, text="Q2", preview="skip")
    assert "2 responses that Qualtrics marks as previews or tests, Status 1, in lines 5, 6" in said
    assert skipped["unit_id"].tolist() == kept["unit_id"].tolist()[2:]
    assert set(kept["Status"][:2]) == {"1"}
    assert "1" not in set(skipped["Status"])


def test_what_was_recognised_is_read_without_a_second_look(monkeypatch: pytest.MonkeyPatch) -> None:
    found = corpus.recognise(EXPORT)
    direct, said = read(EXPORT, text="Q2", preview="skip")
    monkeypatch.setattr("builtins.open", None)
    units, same = read(found, text="Q2", preview="skip")
    pd.testing.assert_frame_equal(units, direct)
    assert same == said
    with pytest.raises(TableError, match="pass it to recognise"):
        corpus.read(found, text="Q2", header=1)


def test_a_text_that_several_people_labelled_is_one_unit_and_two_texts_of_one_id_are_refused(
    tmp_path: Path,
) -> None:
    rows = pd.DataFrame(
        {
            "annotation_id": ["1", "2", "3"],
            "annotator": ["7", "8", "7"],
            "lead_time": ["3.1", "2.0", "9"],
            "id": ["t1", "t1", "t2"],
            "text": [SENTINEL, SENTINEL, "Cold."],
            "tone": ["warm", "cold", ""],
        }
    )
    path = tmp_path / "labels.csv"
    rows.to_csv(path, index=False)
    units, said = read(path, text="text")
    assert units["unit_id"].tolist() == ["t1", "t2"]
    assert units.columns.tolist()[6:] == []  # any column may hold labels
    assert "1 row that repeats a text" in said
    assert SENTINEL not in said
    rows.assign(text=[SENTINEL, "Another.", "Cold."]).to_csv(path, index=False)
    with pytest.raises(TableError, match="expected each id once"):
        corpus.read(path, text="text")
