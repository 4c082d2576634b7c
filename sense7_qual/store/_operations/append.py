"""What a study folder and a study in PostgreSQL share: adding acts, reading them, noticing and mending loss.

An acts file that is put back from an older copy, by a sync client say, is a shorter chain that is right in
itself. So this computer remembers, outside of the study, how far each coder's acts had come when it last saw
them (`Heads`); where that act is not there any more, acts were lost, and nothing is read or added until they
are back (`Store.merge`) or the loss is accepted (`Store.accept_loss`). It remembers withdrawals, too: a study
that is put back from a copy older than one has that participant's words again, and is not opened until they
are removed again (`Store(path, forget_again=True)`).
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import pandas as pd
import platformdirs
from sqlalchemy import Connection, or_, select

from sense7_qual._atomic import make_folder, move_in, write
from sense7_qual._coder_names import spelling
from sense7_qual._limits import read_file
from sense7_qual.acts import Act, check_coder, memo
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, StoreError
from sense7_qual.rounds import Round
from sense7_qual.store._files import signed_json, study_notes
from sense7_qual.store._files.layout import Opened
from sense7_qual.store._log import leftover_journal, sqlite, versions
from sense7_qual.store._log.hash_chain import Link, clocks, genesis, links, relinked, text_hash
from sense7_qual.store._operations import check_acts, verify

__all__ = [
    "Head", "Heads", "Salvage", "check_pseudonym", "lacking", "loss_memo", "lost", "no_loss", "record",
    "rows_one_by_one", "salvage", "sound_part", "with_true_quotes",
]  # fmt: skip


class Head(NamedTuple):
    """How far a coder's acts had come: their number, the hash of the last, and when this was seen (UTC)."""

    n_acts: int
    hash: str
    at: str


class Heads:
    """How far each coder's acts, and the codebook, of the study at `place` had come when last seen here.

    Kept in a small file of the user's state folder, which no sync client carries with the study; where that
    cannot be written, for as long as this process runs.
    """

    __slots__ = ("_file",)

    _MEMORY: Final[dict[Path, dict[str, Any]]] = {}
    _LOCK: Final = threading.Lock()

    def __init__(self, study: str, place: str) -> None:
        name = hashlib.sha256(f"{study}\n{place}".encode()).hexdigest()[:32]
        self._file = platformdirs.user_state_path("sense7_qual") / "heads" / f"{name}.json"

    @property
    def coders(self) -> dict[str, Head]:
        """The last head of each coder."""
        with suppress(KeyError, TypeError, ValueError, AttributeError):  # a file that was torn says nothing
            return {coder: Head(*values) for coder, values in self._state()["coders"].items()}
        return {}

    @property
    def codebook(self) -> str | None:
        """The fingerprint of the codebook that was current."""
        fingerprint = self._state().get("codebook")
        return fingerprint if isinstance(fingerprint, str) else None

    @property
    def withdrawn(self) -> frozenset[str]:
        """The units of participants who withdrew."""
        units = self._state().get("withdrawn")
        return frozenset(map(str, units)) if isinstance(units, list) else frozenset()

    def note_withdrawn(self, units: frozenset[str]) -> None:
        """Remember the units of participants who withdrew."""
        if not units <= self.withdrawn:
            with self._LOCK:
                self._write(self._state() | {"withdrawn": sorted(units | self.withdrawn)})

    def note_head(self, coder: str, head: tuple[int, str] | None) -> None:
        """Remember how far the coder's acts have come."""
        known = self.coders.get(coder)
        # A reader may be slower than a writer: what was seen last is what has most acts.
        if head is not None and (known is None or (known[:2] != head and known.n_acts <= head[0])):
            self._change(coder, [*head, signed_json.now()])

    def note_codebook(self, fingerprint: str) -> None:
        """Remember the current codebook."""
        if self.codebook != fingerprint:
            self._change(None, fingerprint)

    def forget(self, coder: str) -> None:
        """Forget how far the coder's acts had come."""
        self._change(coder, None)

    def clear(self) -> None:
        """Forget all but the withdrawals: a copy of the study is at this place now."""
        with self._LOCK:
            self._write({name: units for name, units in self._state().items() if name == "withdrawn"})

    def _change(self, coder: str | None, value: Any) -> None:
        with self._LOCK:
            state = self._state()
            if coder is None:
                state["codebook"] = value
            else:
                coders = dict(state.get("coders") or {}) | {coder: value}
                state["coders"] = {name: head for name, head in coders.items() if head is not None}
            self._write(state)

    def _state(self) -> dict[str, Any]:
        with suppress(OSError, ValueError, RecursionError):
            state = json.loads(read_file(self._file, 1_000_000))
            if isinstance(state, dict):
                return state
        return dict(self._MEMORY.get(self._file, {}))

    def _write(self, state: dict[str, Any]) -> None:
        self._MEMORY[self._file] = state
        with suppress(OSError):
            make_folder(self._file.parent)
            # Written at each act, and no loss where the disk had no time for it: without waiting.
            write(self._file, json.dumps(state).encode(), overwrite=True, sync=False)


def lost(
    connection: Connection | None, coder: str, head: Head | None, copies: Sequence[study_notes.Copy]
) -> str | None:
    """Return what is missing of the coder's acts that were seen here, and who has it; None where nothing is.

    `head` is what was seen before the connection began to read, since it goes on growing while others read.
    The connection is None where the coder has no tables any more.
    """
    if head is None or (connection is not None and _has_link(connection, head.n_acts, head.hash)):
        return None
    n_acts = 0 if connection is None else (sqlite.last(connection) or (0, ""))[0]
    having = [copy for copy in copies if copy.at >= head.at or copy.heads.get(coder) == head.hash]
    where = f"the {having[-1].kind} of {having[-1].at} at {having[-1].place!r}" if having else (
        "another copy of the study: a backup, the history of the sync client, the coder's own computer"
    )  # fmt: skip
    return (
        f"the {head.n_acts} acts of {coder!r} that were there on {head.at} – found {n_acts}, without the "
        "last of these: an older copy was put in the place of theirs, or it was deleted – take them in from "
        f"{where}, with store.merge(its path); where they are gone for good: store.accept_loss({coder!r})"
    )


def _has_link(connection: Connection, seq: int, link: str) -> bool:
    """Return True if an act with the hash `link` is there, as number `seq` or anywhere else."""
    acts = sqlite.ACTS.c
    if connection.execute(select(acts.hash).where(acts.seq == seq)).scalar() == link:
        return True
    moved = select(acts.seq).where(or_(acts.hash == link, acts.branch == link)).limit(1)
    return connection.execute(moved).first() is not None


def lacking(finding: verify.Finding, missing: str | None) -> verify.Finding:
    """Return the finding with what `lost` says is missing."""
    problems = [f"lacks {missing}" if missing else "", finding.problem]
    return replace(finding, problem="; ".join(filter(None, problems)))


class Unread(NamedTuple):
    """How many of the coder's acts the caller has read, and what is called with those recorded since."""

    n_read: int
    meet: Callable[[list[Act]], object]


def record(
    connection: Connection,
    place: Path,
    batch: Sequence[Act],
    *,
    known: Opened,
    rounds: Iterable[Round],
    refuse_lost: Callable[[Connection], object],
    unread: Unread | None = None,
) -> int:
    """Add the new acts of `batch`, which are one coder's, to the coder's chain; return how many there were.

    `connection` is in a transaction that writes, `batch` as `check_acts.settled` returns it. `refuse_lost`
    raises where acts of the coder were lost (`lost`); `unread` is called first where acts were recorded
    since. Where one act cannot be added beside what is recorded, nothing of the batch is.
    """
    coder, study = batch[0].coder, known.study.id
    versions.refuse_newer(connection, place, study=study, coder=coder)
    n_acts = _check_end(connection, place, study=study, coder=coder)
    refuse_lost(connection)
    if unread is not None and unread.n_read != n_acts:
        unread.meet(with_true_quotes(sqlite.behind(connection, place, unread.n_read), place, known))
    named = {act.act_id for act in batch} | {act.target for act in batch if act.target}
    new = check_acts.new_acts(batch, sqlite.find(connection, place, named))
    check_acts.refuse_outside(new, rounds)
    memos = {act.memo_id for act in new if act.memo_id is not None}
    check_acts.refuse_shared_otherwise(new, sqlite.find(connection, place, memos, by="memo_id").values())
    sqlite.add(connection, new, study=study, coder=coder)
    return len(new)


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


@dataclass(frozen=True, slots=True, eq=False)
class Salvage:
    """What was saved of the acts of a coder whose file is damaged.

    Attributes
    ----------
    path : Path
        The new acts file.
    n_acts : int
        How many acts are in it: all that are, by their own hash, what was written.
    lost : DataFrame
        One row per act that is not: seq (its number in the damaged file), act_id and unit_id (missing where
        they cannot be read; they may be what was damaged), problem.
    """

    path: Path
    n_acts: int
    lost: pd.DataFrame

    def __repr__(self) -> str:
        return f"Salvage({self.n_acts} acts saved, {len(self.lost)} lost)"


def salvage(
    rows: Iterable[tuple[int, Mapping[str, Any] | None]],
    texts: Iterable[Mapping[str, Any]],
    built: Path,
    target: Path,
    *,
    study: str,
    coder: str,
    withdrawn: Sequence[study_notes.Withdrawal],
) -> Salvage:
    """Write the sound acts of a coder, in their order, into the new acts file `target`, by way of `built`.

    `rows` are those of the table `acts` with their numbers, None for one that cannot be read, and `texts`
    those of the table `texts` that can be. Words of those `withdrawn` do not go into the new file.

    Behind the first gap each act keeps the hash and the clock that it had, as one that was merged does, so
    that merging with a copy that has them all is possible still.
    """
    whole, sound, lost = sound_part(rows, texts, coder)
    if not whole:
        raise StoreError(
            f"salvage: expected acts of {coder!r} that are what was written – found none – the file holds "
            "nothing to save; take their acts in from another copy, with store.merge."
        )
    units = {unit_id for each in withdrawn for unit_id in each.unit_ids}
    emptied = {memo for each in withdrawn for memo in each.memos}
    used = {}
    for link in whole:
        name, unit_id = link.fields.get("text_hash"), link.fields.get("unit_id")
        if name is not None:
            is_withdrawn = unit_id in units or name in emptied
            used[name] = {**sound[name], **({"salt": None, "text": None} if is_withdrawn else {})}
    sqlite.create(built, study=study, coder=coder)
    with sqlite.transaction(built, writes=True) as connection:
        again = relinked(whole, list(clocks(whole)), last=genesis(study, coder))
        sqlite.add_links(connection, again, list(used.values()))
    move_in(built, target)
    return Salvage(target, len(whole), lost)


def sound_part(
    rows: Iterable[tuple[int, Mapping[str, Any] | None]], texts: Iterable[Mapping[str, Any]], coder: str
) -> tuple[list[Link], dict[str, Mapping[str, Any]], pd.DataFrame]:
    """Return the links of `rows` that are what was written, the sound texts by hash, and what is lost.

    `rows` and `texts` are as of `salvage`; the frame of what is lost is `Salvage.lost`.
    """
    sound = {str(each["text_hash"]): each for each in texts if _is_whole(each)}
    words = {name: each["text"] for name, each in sound.items()}
    chain: dict[str, Link] = {}
    lost: list[tuple[int, object, object, str]] = []
    for seq, row in rows:
        link = None if row is None else _sound_link(row, words, coder)
        if link is not None and link.fields["act_id"] not in chain:
            chain[link.fields["act_id"]] = link
        else:
            problem = "cannot be read" if row is None else "is not what was written"
            lost.append((seq, row and row.get("act_id"), row and row.get("unit_id"), problem))
    return list(chain.values()), sound, pd.DataFrame(lost, columns=list(LOST)).astype(LOST)


def rows_one_by_one(path: Path, table: str, key: str) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Yield the rows of a table of a damaged file with their numbers, None for one that SQLite cannot read.

    Behind the last row that can be read, none is told of. Nothing is written, and a journal that lies beside
    the file is left alone.
    """
    unheld = "&immutable=1" if path.with_name(f"{path.name}-journal").exists() else ""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro{unheld}", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        leftover_journal.limit_values(connection)
        try:
            sqlite.refuse_computed(connection.execute, path)
            connection.execute(f"SELECT 1 FROM {table} LIMIT 0")
        except (sqlite3.Error, UnicodeDecodeError):
            raise sqlite.damaged(path, "nothing that can be read") from None
        try:
            most = connection.execute(f"SELECT max({key}) FROM {table}").fetchone()[0] or 0
        except (sqlite3.Error, UnicodeDecodeError):
            most = path.stat().st_size // _SMALLEST_ROW
        most = min(most, path.stat().st_size // _SMALLEST_ROW)  # a damaged number may be any
        unread: list[int] = []
        for number in range(1, most + 1):
            try:
                row = connection.execute(f"SELECT * FROM {table} WHERE {key} = ?", (number,)).fetchone()
            except (sqlite3.Error, UnicodeDecodeError):
                row = None
            if row is None:
                unread.append(number)
                continue
            yield from ((missing, None) for missing in unread)
            unread = []
            yield number, dict(row)


def loss_memo(lost: pd.DataFrame, coder: str, *, by: str | None, why: str, codebook: Codebook) -> Act:
    """Return the memo of `by` on the study that says which rows of `coder` were taken out, and why."""
    if by is None:
        raise ActError(
            f"accept_loss: expected who says in the record that rows of {coder!r} leave it – found nobody, "
            f"and {len(lost)} rows that are not what was written – pass by=, your pseudonym."
        )
    rows = lost["seq"][lost["seq"] > 0].tolist()
    numbered = f" (rows {', '.join(map(str, rows))})" if rows else ""
    text = (
        f"Taken out of the acts of {coder}, as not what was written: {len(rows)} acts{numbered}, "
        f"{len(lost) - len(rows)} texts. {why}"
    )
    return memo(coder=by, text=text.strip(), target_kind="study", codebook=codebook)


def no_loss() -> pd.DataFrame:
    """Return the frame of what is lost, without a row."""
    return pd.DataFrame(columns=list(LOST)).astype(LOST)


LOST: Final = {"seq": "int64", "act_id": "string", "unit_id": "string", "problem": "string"}

_SMALLEST_ROW: Final = 64  # bytes: no act takes fewer, so a file of n bytes has at most n / 64


def _is_whole(text: Mapping[str, Any]) -> bool:
    if not {"text_hash", "salt", "text"} <= text.keys():
        return False
    erased = text["salt"] is None and text["text"] is None
    return erased or text_hash(text["salt"], text["text"]) == text["text_hash"]


def _sound_link(row: Mapping[str, Any], words: Mapping[str, str | None], coder: str) -> Link | None:
    """Return the act of a row as its link where its own hash says that it is what was written."""
    try:
        names, alone = list(row), [tuple({**row, "seq": 1}.values())]
        (link,) = links(names, alone, words, first=row["previous"], broken=StoreError, newer=True)
    except (StoreError, KeyError, TypeError, ValueError):
        return None
    return link if link.fields["coder"] == coder else None
