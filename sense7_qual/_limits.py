"""How much a file may hold before it is refused, so that a hostile or mistaken one cannot fill the memory."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass, fields
from pathlib import Path
from typing import BinaryIO

from sense7_qual.errors import ImportRefused, TableError

# Small files may unpack to this much whatever their ratio: an honest sheet of repeated cells packs very well.
_FREE_BYTES = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that one file may hold; raise a number if you know and trust the file.

    Parameters
    ----------
    file_bytes
        Bytes of the file itself.
    unpacked_bytes
        Bytes to which a workbook or a Parquet file unpacks, and bytes of all its texts together.
    expansion
        The ratio to its own size to which a workbook or a Parquet file may unpack. Up to 10 MB are always
        accepted.
    members
        Files inside a workbook.
    elements
        XML elements of one part of a workbook other than rows, cells or shared strings (styles, links,
        conditional formats).
    depth
        Levels of nesting, in the XML of a workbook, in JSON and in lists.
    rows, columns, cells
        Rows of the table; columns; rows × columns of it (of a Parquet file, the items of lists too).
    cell_characters
        Code points of one cell. A cell of a CSV or TSV file may have `csv.field_size_limit()` at most.

    Raises
    ------
    TableError
        A limit is not a whole number above 0.

    Examples
    --------
    >>> Limits(rows=5_000_000).rows, Limits().rows
    (5000000, 1048576)
    """

    file_bytes: int = 100_000_000
    unpacked_bytes: int = 500_000_000
    expansion: int = 100
    members: int = 2_000
    elements: int = 300_000
    depth: int = 64
    rows: int = 1_048_576
    columns: int = 16_384
    cells: int = 5_000_000
    cell_characters: int = 1_000_000

    def __post_init__(self) -> None:
        """Refuse what is no limit."""
        for setting in fields(self):
            value = getattr(self, setting.name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise TableError(
                    f"Limits: expected a whole number above 0 for {setting.name} – found "
                    f"{type(value).__name__ if not isinstance(value, int) else value} – change it."
                )

    def unpacked(self, packed: int) -> int:
        """Return the number of bytes to which a file of `packed` bytes may unpack."""
        return min(self.unpacked_bytes, max(_FREE_BYTES, self.expansion * packed))

    def require(
        self, setting: str, found: int, *, name: str, of: str, remedy: str, allowed: int | None = None
    ) -> None:
        """Raise `ImportRefused` if `found` is more than the setting, or than `allowed`, computed from it."""
        if found > (getattr(self, setting) if allowed is None else allowed):
            raise self.beyond(setting, name=name, of=of, remedy=remedy, found=f"{found:,}", allowed=allowed)

    def beyond(
        self,
        setting: str,
        *,
        name: str,
        of: str,
        remedy: str,
        found: str = "more",
        allowed: int | None = None,
    ) -> ImportRefused:
        """Return an error that names the setting, the number found, and how to change the setting."""
        most = getattr(self, setting) if allowed is None else allowed
        return ImportRefused(
            f"{name}: expected at most {most:,} {of} (limits.{setting}) – found {found} – {remedy}; or, if "
            f"you trust the file, pass limits=corpus.Limits({setting}=…)."
        )


def open_file(path: Path) -> BinaryIO:
    """Open a regular file for reading; refuse a pipe (it would block) and a device (it may never end)."""
    how = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(path, how)
    except ValueError:
        raise OSError(errno.EINVAL, "a path with NUL in it") from None
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        raise OSError(errno.EINVAL, "no regular file, but a pipe or a device")
    return os.fdopen(handle, "rb")


def read_file(path: Path, most: int) -> bytes:
    """Return the bytes of a file."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(errno.EFBIG, f"{size:,} bytes, more than {most:,}")
        return file.read(size)  # which makes room for so much: not for `most`
