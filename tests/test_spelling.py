"""Blank values, white space around ids, and computed decisions in capitals, at every door."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sense7_qual import acts, adjudication, agreement, codings
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError
from sense7_qual.store import Store

RNG = np.random.default_rng(12)
TRUTH = RNG.random(50) < 0.3
VALUES = np.array(
    [np.where(RNG.random(50) < 0.85, np.where(TRUTH, "yes", "no"), "no") for _ in range(3)], dtype=object
)
HOLES = VALUES.copy()
HOLES[0, :12] = None
HOLES[2, 30:] = None
BLANK = np.where(HOLES == None, np.resize(["", " ", "\t", "\u00a0"], HOLES.shape), HOLES)  # noqa: E711
ENGINES: dict[str, Callable[[pd.DataFrame], object]] = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "duckdb": lambda frame: duckdb.connect().from_arrow(pa.Table.from_pandas(frame, preserve_index=False)),
    "ibis": lambda frame: ibis.memtable(pa.Table.from_pandas(frame, preserve_index=False)),
}


def frame_of(values: np.ndarray) -> pd.DataFrame:
    return agreement.from_wide(pd.DataFrame(values.T, columns=["ana", "ben", "cleo"]), coders="columns")


def long(values: np.ndarray) -> pd.DataFrame:
    rows = [(f"m{u:02}", c, values[k, u]) for k, c in enumerate(("ana", "ben", "cleo")) for u in range(50)]
    return pd.DataFrame(rows, columns=["unit_id", "coder", "value"])


@pytest.mark.parametrize("read", [lambda v: v, lambda v: v.tolist(), lambda v: v.astype(str), frame_of])
def test_blank_values_are_missing_and_no_category(read: Callable[[np.ndarray], object]) -> None:
    expected = agreement.coefficients.estimate(HOLES, "gwet_ac")
    assert agreement.coefficients.estimate(read(BLANK), "gwet_ac") == expected
    assert agreement.coefficients.gwet_ac(read(BLANK)) == expected.estimate
    assert agreement.coefficients.per_category(read(BLANK))["category"].tolist() == ["no", "yes"]


def test_blank_values_among_numbers_are_missing_too() -> None:
    numbers = [[1, 2, "", 2, 1], [1, 2, 2, " ", 1]]
    expected = agreement.coefficients.icc([[1, 2, None, 2, 1], [1, 2, 2, None, 1]], kind="one_way")
    assert agreement.coefficients.icc(numbers, kind="one_way") == expected


def test_white_space_around_values_is_no_other_category() -> None:
    padded = np.where(RNG.random(VALUES.shape) < 0.5, VALUES + " ", VALUES)
    assert agreement.coefficients.gwet_ac(padded) == agreement.coefficients.gwet_ac(VALUES)
    assert agreement.coefficients.gwet_ac(
        padded, categories=["no ", "yes"]
    ) == agreement.coefficients.gwet_ac(VALUES)
    scale = pd.CategoricalDtype(["no", " ", "yes"], ordered=True)
    frame = frame_of(np.where(HOLES == None, " ", HOLES)).astype(scale)  # noqa: E711
    assert agreement.coefficients.gwet_ac(frame) == agreement.coefficients.gwet_ac(HOLES)


@pytest.mark.long
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("keep_coders", [False, True])
def test_every_engine_reads_blank_and_padded_text_alike(engine: str, keep_coders: bool) -> None:
    plain = long(np.where(BLANK == "\u00a0", "", BLANK))
    padded = plain.assign(
        unit_id=plain["unit_id"] + np.resize([" ", ""], 150),
        coder=" " + plain["coder"],
        value=plain["value"] + np.resize(["", "  ", ""], 150),
    )
    expected = agreement.coefficients.patterns(long(HOLES), keep_coders=keep_coders)
    for frame in (plain, padded):
        found = agreement.coefficients.patterns(ENGINES[engine](frame), keep_coders=keep_coders)
        assert found.categories.tolist() == expected.categories.tolist() == ["no", "yes"]
        assert found.counts.tolist() == expected.counts.tolist()
        assert found.n_units.tolist() == expected.n_units.tolist()
    for name, message in (
        ("Consensus", "in lower case"),
        ("Ana", "differ in more than upper and lower case"),
    ):
        other = pd.concat([plain, plain[plain["coder"] == "ben"].assign(coder=name)])
        with pytest.raises(TableError, match=message):
            agreement.coefficients.patterns(ENGINES[engine](other))
    with pytest.raises(TableError, match="without white space around it in column 'value'"):
        agreement.coefficients.patterns(ENGINES[engine](plain.assign(value=plain["value"] + "\u00a0")))


def test_labels_of_sets_have_no_white_space_around_them_and_blank_ones_are_none() -> None:
    ana = [{"warm"}, {"warm", "cold"}, set(), {"cold"}]
    ben = [{"warm"}, {"warm"}, set(), {"cold"}]
    padded = [{"warm "}, ["warm", ""], [""], {" cold"}]
    expected = agreement.sets.set_alpha([ana, ben], distance="masi")
    assert agreement.sets.set_alpha([ana, padded], distance="masi") == expected


def table(**changes: object) -> pd.DataFrame:
    rows = [
        (f"m{u}", c, int(TRUTH[u] != (u % 7 == k))) for k, c in enumerate(("ana", "ben")) for u in range(50)
    ]
    return pd.DataFrame(rows, columns=["unit", "who", "warm"]).assign(**changes)


def test_spaces_and_blank_cells_in_a_table_change_no_number() -> None:
    columns = {"unit_id": "unit", "coder": "who", "codes": ["warm"]}
    expected = agreement.by_code(codings.from_table(table(), **columns), seed=1)
    frame = table()
    padded = table(
        unit=frame["unit"] + np.resize([" ", ""], 100), who=frame["who"] + np.resize(["", "\t"], 100)
    )
    pd.testing.assert_frame_equal(agreement.by_code(codings.from_table(padded, **columns), seed=1), expected)
    blank = pd.concat([frame, pd.DataFrame({"unit": ["m99"], "who": ["ana"], "warm": [" "]})])
    assert len(codings.from_table(blank, **columns, blank="undecided")) == 100


@pytest.mark.parametrize(
    "statistic",
    [
        lambda frame: agreement.by_code(frame, seed=1),
        lambda frame: agreement.overall(frame, seed=1),
        agreement.pairwise,
        agreement.diagnosis.by_unit,
        agreement.diagnosis.cross_check,
        codings.majority,
        codings.tally,
        adjudication.disagreements,
        adjudication.consensus,
        adjudication.dawid_skene,
    ],
)
def test_consensus_in_capitals_is_taken_for_no_coder(statistic: Callable[[pd.DataFrame], object]) -> None:
    decisions = codings.from_table(table(), unit_id="unit", coder="who", codes=["warm"])
    settled = decisions[decisions["coder"] == "ana"]
    for name, message in (
        ("Consensus", "in lower case"),
        ("ANA", "differ in more than upper and lower case"),
    ):
        with pytest.raises(TableError, match=message):
            statistic(pd.concat([decisions, settled.assign(coder=name)]))


def test_a_study_whose_ids_have_spaces_opens_and_keeps_them(tmp_path: Path) -> None:
    units = pd.DataFrame(
        {
            "unit_id": [" a", "b"],
            "text": [" One.", "Two."],
            "document_id": None,
            "case_id": [" p", "q"],
            "position": None,
        }
    )
    sense7 = Codebook.read("sense7")
    Store.create(tmp_path / "study", units=units, codebook=sense7)
    store = Store(tmp_path / "study")
    assert store.units["unit_id"].tolist() == [" a", "b"]
    assert store.units["text"].tolist() == [" One.", "Two."]
    for coder in ("ana", "ben"):
        store.append([acts.finish(coder=coder, unit_id=unit, codebook=sense7) for unit in (" a", "b")])
    decisions = codings.decisions(store.codings(), store.coverage(), sense7)
    assert decisions["unit_id"].unique().tolist() == [" a", "b"]
    assert (
        agreement.by_code(decisions, units=store.units, cluster="case_id", seed=1)["n_clusters"].eq(2).all()
    )
    with pytest.raises(TableError, match="one spelling of each unit_id"):
        codings.decisions(acts_on("a "), store.coverage(), sense7)


def acts_on(unit_id: str) -> pd.DataFrame:
    sense7 = Codebook.read("sense7")
    code = sense7.codable[0].id
    return acts.fold([acts.apply(coder="ana", unit_id=unit_id, code=code, codebook=sense7)]).codings
