"""The tables of the record, in an acts file and in PostgreSQL, and the SQL for one coder's chained acts.

An acts file is a SQLite database that belongs to one coder of one study. Every act is a row of `acts`;
its `hash` covers its fields and the hash of the row before, and the first row is bound to the study and
the coder. Quotes and memo texts are kept apart in `texts`, under a salted hash: when a participant withdraws,
salt and text are emptied, the chain stays whole, and the hash alone cannot be guessed back to the words.

What the chain shows: a changed, inserted, reordered or missing act, and a file of another study or coder.
What it cannot show: a file put back from an older copy, which is a shorter chain that is right in itself
(`append.Heads` remembers how far each had come; `verify` compares the chains with the copies that
were made of them). `hash_chain` says how links are made.
"""

from __future__ import annotations

import gc
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final, cast

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Dialect,
    Executable,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    insert,
    select,
    update,
)

from sense7_qual.acts import Act
from sense7_qual.errors import Damaged, StoreError
from sense7_qual.store._stored.hash_chain import (
    BOOKKEEPING,
    Link,
    chained,
    genesis,
    links,
    ordered,
    text_hash,
)

SCHEMA: Final = 2
"""The version of the tables and of the study folder that this version of the package writes."""


class _Bytes(TypeDecorator[str]):
    """Text as UTF-8 bytes: PostgreSQL's text cannot hold NUL, which a participant's words may."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:
        return None if value is None else value.encode()

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:
        return None if value is None else bytes(value).decode()


_METADATA: Final = MetaData()

META: Final = Table(
    "meta",
    _METADATA,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

TEXTS: Final = Table(
    "texts",
    _METADATA,
    Column("text_hash", Text, primary_key=True),
    Column("salt", Text),  # salt and text are empty once the text is erased
    Column("text", Text().with_variant(_Bytes(), "postgresql")),
)

ACTS: Final = Table(
    "acts",
    _METADATA,
    Column("seq", Integer, primary_key=True, autoincrement=False),  # counted by `add`, for each coder
    Column("act_id", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("coder", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("codebook", Text, nullable=False),
    Column("unit_id", Text),
    Column("code", Text),
    Column("start", Integer),
    Column("end", Integer),
    Column("facets", Text),
    Column("confidence", Text),
    Column("round", Text),
    Column("applied", Boolean),
    Column("target", Text),
    Column("target_kind", Text),
    Column("memo_id", Text),
    Column("step", Text),
    Column("moved_from", Text),
    Column("found_by", Text),
    Column("answers", Text),
    Column("text_hash", Text, ForeignKey("texts.text_hash")),
    Column("branch", Text),  # of a merged act: the hash that it had in the copy it came from (`hash_chain`)
    Column("clock", Text),  # of a merged act: when it was done, counted along that copy
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
)

NEW_COLUMNS: Final = ("step", "moved_from", "found_by", "answers")
"""What version 1 did not have."""

TOGETHER: Final = 1_000
"""How many acts are inserted at once: many more would take memory and save no time."""

_FIELDS: Final = tuple(column.name for column in ACTS.columns if column.name not in BOOKKEEPING)
_OWN: Final = tuple(name for name in _FIELDS if name not in ("text_hash", "branch", "clock"))
_NOTHING: Final = dict.fromkeys(_FIELDS)


def place(path: Path) -> str:
    """Name an acts file in a message: within its study, without the way there."""
    return f"'{path.parent.name}/{path.name}'"


def damaged(path: Path, problem: str) -> Damaged:
    """Return the error for an acts file that cannot be trusted."""
    return Damaged(
        f"{place(path)}: expected the unbroken acts of one coder – found {problem} – put a good copy of this "
        "file back (from a backup, or from the coder), or save what is sound in it with store.admin.salvage; "
        "other coders' files still open with store.acts(coder=…), and store.verify() names all damaged ones."
    )


def described(connection: Connection, name: str) -> str:
    """Return the entry `name` of a file's table `meta`: "coder" or "study" (empty where there is none).

    Row by row: to find one by an index, SQLite would read the names that it passes, however long.
    """
    query = select(META.c.value).where(META.c.name.concat("") == name)
    return str(connection.execute(query).scalar() or "")


def check(connection: Connection, path: Path, *, study: str, coder: str) -> int:
    """Return the version of the file's tables; raise `StoreError` where it is not this coder's in this study.

    A version later than `SCHEMA` can be read (`read` says how far), and is never written.
    """
    meta: dict[str, str] = {row.name: row.value for row in connection.execute(select(META))}
    if meta.get("study") != study:
        raise Damaged(
            f"{place(path)}: expected an acts file of study {study!r} – found one of study "
            f"{meta.get('study')!r} – move it back to the study folder that it came from."
        )
    if meta.get("coder") != coder:
        raise Damaged(
            f"{place(path)}: expected the acts of coder {coder!r} – found those of coder "
            f"{meta.get('coder')!r} – where {meta.get('coder')}.sqlite is missing, give the file that name; "
            "where both are there, a sync client made a copy: take in what is new in it with "
            "store.copies.merge(the copy's path), then move it out of the study and keep it."
        )
    version = str(meta.get("schema", ""))
    if not re.fullmatch(r"[1-9][0-9]{0,3}", version):
        raise damaged(path, f"tables of version {version[:20]!r}")
    return int(version)


def add(connection: Connection, acts: Sequence[Act], *, study: str, coder: str) -> None:
    """Append `acts` to the coder's chain; the transaction must be one that writes."""
    if not acts:
        return
    begin, previous = last(connection) or (0, genesis(study, coder))
    rows, texts = [], []
    for seq, act in enumerate(acts, start=begin + 1):
        fields = {name: value for name in _OWN if (value := getattr(act, name)) is not None}
        if act.text is not None:
            salt = secrets.token_hex(16)
            fields["text_hash"] = text_hash(salt, act.text)
            texts.append({"text_hash": fields["text_hash"], "salt": salt, "text": act.text})
        link = chained(previous, fields)
        rows.append({**_NOTHING, **fields, "seq": seq, "previous": previous, "hash": link})
        previous = link
    insert_all(connection, TEXTS, texts)
    insert_all(connection, ACTS, rows)


def add_links(
    connection: Connection, links: Iterable[Mapping[str, Any]], texts: Sequence[Mapping[str, Any]]
) -> None:
    """Append links that were made elsewhere (`hash_chain.relinked`), with their new texts."""
    begin, _ = last(connection) or (0, "")
    recorded = set(connection.execute(select(TEXTS.c.text_hash)).scalars())
    insert_all(connection, TEXTS, (each for each in texts if each["text_hash"] not in recorded))
    numbered = enumerate(links, start=begin + 1)
    insert_all(connection, ACTS, ({**_NOTHING, **link, "seq": seq} for seq, link in numbered))


def insert_all(connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert rows, of which only some are in memory at once."""
    rest = iter(rows)
    while some := list(islice(rest, TOGETHER)):
        connection.execute(insert(table), some)


def find(connection: Connection, path: Path, ids: Iterable[str], *, by: str = "act_id") -> dict[str, Act]:
    """Return the recorded acts out of `ids` by act_id, each checked against its own hash; with `by`
    "memo_id" or "step" all acts of these memos or steps."""
    ids = sorted(set(ids))
    acts: dict[str, Act] = {}
    for begin in range(0, len(ids), 500):  # well under SQLite's limit of parameters
        chunk = select(ACTS).where(ACTS.c[by].in_(ids[begin : begin + 500])).order_by(ACTS.c.seq)
        rows = connection.execute(chunk).mappings().all()
        hashes = TEXTS.c.text_hash.in_([row["text_hash"] for row in rows])
        acts |= {
            act.act_id: act for act in checked_singly(connection, path, rows, select(TEXTS).where(hashes))
        }
    return acts


def acts_after(connection: Connection, path: Path, n_read: int) -> list[Act]:
    """Return the acts that follow the first `n_read` of the coder's chain, each checked against its own hash.

    A chain that is shorter, or into which acts of another copy were merged, is refused: other acts may be in
    front then, and all must be read again.
    """
    seq = ACTS.c.seq > n_read
    rows = connection.execute(select(ACTS).where(seq).order_by(ACTS.c.seq)).mappings().all()
    if not rows or any(row["branch"] is not None for row in rows):
        raise StoreError(
            f"{place(path)}: acts of another copy of the study came in since it was opened here. Nothing is "
            "lost: open the study again, and run the cells of its widgets again."
        )
    hashes = select(ACTS.c.text_hash).where(seq)
    return checked_singly(connection, path, rows, select(TEXTS).where(TEXTS.c.text_hash.in_(hashes)))


def checked_singly(
    connection: Connection, path: Path, rows: Iterable[Mapping[Any, Any]], texts: Executable
) -> list[Act]:
    """Return the acts of `rows` that are no whole chain, each checked against its own hash."""
    words = read_texts(connection, path, texts)
    acts = []
    for row in rows:
        # One link alone: as if the chain began at it.
        names, alone = list(row.keys()), [tuple({**row, "seq": 1}.values())]
        (link,) = links(names, alone, words, first=row["previous"], broken=partial(damaged, path))
        acts.append(cast(Act, link.act))
    return acts


def read(connection: Connection, path: Path, *, study: str, coder: str) -> list[Act]:
    """Return the coder's acts in order, after checking the chain and every text against its hash.

    Of a file that a later version wrote, acts of kinds that this version does not know are left out.
    """
    acts, merged = [], False
    with _uncollected():
        for link in _links(connection, path, study=study, coder=coder):
            merged = merged or link.merged
            if link.act is not None:
                acts.append(link.act)
    if merged:  # rare: then the order needs the whole chain
        chain = ordered(read_chain(connection, path, study=study, coder=coder))
        return [link.act for link in chain if link.act is not None]
    return acts


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the collector of cycles from looking through new acts again and again: they are in none."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def read_chain(connection: Connection, path: Path, *, study: str, coder: str) -> list[Link]:
    """Return the coder's links in the order of the chain, each checked; errors as of `read`."""
    with _uncollected():
        return list(_links(connection, path, study=study, coder=coder))


def _links(connection: Connection, path: Path, *, study: str, coder: str) -> Iterator[Link]:
    newer = check(connection, path, study=study, coder=coder) > SCHEMA
    texts = read_texts(connection, path, select(TEXTS))
    # The driver's own rows, with the columns that this file has: a later version has others.
    result = connection.exec_driver_sql("SELECT * FROM acts ORDER BY seq")
    names, rows = list(result.keys()), cast(Iterable[Sequence[Any]], result.cursor)
    if not set(BOOKKEEPING) <= set(names):
        raise damaged(path, "acts without a chain")
    number, place, ids = 0, names.index("act_id") if "act_id" in names else 0, set()
    first = genesis(study, coder)
    for link in links(names, rows, texts, first=first, broken=partial(damaged, path), newer=newer):
        number += 1
        ids.add(link.row[place])
        yield link
    # The count walks another tree of the file (the index), so a page that lost its tail shows.
    counted = connection.exec_driver_sql("SELECT count(*) FROM acts").scalar_one()
    if not counted == number == len(ids):
        raise damaged(path, f"{number} acts where {counted} different ones are indexed")


def last(connection: Connection) -> tuple[int, str] | None:
    """Return the number and the hash of the coder's last link (None without acts)."""
    row = connection.execute(select(ACTS.c.seq, ACTS.c.hash).order_by(ACTS.c.seq.desc()).limit(1)).first()
    return None if row is None else (row.seq, row.hash)


def read_texts(connection: Connection, path: Path, query: Executable) -> dict[str, str | None]:
    """Return the texts by their hash, each checked; an erased one is None."""
    texts: dict[str, str | None] = {}
    try:
        for recorded_hash, salt, text in connection.execute(query):
            erased = salt is None and text is None
            if not erased and text_hash(salt, text) != recorded_hash:
                raise damaged(path, "a quote or memo that is not the one that was written")
            texts[recorded_hash] = text
    except UnicodeDecodeError:
        raise damaged(path, "a quote or memo that is no text") from None
    return texts


def bring_up_to_date(connection: Connection) -> None:
    """Add the columns of this version to an acts file of version 1, in the transaction that writes to it."""
    if described(connection, "schema") != "1":
        return
    for name in NEW_COLUMNS:
        connection.exec_driver_sql(f"ALTER TABLE acts ADD COLUMN {name} TEXT")
    connection.execute(update(META).where(META.c.name == "schema").values(value=str(SCHEMA)))


def refuse_newer(connection: Connection, path: Path, *, study: str, coder: str) -> None:
    """Raise `StoreError` where an acts file is of a later version, or is not this coder's in this study."""
    version = check(connection, path, study=study, coder=coder)
    if version > SCHEMA:
        raise StoreError(newer(place(path), version))


def newer(what: str, version: int) -> str:
    """Return the sentence about a study or file that a later version wrote."""
    return (
        f"{what}: expected version {SCHEMA} at most – found version {version}, which opens read-only – "
        "update sense7_qual (pip install -U sense7_qual)."
    )
