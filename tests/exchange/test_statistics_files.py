"""Coded data for SPSS and Stata: numbers and words come back, labelled; missing stays missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from sense7_qual import acts, agreement, exchange
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ArgumentError
from sense7_qual.exchange._export import variable_names
from sense7_qual.store import Store
from tests.helpers.hostile_strings import HOSTILE

BOOK = Codebook(name="small", codes=(Code(id="warm", label="Warm 👍🏽"), Code(id="cold", label="Cold " * 60)))
TEXTS = ["It listened.", "ends in spaces  ", "long " * 9000, *HOSTILE]
TEXTS = [text for text in TEXTS if text.strip() and "\ud800" not in text and "\r" not in text]
N = len(TEXTS)
LONGEST = 32_767


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    units = pd.DataFrame(
        {
            "unit_id": [f"m{i}" for i in range(N)],
            "text": TEXTS,
            "document_id": "d",
            "case_id": [f"p{i % 7}" for i in range(N)],
            "position": range(N),
            "rating of it": [None if i == 2 else i % 5 + 0.5 for i in range(N)],
            "WARM_ANA": "a variable",
            "not": [i % 2 == 0 for i in range(N)],
        }
    )
    store = Store.create(tmp_path_factory.mktemp("s") / "study", units=units, codebook=BOOK)
    rng = np.random.default_rng(5)
    for coder, n in (("ana", 30), ("ben", 20)):
        batch = []
        for unit_id in units["unit_id"].head(n):
            mine = {"coder": coder, "unit_id": unit_id, "codebook": BOOK}
            batch += [acts.apply(code=code, **mine) for code in ("warm", "cold") if rng.random() < 0.5]
            batch.append(acts.finish(**mine))
        store.append(batch)
    mine = {"coder": "ana", "unit_id": "m0", "codebook": BOOK}
    store.append(
        [
            acts.contents.show_suggestions(**mine, model="words"),
            acts.apply(code="warm", **mine),
            acts.remove(code="cold", **mine),
        ]
    )
    return store


def read(path: Path) -> tuple[pd.DataFrame, Any]:
    reader = pyreadstat.read_sav if path.suffix == ".sav" else pyreadstat.read_dta
    return reader(str(path))


@pytest.mark.long
@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_numbers_words_and_what_is_missing_come_back(store: Store, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"coded{suffix}"
    losses = {loss.what: loss for loss in exchange.export(store, path)}
    exchange.export(store, tmp_path / "coded.parquet")
    own = pd.read_parquet(tmp_path / "coded.parquet")
    came, meta = read(path)
    names = variable_names(own.columns, suffix[1:])
    assert came.columns.tolist() == list(names.values())
    for column, name in names.items():
        if pd.api.types.is_numeric_dtype(own[column].dtype):
            assert came[name].astype("Float64").equals(own[column].astype("Float64")), column
    assert came[names["warm.ben"]].isna().sum() == N - 20
    labels = dict(zip(meta.column_names, meta.column_labels, strict=True))
    assert "was applied by ana" in labels[names["warm.ana"]]
    assert labels[names["rating of it"]].startswith("rating of it: ")
    assert meta.variable_value_labels[names["warm.ana"]] == {0: "decided, not applied", 1: "applied"}
    same = [one == text.replace("\0", "\ufffd") for one, text in zip(came["text"], TEXTS, strict=True)]
    if suffix == ".dta":
        assert all(same)
    else:
        padded = [i for i, text in enumerate(TEXTS) if text.endswith(" ")]
        assert [i for i, equal in enumerate(same) if not equal] == sorted({1, 2, *padded})
        assert [came["text"][i] for i in padded if i != 2] == [TEXTS[i].rstrip(" ") for i in padded if i != 2]
        assert len(came["text"][2].encode()) <= LONGEST
        assert losses[f"texts cut to {LONGEST:,} bytes"].where == "'m2'"
        assert losses["spaces at the end of a text, which SPSS does not keep"].n >= 1
    assert "cold.ana" in losses["labels of variables cut"].where
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted([path.name, "coded.parquet"])


@pytest.mark.long
def test_stata_is_read_by_pandas_too_and_gives_the_same_bytes(store: Store, tmp_path: Path) -> None:
    exchange.export(store, tmp_path / "a.dta", table="codings")
    exchange.export(store, tmp_path / "b.dta", table="codings")
    assert (tmp_path / "a.dta").read_bytes() == (tmp_path / "b.dta").read_bytes()
    codings = pd.read_stata(tmp_path / "a.dta")
    assert codings[["unit_id", "coder", "code"]].equals(
        store.codings()[["unit_id", "coder", "code"]].astype(codings["code"].dtype)
    )


@pytest.mark.long
@pytest.mark.parametrize("suffix", [".sav", ".csv"])
def test_the_reliability_table_gives_the_alpha_of_what_was_decided_before_suggestions(
    store: Store, tmp_path: Path, suffix: str
) -> None:
    import krippendorff

    path = tmp_path / f"reliability{suffix}"
    exchange.export(store, path, table="reliability")
    table = read(path)[0] if suffix == ".sav" else pd.read_csv(path)
    assert table["unit_id"].drop_duplicates().tolist() == [f"m{i}" for i in range(30)]
    before = agreement.by_code(store.decisions()).set_index("code")["alpha"]
    after = agreement.by_code(store.decisions(settled_by="nothing")).set_index("code")["alpha"]
    for code in ("warm", "cold"):
        matrix = table.loc[table["code"] == code, ["ana", "ben"]].to_numpy(dtype=float).T
        alpha = krippendorff.alpha(reliability_data=matrix, level_of_measurement="nominal")
        assert alpha == pytest.approx(before[code], abs=1e-12)
    assert (before != after).any()


def test_names_are_allowed_and_differ_in_more_than_capitals() -> None:
    columns = ["warm.ana", "Warm_ana", "WARM_ANA", "1st", "not", "if", "str5", "Größe", "…", "x.", "end"]
    columns += ["a" * 70, "a" * 71]
    for program, longest, allowed in (("sav", 64, r"[A-Za-z][A-Za-z0-9_.]*"), ("dta", 32, r"[A-Za-z]\w*")):
        made = list(variable_names(columns, program).values())
        assert len({name.lower() for name in made}) == len(columns)
        assert all(len(name) <= longest and pd.Series([name]).str.fullmatch(allowed).all() for name in made)
        assert not {"sav": {"not", "str5"}, "dta": {"if", "str5", "end"}}[program] & set(made)
        assert not any(name.endswith(".") for name in made)


def test_a_table_of_its_own_is_refused_in_a_workbook_and_without_the_package(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ArgumentError, match="a workbook holds all tables"):
        exchange.export(store, tmp_path / "coded.xlsx", table="reliability")
    monkeypatch.setitem(__import__("sys").modules, "pyreadstat", None)
    with pytest.raises(ArgumentError, match=r"sense7_qual\[spss\]"):
        exchange.export(store, tmp_path / "coded.sav")
    assert not list(tmp_path.iterdir())
