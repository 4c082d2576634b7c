"""Files broken at random: read, or refused as the package refuses, and nothing else; no study is changed.

1,000 imports in the suite and 10,000 in the soak, each from its own seed: valid CSV, TSV, JSONL,
XLSX and Parquet files with bits flipped, pieces cut out, doubled, moved, or taken from another. They run in
a child process, so that a crash of native code and the memory are seen too. Beside them lies a study with
acts, whose files are hashed after each import; what could be read is handed to `Store.create` at its place.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from sense7_qual import acts, corpus
from sense7_qual.codebook import Codebook
from sense7_qual.errors import QualError, StoreError
from sense7_qual.store import Store
from tests.corpus.test_formats import write_table
from tests.helpers.places import ROOT

SUFFIXES = [".csv", ".tsv", ".jsonl", ".xlsx", ".parquet"]
ROWS = [[f"m{n}", f'Text {n}: ,\t"it" said\nso 😀 é =1+1', str(n % 5 + 1), f"p{n // 3}"] for n in range(40)]
HEADER = ["id", "said", "stars", "who"]
INTERESTING = [
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b"\r", b"\\ud800", b"<", b"&#0;", b"]]>", b"\x7f" * 4,
    b"\xff" * 8, b"\x00" * 8, b"[" * 500, b'{"a":' * 80, b"9" * 20, b"-1", b"<!DOCTYPE a>", b"<c/>",
]  # fmt: skip


def seeds(folder: Path) -> dict[str, list[bytes]]:
    """Return, for each kind of file, two that are valid, and a Parquet file of texts that repeat the last."""
    found = {}
    for suffix in SUFFIXES:
        whole, short = folder / f"whole{suffix}", folder / f"short{suffix}"
        write_table(whole, HEADER, ROWS)
        write_table(short, HEADER[:2], [["1", "x"]])
        found[suffix] = [whole.read_bytes(), short.read_bytes()]
    table = pq.read_table(folder / "whole.parquet")
    for version in ("1.0", "2.0"):
        encodings = dict.fromkeys(HEADER, "DELTA_BYTE_ARRAY")
        pq.write_table(
            table,
            folder / "delta.parquet",
            use_dictionary=False,
            column_encoding=encodings,
            data_page_version=version,
            compression="none",
        )
        found[".parquet"].append((folder / "delta.parquet").read_bytes())
    return found


def broken(r: random.Random, packed: bytes, other: bytes) -> bytes:
    """Return the file changed in one to eight places."""
    changed = bytearray(packed)
    for _ in range(r.choice([1, 1, 1, 2, 4, 8])):
        at = r.randrange(len(changed) + 1)
        size = r.choice([1, 2, 8, 64, 512])
        match r.randrange(7):
            case 0 | 1 if changed:
                changed[at % len(changed)] ^= 1 << r.randrange(8)
            case 2 if r.random() < 0.3:
                del changed[at:]
            case 3:
                del changed[at : at + size]
            case 4:
                changed[at:at] = changed[at : at + size] * r.choice([1, 2, 50])
            case 5:
                start = r.randrange(len(other))
                changed[at : at + size] = other[start : start + size]
            case _:
                changed[at : at + r.choice([0, 8])] = r.choice(INTERESTING)
    return bytes(changed)


def broken_inside(r: random.Random, packed: bytes) -> bytes:
    """Return the workbook with one of its parts changed, and packed as it should be."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    name = r.choice([*members, *["xl/worksheets/sheet1.xml", "xl/styles.xml", "xl/workbook.xml"]])
    members[name] = broken(r, members[name], r.choice([*members.values()]) or b"<")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return buffer.getvalue()


def contents(path: Path) -> dict[str, object]:
    """Return what stands in a folder: the hash and the mode of every file."""
    return {
        each.relative_to(path).as_posix(): (
            each.stat().st_mode,
            hashlib.sha256(each.read_bytes()).hexdigest() if each.is_file() else None,
        )
        for each in path.rglob("*")
    }


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


def peak_megabytes() -> float:
    """Return how much memory this process had at most; ru_maxrss would count its parent's as its own."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0.0
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1000


def is_refused(study: Path, units: pd.DataFrame, codebook: Codebook) -> bool:
    try:
        Store.create(study, units=units, codebook=codebook)
    except StoreError:
        return True
    return False


def in_a_child(module: str, first: int, count: int) -> dict[str, object]:
    code = f"import json\nfrom {module} import fuzz\nprint(json.dumps(fuzz({first}, {count})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, (done.returncode, done.stderr[-2_000:])
    return dict(json.loads(done.stdout.splitlines()[-1]))


def check(module: str, first: int, count: int) -> Counter[str]:
    """Let a module's `fuzz` run in a child process; return how often each end came."""
    start = time.perf_counter()
    found = in_a_child(module, first, count)
    took, peak = time.perf_counter() - start, float(str(found["peak"]))
    print(f"{count:,} broken files in {took:.0f} s, at most {peak:.0f} MB: {found['ends']}")
    assert found["strange"] == []
    assert peak < 1_000
    ends: Counter[str] = Counter(found["ends"])  # type: ignore[arg-type]
    assert ends.total() == count
    return ends


def test_some_broken_files_are_read_or_refused() -> None:
    """And both happen, in every kind of file: a fuzzer that breaks nothing, or everything, shows nothing."""
    ends = check(__name__, 1_000_000, 300)
    for suffix in SUFFIXES:
        assert sum(n for end, n in ends.items() if end.startswith(suffix) and "read" not in end) > 5, suffix
    assert sum(n for end, n in ends.items() if end.endswith("read")) > 20


@pytest.mark.crash
def test_many_broken_files_are_read_or_refused() -> None:
    check(__name__, 0, 10_000 if os.environ.get("SOAK") else 1_000)
