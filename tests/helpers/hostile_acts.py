"""Acts files from somebody who wants to do harm, each made from its seed.

An attacker knows how hashes are made: what can be signed without a secret is signed here.
"""

# ruff: noqa: E501  (lists of values: one kind a line)
from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from contextlib import closing, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from sense7_qual import acts, rounds
from sense7_qual.rounds import Assignment
from sense7_qual.store._stored import acts_files, layout as studies
from sense7_qual.store._stored.hash_chain import chained, genesis, text_hash
from tests.helpers.broken_files import CODEBOOK, ODD, Study, broken_acts, broken_json
from tests.helpers.hostile_tables import words

GIGABYTES = 2_500_000_000


def acts_file(r: random.Random, study: Study, folder: Path) -> Path:
    coder = r.choice(["ana", "ben", "cleo"])
    path, source = folder / f"{coder}.sqlite", study.folder / "copy" / "acts" / f"{coder}.sqlite"
    match r.randrange(8):
        case 0:
            path.write_bytes(broken_acts(r, source, folder / "scratch"))
        case 1 | 2 | 3:
            forge(path, studies.read(study.path).id, coder, drafts(r, coder))
        case 4 | 5:
            path.write_bytes(repaged(r, source.read_bytes()))
        case _:
            shutil.copyfile(source, path)
            with closing(sqlite3.connect(path, isolation_level=None)) as connection:
                for script in r.sample(SCRIPTS, r.choice([1, 1, 2])):
                    with suppress(sqlite3.Error, MemoryError):
                        connection.executescript(script)
    if r.random() < 0.05:
        os.truncate(path, r.choice([path.stat().st_size * 1_000, GIGABYTES]))
    if r.random() < 0.1:
        journal(r, path)
    return path


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"
SCRIPTS = [
    f"ALTER TABLE texts RENAME TO t; CREATE VIEW texts AS {ENDLESS} i AS text_hash, NULL AS salt, NULL AS text FROM n",
    f"ALTER TABLE meta RENAME TO m; CREATE VIEW meta AS {ENDLESS} i AS name, i AS value FROM n",
    f"CREATE VIEW sqlite_x AS {ENDLESS} i FROM n; CREATE VIEW v AS {ENDLESS} i FROM n",
    "CREATE TRIGGER t AFTER INSERT ON acts BEGIN DELETE FROM acts; END",
    "CREATE TRIGGER t BEFORE INSERT ON texts BEGIN SELECT hex(zeroblob(900000000)); END",
    "CREATE VIRTUAL TABLE v USING fts5(a); CREATE VIRTUAL TABLE w USING rtree(a, b, c)",
    "ALTER TABLE acts ADD COLUMN x TEXT AS (hex(zeroblob(400000000)))",
    "ALTER TABLE texts ADD COLUMN x TEXT DEFAULT 'a'",
    "CREATE INDEX i ON acts (code) WHERE length(hex(zeroblob(400000000))) > 1",
    "CREATE INDEX i ON acts (code COLLATE nothing)",
    "PRAGMA writable_schema=ON; UPDATE sqlite_master SET rootpage = 2; PRAGMA writable_schema=OFF",
    "PRAGMA writable_schema=ON; UPDATE sqlite_master SET rootpage = 99999999 WHERE name = 'texts'",
    "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', 'UNIQUE') WHERE sql LIKE '%acts%'",
    "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = 'CREATE TABLE acts(' || hex(zeroblob(1000)) || ')' WHERE name = 'acts'",
    "PRAGMA writable_schema=ON; UPDATE sqlite_master SET name = 'ACTS', tbl_name = 'acts' WHERE name = 'acts'",
    "PRAGMA writable_schema=ON; UPDATE sqlite_master SET type = 'view' WHERE name = 'texts'",
    "PRAGMA writable_schema=ON; DELETE FROM sqlite_master WHERE type = 'index'",
    "PRAGMA journal_mode = WAL",
    "PRAGMA user_version = 4294967295",
    "PRAGMA auto_vacuum = 1; VACUUM",
    "PRAGMA page_size = 512; VACUUM",
    "PRAGMA page_size = 65536; VACUUM",
    "PRAGMA application_id = -1",
    "VACUUM; PRAGMA encoding = 'UTF-16'",
    "DROP TABLE acts; CREATE TABLE acts (seq)",
    "DROP TABLE texts; CREATE TABLE texts (text_hash, salt, text) STRICT",
    "UPDATE texts SET text = zeroblob(200000000)",
    "UPDATE texts SET text = CAST(zeroblob(200000000) AS TEXT)",
    "UPDATE texts SET salt = 1.5",
    "UPDATE acts SET kind = CAST(zeroblob(100000000) AS TEXT) WHERE seq = 1",
    "UPDATE acts SET hash = zeroblob(9)",
    "UPDATE acts SET previous = hash",
    "UPDATE acts SET branch = 'x', clock = '9/9'",
    "UPDATE acts SET branch = hash, clock = 'x/-1/99999999999999999999'",
    "UPDATE meta SET value = CAST(zeroblob(300000000) AS TEXT)",
    "UPDATE meta SET value = '9999' WHERE name = 'schema'",
    "UPDATE meta SET value = 1.5",
    "UPDATE meta SET value = '1' WHERE name = 'schema'",
    "UPDATE meta SET value = '2' WHERE name = 'schema'",
    "DELETE FROM meta",
    "UPDATE acts SET seq = seq + 4611686018427387904",
    "INSERT INTO meta SELECT hex(randomblob(9)), zeroblob(99) FROM (" + ENDLESS + " i FROM n LIMIT 100000)",
    "INSERT INTO texts SELECT hex(randomblob(16)), NULL, NULL FROM (" + ENDLESS + " i FROM n LIMIT 200000)",
    "INSERT INTO texts SELECT hex(randomblob(16)), 'x', hex(zeroblob(5000)) FROM ("
    + ENDLESS
    + " i FROM n LIMIT 2000)",
    "".join(f"CREATE TABLE t{number} (a);" for number in range(400)),
    "CREATE TABLE wide (" + ",".join(f"c{number}" for number in range(1_900)) + ")",
    "ANALYZE; INSERT INTO sqlite_stat1 VALUES ('acts', NULL, '" + "9 " * 9_000 + "')",
]


def repaged(r: random.Random, packed: bytes) -> bytes:
    """Return the database with another number in its header, or in the header of a page."""
    changed = bytearray(packed)
    for _ in range(r.choice([1, 1, 3])):
        at = r.choice([16, 18, 19, 20, 28, 32, 36, 40, 44, 48, 52, 56, 60, 92, 100, 101, 103, 105, 107, 108])
        if r.random() < 0.5:
            at = 4096 * r.randrange(1, max(2, len(packed) // 4096)) + r.randrange(200)
        value = r.choice(
            [
                b"\0\0",
                b"\xff\xff",
                b"\0\1",
                b"\0\0\0\2",
                b"\xff\xff\xff\xfe",
                b"\x7f\xff\xff\xff",
                b"\x0d",
                b"\x05",
                b"\x02",
                b"\0\0\0\1",
            ]
        )
        changed[at : at + len(value)] = value
    return bytes(changed)


def journal(r: random.Random, path: Path) -> None:
    """Put a journal beside the file, of which it is not: with huge counts, or leading to another file."""
    pages = r.choice([0, 1, 5, 2**31, 2**32 - 2])
    head = bytes.fromhex("d9d505f920a163d7") + r.choice([b"\xff" * 4, (3).to_bytes(4, "big")]) + b"\0" * 4
    head += (
        pages.to_bytes(4, "big") + (512).to_bytes(4, "big") + r.choice([512, 4096, 65536]).to_bytes(4, "big")
    )
    record = r.choice([1, 2, 2**31, 2**32 - 2]).to_bytes(4, "big") + bytes(4096) + bytes(4)
    name = str(path.with_name("victim")).encode()
    super_journal = (
        (2).to_bytes(4, "big") + name + len(name).to_bytes(4, "big") + sum(name).to_bytes(4, "big") + head[:8]
    )
    beside = path.with_name(path.name + r.choice(["-journal", "-journal", "-wal", "-shm"]))
    beside.write_bytes(head.ljust(512, b"\0") + record * r.choice([0, 1, 9]) + r.choice([b"", super_journal]))


THEMES = {
    "assignments": {"coarse": [0], "similarity": [0.5], "sub": [0], "theme": [0], "unit_id": ["m1"]},
    "base": "",
    "parameters": {"seed": 0},
    "granularities": {
        name: []
        for name in (
            "granularity",
            "n_themes",
            "largest",
            "n_resamples",
            "ari",
            "ari_low",
            "ari_high",
            "ari_chance",
            "beyond_chance",
            "chosen",
        )
    },
    "hierarchy": {"group": [0], "level": ["theme"], "stability": [0.9]},
    "summary": {"dissolved": [0.1], "recovered": [0.7], "stability": [0.9], "theme": [0]},
}


def pool(coder: str) -> list[acts.Act]:
    """Return an act of every kind."""
    named: dict[str, Any] = {"coder": coder, "codebook": CODEBOOK}
    done = acts.apply(unit_id="m1", code="interest", start=0, end=2, **named)
    memo = acts.memo(unit_id="m2", text="hm", **named)
    opening = rounds.open_round("one", units=["m1"], coders=[coder, "cyd"], **named)
    plan = Assignment(units={coder: ("m1",)}, coders=(coder,), overlap=0.5, seed=1).to_text()
    return [
        done,
        memo,
        opening,
        acts.remove(unit_id="m1", code="interest", start=0, end=2, **named),
        acts.finish(unit_id="m1", **named),
        acts.reopen(unit_id="m1", **named),
        acts.undo(done, codebook=CODEBOOK),
        acts.redo(done, codebook=CODEBOOK),
        acts.rule(unit_id="m2", code="care", applied=True, **named),
        rounds.unblind("one", coder=coder, codebook=CODEBOOK),
        replace(opening, kind="assign", round=None, act_id=number_id(2), text=plan),
        acts.propose(
            label="Hope", definition="Looks forward.", unit_id="m1", start=0, end=2, round="one", **named
        ),
        acts.contents.show_suggestions(
            model="words",
            suggestions=[acts.contents.Suggestion(code="interest", start=0, end=2)],
            unit_id="m1",
            round="one",
            **named,
        ),
        acts.contents.reject_suggestion(code="interest", unit_id="m1", round="one", **named),
        acts.quote(
            code="interest",
            unit_id="m1",
            start=0,
            end=2,
            state="approved",
            paraphrase="In other words.",
            **named,
        ),
        replace(
            opening,
            kind="set_options",
            round=None,
            act_id=number_id(3),
            text=json.dumps({"new_codes": "add", "rating": "shown"}),
        ),
        replace(
            opening,
            kind="record_themes",
            round=None,
            act_id=number_id(4),
            text=json.dumps(THEMES, sort_keys=True),
        ),
        replace(
            opening,
            kind="edit_theme",
            round=None,
            act_id=number_id(5),
            text='{"name":"Hope","run":"' + number_id(4) + '","theme":0}',
        ),
        acts.preregister(
            acts.contents.AnalysisPlan(question="Why?", coders=(coder,)), act_id=number_id(6), **named
        ),
        replace(
            opening,
            kind="revise",
            round=None,
            act_id=number_id(1),
            text=json.dumps({"base": CODEBOOK.fingerprint, "why": "so", "changes": []}),
        ),
    ]


def number_id(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-000000000000"


def drafts(r: random.Random, coder: str) -> list[dict[str, Any]]:
    """Return what acts hold, with values that none has, or very many acts that lean on one another."""
    if r.random() < 0.3:
        return leaning(r, coder)
    made = [asdict(act) for act in r.choices(pool(coder), k=r.choice([1, 3, 9]))]
    for number, draft in enumerate(made):
        draft["act_id"] = number_id(number)
    for _ in range(r.choice([1, 1, 3])):
        draft = r.choice(made)
        name = r.choice([*draft, "text", "text", "branch", "clock"])
        text = draft.get("text") or "{}"
        if name == "text" and isinstance(text, str) and text.startswith("{") and r.random() < 0.6:
            with suppress(ValueError, IndexError):
                draft["text"] = r.choice(
                    [
                        broken_json(r, text.encode()).decode(),
                        text.replace("[", "[" * 5_000),
                        '{"units": ' + "9" * 5_000 + "}",
                    ]
                )
            continue
        draft[name] = r.choice(
            [value for value in ODD if not isinstance(value, list | dict)]
            + [words(r), words(r), "9" * 30, "x/1", "9999-12-31T23:59:59.999Z/1"]
        )
    return made


def leaning(r: random.Random, coder: str) -> list[dict[str, Any]]:
    n, of = r.choice([50, 2_000, 20_000]), pool(coder)
    done, memo, opening, undo, revise = (asdict(of[i]) for i in (0, 1, 2, 6, -1))
    ids = [number_id(number) for number in range(n)]
    match r.randrange(6):
        case 0:
            return [
                done | {"act_id": ids[0]},
                *(undo | {"act_id": one, "target": other} for one, other in zip(ids[1:], ids, strict=False)),
            ]
        case 1:
            return [
                memo | {"act_id": one, "memo_id": other}
                for one, other in zip(ids, [None, *ids], strict=False)
            ]
        case 2:
            return [opening | {"act_id": one, "round": f"r{number}"} for number, one in enumerate(ids)]
        case 3:
            said = [
                json.dumps(
                    {
                        "units": [f"u{i}" for i in range(n)],
                        "coders": [f"c{i}" for i in range(n)],
                        "leads": [f"l{i}" for i in range(n)],
                    }
                )
            ]
            return [opening | {"act_id": one, "text": said[0]} for one in ids[:30]]
        case 4:
            prints = [f"{number:032x}" for number in range(n)]
            made = [
                json.dumps({"base": a, "why": "x", "changes": []}) for a in [CODEBOOK.fingerprint, *prints]
            ]
            return [
                revise | {"act_id": one, "text": text, "codebook": name}
                for one, text, name in zip(ids, made, prints, strict=False)
            ]
        case _:
            clocks = [f"2026-01-01T00:00:00.000/{r.randrange(9)}" for _ in ids]
            return [
                done | {"act_id": one, "branch": "0" * 64, "clock": clock, "start": 0, "end": 1}
                for one, clock in zip(ids, clocks, strict=True)
            ]


def forge(path: Path, study_id: str, coder: str, made: list[dict[str, Any]]) -> None:
    """Write acts, whatever they hold, as a chain whose hashes are right."""
    acts_files.create(path, study=study_id, coder=coder)
    last = genesis(study_id, coder)
    with closing(sqlite3.connect(path)) as connection, connection:
        for seq, draft in enumerate(made, start=1):
            fields = {name: value for name, value in draft.items() if value is not None and name != "text"}
            with suppress(sqlite3.Error, TypeError, ValueError, OverflowError):
                if (text := draft.get("text")) is not None:
                    fields["text_hash"] = text_hash("0", text)
                    connection.execute(
                        "INSERT OR IGNORE INTO texts VALUES (?, ?, ?)", (fields["text_hash"], "0", text)
                    )
                row = fields | {"seq": seq, "previous": last, "hash": chained(last, fields)}
                names = ", ".join(f'"{name}"' for name in row)
                connection.execute(
                    f"INSERT INTO acts ({names}) VALUES ({', '.join('?' * len(row))})", [*row.values()]
                )
                last = row["hash"]
