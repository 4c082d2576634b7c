"""A study in which others repeat what a participant said, and the search for it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import psycopg

from sense7_qual import acts
from sense7_qual.acts import Act
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store
from sense7_qual.store._postgres import server

CODEBOOK = Codebook(name="small", codes=(Code(id="interest", label="Interest"),))


WORDS = "My sister Quokka left on Tuesday"


UNITS = pd.DataFrame(
    {
        "unit_id": ["m1", "m2", "m3"],
        "text": [f"{WORDS} and I wept.", "Fine, thanks.", "Another one's words."],
        "document_id": ["d1", "d2", "d3"],
        "case_id": ["p1", "p2", "p3"],
        "position": [0, 0, 0],
    }
)


def repeating(coder: str, **about: str) -> Act:
    """A memo on something else that repeats the words of p1."""
    about = about or {"target_kind": "study"}
    return acts.memo(coder=coder, text=f"as in: '{WORDS}'", codebook=CODEBOOK, **about)


def has_words(content: bytes) -> bool:
    return WORDS.encode() in content or WORDS.encode("utf-16-le") in content


def contents(store: Store) -> dict[str, bytes]:
    """Every byte of a study folder by file, or every value of a study's tables in PostgreSQL by table."""
    if isinstance(store.path, Path):
        return {file.name: file.read_bytes() for file in store.path.rglob("*") if file.is_file()}
    found = {}
    named, name = store.path.partition("&study=")[0], server.connect(store.path).name
    tables = "SELECT format('%%I.%%I', schemaname, tablename) FROM pg_tables WHERE schemaname SIMILAR TO %s"
    with psycopg.connect(named) as admin:
        for (table,) in admin.execute(tables, (f"{name}(-%)?",)).fetchall():
            rows = admin.execute(f"SELECT * FROM {table}").fetchall()
            values = (value for row in rows for value in row)
            found[table] = b"\n".join(v if isinstance(v, bytes) else str(v).encode() for v in values)
    assert len(found) > 10
    return found
