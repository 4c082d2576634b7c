"""Reading units: columns by role, texts canonical, nothing guessed away, every refusal named."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from sense7_qual import corpus
from sense7_qual.errors import ImportRefused, QualError, TableError
from sense7_qual.frames import UNITS
from tests.helpers.messages import SOURCES, messages

PRIVATE = "my brother hit me"


def frame(**columns: list[object]) -> pd.DataFrame:
    return pd.DataFrame(columns)


def comments(**columns: list[object]) -> pd.DataFrame:
    return frame(**({"id": ["a", "b", "c"], "said": ["one", "two", "three"]} | columns))


# The frame


@pytest.mark.long
def test_units_have_the_columns_of_the_contract_then_ratings_then_variables():
    table = comments(
        task=["t1", "t1", "t2"], pid=["p1", "p1", "p2"], stars=["4", "", "2"], age=["07", "NA", ""]
    )
    units = corpus.read(
        table,
        text="said",
        unit_id="id",
        document_id="task",
        case_id="pid",
        ratings=["stars"],
        variables=["age"],
    )
    names = ["unit_id", "text", "document_id", "case_id", "position", "context", "stars", "age"]
    assert units.columns.tolist() == names
    assert units.drop(columns="context").iloc[1].tolist()[:5] == ["b", "two", "t1", "p1", 2]
    assert units["position"].tolist() == [1, 2, 1]
    np.testing.assert_array_equal(units["stars"], [4.0, np.nan, 2.0])
    assert units["age"].tolist() == ["07", "NA", ""]  # a DataFrame's empty string is no missing value
    dtypes = {"stars": "float64", "position": "Int64"}
    assert {name: str(units[name].dtype) for name in names} == dict.fromkeys(names, "string") | dtypes
    pd.testing.assert_frame_equal(UNITS.check(units), units)


def test_variables_default_to_every_column_without_a_role_and_can_be_renamed_or_left_out():
    table = comments(stars=["1", "2", "3"], age=["07", "8", "9"], place=["x", "y", "z"])
    chosen = {"text": "said", "unit_id": "id", "ratings": {"stars": "overall"}}
    names = [*UNITS.columns, "context", "overall"]
    assert corpus.read(table, **chosen).columns.tolist() == [*names, "age", "place"]
    assert corpus.read(table, **chosen, variables=()).columns.tolist() == names
    assert corpus.read(table, **chosen, variables={"age": "years"}).columns.tolist() == [*names, "years"]
    assert corpus.read(table, **(chosen | {"ratings": "stars"}), variables="age").columns.tolist()[6:] == [
        "stars",
        "age",
    ]


def test_rows_without_ids_are_numbered_in_order_and_keep_their_number_when_texts_are_skipped():
    units = corpus.read(frame(n=range(10), said=["x", " ", *"abcdefgh"]), text="said", empty="skip")
    assert units["unit_id"].tolist()[:2] == ["row-01", "row-03"]
    assert units["unit_id"].tolist()[-1] == "row-10"
    assert units[["document_id", "case_id", "position", "context"]].isna().all(axis=None)


def test_several_columns_make_one_id():
    table = comments(task=["t1", "t1", "t2"], turn=[1, 2, 1])
    units = corpus.read(table, text="said", unit_id=["task", "turn"], document_id="task", variables=())
    assert units["unit_id"].tolist() == ["t1/1", "t1/2", "t2/1"]
    assert units["document_id"].tolist() == ["t1", "t1", "t2"]


def test_positions_are_read_as_whole_numbers():
    units = corpus.read(comments(turn=["10", " 2", ""]), text="said", unit_id="id", position="turn")
    assert units["position"].tolist() == [10, 2, pd.NA]
    with pytest.raises(TableError, match=r"whole numbers in column 'turn' – found '2.5', 'x' in rows 2, 3"):
        corpus.read(comments(turn=["1", "2.5", "x"]), text="said", position="turn")


@pytest.mark.parametrize("suffix", ["csv", "xlsx", "jsonl", "parquet"])
def test_every_format_gives_the_same_units(tmp_path, suffix):
    table = comments(said=["None", "NA", "007"], stars=[1.0, 2.5, 5.0], when=["1e5", " x ", "NaN"])
    path = tmp_path / f"comments.{suffix}"
    if suffix == "csv":
        table.to_csv(path, index=False)
    elif suffix == "xlsx":
        table.to_excel(path, index=False)
    elif suffix == "jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_parquet(path)
    chosen = {"text": "said", "unit_id": "id", "ratings": ["stars"]}
    units = corpus.read(path, **chosen)
    assert units["text"].tolist() == ["None", "NA", "007"]
    pd.testing.assert_frame_equal(units, corpus.read(table, **chosen))


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=40).filter(str.strip)


@pytest.mark.long
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(texts=st.lists(TEXTS, min_size=1, max_size=5), suffix=st.sampled_from(["csv", "jsonl", "parquet"]))
def test_texts_come_back_in_canonical_form(tmp_path, texts, suffix):
    assume_texts = [text for text in texts if corpus.canonical(text).strip()] or ["x"]
    table, path = frame(said=assume_texts), tmp_path / f"texts.{suffix}"
    if suffix == "csv":
        # pandas does not quote a cell that holds a bare CR unless it is told to quote everything
        path.write_text(
            table.to_csv(index=False, quoting=1, lineterminator="\n"), encoding="utf-8", newline=""
        )
    elif suffix == "jsonl":
        path.write_text("\n".join(json.dumps({"said": text}) for text in assume_texts), encoding="utf-8")
    else:
        table.to_parquet(path)
    assert corpus.read(path, text="said", empty="keep")["text"].tolist() == [
        corpus.canonical(text) for text in assume_texts
    ]


# Canonical texts


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("\ufeffa\ufeffb", "a\ufeffb"),
        ("a\r\nb\rc\n\r\n", "a\nb\nc\n\n"),
        ("  e\u0301 ≠ é \u2028", "  e\u0301 ≠ é \u2028"),  # no normalisation, no trimming
        ("", ""),
    ],
)
def test_canonical_form(text, form):
    assert corpus.canonical(text) == form
    assert corpus.canonical(form) == form


@pytest.mark.parametrize(
    ("bad", "name"), [("\x00", "U\\+0000"), ("\ud800", "U\\+D800"), ("\udfff", "U\\+DFFF")]
)
def test_canonical_form_refuses_what_cannot_be_stored(bad, name):
    with pytest.raises(ImportRefused, match=f"found {name} at character 17") as refused:
        corpus.canonical(PRIVATE + bad)
    assert PRIVATE not in str(refused.value)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00")))
def test_canonical_form_is_reached_in_one_step(text):
    once = corpus.canonical(text)
    assert corpus.canonical(once) == once
    assert "\r" not in once


# Context


def test_plain_context_becomes_one_turn_and_blank_is_missing():
    units = corpus.read(comments(before=["Hi.\r\nYou?", " ", None]), text="said", context="before")
    assert json.loads(units["context"][0]) == [{"role": "", "text": "Hi.\nYou?"}]
    assert units["context"].isna().tolist() == [False, True, True]


def test_a_list_of_turns_stays_a_list_of_turns(tmp_path):
    turns = [{"role": "user", "text": "Hi\r\n"}, {"role": "assistant", "content": "Ho"}]
    rows = [
        {"said": "x", "before": turns},
        {"said": "y", "before": "[sighs] nothing"},
        {"said": "z", "before": [1]},
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    units = corpus.read(tmp_path / "a.jsonl", text="said", context="before")
    assert [json.loads(context) for context in units["context"]] == [
        [{"role": "user", "text": "Hi\n"}, {"role": "assistant", "text": "Ho"}],
        [{"role": "", "text": "[sighs] nothing"}],
        [{"role": "", "text": "[1]"}],
    ]
    again = corpus.read(
        units[["text", "context"]].rename(columns={"text": "said"}), text="said", context="context"
    )
    assert again["context"].tolist() == units["context"].tolist()


# Ratings


def test_labels_of_ratings_are_matched_without_regard_to_case_and_padding():
    table = comments(stars=[" Very Poor", "5", "UNKNOWN "])
    labels = {"very poor": 1, "unknown": None}
    units = corpus.read(table, text="said", ratings=["stars"], rating_labels=labels)
    np.testing.assert_array_equal(units["stars"], [1.0, 5.0, np.nan])


@pytest.mark.parametrize("value", ["nan", "inf", "1_000", "4,5", "five", "٣", "1e999", "0x1", "--1", "."])
def test_a_rating_that_is_not_a_number_is_refused(value):
    with pytest.raises(TableError) as refused:
        corpus.read(comments(stars=["1", value, ""]), text="said", ratings=["stars"])
    message = str(refused.value)
    assert f"in column 'stars' – found '{value}' in row 2" in message
    assert "rating_labels=" in message


@pytest.mark.parametrize("value", ["-1", "+2.50", "3.", ".5", "1e1", " 7\t"])
def test_numbers_in_every_usual_spelling_are_ratings(value):
    units = corpus.read(comments(stars=["1", value, ""]), text="said", ratings=["stars"])
    np.testing.assert_array_equal(units["stars"], [1.0, float(value), np.nan])


def test_a_rating_column_that_holds_texts_does_not_leak_them():
    table = comments(other=[PRIVATE + " yesterday", "1", "2"])
    with pytest.raises(TableError, match=r"found '\(27 characters\)' in row 1") as refused:
        corpus.read(table, text="said", ratings=["other"])
    assert PRIVATE not in str(refused.value)


def test_a_label_without_a_number_is_refused():
    with pytest.raises(TableError, match="rating label 'poor' – found str"):
        corpus.read(comments(), text="said", rating_labels={"poor": "1"})


# Refusals


def test_a_missing_column_is_named_with_the_nearest():
    with pytest.raises(TableError, match=r"a column 'Said' – found 'id', 'said' – did you mean 'said'\?"):
        corpus.read(comments(), text="Said")
    for role in ("unit_id", "document_id", "case_id", "position", "context", "ratings", "variables"):
        with pytest.raises(TableError, match="expected a column 'idd'"):
            corpus.read(comments(), text="said", **{role: "idd"})


def test_a_file_without_a_header_does_not_leak_its_first_row(tmp_path):
    long = PRIVATE + ", and after that nobody in the whole family spoke to me again"
    for first, second in [("1", "2"), ("2026-01-31", "2026-02-01"), ("p1", "p2")]:
        (tmp_path / "a.csv").write_text(f'{first},"{long}"\n{second},"fine"\n', encoding="utf-8")
        with pytest.raises((TableError, ImportRefused)) as refused:
            corpus.read(tmp_path / "a.csv", text="said")
        assert PRIVATE not in str(refused.value)
        assert (type(refused.value) is ImportRefused) == (first != "p1")
        assert first == "p1" or "first row – found numbers or dates above numbers" in str(refused.value)


def test_ids_that_are_missing_doubled_long_or_padded_are_refused():
    with pytest.raises(TableError, match="expected each id once – found 'a' more than once, in rows 1, 3"):
        corpus.read(comments(id=["a", "b", "a"]), text="said", unit_id="id")
    with pytest.raises(TableError, match="an id in every row of column 'id' – found none in rows 2, 3"):
        corpus.read(comments(id=["a", None, " "]), text="said", unit_id="id")
    with pytest.raises(TableError, match="an id in every row of column 'pid' – found none in row 1"):
        corpus.read(comments(pid=["", "p", "p"]), text="said", case_id="pid")
    with pytest.raises(TableError, match="same id with and without spaces around it in rows 1, 3"):
        corpus.read(comments(pid=["p1", "p2", "p1 "]), text="said", case_id="pid")
    with pytest.raises(
        TableError, match="at most 200 characters in column 'said' – found longer ones in row 2"
    ):
        corpus.read(comments(said=["x", "y" * 201, "z"]), text="id", unit_id="said")
    padded = corpus.read(comments(pid=[" p1", "p2", " p1"]), text="said", case_id="pid")
    assert padded["case_id"].tolist() == [" p1", "p2", " p1"]  # one spelling throughout: kept as written


@pytest.mark.parametrize("rounded", ["1.23457E+18", "5E+10", "1e+16", "1,23457E+18"])
def test_ids_that_a_spreadsheet_has_rounded_are_refused(rounded):
    """Two participants of 19 digits would be one, and the id 5e10 another."""
    for role in ("unit_id", "case_id", "document_id"):
        with pytest.raises(TableError, match=r"has rounded, such as 1.23457E\+18, in row 2"):
            corpus.read(frame(said=["a", "b"], who=["5e10", rounded]), text="said", **{role: "who"})
    assert corpus.read(frame(said=["a"], who=["5e10"]), text="said", case_id="who")["case_id"].tolist() == [
        "5e10"
    ]


def test_texts_that_are_empty_are_refused_or_skipped(tmp_path):
    (tmp_path / "a.csv").write_text("id,said\n1,x\n2,\n3, \u3000\n4,y\n5,\n6,\n", encoding="utf-8")
    with pytest.raises(
        TableError, match=r"column 'said' – found none in lines 3, 4, 6 \(4 in all\).*empty='skip'"
    ):
        corpus.read(tmp_path / "a.csv", text="said", unit_id="id")
    units = corpus.read(tmp_path / "a.csv", text="said", unit_id="id", empty="skip")
    assert units["unit_id"].tolist() == ["1", "4"]
    assert units.index.tolist() == [0, 1]
    with pytest.raises(QualError, match="empty to be 'error' or 'skip' or 'keep' – found 'drop'"):
        corpus.read(tmp_path / "a.csv", text="said", empty="drop")


@pytest.mark.parametrize("table", [frame(said=[]), frame(said=["", " "])])
def test_no_text_at_all_is_refused(table):
    with pytest.raises(TableError, match="at least one text in column 'said'"):
        corpus.read(table, text="said", empty="skip")


def test_columns_that_would_take_a_contracted_name_are_refused_and_can_be_renamed():
    table = comments(position=["boss", "clerk", "clerk"])
    with pytest.raises(
        TableError, match=r"found 'position' – give the column its role \(position=…\), rename it"
    ):
        corpus.read(table, text="said", unit_id="id")
    assert corpus.read(table, text="said", variables={"position": "job"})["job"].tolist()[0] == "boss"
    with pytest.raises(TableError, match="found 'stars' more than once"):
        corpus.read(comments(stars=["1", "2", "3"]), text="said", ratings="stars", variables=["stars"])
    with pytest.raises(TableError, match="texts 'said' has another role"):
        corpus.read(comments(), text="said", ratings=["said"])


def test_a_data_frame_takes_no_encoding_and_no_sheet():
    for option in ("encoding", "sheet"):
        with pytest.raises(TableError, match="no encoding, sheet, delimiter or limits for a DataFrame"):
            corpus.read(comments(), text="said", **{option: "x"})


def test_nul_in_a_text_is_refused_with_its_row():
    with pytest.raises(ImportRefused, match="column 'said' – found NUL or half of a surrogate pair in row 2"):
        corpus.read(comments(said=["x", PRIVATE + "\x00", "y"]), text="said")


# Synthetic and real texts


@pytest.mark.parametrize("source", SOURCES)
def test_messages_are_read_whole(source, tmp_path):
    path = messages(source, tmp_path)
    units = corpus.read(
        path,
        text="essay",
        unit_id="message_id",
        document_id="response_id",
        case_id="response_id",
        ratings=["empathy", "distress"],
        variables=["article_id"],
    )
    assert (len(units), units["case_id"].nunique()) == {"real": (1860, 372), "synthetic": (286, 40)}[source]
    if source == "real":
        assert units["position"].value_counts().to_dict() == dict.fromkeys(range(1, 6), 372)
    assert units[["empathy", "distress"]].agg(["min", "max"]).to_numpy().tolist() == [[1.0, 1.0], [7.0, 7.0]]
    written = pd.read_csv(path, dtype=str, keep_default_na=False, na_filter=False)
    assert units["text"].tolist() == [corpus.canonical(essay) for essay in written["essay"]]
    np.testing.assert_array_equal(units["empathy"], written["empathy"].astype(float))
