from __future__ import annotations

import traceback

import numpy as np
import pandas as pd
import pytest

from sense7_qual.errors import TableError
from sense7_qual.frames import (
    CODINGS,
    COVERAGE,
    DECISIONS,
    MEMOS,
    SUGGESTIONS,
    UNITS,
    Contract,
    labels_by_unit,
    require_column,
)

TEXT = "I felt that it did not listen to a word"  # stands for a participant's words


def units(**changes: object) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "unit_id": ["m1", "m2", "m3"],
            "text": ["a", "b", "c"],
            "document_id": ["t1", "t1", None],
            "case_id": ["S01", "S01", "S02"],
            "position": [1, 2, None],
        }
    )
    return frame.assign(**changes)


def decided(*applied: object) -> pd.DataFrame:
    ids = [f"m{number}" for number in range(len(applied))]
    return pd.DataFrame({"unit_id": ids, "coder": "ana", "code": "interest", "applied": list(applied)})


def refusal(contract: Contract, frame: pd.DataFrame) -> str:
    """Return the whole of what a user would see of the refusal, its causes included."""
    with pytest.raises(TableError) as caught:
        contract.check(frame)
    return "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("contract", [UNITS, CODINGS, COVERAGE, DECISIONS, MEMOS], ids=lambda c: c.name)
def test_an_empty_frame_of_a_contract_passes_it(contract: Contract) -> None:
    empty = contract.check(contract.empty())
    assert list(empty.columns) == list(contract.columns)
    assert len(empty) == 0
    assert set(contract.key) <= set(contract.columns)


def test_check_types_the_columns_and_keeps_the_others() -> None:
    checked = UNITS.check(units(unit_id=[1, 2, 3], EmpathyOverall=[4.5, np.nan, 1.0]))
    assert checked["unit_id"].tolist() == ["1", "2", "3"]
    assert checked["position"].dtype == "Int64"
    assert checked["position"].isna().tolist() == [False, False, True]
    assert checked["document_id"].isna().tolist() == [False, False, True]
    assert checked["EmpathyOverall"].dtype == np.float64


def test_check_keeps_texts_as_they_are_written() -> None:
    texts = ["None", "007", " x "]
    assert UNITS.check(units(text=texts))["text"].tolist() == texts


def test_check_never_changes_what_it_is_given() -> None:
    frame = units(unit_id=[1, 2, 3], mine=[[1], [2], [3]]).set_axis([7, 7, 9])
    before = frame.copy(deep=True)
    checked = UNITS.check(frame)
    checked.loc[0, "text"] = "changed"
    pd.testing.assert_frame_equal(frame, before)
    assert checked.index.tolist() == [0, 1, 2]


def test_a_missing_column_is_named_with_the_nearest_one() -> None:
    said = refusal(UNITS, units().rename(columns={"unit_id": "UnitID"}))
    assert "units: expected a column 'unit_id'" in said
    assert "did you mean 'UnitID'?" in said


def test_a_missing_column_of_a_frame_without_columns() -> None:
    assert "there are none" in refusal(UNITS, pd.DataFrame())


def test_a_file_without_a_header_does_not_show_its_first_text() -> None:
    long = TEXT * 2
    said = refusal(UNITS, pd.DataFrame({long: ["b"], "4": ["5"]}))
    assert TEXT not in said
    assert "'4'" in said


def test_a_column_that_stands_twice_is_refused() -> None:
    frame = pd.concat([units(), units()[["text"]]], axis=1)
    assert "found 'text' twice" in refusal(UNITS, frame)


def test_what_is_not_a_frame_is_refused() -> None:
    with pytest.raises(TableError, match="units: expected a pandas DataFrame – found list"):
        UNITS.check([{"unit_id": "m1"}])  # type: ignore[arg-type]


def test_duplicate_keys_are_named_once_each_with_their_count() -> None:
    said = refusal(UNITS, units(unit_id=["m1", "m1", "m1"]))
    assert "expected one row per unit_id – found some more than once: 'm1' –" in said


def test_a_duplicate_key_of_several_columns_is_named_whole() -> None:
    frame = pd.concat([decided(True, False), decided(False)], ignore_index=True)
    assert "'m0 / ana / interest'" in refusal(DECISIONS, frame)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, ""])
def test_a_missing_or_empty_id_is_refused_with_its_row(missing: object) -> None:
    said = refusal(UNITS, units(unit_id=["m1", missing, "m3"]))
    assert "expected 'unit_id' in every row – it is missing in 1 rows (first: row '1')" in said


@pytest.mark.parametrize(
    ("position", "rows"),
    [
        ([1, 1.5, None], "'1'"),
        (["1", "two", "3"], "'1'"),
        ([1, np.inf, 2], "'1'"),
        (["1.5", "2.5", "x"], "'0', '1', '2'"),
        ([10**30, 1, 2], "'0'"),
        ([[1], 2, 3], "'0'"),
        (["1", 2, None], None),
    ],
)
def test_positions_that_are_not_whole_numbers_are_refused_with_their_rows(
    position: list[object], rows: str | None
) -> None:
    said = refusal(UNITS, units(position=pd.Series(position, dtype="object")))
    assert "expected integer values in column 'position'" in said
    assert f"(first: row {rows})" in said if rows else "mixed types" in said


def test_integers_written_as_text_are_read() -> None:
    assert UNITS.check(units(position=["1", "2", None]))["position"].tolist()[:2] == [1, 2]


def test_no_participant_text_is_shown_where_a_wrong_column_was_chosen() -> None:
    assert TEXT not in refusal(UNITS, units(position=[TEXT, "1", "2"]))
    assert TEXT not in refusal(DECISIONS, decided(True, TEXT))


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, "", "yes", 2, "True"])
def test_an_undecided_unit_is_not_absent(missing: object) -> None:
    said = refusal(DECISIONS, decided(True, missing, False))
    assert "expected True or False in column 'applied' – found others in 1 rows (first: row '1')" in said
    assert "drop these rows" in said


@pytest.mark.parametrize("dtype", ["bool", "boolean", "object", "int64", "float64", "Int64"])
def test_true_and_false_are_read_from_every_type_that_holds_them(dtype: str) -> None:
    frame = decided(True, False)
    checked = DECISIONS.check(frame.assign(applied=frame["applied"].astype(dtype)))
    assert checked["applied"].dtype == bool
    assert checked["applied"].tolist() == [True, False]


def codings(*spans: tuple[int | None, int | None]) -> pd.DataFrame:
    frame = pd.DataFrame({name: ["x"] * len(spans) for name in CODINGS.columns})
    return frame.assign(start=[start for start, _ in spans], end=[end for _, end in spans])


def test_one_code_may_stand_on_several_spans_and_on_the_whole_unit() -> None:
    assert len(CODINGS.check(codings((0, 4), (5, 9), (None, None)))) == 3


def test_one_code_stands_once_on_the_whole_unit() -> None:
    assert "expected one row per unit_id, coder, code, start, end" in refusal(
        CODINGS, codings((None, None), (None, None))
    )


def test_half_a_character_is_refused_and_not_shown() -> None:
    said = refusal(UNITS, units(text=pd.Series(["ok", "\ud83d", "ok"], dtype="object")))
    assert "expected string values in column 'text' – found others in 1 rows (first: row '1')" in said


def test_require_column() -> None:
    require_column(units(), "text", frame_name="units")
    with pytest.raises(TableError, match="did you mean 'case_id'"):
        require_column(units(), "caseid", frame_name="units")


@pytest.mark.parametrize("ids", [["m1", "m2", "m3"], ["0", "1", "2"]])
def test_labels_are_found_by_unit_id_and_never_by_position(ids: list[str]) -> None:
    labels = pd.Series(["p1", "p2", "p3"], index=pd.Index(ids, name="unit_id"))
    asked = pd.Index(list(reversed(ids)))
    assert labels_by_unit(labels, asked, name="cluster").tolist() == ["p3", "p2", "p1"]
    with pytest.raises(TableError, match=r"cluster: .* – found row numbers – .*not matched by position"):
        labels_by_unit(labels.reset_index(drop=True), asked, name="cluster")
    with pytest.raises(TableError, match=r"names none of the 3 units"):
        labels_by_unit(labels.add_prefix("x"), asked, name="cluster")
    with pytest.raises(TableError, match=r"found list"):
        labels_by_unit(labels.tolist(), asked, name="cluster")  # type: ignore[arg-type]


def test_white_space_around_ids_does_not_count() -> None:
    frame = decided(True, False, True).assign(
        unit_id=[" m1", "m2\t", "m3"], coder=["ana", "ana ", "\u00a0ben"]
    )
    checked = DECISIONS.check(frame)
    assert checked["unit_id"].tolist() == ["m1", "m2", "m3"]
    assert checked["coder"].tolist() == ["ana", "ana", "ben"]
    twice = decided(True, False).assign(unit_id=["m1", "m1 "])
    assert "found some more than once: 'm1 / ana / interest'" in refusal(DECISIONS, twice)
    assert "it is missing in 1 rows" in refusal(DECISIONS, decided(True, True).assign(coder=["ana", " "]))


def test_texts_and_further_columns_keep_their_white_space() -> None:
    checked = UNITS.check(units(text=[" x ", "\ty", "z"], case_id=[" p1", "p2", " p1"], note=" n "))
    assert checked["text"].tolist() == [" x ", "\ty", "z"]
    assert checked["case_id"].tolist() == [" p1", "p2", " p1"]
    assert checked["note"].tolist() == [" n "] * 3


def test_ids_of_the_record_stay_as_they_are_written() -> None:
    frame = units(unit_id=[" m1", "m2", "m3"])
    assert UNITS.check(frame, as_written=True)["unit_id"].tolist() == [" m1", "m2", "m3"]
    with pytest.raises(TableError, match=r"expected one spelling of each unit_id – found ' m1', 'm1' with"):
        UNITS.check(units(unit_id=[" m1", "m1", "m3"]), as_written=True)


@pytest.mark.parametrize("name", ["Consensus", "MAJORITY", "pooled "])
def test_a_computed_decision_in_another_case_is_no_person(name: str) -> None:
    frame = decided(True, False).assign(coder=["ana", name])
    if name.strip() == "pooled":
        assert DECISIONS.check(frame)["coder"].tolist() == ["ana", "pooled"]
    else:
        assert f"found coder '{name}' – write '{name.lower()}'" in refusal(DECISIONS, frame)


def test_coders_that_differ_in_case_alone_are_refused() -> None:
    frame = decided(True, False).assign(coder=["ana", "Ana"])
    assert "differ in more than upper and lower case – found 'ana', 'Ana'" in refusal(DECISIONS, frame)


def test_probabilities_in_per_cent_are_refused() -> None:
    frame = pd.DataFrame(
        {
            "unit_id": ["m1", "m2"],
            "code": "warm",
            "probability": [97.0, None],
            "suggested": True,
            "start": None,
            "end": None,
        }
    )
    assert (
        "expected probabilities from 0 to 1 in column 'probability' – found 1 others, from 97 to 97"
        in refusal(SUGGESTIONS, frame)
    )
    SUGGESTIONS.check(frame.assign(probability=frame["probability"] / 100))


@pytest.mark.parametrize("column", ["unit_id", "coder", "code"])
@pytest.mark.parametrize("nothing", ["nan", "None", "<NA>", "N/A"])
def test_an_id_that_was_missing_before_it_became_text_is_refused(column: str, nothing: str) -> None:
    decisions = pd.DataFrame({"unit_id": ["m1", "m2"], "coder": "ana", "code": "warm", "applied": True})
    decisions.loc[1, column] = nothing
    with pytest.raises(TableError, match="missing"):
        DECISIONS.check(decisions)
