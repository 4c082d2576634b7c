"""A study folder that one process changes alone: by its lock, file by file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
from sqlalchemy import Connection

from sense7_qual.codebook import Codebook
from sense7_qual.errors import Damaged, StoreError
from sense7_qual.store._backend import Locked, Log
from sense7_qual.store._folder.verify import strangers
from sense7_qual.store._stored import acts_files, acts_tables, drafts, layout, study_notes, whole_files
from sense7_qual.store._stored.acts_files import rows_one_by_one
from sense7_qual.store._stored.hash_chain import Link
from sense7_qual.store._stored.repeated_passages import Remaining, Words
from sense7_qual.store._stored.study_notes import Copy, Withdrawal

_T = TypeVar("_T")
_Note = TypeVar("_Note", Withdrawal, Copy)


class FolderAlone:
    """The study folder `path` while its lock is held; its methods are as `Alone` says."""

    __slots__ = ("_folder", "_n_erased", "_study", "path")

    def __init__(self, folder: Log, path: Path) -> None:
        self._folder, self.path, self._study, self._n_erased = folder, path, layout.read(path), 0

    def notes(self, kind: type[_Note]) -> list[_Note]:
        """Return the notes of a kind, oldest first."""
        return study_notes.notes(self.path, kind)

    def add_note(self, note: Withdrawal) -> None:
        """Add a note."""
        layout.note(self.path, note)

    def units(self) -> pd.DataFrame:
        """Return all units that are still stored."""
        return layout.stored_units(self.path, self._study)

    def put_units(self, table: bytes) -> None:
        """Replace the units by these."""
        layout.replace_units(self.path, table)

    def current(self) -> str:
        """Return the fingerprint of the current codebook."""
        return self._study.codebook

    def add_codebook(self, codebook: Codebook) -> None:
        """Add a version of the codebook, where it is not there."""
        layout.add_codebook(self.path, codebook)

    def make_current(self, codebook: Codebook) -> None:
        """Name a version of the codebook as the current one."""
        layout.rewrite(self.path, replace(self._study, codebook=codebook.fingerprint))

    def write(
        self, coder: str, work: Callable[[Locked], _T], *, study: str, at_first: Callable[[], object]
    ) -> _T:
        """Run `work` and return its result, in one transaction on the coder's file."""
        return self._folder.write(coder, work, study=study, at_first=at_first)

    def codebooks(self) -> Mapping[str, bytes]:
        """Return the versions of the codebook, but for files that are too large or unreadable."""
        contents = {}
        for file in self._codebook_files():
            with suppress(OSError):
                contents[file.stem] = study_notes.read_bytes(file)
        return contents

    def _codebook_files(self) -> list[Path]:
        return sorted((self.path / "codebooks").glob("*.yaml"))

    def places(self) -> Sequence[Path]:
        """Return the acts files, also second copies of a sync client."""
        return acts_files.acts_files(self.path)

    def named(self, place: Path) -> str:
        """Return the name of a file in the study."""
        return place.relative_to(self.path).as_posix()

    def chain(self, place: Path) -> list[Link]:
        """Return the acts of a file."""
        with acts_files.transaction(place) as connection:
            return self._chain(connection, place)

    def _chain(self, connection: Connection, file: Path) -> list[Link]:
        coder = acts_files.owner(connection) or acts_files.coder_of(file)
        return acts_tables.read_chain(connection, file, study=self._study.id, coder=coder)

    def damaged_texts(self, place: Path) -> Iterable[tuple[str, object, Mapping[str, object]]]:
        """Return the readable texts of a damaged file."""
        with suppress(Damaged):
            acts = {row["text_hash"]: row for _, row in rows_one_by_one(place, "acts", "seq") if row}
            texts = [row for _, row in rows_one_by_one(place, "texts", "rowid") if row]
            return [(row["text_hash"], row["text"], acts.get(row["text_hash"], {})) for row in texts]
        return []  # nothing in it can be read

    def erasing(self, place: Path, work: Callable[[Connection, list[Link] | None], _T]) -> _T | None:
        """Run `work`, return its result, and write the file again.

        Where the chain is broken, it is done if SQLite finds the tables sound. Where it does not, the file is
        never written to, which could cost others' acts (`Store.admin.salvage` saves these).
        """
        done: list[_T] = []
        with suppress(Damaged), acts_files.transaction(place, writes=True) as connection:
            done.append(work(connection, self._chain(connection, place)))
        if done:
            acts_files.write_anew(place)
            return done[0]
        with suppress(Damaged):  # only here, where nothing of the failed reading holds the file any more
            with acts_files.transaction(place, writes=True) as connection:
                same = acts_tables.described(connection, "study") == self._study.id
                if same and acts_files.has_sound_tables(connection):
                    done.append(work(connection, None))
            if done and self._n_erased:
                acts_files.write_anew(place)
        return done[0] if done else None

    def erase(self, connection: Connection, unit_ids: Collection[str], hashes: Collection[str]) -> int:
        """Erase the texts on these units and those of these hashes."""
        self._n_erased = acts_files.erase(connection, unit_ids, hashes)
        return self._n_erased

    def elsewhere(self, words: Words) -> Iterator[Remaining]:
        """Take their words out of drafts; yield what may still have some, and files that are none of it."""
        readable = self.codebooks().keys()
        for file in self._codebook_files():
            if file.stem not in readable:  # somebody has to look
                yield "codebook", f"codebooks/{file.name}", None
        for home in (self.path, whole_files.here()):
            yield from whole_files.unfinished(home)
        for file in strangers(self.path):
            yield "file", file.relative_to(self.path).as_posix(), None
        yield from _in_drafts(self.path, words)


def _in_drafts(path: Path, words: Words) -> Iterator[Remaining]:
    """Take their words out of what is begun and not saved; yield the drafts that may still have some."""
    for file in drafts.draft_files(path):
        work, _, coder = file.stem.partition("-")
        try:
            draft = drafts.read(path, work, coder)
        except StoreError:  # a draft that cannot be read is of no use to anybody
            draft = {}
        left = _without(draft, words)
        if left != draft or not left:
            with layout.refusing(path):
                drafts.keep(path, work, coder, left or None)
        if any(words.repeated.passages.in_text(text) for text in drafts.strings(left)):
            yield "draft to judge", file.relative_to(path).as_posix(), None


def _without(value: Any, words: Words) -> Any:
    """Return what is begun without entries on their units and what surely repeats a passage of theirs."""
    if isinstance(value, Mapping):
        return {
            _without_passages(str(name), words): _without(one, words)
            for name, one in value.items()
            if not _is_on_theirs(one, words)
        }
    if isinstance(value, list | tuple):
        rest = (one for one in value if not _is_on_theirs(one, words))
        return [one for one in (_without(each, words) for each in rest) if one != ""]
    return _without_passages(value, words) if isinstance(value, str) else value


def _without_passages(text: str, words: Words) -> str:
    return "" if words.repeated_in(text) else text


def _is_on_theirs(value: Any, words: Words) -> bool:
    return isinstance(value, Mapping) and value.get("unit_id") in words.withdrawn_units
