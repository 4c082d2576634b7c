"""The same patterns, and so the same numbers, from every engine."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual.agreement import _engines, coefficients
from sense7_qual.agreement._engines import patterns
from sense7_qual.agreement.coefficients._patterns import Patterns, from_values
from sense7_qual.errors import QualError, TableError
from tests.helpers.nightly import nightly_but
from tests.helpers.places import PUBLISHED, ROOT

CONVABUSE = PUBLISHED / "convabuse_ratings.csv"
PAIR = {"unit_id": ["m1", "m1", "m2", "m2"], "coder": ["ana", "ben", "ana", "ben"]}

ENGINES: dict[str, Callable[[pd.DataFrame], object]] = {
    "pandas": lambda frame: frame,
    "arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "polars": pl.from_pandas,
    "polars lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "duckdb": lambda frame: duckdb.connect().from_arrow(pa.Table.from_pandas(frame, preserve_index=False)),
    "ibis": lambda frame: ibis.memtable(pa.Table.from_pandas(frame, preserve_index=False)),
}

# Each coefficient, and whether it tells coders apart.
COEFFICIENTS: list[tuple[str, Callable[[Any], float], bool]] = [
    ("alpha nominal", lambda v: coefficients.krippendorff_alpha(v, level="nominal"), False),
    ("alpha ordinal", lambda v: coefficients.krippendorff_alpha(v, level="ordinal"), False),
    ("alpha interval", lambda v: coefficients.krippendorff_alpha(v, level="interval"), False),
    ("alpha ratio", lambda v: coefficients.krippendorff_alpha(v, level="ratio"), False),
    ("percent", coefficients.percent_agreement, False),
    ("fleiss", coefficients.fleiss_kappa, False),
    ("brennan_prediger", coefficients.brennan_prediger, False),
    ("ac1", coefficients.gwet_ac, False),
    ("ac2", lambda v: coefficients.gwet_ac(v, weights="quadratic"), False),
    ("specific", lambda v: coefficients.specific_agreement(v, category=2), False),
    ("conger", coefficients.conger_kappa, True),
    ("light", coefficients.light_kappa, True),
]


def made(n_coders: int, n_values: int, *, n_units: int = 120, text: bool = False) -> np.ndarray:
    """A table (coders, units) with 30 % of its values missing, and one unit that nobody gave a value to."""
    rng = np.random.default_rng(n_coders * 1000 + n_values)
    values = rng.integers(0, n_values, (n_coders, n_units)).astype(object)
    if text:
        values = np.array([[f"value {cell:03}" for cell in row] for row in values], dtype=object)
    values[rng.random(values.shape) < 0.3] = None
    values[:, 5] = None
    return values


def long(values: np.ndarray) -> pd.DataFrame:
    """One row per coder and unit, shuffled."""
    rows = [
        {"unit_id": f"m{unit}", "coder": f"coder{coder:03}", "value": value}
        for coder, row in enumerate(values)
        for unit, value in enumerate(row)
    ]
    return pd.DataFrame(rows).sample(frac=1, random_state=7)


def same(found: Patterns, expected: Patterns) -> None:
    np.testing.assert_array_equal(found.categories, expected.categories)
    np.testing.assert_array_equal(found.counts, expected.counts)
    np.testing.assert_array_equal(found.n_units, expected.n_units)
    assert found.categories.dtype == expected.categories.dtype
    assert found.counts.dtype == expected.counts.dtype == np.int64
    assert found.n_units.dtype == expected.n_units.dtype == np.int64
    if expected.coders is None:
        assert found.coders is None
    else:
        np.testing.assert_array_equal(found.coders, expected.coders)


def refused(table: object, **options: Any) -> str:
    with pytest.raises(TableError) as error:
        patterns(table, **options)
    return str(error.value)


# The forms that patterns take in a query: a column per value or coder, and, beyond 24 of them, lists.
SHAPES = [
    (2, 2, False),
    (3, 5, False),
    (3, 5, True),
    (4, 60, True),
    (4, 60, False),
    (30, 3, False),
    (30, 40, True),
]


@pytest.mark.long
@pytest.mark.parametrize("engine", nightly_but(["polars", "duckdb", "ibis"], here=["polars", "duckdb"]))
@pytest.mark.parametrize(("n_coders", "n_values", "text"), nightly_but(SHAPES, here=SHAPES[:1]))
def test_every_engine_gives_what_the_array_gives(
    engine: str, n_coders: int, n_values: int, text: bool
) -> None:
    values = made(n_coders, n_values, text=text)
    table = ENGINES[engine](long(values))
    for keep_coders in (False, True):
        same(patterns(table, keep_coders=keep_coders), from_values(values, keep_coders=keep_coders))


@pytest.mark.long
@pytest.mark.parametrize("engine", nightly_but(ENGINES, here=["pandas", "polars", "duckdb"]))
def test_every_coefficient_is_the_same_number_from_every_engine(engine: str) -> None:
    values = made(4, 5)
    table = ENGINES[engine](long(values))
    found = {keep: patterns(table, keep_coders=keep) for keep in (False, True)}
    for keep, kept in found.items():
        same(kept, from_values(values, keep_coders=keep))
    for name, coefficient, keep in COEFFICIENTS:
        assert coefficient(found[keep]) == pytest.approx(coefficient(values), abs=1e-12), name


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_two_coders_coefficients_too(engine: str) -> None:
    values = made(2, 4)
    found = patterns(ENGINES[engine](long(values)), keep_coders=True)
    for coefficient in (coefficients.cohen_kappa, coefficients.scott_pi):
        assert coefficient(found) == pytest.approx(coefficient(values), abs=1e-12)


@pytest.mark.long
@settings(max_examples=20, deadline=None)
@given(
    st.integers(1, 5).flatmap(
        lambda n: st.lists(
            st.lists(st.sampled_from([None, -1.5, 0.0, 1 / 3, 1e-300, 7.0]), min_size=n, max_size=n),
            min_size=1,
            max_size=12,
        )
    )
)
def test_any_table_gives_what_the_array_gives(units: list[list[float | None]]) -> None:
    values = np.array(units, dtype=object).T
    expected = from_values(values, keep_coders=True)
    found = patterns(long(values).astype({"value": "float64"}), keep_coders=True)
    same(found, expected)


def test_decisions_are_taken_code_by_code() -> None:
    decisions = pd.DataFrame(
        [
            ("m1", "ana", "warm", True),
            ("m1", "ben", "warm", True),
            ("m1", "ana", "cold", False),
            ("m1", "ben", "cold", True),
            ("m2", "ana", "warm", False),
            ("m2", "ben", "warm", False),
            ("m2", "consensus", "warm", True),
            ("m1", "majority", "cold", True),
        ],
        columns=["unit_id", "coder", "code", "applied"],
    )
    found = patterns(decisions, by="code")
    assert list(found) == ["cold", "warm"]
    same(found["cold"], from_values([[False], [True]]))
    same(found["warm"], from_values([[True, False], [True, False]]))
    kept = patterns(decisions, by="code", keep_coders=True)
    same(kept["warm"], from_values([[True, False], [True, False]], keep_coders=True))


def test_a_group_holds_its_own_categories_and_every_coder() -> None:
    frame = pd.DataFrame(
        [("m1", "ana", 1, 4), ("m1", "ben", 1, 5), ("m1", "ben", 2, 6), ("m1", "ana", 3, None)],
        columns=["unit_id", "coder", "round", "value"],
    )
    found = patterns(frame, by="round", keep_coders=True)
    same(found[1], from_values([[4], [5]], keep_coders=True))
    same(found[2], from_values([[None], [6]], keep_coders=True))
    same(found[3], from_values([[None], [None]], keep_coders=True))
    with pytest.warns(RuntimeWarning, match="not defined"):
        assert np.isnan(coefficients.cohen_kappa(found[2]))


@pytest.mark.long
@pytest.mark.parametrize("engine", ["pandas", "ibis"])
@pytest.mark.parametrize(
    ("given_values", "expected"),
    [
        ([True, False, None, True], [[1, 0, None, 1]]),
        ([Decimal("0.10"), Decimal("2.5"), None, Decimal("0.1")], [[0.1, 2.5, None, 0.1]]),
        ([0.0, -0.0, float("nan"), 1.0], [[0, 0, None, 1]]),
        ([2**53, 1, 1, -(2**53)], [[2**53, 1, 1, -(2**53)]]),
        (["it's", 'say "x"', "back\\slash", "new\nline"], [["it's", 'say "x"', "back\\slash", "new\nline"]]),
        (["é", "e\u0301", "😀", ""], [["é", "e\u0301", "😀", ""]]),
        ([None, None, None, None], [[None] * 4]),
    ],
)
def test_types_mean_the_same_everywhere(
    engine: str, given_values: list[Any], expected: list[list[Any]]
) -> None:
    values = np.array(expected[0], dtype=object).reshape(2, 2).T
    found = patterns(ENGINES[engine](pd.DataFrame({**PAIR, "value": given_values})))
    same(found, from_values(values))


def test_polars_nan_is_missing() -> None:
    table = pl.DataFrame({**PAIR, "value": [1.0, float("nan"), None, 2.0]})
    same(patterns(table), from_values([[1, None], [None, 2]]))


@pytest.mark.long
@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["low", "high"]), pl.String])
def test_categories_of_polars_are_text(kind: Any) -> None:
    table = pl.DataFrame({**PAIR, "value": pl.Series(["low", "high", "low", None], dtype=kind)})
    same(patterns(table), from_values([["low", "low"], ["high", None]]))


def test_categories_of_pandas_are_what_they_hold() -> None:
    table = pd.DataFrame({name: pd.Categorical(column) for name, column in PAIR.items()})
    same(patterns(table.assign(value=pd.Categorical([3, 1, 3, 3]))), from_values([[3, 3], [1, 3]]))
    text = table.assign(value=pd.Categorical(["b", "a", "b", "b"]))
    same(patterns(text), from_values([["b", "b"], ["a", "b"]]))


def test_enumerations_uuids_and_huge_integers_of_duckdb() -> None:
    connection = duckdb.connect()
    connection.execute("create type name as enum ('ana', 'ben')")
    connection.execute("create table ratings (unit_id uuid, coder name, value hugeint)")
    ids = [UUID(int=1), UUID(int=1), UUID(int=2)]
    rows = list(zip(ids, ["ana", "ben", "ana"], [3, 4, 3], strict=True))
    connection.executemany("insert into ratings values (?, ?, ?)", rows)
    same(
        patterns(connection.table("ratings"), keep_coders=True),
        from_values([[3, 3], [4, None]], keep_coders=True),
    )
    assert connection.sql("select table_name from duckdb_tables()").fetchall() == [("ratings",)]
    assert not connection.sql("select view_name from duckdb_views() where not internal").fetchall()


def test_columns_may_have_any_name() -> None:
    table = pd.DataFrame(
        {"Message Id": PAIR["unit_id"], "rater's": PAIR["coder"], 'the "score"': [1, 2, 1, 1]}
    )
    found = patterns(table, unit_id="Message Id", coder="rater's", value='the "score"')
    same(found, from_values([[1, 1], [2, 1]]))


def test_other_columns_are_not_read() -> None:
    table = pd.DataFrame({**PAIR, "value": [1, 2, 1, 1], "notes": [object()] * 4})
    same(patterns(table), from_values([[1, 1], [2, 1]]))


def test_only_the_patterns_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """30,000 rows stay in the engine; what leaves it are tens of rows."""
    rng = np.random.default_rng(7)
    values = rng.integers(0, 3, (3, 10_000)).astype(object)
    came: list[int] = []
    source = _engines._source

    def watched(table: object, names: list[str]) -> Any:
        rows, run = source(table, names)

        def counting(query: Any) -> pa.Table:
            answer = run(query)
            came.append(len(answer))
            return answer

        return rows, counting

    monkeypatch.setattr(_engines, "_source", watched)
    same(patterns(long(values)), from_values(values))
    assert came == [3, 3, 10]  # coders, values, and the ways to deal three values to three coders


# ---- refusals -----------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("engine", ["pandas", "duckdb", "ibis"])
@pytest.mark.parametrize("keep_coders", [False, True])
def test_a_coder_twice_on_a_unit_is_refused_with_ids(engine: str, keep_coders: bool) -> None:
    frame = pd.DataFrame({"unit_id": ["m1", "m1", "m2"], "coder": ["ana", "ana", "ben"], "value": [1, 2, 1]})
    said = refused(ENGINES[engine](frame), keep_coders=keep_coders)
    assert "one row per unit_id, coder" in said
    assert "more than once: 'm1 / ana' – keep one" in said


def test_a_coder_twice_is_refused_among_many_coders_and_without_a_value_too() -> None:
    frame = long(made(30, 3))
    again = frame[(frame["unit_id"] == "m7") & (frame["coder"] == "coder003")].assign(value=None)
    said = refused(pd.concat([frame, again]))
    assert "more than once: 'm7 / coder003' – keep one" in said


def test_codes_without_by_are_seen() -> None:
    frame = pd.DataFrame({**PAIR, "value": 1})
    both = pd.concat([frame.assign(code="warm"), frame.assign(code="cold")])
    said = refused(both)
    assert "'m1 / ana', 'm1 / ben', 'm2 / ana' (4 in all)" in said
    assert "by='code'" in said
    twice = refused(pd.concat([both, both.iloc[:1]]), by="code")
    assert "more than once: 'm1 / ana / warm' – keep one" in twice


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("unit_id", ["m1", None, "m2", "m2"]),
        ("unit_id", [1.0, float("nan"), 2.0, 2.0]),
        ("coder", ["ana", "", "ana", "ben"]),
        ("code", ["warm", None, "warm", "warm"]),
    ],
)
def test_missing_ids_are_refused(column: str, cells: list[Any]) -> None:
    frame = pd.DataFrame({**PAIR, "code": "warm", "value": 1}).assign(**{column: cells})
    said = refused(frame, by="code")
    assert f"expected '{column}' in every row" in said
    assert "missing in 1 rows" in said


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.0, float("inf"), 1.0, 1.0], "finite numbers"),
        ([2**60, 1, 1, 1], r"2\*\*53"),
        ([date(2026, 1, 1)] * 4, "found date"),
        ([[1]] * 4, "found array"),
        ([b"a"] * 4, "found binary"),
        (["my secret words", 1, 1, 1], "a mixture"),
    ],
)
def test_values_that_are_none_are_refused_without_showing_them(values: list[Any], words: str) -> None:
    with pytest.raises(TableError, match=words) as error:
        patterns(pd.DataFrame({**PAIR, "value": values}))
    assert "secret" not in str(error.value)
    assert error.value.__cause__ is None


def test_columns_are_named_in_refusals() -> None:
    frame = pd.DataFrame({**PAIR, "value": 1})
    assert "did you mean 'Coder'?" in refused(frame.rename(columns={"coder": "Coder"}))
    assert "found both 'value' and 'applied'" in refused(frame.assign(applied=True))
    assert "found it 2 times" in refused(pd.concat([frame, frame[["coder"]]], axis=1))
    assert "found list" in refused([1, 2])
    assert "found dict" in refused(PAIR)


def test_a_table_that_changes_while_it_is_read_is_refused() -> None:
    rows = "select range as unit_id, 'ana' as coder, (random() * 1000)::integer as value from range(1000)"
    assert "same rows each time" in refused(duckdb.connect().sql(rows))


def test_real_numbers_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sense7_qual.agreement._engines._group_by._LARGEST_TABLE", 500)
    frame = long(np.random.default_rng(7).random((2, 50)).astype(object))
    with pytest.raises(QualError, match="100 different values in 50 patterns"):
        patterns(frame)


def test_without_the_extra_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ibis", None)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(QualError, match=r"sense7_qual\[scale\]"):
        patterns(pd.DataFrame({**PAIR, "value": 1}))


@pytest.mark.long
def test_importing_it_loads_no_engine() -> None:
    code = (
        "import sys, sense7_qual.agreement._engines; "
        "print([m for m in ('ibis', 'duckdb', 'polars', 'pyspark') if m in sys.modules])"
    )
    root = ROOT
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=root)
    assert done.stdout.strip() == "[]"


# ---- real data, and a real Spark ----------------------------------------------------------------------


@pytest.mark.long
def test_real_ratings_read_by_duckdb_from_the_file() -> None:
    """Severity in ConvAbuse, 8 coders: the values that `krippendorff` 0.9 gives (tests/data/README.md)."""
    table = duckdb.connect().read_csv(str(CONVABUSE))
    found = patterns(table, value="severity")
    assert found.n_units.sum() == 4185
    for level, expected in (
        ("nominal", 0.4373744333609694),
        ("ordinal", 0.6597663979170505),
        ("interval", 0.7339219233702778),
    ):
        alpha = coefficients.krippendorff_alpha(found, level=level)  # type: ignore[arg-type]
        assert alpha == pytest.approx(expected, abs=1e-12)
    same(patterns(pl.read_csv(CONVABUSE), value="severity"), found)


@pytest.mark.spark
@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java, which is not on this machine")
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_local_spark_gives_the_same_numbers() -> None:
    pyspark_sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    session = (
        pyspark_sql.SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.codegen.wholeStage", "false")  # nor compiled: a few rows
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    try:
        connection = ibis.pyspark.connect(session)
        for n_coders, n_values, text in ((4, 5, False), (3, 40, True), (30, 3, False)):
            values = made(n_coders, n_values, text=text)
            rows = [tuple(row) for row in long(values).itertuples(index=False)]
            kind = "string" if text else "double"
            rows = [(unit, coder, None if pd.isna(value) else value) for unit, coder, value in rows]
            rows = rows if text else [(u, c, None if v is None else float(v)) for u, c, v in rows]
            session.createDataFrame(
                rows, f"unit_id string, coder string, value {kind}"
            ).createOrReplaceTempView("ratings")
            table = connection.table("ratings")
            for keep_coders in (False, True):
                found = patterns(table, keep_coders=keep_coders)
                same(found, from_values(values, keep_coders=keep_coders))
                for name, coefficient, needs_coders in COEFFICIENTS:
                    if needs_coders == keep_coders and not text:
                        assert coefficient(found) == pytest.approx(coefficient(values), abs=1e-12), name
        rows = [("m1", "a'b", "it's", True), ("m1", "c\\d", "it's", False), ("m1", "c\\d", "warm", True)]
        frame = session.createDataFrame(rows, "unit_id string, coder string, code string, applied boolean")
        frame.createOrReplaceTempView("decisions")
        found = patterns(connection.table("decisions"), by="code", keep_coders=True)
        assert list(found) == ["it's", "warm"]
        same(found["it's"], from_values([[True], [False]], keep_coders=True))
        frame.union(frame).createOrReplaceTempView("repeated")
        said = refused(connection.table("repeated"), by="code")
        assert """more than once: "m1 / a'b / it's", """ in said
        assert "in all" not in said  # three, and all three are named
    finally:
        session.stop()
