"""Acts files made to hang whoever opens them, or to fill the memory: refused before a row is read."""

from __future__ import annotations

import hashlib
import io
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sense7_qual.errors import StoreError
from sense7_qual.store import Store
from sense7_qual.store._stored import layout, leftover_journal
from sense7_qual.store._stored.acts_files import transaction
from tests.helpers.places import program
from tests.helpers.small_study import CODEBOOK, frame_of, put

_OPEN_EACH = program("open_hostile_acts")

_ROWS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"
_VIEWS = f"""
DROP TABLE acts; DROP TABLE texts;
CREATE VIEW acts AS {_ROWS} i AS seq, 'x' AS act_id, 'apply' AS kind, 'eva' AS coder, '' AS at,
    '' AS codebook,
    NULL AS unit_id, NULL AS code, NULL AS start, NULL AS "end", NULL AS facets, NULL AS confidence,
    NULL AS round, NULL AS applied, NULL AS target, NULL AS target_kind, NULL AS memo_id, NULL AS text_hash,
    NULL AS branch, NULL AS clock, 'x' AS previous, 'x' AS hash FROM n;
CREATE VIEW texts AS {_ROWS} i AS text_hash, NULL AS salt, NULL AS text FROM n;
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.create(tmp_path / "study", units=frame_of(), codebook=CODEBOOK)
    store.append([put()])
    store.append([put(coder="eva")])
    return store


def change(file: Path, script: str) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(script)


@pytest.mark.long
def test_an_acts_file_of_views_is_refused_at_every_door(store: Store, tmp_path: Path) -> None:
    """It is small and stands for endless rows: whoever read it hung beyond interrupts, in 4 GB."""
    inside, bad = Path(store.path) / "acts" / "eva.sqlite", tmp_path / "bad.sqlite"
    change(inside, _VIEWS)
    shutil.copy(inside, bad)
    found = subprocess.run(
        [sys.executable, "-c", _OPEN_EACH, store.path, bad], capture_output=True, text=True, timeout=300
    )
    said = dict(line.split(maxsplit=1) for line in found.stdout.splitlines())
    doors = ("acts", "append", "merge", "salvage", "backup", "verify", "journal")
    assert said == dict.fromkeys(doors, "True") | {"another": "went on"}, found.stderr[-2000:]


@pytest.mark.long
@pytest.mark.parametrize(
    "script",
    [
        "CREATE TRIGGER t AFTER INSERT ON acts BEGIN SELECT 1; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE VIRTUAL TABLE v USING fts5(a)",
        "ALTER TABLE texts ADD COLUMN x TEXT AS (hex(zeroblob(100000000)))",
        "ALTER TABLE texts ADD COLUMN x TEXT CHECK (length(hex(zeroblob(100000000))) > 1)",
        "CREATE TABLE o (a, b DEFAULT/**/(hex(zeroblob(100000000))))",
        "CREATE INDEX i ON acts (length(hex(zeroblob(100000000)) || code))",
        "".join(f"CREATE TABLE t{number} (a);" for number in range(60)),
    ],
)
def test_what_is_computed_makes_no_acts_file(store: Store, script: str) -> None:
    file = Path(store.path) / "acts" / "eva.sqlite"
    change(file, script)
    with pytest.raises(Exception, match="views, triggers or computed columns"), transaction(file):
        pass
    assert leftover_journal._whole(file) is None


@pytest.mark.long
def test_a_damaged_number_does_not_make_salvage_endless(store: Store, tmp_path: Path) -> None:
    change(Path(store.path) / "acts" / "eva.sqlite", f"UPDATE acts SET seq = {2**62}")
    code = (
        "import sys; from sense7_qual.store import Store; "
        "Store(sys.argv[1]).admin.salvage('eva', sys.argv[2])"
    )
    made = [sys.executable, "-c", code, store.path, str(tmp_path / "saved.sqlite")]
    found = subprocess.run(made, capture_output=True, text=True, timeout=300)
    assert "expected acts of 'eva' that are intact" in found.stderr


@pytest.mark.long
@pytest.mark.parametrize("table", ["meta", "acts", "texts"])
def test_a_file_whose_rows_stand_in_it_twice_is_named_and_stops_nobody(tmp_path: Path, table: str) -> None:
    store = Store.create(tmp_path / "study", units=frame_of(), codebook=CODEBOOK)
    store.append([put(coder="ana", start=0, end=2)])
    store.append([put(coder="ben", start=0, end=2)])
    double = f"CREATE TABLE x AS SELECT * FROM {table}; DROP TABLE {table}; ALTER TABLE x RENAME TO {table};"
    with closing(sqlite3.connect(store.path / "acts" / "ana.sqlite")) as connection:
        connection.executescript(f"{double} INSERT INTO {table} SELECT * FROM {table}")
    is_sound = store.verify().set_index("file")["ok"]
    assert is_sound[["acts/ana.sqlite", "acts/ben.sqlite"]].tolist() == [False, True]
    assert len(store.acts(coder="ben")) == 1
    store.append([put(coder="ben", start=3, end=4)])
    with pytest.raises(StoreError, match="found problems in"):
        store.copies.backup(tmp_path / "backup")
    assert store.forget("p0", why="asked").n_texts >= 2


@pytest.mark.parametrize("name", ["\udcff", "acts/\udcff.sqlite", "acts/\udcff.txt"])
def test_a_file_whose_name_is_no_unicode_is_named_and_stops_nobody(tmp_path: Path, name: str) -> None:
    store = Store.create(tmp_path / "study", units=frame_of(), codebook=CODEBOOK)
    store.append([put(coder="ana", start=0, end=2)])
    try:
        (store.path / name).write_bytes(b"x")
    except OSError:
        pytest.skip("a disk on which every name is Unicode")
    assert store.verify()["file"].str.contains(r"\udcff", regex=False).sum() == 1
    gone = store.forget("p0", why="asked")
    assert gone.n_texts == 1
    assert gone.still_held["place"].str.contains(r"\udcff", regex=False).any()


@pytest.mark.long
def test_units_that_would_fill_the_memory_are_refused(store: Store) -> None:
    """A dictionary of one long text and many places in it: 125 kB stood for 5 GB."""
    ids = [f"m{number}" for number in range(50_000)]
    text = pa.DictionaryArray.from_arrays(pa.array([0] * len(ids), pa.int32()), pa.array(["x" * 100_000]))
    none = pa.nulls(len(ids), pa.string())
    names = {"unit_id": ids, "text": text, "document_id": none, "case_id": none, "position": none}
    packed = io.BytesIO()
    pq.write_table(pa.table(names), packed, compression="zstd", store_schema=False)
    found = replace(layout.read(store.path), units_sha256=hashlib.sha256(packed.getvalue()).hexdigest())
    layout.rewrite(store.path, found)
    (store.path / "units.parquet").write_bytes(packed.getvalue())
    code = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3_000_000_000, 3_000_000_000))
from sense7_qual.store import Store
Store(sys.argv[1])
"""
    made = [sys.executable, "-c", code, store.path]
    said = subprocess.run(made, capture_output=True, text=True, timeout=300)
    assert "table of units – found one of more than" in said.stderr, said.stderr[-500:]
