"""What all places of a study share: adding acts, and reading them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, select

from sense7_qual._coder_names import spelling
from sense7_qual.acts import Act, check_coder
from sense7_qual.errors import ActError
from sense7_qual.store._backend import Locked, Log, Reads
from sense7_qual.store._files import acts_files, layout
from sense7_qual.store._files.layout import Opened
from sense7_qual.store._log import sqlite, versions
from sense7_qual.store._log.hash_chain import genesis
from sense7_qual.store._operations import check_acts, verify
from sense7_qual.store._operations.heads import Heads, Seen, refuse_lost, refuse_lost_of

__all__ = [
    "Overtaken", "Unread", "append", "check_pseudonym", "lead_acts", "read", "record", "with_true_quotes",
]  # fmt: skip


class Unread(NamedTuple):
    """How many of the coder's acts the caller has read, and what is called with those recorded since."""

    n_read: int
    meet: Callable[[list[Act]], object]


class Overtaken(Exception):
    """A participant withdrew since the study was read: read it again, and judge the acts by it."""


def append(log: Log, batch: Sequence[Act], known: Opened, seen: Seen, unread: Unread | None = None) -> int:
    """Add the new acts of `batch`, which are one coder's and settled; return how many there were.

    `seen` is what this computer saw last, before anything was read. `unread` is called first where acts were
    recorded since, in the same transaction.
    """
    layout.refuse_newer(Path(log.place.name), known.study)
    coder = batch[0].coder

    def at_first() -> None:
        """Refuse before a file is made."""
        check_pseudonym(coder, log.coders())
        refuse_lost_of(log, coder, seen)
        acts_files.refuse_device(coder)
        check_acts.new_acts(batch, {})
        _refuse_overtaken(known, log.current().withdrawn_units)

    def work(at: Locked) -> tuple[int, tuple[int, str] | None]:
        _refuse_overtaken(known, at.withdrawn_units)  # nobody can be forgotten while this is locked
        n_new = record(
            at, batch, known=known, unread=unread,
            refuse_lost=lambda: refuse_lost(log, at.connection, at.place, coder, seen),
        )  # fmt: skip
        return n_new, sqlite.last(at.connection)

    in_rounds = any(act.round is not None for act in batch)
    n_new, head = log.write(coder, work, study=known.study.id, at_first=at_first, in_rounds=in_rounds)
    Heads(known.study.id, log.place.remembered).note_head(coder, head)
    return n_new


def _refuse_overtaken(known: Opened, withdrawn: frozenset[str]) -> None:
    if withdrawn != known.withdrawn_units:  # fewer: an older copy of the study was put in its place
        raise Overtaken


def record(
    at: Locked,
    batch: Sequence[Act],
    *,
    known: Opened,
    refuse_lost: Callable[[], object],
    unread: Unread | None = None,
) -> int:
    """Add the new acts of `batch`, which are one coder's, to the coder's chain; return how many there were.

    `batch` is as `check_acts.settled` returns it. `refuse_lost` raises where acts of the coder were lost;
    `unread` is called first where acts were recorded since. Where one act cannot be added beside what is
    recorded, nothing of the batch is.
    """
    coder, study, (connection, place) = batch[0].coder, known.study.id, at[:2]
    versions.refuse_newer(connection, place, study=study, coder=coder)
    n_acts = _check_end(connection, place, study=study, coder=coder)
    refuse_lost()
    if unread is not None and unread.n_read != n_acts:
        unread.meet(with_true_quotes(sqlite.behind(connection, place, unread.n_read), place, known))
    named = {act.act_id for act in batch} | {act.target for act in batch if act.target}
    new = check_acts.new_acts(batch, sqlite.find(connection, place, named))
    check_acts.refuse_outside(new, at.rounds)
    memos = {act.memo_id for act in new if act.memo_id is not None}
    check_acts.refuse_shared_otherwise(new, sqlite.find(connection, place, memos, by="memo_id").values())
    sqlite.add(connection, new, study=study, coder=coder)
    return len(new)


def read(log: Reads, coder: str | None, known: Opened) -> list[Act]:
    """Return the acts of a coder, or of all, that may be seen here, each checked."""
    heads = Heads(known.study.id, log.place.remembered)
    seen, whole_chains = heads.seen(), set()
    if coder is not None:
        coder = check_pseudonym(coder, log.coders())

    def whole(connection: Connection, place: Path, of: str) -> None:
        refuse_lost(log, connection, place, of, seen)
        heads.note_head(of, sqlite.last(connection))
        whole_chains.add(of)

    acts = log.acts(coder, known, whole)
    for one in seen.coders.keys() - whole_chains:  # last: a file under another name is named as such
        if coder in (None, one):
            refuse_lost_of(log, one, seen)
    return acts


def lead_acts(log: Reads, known: Opened, subject: str = "work") -> list[Act]:
    """Return what leads did for the team, about one subject, each act checked by itself.

    Where there are none, every coder's acts must be there and readable: what is damaged may have held them.
    """
    acts, seen = log.lead_acts(known, subject), Heads(known.study.id, log.place.remembered).seen()
    for coder in {act.coder for act in acts} or seen.coders:
        refuse_lost_of(log, coder, seen)  # an older copy of a lead's acts would give an older plan
    return acts


def _check_end(connection: Connection, path: Path, *, study: str, coder: str) -> int:
    """Return how many acts the coder has.

    Raise `StoreError` where the last one is not what was written or follows no other.

    No act may be acknowledged behind it: it would stand in a chain that cannot be read.
    """
    rows = (
        connection.execute(select(sqlite.ACTS).order_by(sqlite.ACTS.c.seq.desc()).limit(2)).mappings().all()
    )
    if not rows:
        return 0
    text = select(sqlite.TEXTS).where(sqlite.TEXTS.c.text_hash == rows[0]["text_hash"])
    sqlite.loose(connection, path, rows[:1], text)
    before = (rows[1]["seq"], rows[1]["hash"]) if len(rows) > 1 else (0, genesis(study, coder))
    if (rows[0]["seq"] - 1, rows[0]["previous"]) != before:
        raise sqlite.damaged(path, "a break in the chain before its last act")
    return int(rows[0]["seq"])


def with_true_quotes(acts: list[Act], place: Path, opened: Opened) -> list[Act]:
    """Return the acts, after checking each quote against its unit's text.

    The words of participants who withdrew are not given out, should any be left.
    """
    for number, act in enumerate(acts):
        if act.text is None:
            continue
        if act.unit_id in opened.withdrawn_units:
            acts[number] = replace(act, text="" if act.traits.text == "written" else None)
        elif verify.misquoted(act, opened.texts):
            raise sqlite.damaged(place, f"another quote than unit {act.unit_id!r} has")
    return acts


def check_pseudonym(coder: str, coders: Iterable[str]) -> str:
    """Return the pseudonym `coder`, or raise `ActError` where it cannot be one beside those of `coders`."""
    coder = check_coder(coder)
    # On many disks Ana.sqlite and ana.sqlite are one file, and studies move between disks.
    known = list(coders)
    same = [name for name in known if spelling(name) == spelling(coder) and name != coder]
    if same and coder in known:
        raise ActError(
            f"coder: expected one spelling of a pseudonym – found acts of both {coder!r} and {same[0]!r}, "
            "whose files are one file on many disks – decide which counts, move the other file out of acts/ "
            "and keep it: the hashes of its acts cover the spelling, so that no merge can take them in."
        )
    if same:
        raise ActError(
            f"coder: expected the pseudonym as it is recorded – found {coder!r} beside {same[0]!r} – "
            f"use {same[0]!r}, or a pseudonym that differs in more than case or letters that look the same."
        )
    return coder
