"""Decisions from tables made elsewhere: what a blank cell and a missing row mean is asked, never guessed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual import agreement
from sense7_qual.codings import from_table, tally
from sense7_qual.errors import ArgumentError, TableError
from tests.helpers.places import PUBLISHED, SHARED

FIELD = SHARED / "data" / "field"
ONE_COLUMN = {"unit_id": "unit", "coder": "coder", "codes": ["warm"]}
TWO_COLUMNS = {"unit_id": "unit", "coder": "coder", "codes": ["warm", "cold"]}


def applied(frame: pd.DataFrame, coder: str, unit_id: str) -> dict[str, bool]:
    rows = frame[(frame["coder"] == coder) & (frame["unit_id"] == unit_id)]
    return dict(zip(rows["code"], rows["applied"], strict=True))


def test_from_table_reads_one_row_per_unit_and_coder() -> None:
    table = pd.DataFrame(
        {"Text": [1, 1, 2], "Who": ["a", "b", "a"], "Warm": [1, 0, 1], "Cold": ["0", "", "1"], "note": "x"}
    )
    found = from_table(
        table, unit_id="Text", coder="Who", codes={"Warm": "warm", "Cold": "cold"}, blank="undecided"
    )
    assert applied(found, "a", "1") == {"warm": True, "cold": False}
    assert applied(found, "b", "1") == {"warm": False}  # the empty cell is undecided
    assert applied(found, "a", "2") == {"warm": True, "cold": True}
    assert found["applied"].dtype == bool


@pytest.mark.long
@pytest.mark.parametrize(
    ("yes", "no"),
    [
        (1, 0),
        (1.0, 0.0),
        (True, False),
        ("1", "0"),
        ("1.0", "0.0"),
        ("TRUE", "false"),
        (" 1 ", "0 "),
        (np.int8(1), 0),
        ("yes", "no"),
        ("Y", "n"),
        ("x", "0"),
        ("✓", "no"),
    ],
)
@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, "", " \t"])
def test_from_table_reads_every_spelling_and_leaves_the_undecided_out(
    yes: object, no: object, missing: object
) -> None:
    column = pd.Series([yes, no, missing], dtype="object")
    table = pd.DataFrame({"unit": ["m1", "m2", "m3"], "who": "ana", "warm": column})
    found = from_table(table, unit_id="unit", coder="who", codes=["warm"], blank="undecided")
    assert found["unit_id"].tolist() == ["m1", "m2"]
    assert found["applied"].tolist() == [True, False]


@pytest.mark.parametrize("value", [2, -1, 0.5, "perhaps", "o", "01", np.inf])
def test_from_table_refuses_what_is_neither_and_does_not_show_it(value: object) -> None:
    table = pd.DataFrame({"unit": ["m1", "m2"], "who": "ana", "warm": pd.Series([1, value], dtype="object")})
    with pytest.raises(TableError, match="in the code columns – found other values in 1 cells of 'warm'"):
        from_table(table, unit_id="unit", coder="who", codes=["warm"])


@pytest.mark.parametrize("name", ["applied", "code", "coder", "unit_id", "value", "variable"])
def test_from_table_takes_codes_of_any_name(name: str) -> None:
    table = pd.DataFrame({"u": ["m1"], "w": ["ana"], name: [1]})
    found = from_table(table, unit_id="u", coder="w", codes=[name])
    assert found.to_dict("list") == {"unit_id": ["m1"], "coder": ["ana"], "code": [name], "applied": [True]}


def test_from_table_refuses_missing_and_doubled_columns_and_rows() -> None:
    table = pd.DataFrame({"unit": ["m1"], "who": ["ana"], "warm": [1]})
    with pytest.raises(TableError, match=r"expected a column 'wrm' – .*did you mean 'warm'\?"):
        from_table(table, unit_id="unit", coder="who", codes=["wrm"])
    twice = pd.concat([table, table[["warm"]]], axis=1)
    with pytest.raises(TableError, match="expected one column 'warm' – found more than one"):
        from_table(twice, unit_id="unit", coder="who", codes=["warm"])
    rows = pd.concat([table, table])
    with pytest.raises(TableError, match="found some more than once: 'm1 / ana / warm'"):
        from_table(rows, unit_id="unit", coder="who", codes=["warm"])
    with pytest.raises(TableError, match="expected 'coder' in every row"):
        from_table(table.assign(who=None), unit_id="unit", coder="who", codes=["warm"])


def test_from_table_takes_consensus_for_what_it_is() -> None:
    table = pd.DataFrame({"unit": ["m1"] * 3, "who": ["ana", "Consensus", " MAJORITY"], "warm": [1, 1, 0]})
    found = from_table(table, unit_id="unit", coder="who", codes=["warm"])
    assert found["coder"].tolist() == ["ana", "consensus", "majority"]
    assert tally(found)["n_coders"].tolist() == [1]


def test_from_table_takes_a_table_and_a_list() -> None:
    table = pd.DataFrame({"unit": ["m1"], "who": ["ana"], "warm": [1]})
    with pytest.raises(TableError, match="expected table to be a pandas DataFrame – found None"):
        from_table(None, unit_id="unit", coder="who", codes=["warm"])
    with pytest.raises(ArgumentError, match="expected codes to be a list of text or a mapping"):
        from_table(table, unit_id="unit", coder="who", codes="warm")


def test_from_table_of_no_rows() -> None:
    table = pd.DataFrame({"unit": [], "who": [], "warm": []})
    assert len(from_table(table, unit_id="unit", coder="who", codes=["warm"])) == 0


def test_from_table_reads_convabuse_whole() -> None:
    """Cercas Curry, Abercrombie & Rieser (2021): 12,411 judgements of 4,185 units by 8 coders."""
    table = pd.read_csv(PUBLISHED / "convabuse_ratings.csv", dtype=str, keep_default_na=False)
    codes = ["ableism", "homophobic", "intellectual", "racist", "sexist", "sex_harassment", "transphobic"]
    found = from_table(table, unit_id="unit_id", coder="coder", codes=codes)
    assert len(found) == 12_411 * 7
    assert found["unit_id"].nunique() == 4_185
    assert found["coder"].nunique() == 8
    counted = found.groupby("code")["applied"].sum().to_dict()
    assert counted == {code: table[code].eq("1").sum() for code in codes}

    import krippendorff

    wide = (
        found[found["code"] == "sexist"]
        .pivot(index="coder", columns="unit_id", values="applied")
        .astype(float)
    )
    alpha = krippendorff.alpha(wide.to_numpy(), level_of_measurement="nominal")
    assert alpha == pytest.approx(0.648776, abs=5e-7)  # known value of the data set's description


# What a blank cell means

MARKED = pd.DataFrame(
    {
        "unit": ["m1", "m2", "m3", "m4"] * 2,
        "coder": ["ana"] * 4 + ["ben"] * 4,
        "warm": ["x", "", None, "x", "x", " ", "", ""],
        "cold": ["", "x", "", "x", "", "x", "", "x"],
    }
)


def test_blank_cells_are_asked_about_and_counted_by_column_and_coder() -> None:
    with pytest.raises(
        TableError, match=r"found 5 in 'warm' \(ana 2, ben 3\), 4 in 'cold' \(ana 2, ben 2\) – pass blank="
    ):
        from_table(MARKED, **TWO_COLUMNS)
    whole = MARKED.assign(warm=1, cold=0)
    assert len(from_table(whole, **TWO_COLUMNS)) == 16  # nothing blank, nothing asked


def test_a_blank_cell_is_absent_where_the_caller_says_so() -> None:
    found = from_table(MARKED, **TWO_COLUMNS, blank="absent")
    assert len(found) == 16
    assert applied(found, "ana", "m3") == {"warm": False, "cold": False}
    found = from_table(MARKED, **TWO_COLUMNS, blank="absent_in_marked_rows")
    assert applied(found, "ana", "m3") == {}  # a row without any mark was not coded
    assert applied(found, "ben", "m2") == {"warm": False, "cold": True}
    with pytest.raises(TableError, match="leaves nothing but “yes” from coder 'ana', 'ben'"):
        from_table(MARKED, **TWO_COLUMNS, blank="undecided")
    with pytest.raises(TableError, match="nothing but “yes” from coder 'ana', 'ben'"):
        from_table(MARKED, **ONE_COLUMN, blank="absent_in_marked_rows")
    with pytest.raises(ArgumentError, match="expected blank to be"):
        from_table(MARKED, **ONE_COLUMN, blank="no")


def test_the_words_of_marks_can_be_named() -> None:
    sheet = pd.DataFrame({"unit": ["m1", "m2"], "coder": "ana", "warm": ["Ja", "nein "]})
    with pytest.raises(TableError, match="found other values in 2 cells of 'warm'"):
        from_table(sheet, **ONE_COLUMN)
    found = from_table(sheet, **ONE_COLUMN, values={"ja": True, "nein": False})
    assert found["applied"].tolist() == [True, False]


@pytest.mark.long
@given(
    st.lists(st.lists(st.sampled_from(["x", "1", "0", ""]), min_size=2, max_size=2), min_size=2, max_size=12),
    st.sampled_from(["absent", "absent_in_marked_rows", "undecided"]),
)
@settings(max_examples=60, deadline=None)
def test_every_meaning_of_blank_is_that_of_a_reading_cell_by_cell(cells: list[list[str]], blank: str) -> None:
    sheet = pd.DataFrame(cells, columns=["warm", "cold"]).assign(coder="ana")
    sheet["unit"] = [f"m{row}" for row in range(len(sheet))]
    expected = {}
    for row, marks in enumerate(cells):
        for code, mark in zip(("warm", "cold"), marks, strict=True):
            is_absent = blank == "absent" or (blank == "absent_in_marked_rows" and any(marks))
            if mark or is_absent:
                expected[f"m{row}", code] = mark in ("x", "1")
    has_blank = any("" in marks for marks in cells)
    if has_blank and expected and all(expected.values()):
        with pytest.raises(TableError, match="nothing but “yes”"):
            from_table(sheet, **TWO_COLUMNS, blank=blank)
        return
    found = from_table(sheet, **TWO_COLUMNS, blank=blank)
    assert (
        dict(zip(zip(found["unit_id"], found["code"], strict=True), found["applied"], strict=True))
        == expected
    )


@pytest.mark.skipif(not FIELD.exists(), reason="the field files are not beside this checkout")
def test_a_sheet_of_ones_and_blanks_is_asked_about() -> None:
    sheet = pd.read_csv(FIELD / "c01_one_or_blank.csv")
    with pytest.raises(TableError, match=r"found 151 in 'warm' \(ana 81, ben 70\)"):
        from_table(sheet, **ONE_COLUMN)
    for blank in ("absent_in_marked_rows", "undecided"):
        with pytest.raises(TableError, match="nothing but “yes”"):
            from_table(sheet, **ONE_COLUMN, blank=blank)
    row = agreement.by_code(from_table(sheet, **ONE_COLUMN, blank="absent"), n_boot=20).iloc[0]
    assert row["n_units"] == 120
    assert row[["percent", "ac1", "alpha"]].astype(float).round(2).tolist() == [0.69, 0.42, 0.34]


@pytest.mark.skipif(not FIELD.exists(), reason="the field files are not beside this checkout")
def test_rows_without_a_mark_can_be_rows_that_were_not_coded() -> None:
    sheet = pd.read_excel(FIELD / "c02_one_or_blank.xlsx")
    with pytest.raises(TableError, match="expected the meaning of blank cells"):
        from_table(sheet, **TWO_COLUMNS)
    found = agreement.by_code(from_table(sheet, **TWO_COLUMNS, blank="absent"), n_boot=20)
    assert found["n_units"].tolist() == [200, 200]
    assert found["percent"].round(2).tolist() == [0.68, 0.70]
    marked = from_table(sheet, **TWO_COLUMNS, blank="absent_in_marked_rows")
    assert marked.groupby("coder")["unit_id"].nunique().tolist() == [101, 103, 94]


# Which texts were coded


def complete(*, n: int = 60, seed: int = 3) -> pd.DataFrame:
    """Return a sheet of two coders with all rows: each of two codes is on a fifth of the texts."""
    random = np.random.default_rng(seed)
    truth = random.random((n, 2)) < 0.2
    parts = []
    for coder in ("ana", "ben"):
        marks = np.where(random.random((n, 2)) < 0.15, ~truth, truth).astype(int)
        parts.append(pd.DataFrame(marks, columns=["warm", "cold"]).assign(coder=coder))
    return pd.concat([part.assign(unit=[f"m{row}" for row in range(n)]) for part in parts], ignore_index=True)


def test_texts_without_any_code_that_were_left_out_are_asked_about_and_can_be_named() -> None:
    sheet = complete()
    exported = sheet[sheet[["warm", "cold"]].any(axis=1)]
    with pytest.raises(TableError, match="found a code in every row of coder 'ana', 'ben', as if texts"):
        from_table(exported, **TWO_COLUMNS)
    had = sheet[["unit", "coder"]].set_axis(["unit_id", "coder"], axis=1)
    whole = agreement.by_code(from_table(sheet, **TWO_COLUMNS), n_boot=20)
    for said in ({"finished": "all", "units": had[["unit_id"]].drop_duplicates()}, {"finished": had}):
        found = agreement.by_code(from_table(exported, **TWO_COLUMNS, **said), n_boot=20)
        columns = ["code", "n_units", "percent", "alpha"]
        pd.testing.assert_frame_equal(
            found[columns].sort_values("code", ignore_index=True),
            whole[columns].sort_values("code", ignore_index=True),
        )
    rows = agreement.by_code(from_table(exported, **TWO_COLUMNS, finished="rows"), n_boot=20)
    assert (rows["alpha"] - whole["alpha"]).abs().max() > 0.02  # what the question is for


def test_finished_texts_are_the_ones_of_the_table() -> None:
    sheet = complete()
    had = sheet[["unit", "coder"]].set_axis(["unit_id", "coder"], axis=1)
    with pytest.raises(TableError, match="expected rows of texts that the coder finished – found 1 others"):
        from_table(sheet, **TWO_COLUMNS, finished=had.iloc[1:])
    with pytest.raises(ArgumentError, match='expected "all" together with units'):
        from_table(sheet, **TWO_COLUMNS, finished="all")
    with pytest.raises(ArgumentError, match='expected "all" together with units'):
        from_table(sheet, **TWO_COLUMNS, units=had)
    with pytest.raises(TableError, match="finished: expected a column 'coder'"):
        from_table(sheet, **TWO_COLUMNS, finished=had[["unit_id"]])


def test_what_was_settled_is_not_taken_for_a_coder_who_had_all_texts() -> None:
    sheet = complete(n=20)
    settled = sheet[sheet["coder"] == "ana"].head(5).assign(coder="Consensus")
    units = pd.DataFrame({"unit_id": sheet["unit"].unique()})
    found = from_table(pd.concat([sheet, settled]), **TWO_COLUMNS, finished="all", units=units)
    assert found["coder"].value_counts().to_dict() == {"ana": 40, "ben": 40, "consensus": 10}
