"""Coded data for spreadsheets: decided is 0 or 1, not decided is missing, and nothing is a formula."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from sense7_qual import acts, corpus, exchange
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ArgumentError, StoreError
from sense7_qual.store import Store
from tests.helpers.hostile_strings import HOSTILE
from tests.helpers.places import ROOT
from tests.helpers.small_study import facet

BOOK = Codebook(
    name="small",
    facets=(facet("valence", "met", "unmet"),),
    codes=(Code(id="warm", label="Warm"), Code(id="cold", label="Cold")),
)
SPECIAL = ["=1+1", "It listened to me.", "@SUM(A1)", "-2 for that"]
TEXTS = SPECIAL + [each for each in HOSTILE if each and "\r" not in each and "\ud800" not in each]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    n = range(len(TEXTS))
    units = pd.DataFrame(
        {
            "unit_id": [f"m{i}" for i in n],
            "text": TEXTS,
            "document_id": [f"d{i}" for i in n],
            "case_id": [f"p{i % 3}" for i in n],
            "position": list(n),
            "rating": [i % 5 + 0.5 for i in n],
            "warm.ana": ["a variable"] * len(TEXTS),
            "said": ["+cmd"] * len(TEXTS),
        }
    )
    store = Store.create(tmp_path / "study", units=units, codebook=BOOK)
    for coder, unit_ids in (("ana", ["m0", "m1", "m2"]), ("ben", ["m1", "m2"])):
        named = {"coder": coder, "codebook": BOOK}
        marks = [acts.apply(unit_id="m1", code="warm", start=3, end=11, facets={"valence": "met"}, **named)]
        marks += [acts.apply(unit_id="m2", code="cold", **named)] if coder == "ana" else []
        store.append([*marks, *(acts.finish(unit_id=each, **named) for each in unit_ids)])
    store.append([acts.rule(coder="lead", unit_id="m2", code="cold", applied=False, codebook=BOOK)])
    return store


def settled(store: Store) -> pd.DataFrame:
    """Return each coder's last decisions, and what is settled by rulings."""
    return pd.concat([store.decisions(settled_by=one) for one in ("nothing", "rulings")])


def test_what_is_decided_is_0_or_1_and_what_is_not_is_missing(store: Store, tmp_path: Path) -> None:
    exchange.export(store, tmp_path / "coded.parquet")
    coded = pd.read_parquet(tmp_path / "coded.parquet").set_index("unit_id")
    assert coded.loc[["m0", "m1", "m2", "m3"], "warm.ana"].tolist() == [0, 1, 0, pd.NA]
    assert coded.loc[["m0", "m1", "m2"], "cold.ana"].tolist() == [0, 0, 1]
    assert coded.loc[["m0", "m1", "m2"], "cold.ben"].tolist() == [pd.NA, 0, 0]
    assert coded.loc[["m0", "m1", "m2"], "cold.consensus"].tolist() == [0, 0, 0]
    assert set(coded["warm.ana (variable)"]) == {"a variable"}
    decided = settled(store)
    wide = coded[[f"{code}.{coder}" for code in ("warm", "cold") for coder in ("ana", "ben", "consensus")]]
    assert int(wide.notna().sum().sum()) == len(decided)
    assert int(wide.sum().sum()) == int(decided["applied"].sum())


def test_a_workbook_comes_back_equal_and_holds_no_formula(store: Store, tmp_path: Path) -> None:
    report = exchange.export(store, tmp_path / "coded.xlsx")
    book = openpyxl.load_workbook(tmp_path / "coded.xlsx")
    assert book.sheetnames == ["texts", "codings", "reliability", "memos", "columns"]
    assert {cell.data_type for sheet in book for row in sheet for cell in row} <= {"s", "n", "b", "inlineStr"}
    read = [row[1].value for row in book["texts"].iter_rows(min_row=2)]
    same = sum(one == text for one, text in zip(read, TEXTS, strict=True))
    assert same >= len(TEXTS) - 2  # the others hold control characters
    assert "control characters" in str(report)
    codings = pd.read_excel(tmp_path / "coded.xlsx", sheet_name="codings")
    assert codings["quote"].tolist() == ["listened", "@SUM(A1)", "listened"]
    assert codings["valence"].tolist()[0] == "met"
    columns = pd.read_excel(tmp_path / "coded.xlsx", sheet_name="columns").set_index(["table", "column"])
    texts = pd.read_excel(tmp_path / "coded.xlsx", sheet_name="texts")
    assert set(columns.loc["texts"].index) == set(texts.columns)
    assert "Warm" in columns.loc[("texts", "warm.ana"), "meaning"]
    assert columns.notna().all().all()


def test_csv_has_apostrophes_before_what_would_be_formulas(store: Store, tmp_path: Path) -> None:
    exchange.export(store, tmp_path / "coded.csv")
    read = pd.read_csv(tmp_path / "coded.csv", dtype=str, keep_default_na=False)
    assert read["text"].tolist()[:4] == ["'=1+1", "It listened to me.", "'@SUM(A1)", "'-2 for that"]
    assert set(read["said"]) == {"'+cmd"}
    assert not read.map(lambda value: value.startswith(("=", "+", "-", "@", "\t", "\r"))).any().any()


def test_a_file_that_is_there_stays(store: Store, tmp_path: Path) -> None:
    (tmp_path / "coded.csv").write_text("mine")
    with pytest.raises(StoreError):
        exchange.export(store, tmp_path / "coded.csv")
    with pytest.raises(ArgumentError, match=r"\.xlsx"):
        exchange.export(store, tmp_path / "coded.sas")
    with pytest.raises(ArgumentError, match="open study"):
        exchange.export(store.units, tmp_path / "x.csv")  # type: ignore[arg-type]
    assert (tmp_path / "coded.csv").read_text() == "mine"


def test_the_wordings_of_a_survey_label_its_columns(tmp_path: Path) -> None:
    file = ROOT / "data" / "survey_export.csv"
    found = corpus.recognise(file)
    with pytest.warns(UserWarning, match="left out"):
        units = corpus.read(found, text=["Q2", "Q4"], ratings={"Q1": ["Q1", "Q3"]}, preview="skip")
    store = Store.create(tmp_path / "survey", units=units, codebook=Codebook.read("sense7"), lead="lead")
    exchange.export(store, tmp_path / "coded.xlsx", labels=found.labels)
    sheet = openpyxl.load_workbook(tmp_path / "coded.xlsx")["columns"]
    meanings = {row[1]: row[2] for row in sheet.iter_rows(values_only=True) if row[0] == "texts"}
    assert meanings["Q1"] == found.labels["Q1"]
    assert meanings["UserLanguage"] == "User Language"
    assert meanings["text"] != found.labels.get("text")
    exchange.export(store, tmp_path / "coded.dta", labels=found.labels)
    with pd.read_stata(tmp_path / "coded.dta", iterator=True) as reader:
        assert reader.variable_labels()["UserLanguage"] == "User Language"
