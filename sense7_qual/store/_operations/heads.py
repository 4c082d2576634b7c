"""How far each coder's acts had come when this computer last saw them, and what is missing of them now.

An acts file that is put back from an older copy, by a sync client say, is a shorter chain that is right in
itself. So this computer remembers, outside of the study, how far each coder's acts had come when it last saw
them (`Heads`); where that act is not there any more, acts were lost, and nothing is read or added until they
are back (`store.copies.merge`) or the loss is accepted (`store.admin.accept_loss`). It remembers withdrawals,
too: a study that is put back from a copy older than one has that participant's words again, and is not opened
until they are removed again (`Store(path, forget_again=True)`).
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import platformdirs
from sqlalchemy import Connection, or_, select

from sense7_qual._atomic import make_folder, write
from sense7_qual._limits import read_file
from sense7_qual.errors import StoreError
from sense7_qual.store._backend import Reads
from sense7_qual.store._files import signed_json
from sense7_qual.store._files.study_notes import Copy
from sense7_qual.store._log import sqlite

__all__ = ["Head", "Heads", "Seen", "lost", "refuse_lost", "refuse_lost_of"]


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

    Kept in a small file of the user's state folder, which no sync client carries with the study; where that
    cannot be written, for as long as this process runs. Nothing is kept of a study without a place.
    """

    __slots__ = ("_file",)

    _MEMORY: Final[dict[Path, dict[str, Any]]] = {}
    _LOCK: Final = threading.Lock()

    def __init__(self, study: str, place: str) -> None:
        name = hashlib.sha256(f"{study}\n{place}".encode()).hexdigest()[:32]
        folder = platformdirs.user_state_path("sense7_qual") / "heads"
        self._file = folder / f"{name}.json" if place else None

    def seen(self) -> Seen:
        """Return what was seen last, in one reading."""
        state = self._state()
        codebook, units = state.get("codebook"), state.get("withdrawn")
        return Seen(
            _heads_of(state),
            codebook if isinstance(codebook, str) else None,
            frozenset(map(str, units)) if isinstance(units, list) else frozenset(),
        )

    def note_withdrawn(self, units: frozenset[str]) -> None:
        """Remember the units of participants who withdrew."""
        if not units <= self.seen().withdrawn:
            self._change(lambda state: {"withdrawn": sorted({*units, *(state.get("withdrawn") or ())})})

    def note_head(self, coder: str, head: tuple[int, str] | None) -> None:
        """Remember how far the coder's acts have come."""

        def later(state: dict[str, Any]) -> dict[str, Any]:
            heads = _heads_of(state)
            known = heads.get(coder)
            # A reader may be slower than a writer: what was seen last is what has most acts.
            if head is None or (known is not None and (known[:2] == head or known.n_acts > head[0])):
                return {}
            return {"coders": {**heads, coder: [*head, signed_json.now()]}}

        self._change(later)

    def note_codebook(self, fingerprint: str) -> None:
        """Remember the current codebook."""
        self._change(lambda state: {} if state.get("codebook") == fingerprint else {"codebook": fingerprint})

    def forget(self, coder: str) -> None:
        """Forget how far the coder's acts had come."""
        self._change(
            lambda state: {"coders": {name: head for name, head in _heads_of(state).items() if name != coder}}
        )

    def clear(self) -> None:
        """Forget all but the withdrawals: a copy of the study is at this place now."""
        self._change(lambda _: {"coders": {}, "codebook": None})

    def _change(self, changed: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        with self._LOCK:
            state = self._state()
            change = changed(state)
            if change:
                self._write(state | change)

    def _state(self) -> dict[str, Any]:
        if self._file is None:
            return {}
        with suppress(OSError, ValueError, RecursionError):
            state = json.loads(read_file(self._file, 1_000_000))
            if isinstance(state, dict):
                return state
        return dict(self._MEMORY.get(self._file, {}))

    def _write(self, state: dict[str, Any]) -> None:
        if self._file is None:
            return
        self._MEMORY[self._file] = state
        with suppress(OSError):
            make_folder(self._file.parent)
            # Written at each act, and no loss where the disk had no time for it: without waiting.
            write(self._file, json.dumps(state).encode(), overwrite=True, sync=False)


def _heads_of(state: Mapping[str, Any]) -> dict[str, Head]:
    with suppress(KeyError, TypeError, ValueError, AttributeError):  # a file that was torn says nothing
        return {coder: Head(*values) for coder, values in state["coders"].items()}
    return {}


def lost(log: Reads, connection: Connection | None, coder: str, head: Head | None) -> str | None:
    """Return what is missing of the coder's acts that were seen here, and who has it; None where nothing is.

    `head` is what was seen before the connection began to read, since it goes on growing while others read.
    The connection is None where the coder has no tables any more.
    """
    if head is None or (connection is not None and _has_link(connection, head.n_acts, head.hash)):
        return None
    n_acts = 0 if connection is None else (sqlite.last(connection) or (0, ""))[0]
    copies: list[Copy] = []
    with suppress(StoreError):  # a damaged note, or one that only the lead may read, hides no loss
        copies = log.notes(Copy)
    having = [copy for copy in copies if copy.at >= head.at or copy.heads.get(coder) == head.hash]
    where = f"the {having[-1].kind} of {having[-1].at} at {having[-1].place!r}" if having else (
        "another copy of the study: a backup, the history of the sync client, the coder's own computer"
    )  # fmt: skip
    return (
        f"the {head.n_acts} acts of {coder!r} that were there on {head.at} – found {n_acts}, without the "
        "last of these: an older copy was put in the place of theirs, or it was deleted – take them in from "
        f"{where}, with store.copies.merge(its path); where they are gone for good: "
        f"store.admin.accept_loss({coder!r})"
    )


def refuse_lost(log: Reads, connection: Connection | None, place: Path, coder: str, seen: Seen) -> None:
    """Raise `StoreError` where acts of the coder that were seen here are not there any more."""
    missing = lost(log, connection, coder, seen.coders.get(coder))
    if missing:
        raise StoreError(f"{sqlite.place(place)}: expected {missing}.")


def refuse_lost_of(log: Reads, coder: str, seen: Seen) -> None:
    """Do what `refuse_lost` does, in a transaction of its own."""
    if coder in seen.coders:
        log.read(coder, lambda connection, place: refuse_lost(log, connection, place, coder, seen))


def _has_link(connection: Connection, seq: int, link: str) -> bool:
    """Return True if an act with the hash `link` is there, as number `seq` or anywhere else."""
    acts = sqlite.ACTS.c
    if connection.execute(select(acts.hash).where(acts.seq == seq)).scalar() == link:
        return True
    moved = select(acts.seq).where(or_(acts.hash == link, acts.branch == link)).limit(1)
    return connection.execute(moved).first() is not None
