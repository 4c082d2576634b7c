"""Adding acts and reading them, at every place of a study, and noticing which are lost.

An acts file that is put back from an older copy, by a sync client say, is a shorter chain that is right in
itself. So this computer remembers, outside the study, how far each coder's acts had come when it last saw
them (`Heads`). If that act is missing, acts were lost, and nothing is read or added until they are back
(`store.copies.merge`) or the loss is accepted (`store.admin.accept_loss`). It remembers withdrawals, too, by
the study and not by its place: a copy older than one, wherever it is put, has that participant's words again,
and is not opened until they are removed again (`Store(path, forget_again=True)`).
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import platformdirs
from sqlalchemy import Connection, or_, select

from sense7_qual._atomic import make_folder, write
from sense7_qual._limits import read_file
from sense7_qual.acts import Act
from sense7_qual.errors import StoreError
from sense7_qual.store._backend import Locked, Log, Reads
from sense7_qual.store._operations import verify
from sense7_qual.store._operations.gate import InRounds, Recorded, admitted
from sense7_qual.store._stored import acts_files, acts_tables, layout, whole_files
from sense7_qual.store._stored.acts_files import check_pseudonym
from sense7_qual.store._stored.hash_chain import genesis
from sense7_qual.store._stored.layout import StudyData
from sense7_qual.store._stored.study_notes import Copy

Last: TypeAlias = tuple[int, str] | None
"""The number and the hash of a coder's last act, None where there is none."""


class ReadSoFar(NamedTuple):
    """How many of a coder's acts the caller has read, and what is called with those recorded since."""

    n_read: int
    show: Callable[[list[Act]], object]


class Overtaken(Exception):
    """A participant withdrew since the study was read: read it again, and judge the acts by it."""


def append(
    log: Log, batch: Sequence[Act], known: StudyData, seen: Seen, unread: ReadSoFar | None = None
) -> int:
    """Add the new acts of `batch`, which are one coder's and settled; return how many there were.

    `seen` is what this computer saw last, before anything was read. `unread` is called first where acts were
    recorded since, in the same transaction.
    """
    layout.refuse_newer(Path(log.place.name), known.study)
    write = partial(log.write, in_rounds=any(act.round is not None for act in batch))
    n_new, head = append_by(write, log, batch, known, seen, unread)
    Heads(known.study.id, log.place.remembered).note_head(batch[0].coder, head)
    return n_new


def append_by(
    write: Callable[..., tuple[int, Last]],
    log: Log,
    batch: Sequence[Act],
    known: StudyData,
    seen: Seen,
    unread: ReadSoFar | None = None,
) -> tuple[int, Last]:
    """Add the new acts as `append` does, by the `write` of a log or of who has it alone; return the coder's
    last act, too, which is to be remembered once it is committed."""
    coder = batch[0].coder

    def at_first() -> None:
        """Refuse before a file is made."""
        check_pseudonym(coder, log.coders())
        refuse_lost_of(log, coder, seen)
        acts_files.refuse_device(coder)
        admitted(batch, Recorded(), None)
        _refuse_overtaken(known, log.current().withdrawn_units)

    def work(at: Locked) -> tuple[int, Last]:
        _refuse_overtaken(known, at.withdrawn_units)  # nobody can be forgotten while this is locked
        n_new = record(
            at,
            batch,
            known=known,
            unread=unread,
            refuse_lost=lambda: refuse_lost(log, at.connection, at.place, coder, seen),
        )
        return n_new, acts_tables.last(at.connection)

    return write(coder, work, study=known.study.id, at_first=at_first)


def _refuse_overtaken(known: StudyData, withdrawn: frozenset[str]) -> None:
    if withdrawn != known.withdrawn_units:  # fewer: an older copy of the study was put in its place
        raise Overtaken


def record(
    at: Locked,
    batch: Sequence[Act],
    *,
    known: StudyData,
    refuse_lost: Callable[[], object],
    unread: ReadSoFar | None = None,
) -> int:
    """Add the new acts of `batch`, which are one coder's, to the coder's chain; return how many there were.

    `batch` is as `check_acts.checked` returns it. `refuse_lost` raises where acts of the coder were lost;
    `unread` is called first where acts were recorded since. If one act does not fit what is recorded,
    nothing of the batch is added.
    """
    coder, study, (connection, place) = batch[0].coder, known.study.id, at[:2]
    acts_tables.refuse_newer(connection, place, study=study, coder=coder)
    n_acts = _check_end(connection, place, study=study, coder=coder)
    refuse_lost()
    if unread is not None and unread.n_read != n_acts:
        unread.show(with_true_quotes(acts_tables.acts_after(connection, place, unread.n_read), place, known))
    named = {one for act in batch for one in (act.act_id, act.target, act.moved_from) if one}
    found = acts_tables.find(connection, place, named)
    steps = {one for act in batch for one in (act.step, act.target) if one and one not in found}
    found |= acts_tables.find(connection, place, steps, by="step")
    memos = {act.memo_id for act in batch if act.memo_id is not None}
    found |= acts_tables.find(connection, place, memos, by="memo_id")
    recorded = Recorded(found.values())
    new = admitted(batch, recorded, InRounds(at.rounds))
    acts_tables.add(connection, new, study=study, coder=coder)
    return len(new)


def read(log: Reads, coder: str | None, known: StudyData) -> list[Act]:
    """Return the acts of a coder, or of all, that may be seen here, each checked."""
    heads = Heads(known.study.id, log.place.remembered)
    seen, whole_chains = heads.seen(), set()
    if coder is not None:
        coder = check_pseudonym(coder, log.coders())

    def whole(connection: Connection, place: Path, of: str) -> None:
        refuse_lost(log, connection, place, of, seen)
        heads.note_head(of, acts_tables.last(connection))
        whole_chains.add(of)

    acts = log.acts(coder, known, whole)
    for one in seen.coders.keys() - whole_chains:  # last: a file under another name is named as such
        if coder in (None, one):
            refuse_lost_of(log, one, seen)
    return acts


def lead_acts(log: Reads, known: StudyData, subject: str = "work") -> list[Act]:
    """Return the leads' acts for the team about one subject, each checked by itself.

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
        connection.execute(select(acts_tables.ACTS).order_by(acts_tables.ACTS.c.seq.desc()).limit(2))
        .mappings()
        .all()
    )
    if not rows:
        return 0
    text = select(acts_tables.TEXTS).where(acts_tables.TEXTS.c.text_hash == rows[0]["text_hash"])
    acts_tables.checked_singly(connection, path, rows[:1], text)
    before = (rows[1]["seq"], rows[1]["hash"]) if len(rows) > 1 else (0, genesis(study, coder))
    if (rows[0]["seq"] - 1, rows[0]["previous"]) != before:
        raise acts_tables.damaged(path, "a break in the chain before its last act")
    return int(rows[0]["seq"])


def with_true_quotes(acts: list[Act], place: Path, opened: StudyData) -> list[Act]:
    """Return the acts, after checking each quote against its unit's text.

    The words of participants who withdrew are not given out, should any be left; nor are those on units that
    have no text here to check them against.
    """
    for number, act in enumerate(acts):
        if act.text is None:
            continue
        if act.unit_id in opened.without_text:
            acts[number] = replace(act, text="" if act.traits.text == "written" else None)
        elif verify.misquoted(act, opened.texts):
            raise acts_tables.damaged(place, f"another quote than unit {act.unit_id!r} has")
    return acts


class Head(NamedTuple):
    """How far a coder's acts had come: their number, the hash of the last, and when this was seen (UTC)."""

    n_acts: int
    hash: str
    at: str


class Seen(NamedTuple):
    """What this computer saw last: the head of each coder, the codebook that was current (its fingerprint),
    and the units of participants who withdrew."""

    coders: Mapping[str, Head]
    codebook: str | None
    withdrawn: frozenset[str]


class Heads:
    """What this computer saw last of the study at a place.

    Kept in small files of the user's state folder, which no sync client carries with the study; where these
    cannot be written, for as long as this process runs. How far acts had come is kept of a place, and who
    withdrew of the study, wherever its copies lie. Nothing is kept of a study without a place.
    """

    __slots__ = ("_file", "_of_study")

    _MEMORY: Final[dict[Path, dict[str, Any]]] = {}
    _LOCK: Final = threading.Lock()

    def __init__(self, study: str, place: str) -> None:
        self._file = self._named(f"{study}\n{place}") if place else None
        self._of_study = self._named(study) if place else None

    @staticmethod
    def _named(what: str) -> Path:
        name = hashlib.sha256(what.encode()).hexdigest()[:32]
        return platformdirs.user_state_path("sense7_qual") / "heads" / f"{name}.json"

    def seen(self) -> Seen:
        """Return the heads, codebook and withdrawals seen last, in one reading."""
        state = self._state(self._file)
        codebook = state.get("codebook")
        withdrawn = _withdrawn_of(state) | _withdrawn_of(self._state(self._of_study))
        return Seen(_heads_of(state), codebook if isinstance(codebook, str) else None, withdrawn)

    def note_withdrawn(self, units: frozenset[str]) -> None:
        """Remember the units of participants who withdrew, at any place of the study."""
        if not units <= _withdrawn_of(self._state(self._of_study)):
            self._change(
                lambda state: {"withdrawn": sorted(units | _withdrawn_of(state))}, file=self._of_study
            )

    def note_head(self, coder: str, head: tuple[int, str] | None) -> None:
        """Remember how far the coder's acts have come."""

        def later(state: dict[str, Any]) -> dict[str, Any]:
            heads = _heads_of(state)
            known = heads.get(coder)
            # A reader may be slower than a writer: what was seen last is what has most acts.
            if head is None or (known is not None and (known[:2] == head or known.n_acts > head[0])):
                return {}
            return {"coders": {**heads, coder: [*head, whole_files.now()]}}

        self._change(later)

    def note_codebook(self, fingerprint: str) -> None:
        """Remember the current codebook."""
        self._change(lambda state: {} if state.get("codebook") == fingerprint else {"codebook": fingerprint})

    def drop(self, coder: str) -> None:
        """Forget how far the coder's acts had come."""
        self._change(
            lambda state: {"coders": {name: head for name, head in _heads_of(state).items() if name != coder}}
        )

    def clear(self) -> None:
        """Forget all but the withdrawals: a copy of the study is at this place now."""
        self._change(lambda _: {"coders": {}, "codebook": None})

    def _change(
        self, changed: Callable[[dict[str, Any]], dict[str, Any]], *, file: Path | None = None
    ) -> None:
        file = file or self._file
        with self._LOCK:
            state = self._state(file)
            change = changed(state)
            if file is not None and change:
                self._write(file, state | change)

    def _state(self, file: Path | None) -> dict[str, Any]:
        if file is None:
            return {}
        with suppress(OSError, ValueError, RecursionError):
            state = json.loads(read_file(file, 1_000_000))
            if isinstance(state, dict):
                return state
        return dict(self._MEMORY.get(file, {}))

    def _write(self, file: Path, state: dict[str, Any]) -> None:
        self._MEMORY[file] = state
        with suppress(OSError):
            make_folder(file.parent)
            # Written at each act, and no loss where the disk had no time for it: without waiting.
            write(file, json.dumps(state).encode(), overwrite=True, sync=False)


def _withdrawn_of(state: Mapping[str, Any]) -> frozenset[str]:
    units = state.get("withdrawn")
    return frozenset(map(str, units)) if isinstance(units, list) else frozenset()


def _heads_of(state: Mapping[str, Any]) -> dict[str, Head]:
    with suppress(KeyError, TypeError, ValueError, AttributeError):  # a file that was torn says nothing
        return {coder: Head(*values) for coder, values in state["coders"].items()}
    return {}


def lost(log: Reads, connection: Connection | None, coder: str, head: Head | None) -> str | None:
    """Describe which of the coder's acts that were seen here are missing, and who has them; None if none is.

    `head` is what was seen before the connection began to read, since it goes on growing while others read.
    The connection is None where the coder has no tables any more.
    """
    if head is None or (connection is not None and _has_link(connection, head.n_acts, head.hash)):
        return None
    n_acts = 0 if connection is None else (acts_tables.last(connection) or (0, ""))[0]
    copies: list[Copy] = []
    with suppress(StoreError):  # a damaged note, or one that only the lead may read, hides no loss
        copies = log.notes(Copy)
    having = [copy for copy in copies if copy.at >= head.at or copy.heads.get(coder) == head.hash]
    where = (
        f"the {having[-1].kind} of {having[-1].at} at {having[-1].place!r}"
        if having
        else ("another copy of the study: a backup, the history of the sync client, the coder's own computer")
    )
    return (
        f"the {head.n_acts} acts of {coder!r} that were there on {head.at} – found {n_acts}, without the "
        "last of these: an older copy replaced theirs, or it was deleted – take them in from "
        f"{where}, with store.copies.merge(its path); where no copy has them: "
        f"store.admin.accept_loss({coder!r})"
    )


def refuse_lost(log: Reads, connection: Connection | None, place: Path, coder: str, seen: Seen) -> None:
    """Raise `StoreError` where acts of the coder that were seen here are not there any more."""
    missing = lost(log, connection, coder, seen.coders.get(coder))
    if missing:
        raise StoreError(f"{acts_tables.place(place)}: expected {missing}.")


def refuse_lost_of(log: Reads, coder: str, seen: Seen) -> None:
    """Do what `refuse_lost` does, in a transaction of its own."""
    if coder in seen.coders:
        log.read(coder, lambda connection, place: refuse_lost(log, connection, place, coder, seen))


def _has_link(connection: Connection, seq: int, link: str) -> bool:
    """Return True if an act with the hash `link` is there, as number `seq` or anywhere else."""
    acts = acts_tables.ACTS.c
    if connection.execute(select(acts.hash).where(acts.seq == seq)).scalar() == link:
        return True
    moved = select(acts.seq).where(or_(acts.hash == link, acts.branch == link)).limit(1)
    return connection.execute(moved).first() is not None
