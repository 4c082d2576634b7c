"""What leads did for the team in a study folder: read once, then only what files have more."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, select

from sense7_qual.acts import Act, kinds_where
from sense7_qual.errors import StoreError
from sense7_qual.rounds import Round, opened
from sense7_qual.store._log import sqlite
from sense7_qual.store._operations.contents import has_readable_change

__all__ = ["Openings"]


class Openings:
    """What leads did for the team, of every acts file of a folder, as far as each was read."""

    __slots__ = ("_by_file",)

    def __init__(self) -> None:
        self._by_file: dict[Path, _FileActs] = {}

    def acts(self, files: Iterable[Path]) -> list[Act]:
        """Return these acts of `files`.

        A file that cannot be read has none, and an act that does not say its round or plan is left out: what
        is damaged in one coder's file must not keep another from working. `Store.verify` reports it.
        """
        return self.read(files)[0]

    def read(self, files: Iterable[Path]) -> tuple[list[Act], list[StoreError]]:
        """Return what `acts` does, and what kept files from being read."""
        acts: list[Act] = []
        failed: list[StoreError] = []
        for file in files:
            try:
                acts += self._by_file.setdefault(file, _FileActs()).acts_of(file)
            except StoreError as error:
                failed.append(error)
        return acts, failed

    def rounds(self, files: Iterable[Path]) -> tuple[Round, ...]:
        """Return the rounds that stand after the acts of `files`."""
        return opened(self.acts(files))


class _FileActs:
    __slots__ = ("_acts", "_last", "_state")

    def __init__(self) -> None:
        self._state: tuple[object, ...] = ()
        self._last = (0, "")
        self._acts: tuple[Act, ...] = ()

    def acts_of(self, file: Path) -> tuple[Act, ...]:
        state = _state(file)
        if not state or state != self._state:
            with sqlite.transaction(file) as connection:
                self._go_on(connection, file)
            self._state = state
        return self._acts

    def _go_on(self, connection: Connection, file: Path) -> None:
        acts, texts = sqlite.ACTS, sqlite.TEXTS
        seq, link = self._last
        same = connection.execute(select(acts.c.hash).where(acts.c.seq == seq)).scalar() == link
        before, after = (self._acts, seq) if same else ((), 0)
        query = select(acts).where(acts.c.seq > after, acts.c.kind.in_(_KINDS))
        rows = connection.execute(query.order_by(acts.c.seq)).mappings().all()
        their_texts = select(texts).where(texts.c.text_hash.in_([row["text_hash"] for row in rows]))
        new = sqlite.loose(connection, file, rows, their_texts)
        self._acts = (*before, *(act for act in new if has_readable_change(act)))
        self._last = sqlite.last(connection) or (0, "")


def _state(file: Path) -> tuple[object, ...]:
    """Return what differs after every transaction that changed the file, as the file system tells it.

    The file itself is not opened: closing it would end the locks that another thread holds on it. A change so
    short ago that the next one may bear the same time counts as unknown.
    """
    try:
        status = file.stat()
    except OSError:
        return ()
    fresh = abs(time.time_ns() - status.st_mtime_ns) < _TICK
    return () if fresh else (status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_size)


_KINDS: Final = kinds_where(lambda kind: kind.by == "team")

_TICK: Final = 2_000_000_000
"""Nanoseconds: the coarsest clock of a file system that is in use (FAT)."""
