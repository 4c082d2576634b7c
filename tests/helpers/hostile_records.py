"""Archives, study folders and caches from somebody who wants to do harm, each made from its seed.

An attacker knows how hashes are made: what can be signed without a secret is signed here.
"""

# ruff: noqa: E501  (lists of values: one kind a line)
from __future__ import annotations

import hashlib
import io
import json
import os
import random
import shutil
import socket
import sqlite3
import stat
import zipfile
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from sense7_qual import acts, corpus, rounds
from sense7_qual.codebook import Codebook
from sense7_qual.models._caches import Reply, ReplyCache, VectorCache
from sense7_qual.store import Store
from sense7_qual.store._stored import whole_files
from tests.helpers import disk
from tests.helpers.broken_files import CODEBOOK, ODD, Study, broken, broken_archive
from tests.helpers.hostile import Kind
from tests.helpers.hostile_acts import ENDLESS, GIGABYTES, acts_file, journal, number_id
from tests.helpers.hostile_tables import _PANDAS, miscounted, parquet_bytes, words, yaml_codes

# Archives


def archive(r: random.Random, study: Study, folder: Path) -> Path:
    path = folder / "a.archive"
    if r.random() < 0.3:
        path.write_bytes(
            broken_archive(r, study.archive) if r.random() < 0.5 else broken(r, study.archive, study.archive)
        )
        return path
    with zipfile.ZipFile(io.BytesIO(study.archive)) as members:
        content = {info.filename: members.read(info) for info in members.infolist()}
    match r.randrange(4):
        case 0:
            content |= signed(content["study.json"], units(r, folder / "u.parquet"))
        case 1:
            content[next(name for name in content if name.startswith("codebooks"))] = yaml_codes(r)
        case 2:
            content["acts.jsonl"] = lines(r, content["acts.jsonl"])
        case _:
            name = r.choice(
                ["study.json", "manifest.json", "withdrawn/00000000-0000-4000-8000-000000000000.json"]
            )
            content[name] = r.choice(
                [
                    b"[" * 200_000,
                    b'{"a":' * 200_000,
                    b"9" * 100_000,
                    b"{}",
                    b"[]",
                    b" " * 30_000_000,
                    b'{"schema": 1e999}',
                    b'{"schema": ' + b"9" * 5_000 + b"}",
                ]
            )
    path.write_bytes(zipped(r, content, study.archive))
    if r.random() < 0.05:
        os.truncate(path, GIGABYTES)
    return path


def signed(said: bytes, table: bytes) -> dict[str, bytes]:
    found = whole_files.unseal(said)
    found["units_sha256"] = hashlib.sha256(table).hexdigest()
    return {"study.json": whole_files.seal(found), "units.parquet": table}


def units(r: random.Random, scratch: Path) -> bytes:
    """Return a table of units that unfolds, or that says wrong things of itself."""
    n = r.choice([3, 3, 50_000, 400_000])
    text = r.choice(["x", "é", "😀"]) * r.choice([1, 1_000, 20_000])
    place = pa.array(np.zeros(n, dtype=np.int32))
    texts = pa.DictionaryArray.from_arrays(place, pa.array([text]))
    names: dict[str, Any] = {
        "unit_id": [f"m{i}" for i in range(n)],
        "text": texts,
        "document_id": pa.nulls(n, pa.string()),
        "case_id": pa.nulls(n, pa.string()),
        "position": pa.nulls(n, pa.int64()),
    }
    for number in range(r.choice([0, 0, 3, 40])):
        names[f"v{number}"] = r.choice([texts, pa.nulls(n), pa.array(np.zeros(n)), pa.array([True] * n)])
    if r.random() < 0.3:
        name = r.choice([*names])
        names[name] = r.choice(
            [
                pa.nulls(n),
                pa.array(np.arange(n)),
                pa.array([b"\xff"] * n),
                pa.array([["a"]] * n),
                pa.array([words(r)[:50]] * n),
            ]
        )
    table = pa.table(names)
    if r.random() < 0.4:
        table = table.replace_schema_metadata({b"pandas": json.dumps(r.choice(_PANDAS)).encode()})
    packed = parquet_bytes(r, table, scratch)
    scratch.unlink()
    return miscounted(r, packed) if r.random() < 0.3 else packed


def lines(r: random.Random, packed: bytes) -> bytes:
    whole = packed.splitlines(keepends=True)
    n = r.choice([1, 1_000, 200_000])
    flood = r.choice(
        [
            b"{}\n",
            b"\n",
            b"[" * 5_000 + b"\n",
            b'{"coder":"a"}\n',
            whole[0],
            b'{"coder":"../x"}\n',
            b"x" * 99,
            b'{"a":' * 3_000,
            b'{"coder":"c","seq":1e999}\n',
        ]
    )
    at = r.randrange(len(whole) + 1)
    return b"".join([*whole[:at], flood * min(n, 50_000_000 // len(flood)), *whole[at:]])


def zipped(r: random.Random, content: dict[str, bytes], inner: bytes) -> bytes:
    """Return the members as an archive whose manifest vouches for them, with something that zips can do."""
    with suppress(ValueError, TypeError, KeyError, RecursionError):
        manifest = json.loads(content["manifest.json"])
        manifest["files"] = {
            name: {"sha256": hashlib.sha256(packed).hexdigest(), "bytes": len(packed)}
            for name, packed in content.items()
            if name != "manifest.json"
        }
        content["manifest.json"] = json.dumps(manifest).encode()
    buffer, how = io.BytesIO(), r.randrange(12)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as members:
        for name, packed in content.items():
            members.writestr(name, packed, zipfile.ZIP_DEFLATED if how == 0 else None)
        if how == 1:
            members.writestr(
                r.choice(
                    [
                        "../x",
                        "/etc/x",
                        "acts\\x",
                        "codebooks/../../x",
                        "study.json",
                        "STUDY.JSON",
                        "a\x00b",
                        "con",
                        "x/",
                    ]
                ),
                b"x",
            )
        elif how == 2:
            members.writestr("inner.zip", inner)
        elif how == 3:
            for number in range(r.choice([100, 20_000])):
                members.writestr(f"withdrawn/{number_id(number)}.json", b"{}")
        elif how == 4:
            members.comment = b"PK\1\2" * 9_000
    packed = bytearray(buffer.getvalue())
    if how == 5:
        at = packed.rfind(b"PK\5\6") + r.choice([8, 10, 12, 16])
        packed[at : at + 2] = r.choice([b"\xff\xff", b"\0\0", b"\xfe\xff"])
    elif how == 6:
        at = packed.find(b"PK\1\2") + r.choice([8, 10, 20, 24, 28, 30, 42])
        packed[at : at + 4] = r.choice([b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xfe\xff\xff\x7f"])
    return bytes(packed)


# Study folders


def folder_of(r: random.Random, study: Study, folder: Path) -> Path:
    path = folder / "study"
    shutil.copytree(study.folder / "copy", path)
    for _ in range(r.choice([1, 1, 2])):
        with suppress(OSError):  # of two changes the second may find nothing left
            r.choice([put_in_place, put_in_place, put_in_place, put_beside, put_signed, put_codebook])(
                r, path
            )
    return path


def put_in_place(r: random.Random, path: Path) -> None:
    """Put something that is no such file where one of the study's files was."""
    target = r.choice(
        [each for each in path.rglob("*") if each.is_file()]
        + [path / "change.lock", path / "acts", path / "codebooks", path / "copies"]
    )
    strange(r, target)


def strange(r: random.Random, target: Path) -> None:
    """Put a pipe, a device, a folder, a link that leads nowhere or a huge empty file at `target`."""
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    target.unlink(missing_ok=True)
    match r.choice(
        [
            "pipe",
            "pipe",
            "zero",
            "full",
            "null",
            "random",
            "folder",
            "loop",
            "nowhere",
            "sparse",
            "empty",
            "socket",
            "linked",
        ]
    ):
        case "pipe":
            os.mkfifo(target)
        case "zero" | "full" | "null" | "random" as device:
            target.symlink_to(f"/dev/{device}")
        case "folder":
            target.mkdir()
        case "loop":
            target.symlink_to(target)
        case "nowhere":
            target.symlink_to("/nowhere/at/all")
        case "sparse":
            target.touch()
            os.truncate(target, GIGABYTES)
        case "empty":
            target.touch()
        case "socket":
            with closing(socket.socket(socket.AF_UNIX)) as one:
                here = Path.cwd()
                os.chdir(target.parent)
                try:
                    one.bind(target.name)
                finally:
                    os.chdir(here)
        case "linked":
            pipe = target.with_name("pipe")
            os.mkfifo(pipe)
            target.symlink_to(pipe)


def put_beside(r: random.Random, path: Path) -> None:
    """Put something into the study that is no part of it."""
    name = r.choice(
        [
            *(
                "acts/.x.icloud",
                "acts/ana.sqlite-journal",
                "acts/ana.sqlite-wal",
                "acts/cleo (1).sqlite",
                "acts/dora.sqlite",
                "acts/con.sqlite",
                "acts/\udcff.sqlite",
            ),
            *(
                "acts/a\nb.sqlite",
                "acts/ANA.sqlite",
                "acts/" + "n" * 240 + ".sqlite",
                "study (1).json",
                "units.parquet~",
                "x.sqlite",
                ".ana.sqlite.icloud",
            ),
            *(
                "withdrawn/00000000-0000-4000-8000-000000000000.json",
                "copies/00000000-0000-4000-8000-000000000000.json",
                f"codebooks/{'0' * 32}.yaml",
            ),
            *(
                ".00000000-0000-4000-8000-000000000000.new",
                "acts/.00000000-0000-4000-8000-000000000000.new",
                "many",
                "deep",
                "journal",
            ),
        ]
    )
    if name == "many":
        for number in range(3_000):
            (path / r.choice(["withdrawn", "copies"])).mkdir(exist_ok=True)
            (path / "copies" / f"{number_id(number)}.json").write_bytes(b"{}") if (
                path / "copies"
            ).is_dir() else None
    elif name == "deep":
        deep = path / "acts" / "/".join(["d"] * 900)
        deep.mkdir(parents=True)
    elif name == "journal":
        journal(r, path / "acts" / "ana.sqlite")
    else:
        target = path / name
        target.parent.mkdir(exist_ok=True)
        if r.random() < 0.6:
            strange(r, target)
        else:
            target.write_bytes(
                r.choice(
                    [
                        b"",
                        b"{}",
                        b"[" * 100_000,
                        words(r).encode("utf-8", "replace"),
                        b"SQLite format 3\0" + b"\xff" * 5_000,
                    ]
                )
            )


def put_signed(r: random.Random, path: Path) -> None:
    """Put in units, or a note, that bear the right hash."""
    if r.random() < 0.6:
        if not stat.S_ISREG((path / "study.json").stat().st_mode):
            return  # a pipe by now
        for name, content in signed((path / "study.json").read_bytes(), units(r, path / "u.parquet")).items():
            (path / name).unlink(missing_ok=True)
            (path / name).write_bytes(content)
        return
    of = r.choice(["withdrawn", "copies"])
    (path / of).mkdir(exist_ok=True)
    odd = [value for value in ODD if not isinstance(value, bytes)] + [
        words(r),
        ["x"] * 200_000,
        [words(r)],
        {"ana": words(r)},
    ]
    said = {
        "id": number_id(7),
        "case_id": "p1",
        "unit_ids": ["m1"],
        "why": "x",
        "at": "2026",
        "units_sha256": "0" * 64,
        "memos": [],
    }
    said |= (
        {"kind": "backup", "place": "/x", "withdrawn": [], "heads": {"ana": "0" * 64}}
        if of == "copies"
        else {}
    )
    said[r.choice([*said])] = r.choice(odd)
    with suppress(ValueError):
        (path / of / f"{number_id(7)}.json").write_bytes(whole_files.seal(said))


def put_codebook(r: random.Random, path: Path) -> None:
    for target in [*(path / "codebooks").glob("*.yaml")][:1]:  # there may be none by now
        target.unlink()
        target.write_bytes(yaml_codes(r))


# Caches, and whatever may be given as a path


def cache(r: random.Random, _: Study, folder: Path) -> Path:
    vectors, replies = VectorCache(folder / "cache"), ReplyCache(folder / "cache")
    vectors.save("m", {"a": np.ones(3, dtype=np.float32)})
    replies.save(b"q", Reply("4"))
    names = ["key", "vectors.sqlite", replies._name(b"q")]
    target = folder / "cache" / r.choice(names)
    match r.randrange(5):
        case 0:
            strange(r, target)
        case 1:
            target.write_bytes(broken(r, target.read_bytes(), b"x"))
        case 2:
            with (
                closing(
                    sqlite3.connect(folder / "cache" / "vectors.sqlite", isolation_level=None)
                ) as connection,
                suppress(sqlite3.Error),
            ):
                connection.executescript(r.choice(VECTORS))
        case 3:
            odd = r.choice(
                [
                    "[" * 200_000,
                    '{"text": ' + "9" * 9_000 + "}",
                    '{"text": 5}',
                    '{"text": "\\ud800"}',
                    "{}",
                    "[]",
                    "null",
                    '{"text": null}',
                    '{"text": "a", "prompt_tokens": 1e999}',
                    '{"text": "a", "prompt_tokens": "x"}',
                    "\ufeff{}",
                    '{"a":' * 90_000,
                    " " * 300_000_000,
                ]
            )
            (folder / "cache" / names[2]).write_text(odd, "utf-8")
        case _:
            (folder / "cache" / "key").write_bytes(r.choice([b"", b"x", b"x" * 33, b"x" * 300_000_000]))
    return folder / "cache"


VECTORS = [
    f"DROP TABLE vectors; CREATE VIEW vectors AS {ENDLESS} i AS digest, i AS vector FROM n",
    f"DROP TABLE vectors; CREATE VIEW vectors AS {ENDLESS} x'00' AS digest, zeroblob(900000000) AS vector FROM n",
    "UPDATE vectors SET vector = zeroblob(7)",
    "UPDATE vectors SET vector = 'abcd'",
    "UPDATE vectors SET vector = 1.5",
    "UPDATE vectors SET vector = zeroblob(0)",
    "UPDATE vectors SET vector = zeroblob(900000000)",
    "DROP TABLE vectors; CREATE TABLE vectors (x)",
    "UPDATE vectors SET vector = x'0000c07f0000807f0000c0ff'",
    "CREATE TRIGGER t BEFORE INSERT ON vectors BEGIN SELECT hex(zeroblob(400000000)); END",
    "PRAGMA journal_mode = WAL",
    "ALTER TABLE vectors ADD COLUMN x AS (hex(zeroblob(400000000)))",
]


def place(r: random.Random, _: Study, folder: Path) -> Path:
    """Whatever may stand at a path that a user names, and no file."""
    name = r.choice(
        [
            "a.csv",
            "a.tsv",
            "a.xlsx",
            "a.jsonl",
            "a.parquet",
            "a.yaml",
            "c.csv",
            "a.sqlite",
            "a.archive",
            "a",
            "\udcff.csv",
            "a\nb.yaml",
            "n" * 300 + ".csv",
            "a\0b.csv",
            "a\0b.yaml",
            "a\0",
        ]
    )
    path = folder / name
    with suppress(OSError, ValueError):
        strange(r, path)
    return path


# The doors


def views(path: Path, _: Study) -> None:
    """Open a study folder and read all that it has, as far as it lets."""
    every(Store(path))


def every(store: Store) -> None:
    first: Exception | None = None
    for look in (
        store.verify,
        store.acts,
        store.codings,
        store.coverage,
        store.memos,
        lambda: store.revisions,
        lambda: store.coders,
        lambda: rounds.opened(store.acts()),
        lambda: store.codings(viewer="ana"),
    ):
        try:
            look()
        except Exception as error:  # noqa: BLE001  the others are looked at too
            first = first or error
    if first is not None:
        raise first


def with_acts(path: Path, study: Study) -> Store:
    """Return the study, copied, with the acts file in it."""
    copy = path.parent / "copy"
    shutil.copytree(study.path, copy)
    for each in path.parent.glob(f"{path.name}*"):
        shutil.copy2(each, copy / "acts" / each.name) if each.stat().st_size < 1_000_000_000 else each.rename(
            copy / "acts" / each.name
        )
    return Store(copy)


def views_with_acts(path: Path, study: Study) -> None:
    every(with_acts(path, study))


def append_behind(path: Path, study: Study) -> None:
    store = with_acts(path, study)
    store.append([acts.finish(coder="ana", unit_id="m2", codebook=CODEBOOK)])
    store.append([acts.finish(coder=path.stem, unit_id="m3", codebook=CODEBOOK)])


def salvage(path: Path, study: Study) -> None:
    with_acts(path, study).admin.salvage(path.stem, path.parent / "saved.sqlite")


def copies(path: Path, study: Study) -> None:
    with_acts(path, study).copies.backup(path.parent / "backup")


def merge(path: Path, study: Study) -> str:
    Store(study.path).copies.merge(path)
    if study.unchanged():
        return "merged nothing"
    disk.another_computer()
    store = Store(study.path)
    if not set(study.acts) <= set(store.acts()) or not store.verify()["ok"].all():
        raise AssertionError("what was merged is not sound")
    return "merged"


def restore(path: Path, study: Study) -> None:
    target = path.parent / "restored"
    try:
        store = Store.restore(path, target)
    except Exception:
        if target.exists():
            raise AssertionError("something was left of what was refused") from None
        raise
    every(store)


def archived(path: Path, _: Study) -> None:
    Store(path).copies.archive(path.parent / "archive")


def backed_up(path: Path, _: Study) -> None:
    Store(path).copies.backup(path.parent / "backup")


def withdrawn(path: Path, _: Study) -> None:
    Store(path).forget("p1", why="asked")


def appended(path: Path, _: Study) -> None:
    Store(path).append([acts.finish(coder="ana", unit_id="m2", codebook=CODEBOOK)])


def revised(path: Path, _: Study) -> None:
    store = Store(path)
    store.revise(replace(store.codebook, title="New"), why="x", coder="ana")


def created(path: Path, _: Study) -> None:
    Store.create(
        path,
        units=pd.DataFrame(
            {"unit_id": ["a"], "text": ["b"], "document_id": [None], "case_id": [None], "position": [1]}
        ),
        codebook=CODEBOOK,
    )


def vectors(path: Path, _: Study) -> None:
    kept = VectorCache(path)
    kept.load("m", ["a", "b"])
    kept.save("m", {"b": np.ones(3, dtype=np.float32)})


def replies(path: Path, _: Study) -> None:
    kept = ReplyCache(path)
    kept.load(b"q")
    kept.save(b"q", Reply("4"))


def any_door(path: Path, study: Study) -> None:
    match path.suffix:
        case ".yaml":
            Codebook.read(path)
        case ".csv" if path.name == "c.csv":
            Codebook.read(path)
        case "" | ".sqlite" | ".archive":
            first: Exception | None = None
            for door in (views, merge, restore, vectors, replies):
                try:
                    door(path, study)
                except Exception as error:  # noqa: BLE001  the others are tried too
                    first = first or error
            if first is not None:
                raise first
        case _:
            corpus.read(path, text="said")


FOLDER = (views, archived, backed_up, withdrawn, appended, revised, merge, created)
KINDS = [
    Kind("acts", acts_file, (merge, views_with_acts, append_behind, salvage, copies)),
    Kind("acts", acts_file, (merge, views_with_acts, append_behind, salvage, copies)),
    Kind("archive", archive, (restore, merge)),
    Kind("folder", folder_of, FOLDER),
    Kind("folder", folder_of, FOLDER),
    Kind("cache", cache, (vectors, replies)),
    Kind("place", place, (any_door,)),
]
