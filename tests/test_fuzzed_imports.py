"""Files broken at random: read, or refused as the package refuses, and nothing else.

10,000 imports by default, or as many as SENSE7_QUAL_FUZZ says, each from its own seed: valid CSV, TSV, JSONL,
XLSX and Parquet files with bits flipped, pieces cut out, doubled, moved, or taken from another. They run in
a child process, so that a crash of native code and the memory are seen too.
"""

from __future__ import annotations

import io
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from sense7_qual import corpus
from sense7_qual.errors import QualError
from tests.test_files import write_table

SUFFIXES = [".csv", ".tsv", ".jsonl", ".xlsx", ".parquet"]
ROWS = [[f"m{n}", f'Text {n}: ,\t"it" said\nso 😀 é =1+1', str(n % 5 + 1), f"p{n // 3}"] for n in range(40)]
HEADER = ["id", "said", "stars", "who"]
INTERESTING = [
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b"\r", b"\\ud800", b"<", b"&#0;", b"]]>", b"\x7f" * 4,
    b"\xff" * 8, b"\x00" * 8, b"[" * 500, b'{"a":' * 80, b"9" * 20, b"-1", b"<!DOCTYPE a>", b"<c/>",
]  # fmt: skip


def seeds(folder: Path) -> dict[str, list[bytes]]:
    """Return, for each kind of file, two that are valid."""
    found = {}
    for suffix in SUFFIXES:
        whole, short = folder / f"whole{suffix}", folder / f"short{suffix}"
        write_table(whole, HEADER, ROWS)
        write_table(short, HEADER[:2], [["1", "x"]])
        found[suffix] = [whole.read_bytes(), short.read_bytes()]
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


def fuzz(first: int, count: int) -> dict[str, object]:
    """Import `count` broken files; return how each ended, what was no error of ours, and the peak memory."""
    ends: Counter[str] = Counter()
    strange: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        valid = seeds(Path(folder))
        every = [packed for files in valid.values() for packed in files]
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
                corpus.read(path, text="said", unit_id="id", empty="skip")
                ends[f"{suffix} read"] += 1
            except QualError as refused:
                ends[f"{suffix} {type(refused).__name__}"] += 1
            except BaseException as error:  # noqa: BLE001  what must not happen is what is looked for
                strange.append(f"seed {seed} ({suffix}): {type(error).__name__} {error}"[:300])
    return {
        "ends": dict(ends),
        "strange": strange,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
    }


def in_a_child(first: int, count: int) -> dict[str, object]:
    code = (
        f"import json\nfrom tests.test_fuzzed_imports import fuzz\nprint(json.dumps(fuzz({first}, {count})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[1]
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2_000:])
    return dict(json.loads(done.stdout.splitlines()[-1]))


def check(first: int, count: int) -> Counter[str]:
    start = time.perf_counter()
    found = in_a_child(first, count)
    took, peak = time.perf_counter() - start, float(str(found["peak"]))
    print(f"{count:,} imports in {took:.0f} s, at most {peak:.0f} MB: {found['ends']}")
    assert found["strange"] == []
    assert peak < 1_000
    ends: Counter[str] = Counter(found["ends"])  # type: ignore[arg-type]
    assert ends.total() == count
    return ends


def test_some_broken_files_are_read_or_refused() -> None:
    """And both happen, in every kind of file: a fuzzer that breaks nothing, or everything, shows nothing."""
    ends = check(1_000_000, 300)
    for suffix in SUFFIXES:
        assert sum(n for end, n in ends.items() if end.startswith(suffix) and "read" not in end) > 5, suffix
    assert sum(n for end, n in ends.items() if end.endswith("read")) > 20


@pytest.mark.crash
def test_ten_thousand_broken_files_are_read_or_refused() -> None:
    count = int(os.environ.get("SENSE7_QUAL_FUZZ", "10000"))
    for first in range(0, count, 10_000):
        check(first, min(10_000, count - first))
