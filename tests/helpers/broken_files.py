"""Files that are broken at random, and a study that they are handed to."""

from __future__ import annotations

import hashlib
import io
import json
import random
import shutil
import sqlite3
import subprocess
import sys
import time
import zipfile
from collections import Counter
from contextlib import closing
from pathlib import Path

import pandas as pd

from sense7_qual import acts
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store
from tests.helpers.places import ROOT

INTERESTING = [
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b'"',
    b"\r",
    b"\\ud800",
    b"<",
    b"&#0;",
    b"]]>",
    b"\x7f" * 4,
    b"\xff" * 8,
    b"\x00" * 8,
    b"[" * 500,
    b'{"a":' * 80,
    b"9" * 20,
    b"-1",
    b"<!DOCTYPE a>",
    b"<c/>",
]


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
    """Return the workbook or document with one of its parts changed, and packed as it should be."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    often = ["xl/worksheets/sheet1.xml", "xl/styles.xml", "xl/workbook.xml", "word/document.xml"]
    name = r.choice([*members, *(each for each in often if each in members)])
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


def peak_megabytes() -> float:
    """Return how much memory this process had at most; ru_maxrss would count its parent's as its own."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0.0
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1000


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


CODEBOOK = Codebook(
    name="small",
    codes=(Code(id="interest", label="Interest"), Code(id="care", label="Care", examples=("so",))),
)


UNITS = pd.DataFrame(
    {
        "unit_id": ["m1", "m2", "m3"],
        "text": ["It listened 👩‍👩‍👧 to me.", "She did not.", "So so"],
        "document_id": ["d1", "d1", "d2"],
        "case_id": ["p1", "p1", "p2"],
        "position": [0, 1, 0],
    }
)


ODD = [
    None,
    -1,
    2**62,
    1.5,
    b"\xff\x00",
    "\x00",
    "x" * 10_000,
    "",
    True,
    [],
    {},
    [[1]],
    {"a": None},
    "🦊",
    "care",
]


YAML = [
    b"&a [*a, *a]",
    b"!!python/object/apply:os.abort []",
    b"<<: *a",
    b"- " * 300,
    b"{a: " * 300,
    b"? ",
    b"%YAML 9.9\n---\n",
    b"\n---\n",
    b"!!binary x",
    b"a: &a [x,x]\nb: &b [*a,*a]\n",
    b"\t",
    b"key: |2\n",
]


def coded(path: Path, *coders: str) -> Store:
    """Make a study in which each coder has coded, and return it."""
    store = Store.create(path, units=UNITS, codebook=CODEBOOK)
    for coder in coders:
        add_acts(store, coder)
    return store


def add_acts(store: Store, coder: str) -> None:
    named = {"coder": coder, "unit_id": "m1", "codebook": CODEBOOK}
    memo = acts.memo(text="ähm\n😀", **named)
    done = [acts.apply(code="interest", start=i, end=i + 4, **named) for i in range(3)]
    store.append([*done, memo, acts.rule(code="care", applied=True, **named), acts.finish(**named)])
    store.append([acts.undo(memo, codebook=CODEBOOK)])


class Study:
    """A study with acts, another copy of it in which one more coder has coded, and what both were."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / "study"
        store = coded(self.path, "ana", "ben")
        shutil.copytree(self.path, folder / "copy")
        add_acts(Store(folder / "copy"), "cleo")
        Store(folder / "copy").copies.archive(folder / "copy.archive")
        self.archive = (folder / "copy.archive").read_bytes()
        self.acts = store.acts()
        shutil.copytree(self.path, folder / "kept")
        self.before = contents(self.path)

    def unchanged(self) -> bool:
        now = contents(self.path)
        now.pop("change.lock", None)  # it is empty, and held by whoever merges
        return now == self.before

    def put_back(self) -> None:
        shutil.rmtree(self.path)
        shutil.copytree(self.folder / "kept", self.path)


def broken_json(r: random.Random, packed: bytes) -> bytes:
    """Return the JSON object with another value somewhere, or without it."""
    found = json.loads(packed)
    at, key = found, r.choice([*found])
    while isinstance(at[key], dict | list) and at[key] and r.random() < 0.8:
        at = at[key]
        key = r.choice([*at]) if isinstance(at, dict) else r.randrange(len(at))
    if r.random() < 0.2:
        del at[key]
    else:
        at[key] = r.choice([value for value in ODD if not isinstance(value, bytes)])
    return json.dumps(found).encode()


def broken_acts(r: random.Random, path: Path, scratch: Path) -> bytes:
    """Return the acts file with a value of another kind in it, a row gone, doubled or out of its place."""
    shutil.copyfile(path, scratch)
    with closing(sqlite3.connect(scratch, isolation_level=None)) as connection:
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        table = r.choice([name for name in tables if not name.startswith("sqlite_")])
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        column, row = r.choice(columns), f"(SELECT rowid FROM {table} ORDER BY random() LIMIT 1)"
        value = r.choice([value for value in ODD if not isinstance(value, list | dict)])
        for statement, values in [
            r.choice(
                [
                    (f"UPDATE {table} SET {column} = ? WHERE rowid = {row}", (value,)),
                    (f"UPDATE {table} SET {column} = CAST(x'ff61' AS TEXT) WHERE rowid = {row}", ()),
                    (f"DELETE FROM {table} WHERE rowid = {row}", ()),
                    (f"ALTER TABLE {table} RENAME COLUMN {column} TO other", ()),
                    (f"DROP TABLE {table}", ()),
                    ("PRAGMA user_version = 99", ()),
                    ("PRAGMA journal_mode = WAL", ()),
                ]
            )
        ]:
            try:
                connection.execute(statement, values)
            except sqlite3.Error:
                continue  # the table itself refuses
    return scratch.read_bytes()


def broken_archive(r: random.Random, packed: bytes) -> bytes:
    """Return the archive with one member broken and a manifest that vouches for it."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    manifest = json.loads(members["manifest.json"])
    name = r.choice([*members])
    other = r.choice([*members.values()])
    if name == "acts.jsonl" and r.random() < 0.6:
        lines = members[name].splitlines(keepends=True)
        at = r.randrange(len(lines))
        lines[at] = broken_json(r, lines[at]) + b"\n"
        members[name] = b"".join(lines)
    elif name.endswith(".json") and r.random() < 0.6:
        members[name] = broken_json(r, members[name])
    else:
        members[name] = broken(r, members[name], other)
    if name != "manifest.json":
        found = {"sha256": hashlib.sha256(members[name]).hexdigest(), "bytes": len(members[name])}
        manifest["files"][name] = found
        members["manifest.json"] = json.dumps(manifest).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", r.choice([zipfile.ZIP_STORED] * 9 + [zipfile.ZIP_DEFLATED])) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return buffer.getvalue()
