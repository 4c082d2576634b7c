"""A disk that can lose its power: what a process wrote and synced, and what may be left of it after a cut.

`run` runs a process with `disk.c` between it and the files under a folder. That writes a log of every
change, which `Trace.read` understands and `Trace.after` cuts: at any moment, what was synced is there, and of
what was not any part may be. Harsher than most disks are, and no more than POSIX promises:

- a file's content and length outlive a cut as far as the last fsync of that file;
- a name outlives a cut only if its folder was synced since (an fsync of the file itself does not help);
- of each change after that, all may be there, none, the first few, or any choice of them; of a write only
  some of its sectors of 512 bytes, and in the place of the others what was there, zeros, or rubbish.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

import pytest

from sense7_qual.store._operations.append import Heads
from tests.helpers.places import ROOT

__all__ = [
    "ACKNOWLEDGED",
    "CHANGES",
    "KILLED",
    "KINDS",
    "SECTOR",
    "Image",
    "Trace",
    "library",
    "logged",
    "memory",
    "preloaded",
    "run",
]

SECTOR: Final = 512
ACKNOWLEDGED: Final = "acknowledged"
"""The file in which a traced process says what was acknowledged to it, a line each; it is never cut."""

KINDS: Final = ("OPEN", "WRITE", "TRUNCATE", "SYNC", "LINK", "RENAME", "UNLINK", "MKDIR", "RMDIR")
OPEN, WRITE, TRUNCATE, SYNC, LINK, RENAME, UNLINK, MKDIR, RMDIR = CHANGES = range(1, 10)
"""The kinds of calls, as `disk.c` numbers them (an OPEN counts where it makes a file)."""

Image = Mapping[str, bytes | None]
"""The files (their content) and folders (None) that a disk holds, by their path."""

KILLED: Final = -1
"""The error that kills the process at the chosen call of `disk_fail`."""

_BEFORE: Final = -2  # when what was on the disk at first was written: before the first sync, as of `_last`

_HEAD: Final = struct.Struct("iiqqq")


@cache
def library() -> Path:
    """Build `disk.c`; skip the test where that cannot be done, but where CI is set fail."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if sys.platform != "linux" or compiler is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(
            "tracing writes needs Linux and a C compiler (`make system` installs one)"
        )
    built = Path(mkdtemp(prefix="disk-")) / "disk.so"
    atexit.register(shutil.rmtree, built.parent)
    source = Path(__file__).with_name("disk.c")
    command = [
        compiler,
        "-O2",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-shared",
        "-fPIC",
        "-o",
        built,
        source,
        "-ldl",
    ]
    subprocess.run(command, check=True)
    return built


@contextmanager
def memory() -> Iterator[Path]:
    """Give a folder in memory where there is one: it is the disk between that counts here."""
    shared = "/dev/shm"  # noqa: S108
    folder = Path(mkdtemp(prefix="disk-", dir=shared if os.access(shared, os.W_OK) else None))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def another_computer() -> None:
    """Let the study that is put in the same place next be new here, as on a computer that has not seen it."""
    shutil.rmtree(Path(os.environ["XDG_STATE_HOME"]) / "sense7_qual", ignore_errors=True)
    Heads._MEMORY.clear()


def run(code: str, root: Path, *arguments: object, log: Path | None = None) -> str:
    """Run Python `code` with `disk.c` before its disk, and return what it printed."""
    preload = {"LD_PRELOAD": str(library()), "DISK_ROOT": str(root)} | ({"DISK_LOG": str(log)} if log else {})
    command = [sys.executable, "-W", "ignore", "-c", code, root, *map(str, arguments)]
    done = subprocess.run(
        command,
        env={**os.environ, **preload},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == 0
    return done.stdout


@contextmanager
def preloaded() -> Iterator[None]:
    """Let the processes that are started meanwhile have `disk.c` before their disk, which `logged` uses."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LD_PRELOAD", str(library()))
        yield


@contextmanager
def logged(root: Path, log: Path) -> Iterator[None]:
    """Write into a new log what this process, a preloaded one, does to the files under `root` meanwhile."""
    shim = ctypes.CDLL(None)
    shim.disk_watch(str(root).encode(), str(log).encode())
    try:
        yield
    finally:
        shim.disk_watch(None, None)


@dataclass(slots=True)
class _Folder:
    """A folder: each change of its names as (when, {name: what it leads to, or None}), and its syncs."""

    changes: list[tuple[int, dict[str, _Folder | _File | None]]] = field(default_factory=list)
    syncs: list[int] = field(default_factory=list)

    def now(self) -> dict[str, _Folder | _File]:
        return _names(change for _, change in self.changes)

    def after(self, cut: int, dice: random.Random | None) -> dict[str, _Folder | _File]:
        """Return the names that are there after a cut; `dice` choose, and without them all is there."""
        if dice is None:
            return _names(change for when, change in self.changes if when < cut)
        synced = _last(self.syncs, cut)
        durable = [change for when, change in self.changes if when < synced]
        pending = [change for when, change in self.changes if synced <= when <= cut]
        return _names([*durable, *_part(pending, dice)])


@dataclass(slots=True)
class _File:
    """A file: each write as (when, offset, bytes) or truncation (when, length, None), and its syncs."""

    changes: list[tuple[int, int, bytes | None]] = field(default_factory=list)
    syncs: list[int] = field(default_factory=list)
    contents: dict[int, bytes] = field(default_factory=dict)  # as of each sync

    def after(self, cut: int, dice: random.Random | None) -> bytes:
        """Return the content after a cut; `dice` choose, and without them all is there."""
        synced = _last(self.syncs, cut)
        if synced not in self.contents:
            self.contents[synced] = bytes(_applied(b"", [c for c in self.changes if c[0] < synced]))
        end = cut if dice is None else cut + 1  # the change under way when the power goes may be there too
        pending = [change for change in self.changes if synced <= change[0] < end]
        content = _applied(self.contents[synced], [] if dice else pending)
        return bytes(_torn(content, pending, dice) if dice else content)


def _last(syncs: Sequence[int], cut: int) -> int:
    return max((sync for sync in syncs if sync < cut), default=-1)


def _names(changes: Iterator[dict] | Sequence[dict]) -> dict[str, _Folder | _File]:
    found: dict = {}
    for change in changes:
        found |= change
    return {name: leads_to for name, leads_to in found.items() if leads_to is not None}


def _applied(content: bytes | bytearray, changes: Sequence[tuple[int, int, bytes | None]]) -> bytearray:
    content = bytearray(content)
    for _, at, written in changes:
        end = at if written is None else at + len(written)
        content.extend(bytes(max(0, end - len(content))))
        if written is None:
            del content[at:]
        else:
            content[at:end] = written
    return content


def _part(pending: Sequence, dice: random.Random) -> list:
    """Return what is left of unsynced changes: none, all, the first few, or any of them."""
    match dice.randrange(4):
        case 0:
            return []
        case 1:
            return list(pending)
        case 2:
            return list(pending[: dice.randint(0, len(pending))])
        case _:
            return [change for change in pending if dice.random() < 0.5]


def _torn(content: bytearray, pending: Sequence, dice: random.Random) -> bytearray:
    """Return `content` with what is left of unsynced writes, one of them or all of them torn at sectors."""
    left = _part(pending, dice)
    torn = left if dice.random() < 0.3 else left[-1:]
    for change in left:
        pieces = [change]
        if change in torn and change[2] is not None and dice.random() < 0.8:
            pieces = list(_sectors(*change, dice))
        content = _applied(content, pieces)
    return content


def _sectors(when: int, at: int, written: bytes, dice: random.Random) -> Iterator[tuple[int, int, bytes]]:
    """Yield the sectors of a torn write: the first few, or any of them; perhaps rubbish for the others."""
    ends = sorted({at, *range(at - at % SECTOR + SECTOR, at + len(written), SECTOR), at + len(written)})
    first, rubbish = dice.choice((None, dice.randrange(len(ends)))), dice.random() < 0.2
    for number, (begin, end) in enumerate(pairwise(ends)):
        if number < first if first is not None else dice.random() < 0.5:
            yield when, begin, written[begin - at : end - at]
        elif rubbish:
            yield when, begin, dice.randbytes(end - begin)


@dataclass(frozen=True, slots=True)
class Trace:
    """What a process did to the files under a folder: the changes, and what was acknowledged when."""

    root: _Folder
    n_events: int
    said: Sequence[tuple[int, str]]

    @classmethod
    def read(cls, log: Path, before: Image | None = None) -> Trace:
        """Return what the log of `disk.c` says; `before` it began, this was on the disk, safely."""
        root, opened, said, number = _on_disk(before or {}), {}, [], -1
        for number, (kind, fd, at, first, second) in enumerate(_events(log.read_bytes())):
            if kind in (WRITE, TRUNCATE):
                opened[fd].changes.append((number, at, first if kind == WRITE else None))
            elif kind == SYNC:
                opened[fd].syncs.append(number)
            elif kind == OPEN:
                opened[fd] = _opened(root, number, first.decode(), at)
            else:
                _renamed(root, number, kind, first.decode(), second.decode())
        lines = root.now().get(ACKNOWLEDGED, _File())
        for when, _, written in lines.changes:
            said += [(when, line) for line in written.decode().splitlines()]
        return cls(root, number + 1, said)

    def acknowledged(self, cut: int) -> list[str]:
        """Return what was acknowledged before the event number `cut`."""
        return [line for when, line in self.said if when < cut]

    def after(self, cut: int, dice: random.Random | None) -> Image:
        """Return what is on the disk when the power goes during the event number `cut`.

        Without `dice` nothing is lost: the files as the process saw them before that event.
        """
        return dict(_walked(self.root, "", cut, dice))


def _events(log: bytes) -> Iterator[tuple[int, int, int, bytes, bytes]]:
    place = 0
    while place < len(log):
        kind, fd, at, n, m = _HEAD.unpack_from(log, place)
        begin = place + _HEAD.size
        place = begin + n + m
        yield kind, fd, at, log[begin : begin + n], log[begin + n : place]


def _on_disk(image: Image) -> _Folder:
    """Return the root of a disk on which all of `image` was synced before the first event."""
    root = _Folder()
    for name, content in sorted(image.items()):
        folder, last = _place(root, name)
        there = _Folder() if content is None else _File([(_BEFORE, 0, content)])
        folder.changes.append((_BEFORE, {last: there}))
    return root


def _opened(root: _Folder, number: int, path: str, how: int) -> _Folder | _File:
    if not path:
        return root
    folder, name = _place(root, path)
    if how & 1:
        folder.changes.append((number, {name: _File()}))
    found = folder.now()[name]
    if how == 2:
        found.changes.append((number, 0, None))
    return found


def _renamed(root: _Folder, number: int, kind: int, first: str, second: str) -> None:
    folder, name = _place(root, first)
    if kind == MKDIR:
        folder.changes.append((number, {name: _Folder()}))
    elif kind in (UNLINK, RMDIR):
        folder.changes.append((number, {name: None}))
    else:
        target, new = _place(root, second)
        moved, gone = folder.now()[name], {name: None} if kind == RENAME else {}
        if target is folder:
            folder.changes.append((number, {**gone, new: moved}))
        else:  # two changes on a disk, of which each outlives a cut by itself
            target.changes.append((number, {new: moved}))
            folder.changes.append((number, gone))


def _place(root: _Folder, path: str) -> tuple[_Folder, str]:
    *folders, name = path.split("/")
    for folder in folders:
        root = root.now()[folder]
    return root, name


def _walked(
    folder: _Folder, path: str, cut: int, dice: random.Random | None
) -> Iterator[tuple[str, bytes | None]]:
    for name, found in sorted(folder.after(cut, dice).items()):
        if isinstance(found, _File):
            if path or name != ACKNOWLEDGED:
                yield f"{path}{name}", found.after(cut, dice)
        else:
            yield f"{path}{name}", None
            yield from _walked(found, f"{path}{name}/", cut, dice)
