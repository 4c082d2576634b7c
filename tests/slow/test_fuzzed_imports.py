"""Files broken at random: read, or refused as the package refuses, and nothing else; no study is changed.

1,000 imports in the suite and 10,000 in the soak, each from its own seed: valid CSV, TSV, JSONL,
XLSX and Parquet files with bits flipped, pieces cut out, doubled, moved, or taken from another. They run in
a child process, so that a crash of native code and the memory are seen too. Beside them lies a study with
acts, whose files are hashed after each import; what could be read is handed to `Store.create` at its place.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections import Counter
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from sense7_qual import acts, corpus
from sense7_qual.codebook import Codebook
from sense7_qual.errors import QualError, StoreError
from sense7_qual.store import Store
from tests.helpers.broken_files import broken, broken_inside, check, contents, peak_megabytes
from tests.helpers.written_files import write_table

pytestmark = pytest.mark.nightly

SUFFIXES = [".csv", ".tsv", ".jsonl", ".xlsx", ".parquet"]
ROWS = [[f"m{n}", f'Text {n}: ,\t"it" said\nso 😀 é =1+1', str(n % 5 + 1), f"p{n // 3}"] for n in range(40)]
HEADER = ["id", "said", "stars", "who"]


def seeds(folder: Path) -> dict[str, list[bytes]]:
    """Return, for each kind of file, two that are valid, and Parquet files of both versions of pages."""
    found = {}
    for suffix in SUFFIXES:
        whole, short = folder / f"whole{suffix}", folder / f"short{suffix}"
        write_table(whole, HEADER, ROWS)
        write_table(short, HEADER[:2], [["1", "x"]])
        found[suffix] = [whole.read_bytes(), short.read_bytes()]
    table = pq.read_table(folder / "whole.parquet")
    for version in ("1.0", "2.0"):
        pq.write_table(
            table,
            folder / "plain.parquet",
            use_dictionary=False,
            data_page_version=version,
            compression="none",
        )
        found[".parquet"].append((folder / "plain.parquet").read_bytes())
    return found


def study_of(path: Path, table: Path) -> Codebook:
    """Make a study with acts of the units in `table`, and return its codebook."""
    codebook = Codebook.read("sense7")
    store = Store.create(path, units=corpus.read(table, text="said", unit_id="id"), codebook=codebook)
    for coder in ("ana", "ben"):
        named = {"coder": coder, "unit_id": "m1", "codebook": codebook}
        store.append([acts.apply(code="relational", start=2, end=9, **named), acts.finish(**named)])
    return codebook


def fuzz(first: int, count: int) -> dict[str, object]:
    """Import `count` broken files; return how each ended, what was no error of ours, and the peak memory."""
    ends: Counter[str] = Counter()
    strange: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        valid = seeds(Path(folder))
        every = [packed for files in valid.values() for packed in files]
        study = Path(folder) / "study"
        codebook = study_of(study, Path(folder) / "whole.csv")
        before = contents(study)
        for seed in range(first, first + count):
            r = random.Random(seed)
            suffix = SUFFIXES[seed % len(SUFFIXES)]
            path = Path(folder) / f"broken{suffix}"
            if suffix == ".xlsx" and r.random() < 0.7:
                path.write_bytes(broken_inside(r, r.choice(valid[suffix])))
            else:
                other = r.choice([*valid[suffix], r.choice(every)])
                path.write_bytes(broken(r, r.choice(valid[suffix]), other))
            try:
                units = corpus.read(path, text="said", unit_id="id", empty="skip")
                ends[f"{suffix} read"] += 1
                if not is_refused(study, units, codebook):
                    strange.append(f"seed {seed} ({suffix}): created where a study was")
            except QualError as refused:
                ends[f"{suffix} {type(refused).__name__}"] += 1
            except BaseException as error:  # noqa: BLE001  what must not happen is what is looked for
                strange.append(f"seed {seed} ({suffix}): {type(error).__name__} {error}"[:300])
            if contents(study) != before:
                strange.append(f"seed {seed} ({suffix}): the study was changed")
    return {
        "ends": dict(ends),
        "strange": strange,
        "peak": peak_megabytes(),
    }


def is_refused(study: Path, units: pd.DataFrame, codebook: Codebook) -> bool:
    try:
        Store.create(study, units=units, codebook=codebook)
    except StoreError:
        return True
    return False


@pytest.mark.long
def test_some_broken_files_are_read_or_refused() -> None:
    """And both happen, in every kind of file: a fuzzer that breaks nothing, or everything, shows nothing."""
    ends = check(__name__, 1_000_000, 300)
    for suffix in SUFFIXES:
        assert sum(n for end, n in ends.items() if end.startswith(suffix) and "read" not in end) > 5, suffix
    assert sum(n for end, n in ends.items() if end.endswith("read")) > 20


@pytest.mark.crash
def test_many_broken_files_are_read_or_refused() -> None:
    check(__name__, 0, 10_000 if os.environ.get("SOAK") else 1_000)
