"""A study beside files that are broken at random: it stays as it is, byte for byte, whatever comes in.

What may come from outside is a codebook, an acts file or an archive to merge, an archive to restore, and a
study folder out of a sync client. Each is broken as the imports are (`test_fuzzed_imports`), or from within:
a value of another kind in an act, in `study.json`, in a member of the archive whose manifest is put right.
All must end in an error of the package, or in a sound study.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import shutil
import sqlite3
import tempfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import acts
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import QualError
from sense7_qual.store import Store
from tests.slow.test_fuzzed_imports import broken, check, contents, peak_megabytes

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
    b"&a [*a, *a]", b"!!python/object/apply:os.abort []", b"<<: *a", b"- " * 300, b"{a: " * 300, b"? ",
    b"%YAML 9.9\n---\n", b"\n---\n", b"!!binary x", b"a: &a [x,x]\nb: &b [*a,*a]\n", b"\t", b"key: |2\n",
]  # fmt: skip


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
        Store(folder / "copy").archive(folder / "copy.archive")
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


def read_codebook(r: random.Random, study: Study) -> str:
    suffix = r.choice([".yaml", ".csv"])
    path = study.folder / f"codebook{suffix}"
    packed = (
        CODEBOOK.to_yaml()
        if suffix == ".yaml"
        else b"id,label,definition\ninterest,Interest,So\ncare,Care,\n"
    )
    for _ in range(r.choice([1, 1, 3])):
        packed = broken(r, packed, r.choice(YAML))
        if r.random() < 0.4:
            at = r.randrange(len(packed) + 1)
            packed = packed[:at] + r.choice(YAML) + packed[at:]
    path.write_bytes(packed)
    Codebook.read(path)
    return f"{suffix} read"


def merge(r: random.Random, study: Study) -> str:
    """Merge a broken acts file or archive: what is refused has changed nothing, what is new is sound."""
    what = r.choice(["ana", "cleo", "archive"])
    if what == "archive":
        path = study.folder / "other.archive"
        path.write_bytes(broken_either(r, study.archive, broken_archive))
    else:
        path, source = study.folder / f"{what}.sqlite", study.folder / "copy" / "acts" / f"{what}.sqlite"
        packed = source.read_bytes()
        scratch = study.folder / "scratch.sqlite"
        path.write_bytes(broken(r, packed, packed) if r.random() < 0.5 else broken_acts(r, source, scratch))
    Store(study.path).merge(path)
    if not study.unchanged():
        if not is_sound_with_more(study):
            raise AssertionError("what was merged is not sound")
        study.put_back()
    return f"{what} merged"


def broken_either(r: random.Random, packed: bytes, within: Callable[[random.Random, bytes], bytes]) -> bytes:
    return within(r, packed) if r.random() < 0.6 else broken(r, packed, packed)


def is_sound_with_more(study: Study) -> bool:
    store = Store(study.path)
    now = store.acts()
    return [act for act in now if act.coder != "cleo"] == study.acts and bool(store.verify()["ok"].all())


def restore(r: random.Random, study: Study) -> str:
    """Restore a broken archive: nothing is left where it is refused, and a sound study where it is not."""
    path, target = study.folder / "other.archive", study.folder / "restored"
    path.write_bytes(broken_either(r, study.archive, broken_archive))
    beside = set(study.folder.iterdir())
    try:
        store = Store.restore(path, target)
    except QualError:
        if set(study.folder.iterdir()) != beside:
            raise AssertionError("something was left of what was refused") from None
        raise
    sound = bool(store.verify()["ok"].all())
    shutil.rmtree(target)
    if not sound:
        raise AssertionError("a study that is not sound was restored")
    return "restored"


def open_study(r: random.Random, study: Study) -> str:
    """Open and read a copy of the study with a broken file: reading changes nothing in it."""
    path = study.folder / "broken"
    shutil.copytree(study.path, path)
    try:
        file = r.choice(sorted(each for each in path.rglob("*") if each.is_file() and each.stat().st_size))
        packed = file.read_bytes()
        if file.suffix == ".sqlite" and r.random() < 0.6:
            file.write_bytes(broken_acts(r, file, study.folder / "scratch.sqlite"))
        elif file.suffix == ".json" and r.random() < 0.6:
            file.write_bytes(broken_json(r, packed))
        else:
            file.write_bytes(broken(r, packed, packed))
        before = words(path)
        try:
            store = Store(path)
            store.verify()  # reports, and raises nothing
            store.acts(), store.codings(), store.memos()
        finally:
            if words(path) != before:
                raise AssertionError("reading changed it")
        return "opened"
    finally:
        shutil.rmtree(path)


def words(path: Path) -> dict[str, bytes]:
    """Return what stands in the files, but for where SQLite says how it keeps its journal and who wrote last.

    A file that was left in the mode of write-ahead logging is put back into that of the study on reading.
    """
    found = {each.name: bytearray(each.read_bytes()) for each in path.rglob("*") if each.is_file()}
    for name, packed in found.items():
        if name.endswith(".sqlite"):
            for start, end in ((18, 20), (24, 28), (92, 100)):
                packed[start:end] = bytes(end - start)
    return {name: bytes(packed) for name, packed in found.items()}


DOORS: list[Callable[[random.Random, Study], str]] = [read_codebook, merge, restore, open_study]


def fuzz(first: int, count: int) -> dict[str, object]:
    """Hand `count` broken files in; return how each ended, what was no error of ours, and the peak memory."""
    ends: Counter[str] = Counter()
    strange: list[str] = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a study of a later version opens with one
        study = Study(Path(folder))
        for seed in range(first, first + count):
            door = DOORS[seed % len(DOORS)]
            try:
                ends[f"{door.__name__} {door(random.Random(seed), study)}"] += 1
            except QualError as refused:
                ends[f"{door.__name__} {type(refused).__name__}"] += 1
            except BaseException as error:  # noqa: BLE001  what must not happen is what is looked for
                strange.append(f"seed {seed} ({door.__name__}): {type(error).__name__} {error}"[:300])
            if not study.unchanged():
                strange.append(f"seed {seed} ({door.__name__}): the study was changed")
                study.put_back()
    return {
        "ends": dict(ends),
        "strange": strange,
        "peak": peak_megabytes(),
    }


def test_a_study_stays_as_it_is_beside_some_broken_files() -> None:
    """And every door refuses some."""
    ends = check("tests.slow.test_fuzzed_studies", 1_000_000, 80)
    for door in DOORS:
        assert sum(n for end, n in ends.items() if end.startswith(door.__name__) and "Error" in end) > 5, door


@pytest.mark.crash
def test_a_study_stays_as_it_is_beside_many_broken_files() -> None:
    count = 1_000 if os.environ.get("SOAK") else 200
    ends = check("tests.slow.test_fuzzed_studies", 0, count)
    assert sum(n for end, n in ends.items() if "Error" not in end) > count / 25
