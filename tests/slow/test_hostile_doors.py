"""Hostile files at every door: refused by an error of the package, or read; under 1 GB and 10 s each.

`hostile` says how they are made and measured: tables, codebooks, acts files, archives, study folders, caches
and whatever else may stand at a path, each through one of the doors that take it. Some in the suite, 10,000
in the soak.
"""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sense7_qual import corpus
from sense7_qual._limits import read_file
from sense7_qual.codebook import Codebook
from sense7_qual.errors import CodebookError, ImportRefused, StoreError
from sense7_qual.models._caches import Reply, ReplyCache, VectorCache
from sense7_qual.store import Store
from tests.helpers.broken_files import coded
from tests.helpers.hostile import Outcome, attack, kinds
from tests.helpers.hostile_records import signed, zipped
from tests.helpers.small_study import CODEBOOK, frame_of

pytestmark = pytest.mark.nightly

N_FILES = 10_000 if os.environ.get("SOAK") else 65
AT_ONCE = 2 if os.environ.get("SOAK") else 1


@pytest.mark.crash
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="no /proc to read the memory from")
def test_hostile_files_are_refused_or_read_in_time_and_memory() -> None:
    part = 250
    parts = [(first, min(part, N_FILES - first)) for first in range(0, N_FILES, part)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(lambda each: attack(*each), parts))
    whole = Outcome(ends=sum((each.ends for each in found), Counter()))
    megabytes, seconds = max(each.megabytes for each in found), max(each.seconds for each in found)
    print(f"{whole.ends.total():,} files: at most {megabytes:,.0f} MB and {seconds:.1f} s")
    print(*(f"{times:6,d} {end}" for end, times in sorted(whole.ends.items())), sep="\n")
    assert [fault for each in found for fault in each.faults] == []
    assert whole.ends.total() == N_FILES
    for kind in kinds():  # one that is never refused, or always, shows nothing
        assert any(end.startswith(kind.name) and end.endswith(("Error", "Refused")) for end in whole.ends)


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A pipe, for whose other end a reader would wait for ever."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes that have a name on this computer")
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def test_a_pipe_or_a_device_is_no_file(tmp_path: Path, pipe: Path) -> None:
    for suffix, read, refused in (
        (".csv", lambda path: corpus.read(path, text="said"), ImportRefused),
        (".parquet", lambda path: corpus.read(path, text="said"), ImportRefused),
        (".yaml", Codebook.read, CodebookError),
        (".archive", lambda path: Store.restore(path, tmp_path / "restored"), StoreError),
    ):
        for source in (pipe, Path("/dev/zero")):
            path = tmp_path / f"{source.name}{suffix}"
            path.symlink_to(source)
            with pytest.raises(refused, match="no regular file"):
                read(path)


@pytest.mark.parametrize("name", ["study.json", "units.parquet", "codebooks", "acts/ana.sqlite-journal"])
def test_a_pipe_in_a_study_is_refused(tmp_path: Path, pipe: Path, name: str) -> None:
    path = coded(tmp_path / "study", "ana").path
    target = next((path / name).glob("*.yaml")) if name == "codebooks" else path / name
    target.unlink(missing_ok=True)
    target.symlink_to(pipe)
    with pytest.raises(StoreError):
        Store(path).acts(coder="ana")


def test_a_file_is_read_up_to_its_limit_and_a_sparse_one_never(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    assert read_file(path, 3) == b"abc"
    with pytest.raises(OSError, match=r"more than 2$"):
        read_file(path, 2)
    os.truncate(path, 10**12)
    with pytest.raises(OSError, match=r"more than 3$"):
        read_file(path, 3)
    with pytest.raises(OSError, match="NUL"):
        read_file(Path("a\0b"), 3)
    with pytest.raises(ImportRefused, match="NUL"):
        corpus.read(tmp_path / "a\0.csv", text="said")


@pytest.mark.parametrize(
    "script",
    [
        "UPDATE vectors SET vector = zeroblob(7)",
        "UPDATE vectors SET vector = 'abcd'",
        "UPDATE vectors SET vector = zeroblob(4000004)",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TRIGGER t BEFORE INSERT ON vectors BEGIN SELECT 1; END",
        "ALTER TABLE vectors ADD COLUMN x AS (1)",
        "DROP TABLE vectors; CREATE TABLE vectors (digest BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT "
        "ROWID",
    ],
)
def test_a_cache_with_anything_but_vectors_is_refused(tmp_path: Path, script: str) -> None:
    cache = VectorCache(tmp_path / "cache")
    cache.save("m", {"a": np.ones(3, dtype=np.float32)})
    with closing(sqlite3.connect(tmp_path / "cache" / "vectors.sqlite")) as connection:
        connection.executescript(script)
    with pytest.raises(StoreError, match="embedding cache"):
        cache.load("m", ["a"])


def grown(read: str, path: Path, *, because: str) -> float:
    """Return the most MB that a child process took in addition until it refused the file at `path`."""
    code = f"""if True:
        import os, sys
        import numpy as np, pandas as pd, pyarrow.parquet
        from sense7_qual import Store
        from sense7_qual.errors import StoreError
        from sense7_qual.models._caches import VectorCache
        from tests.helpers.hostile import peak, tidy
        path = sys.argv[1]
        tidy()
        before = peak()
        try:
            {read}
        except StoreError as error:
            print(peak() - before)
            assert sys.argv[2] in str(error), error
    """
    command = [sys.executable, "-W", "ignore", "-c", code, str(path), because]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="no /proc to read the memory from")
def test_an_archive_whose_units_unfold_is_refused_in_little_memory(tmp_path: Path) -> None:
    """One text of 1,000 letters in 250,000 units with other ids: 3 MB that stand for 250."""
    store = coded(tmp_path / "study", "ana")
    store.copies.archive(tmp_path / "a.archive")
    n = 250_000
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), pa.array(["x" * 1_000]))
    none = pa.nulls(n, pa.string())
    names = {"unit_id": [f"m{i}" for i in range(n)], "text": texts, "document_id": none, "case_id": none}
    pq.write_table(
        pa.table(names | {"position": pa.nulls(n, pa.int64())}), tmp_path / "u", compression="none"
    )
    with zipfile.ZipFile(tmp_path / "a.archive") as members:
        content = {name: members.read(name) for name in members.namelist()}
    content |= signed(content["study.json"], (tmp_path / "u").read_bytes())
    (tmp_path / "a.archive").write_bytes(zipped(random.Random(5), content, b""))
    for read in (
        "Store(os.path.dirname(path) + '/study').copies.merge(path)",
        "Store.restore(path, path + '.restored')",
    ):
        assert grown(read, tmp_path / "a.archive", because="are more than a study has") < 150  # MB


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="no /proc to read the memory from")
@pytest.mark.parametrize("column", ["digest", "vector"])
def test_a_huge_value_in_a_cache_is_refused_unread(tmp_path: Path, column: str) -> None:
    VectorCache(tmp_path).save("m", {"a": np.ones(3, dtype=np.float32)})
    with closing(sqlite3.connect(tmp_path / "vectors.sqlite")) as connection, connection:
        connection.execute(f"UPDATE vectors SET {column} = zeroblob(100000000)")
    read = "from pathlib import Path; VectorCache(Path(path)).load('m', ['a', 'b', 'c'])"
    assert grown(read, tmp_path, because="too big") < 10  # MB


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="no /proc to read the memory from")
def test_a_huge_name_in_an_acts_file_is_refused_unread(tmp_path: Path) -> None:
    store = coded(tmp_path / "study", "ana")
    with closing(sqlite3.connect(store.path / "acts" / "ana.sqlite")) as connection, connection:
        connection.execute("INSERT INTO meta VALUES (CAST(zeroblob(100000000) AS TEXT), 'x')")
    assert grown("Store(path).acts()", store.path, because="cannot read") < 30  # MB


@pytest.mark.parametrize(
    "content", ["[" * 200_000, '{"text": 5}', '{"text": "\\ud800"}', '{"text": "a", "prompt_tokens": "x"}']
)
def test_a_reply_that_is_none_is_refused(tmp_path: Path, content: str) -> None:
    cache = ReplyCache(tmp_path / "cache")
    cache.save(b"q", Reply("4"))
    path = tmp_path / "cache" / cache._name(b"q")
    path.write_text(content)
    with pytest.raises(StoreError, match="not the reply"):
        cache.load(b"q")


def test_units_that_are_a_circle_of_links_are_no_units(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "pilot", units=frame_of(), codebook=CODEBOOK)
    units = tmp_path / "pilot" / "units.parquet"
    units.unlink()
    units.symlink_to("units.parquet")
    with pytest.raises(StoreError):
        Store(store.path)
