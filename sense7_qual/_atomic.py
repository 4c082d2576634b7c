"""A file is written whole or not at all, takes the place of another only where it may, and says no time.

Whatever is written may hold participants' texts, so its owner alone can open it: every file and folder of
this package is made here, 0600 and 0700 (`tests/laws/test_file_modes.py`). Windows has no such rights.
"""

from __future__ import annotations

import errno
import io
import os
import re
import uuid
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from sense7_qual._messages import did_you_mean
from sense7_qual.errors import ArgumentError, StoreError

_FILE_MODE, _FOLDER_MODE = 0o600, 0o700

_TIMES = re.compile(rb"(<dcterms:(created|modified)\b[^>]*>)[^<]*")


def new_file(path: Path) -> Path:
    """Make a new, empty file, for what opens files itself, and return its path."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _FILE_MODE))
    return path


def new_folder(path: Path) -> Path:
    """Make a new folder, whose parent must exist, and return its path."""
    path.mkdir(mode=_FOLDER_MODE)
    return path


def make_folder(path: Path) -> Path:
    """Make a folder, and those above it that are missing, wait for the disk, and return its path."""
    for folder in reversed([each for each in (path, *path.parents) if not each.exists()]):
        folder.mkdir(mode=_FOLDER_MODE, exist_ok=True)
        sync_folder(folder.parent)
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    return path


def write_new(path: Path, content: bytes, *, sync: bool = True) -> Path:
    """Write a new file, flush it to the disk unless `sync` is false, and return its path."""
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _FILE_MODE)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        if sync:
            os.fsync(handle)
    return path


def move_in(built: Path, path: Path, *, overwrite: bool = False, sync: bool = True) -> None:
    """Give a finished file its name, and wait for the disk unless `sync` is false."""
    try:
        if overwrite:
            built.replace(path)
        else:
            _link(built, path)
    except FileExistsError:
        sync_folder(path.parent)  # whoever wrote it may not have come as far as this
        raise
    if sync:
        sync_folder(path.parent)


def _link(built: Path, path: Path) -> None:
    try:
        path.hardlink_to(built)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links (a memory stick). Here alone two could meet in one instant; a
        # rename is the nearest thing to it there.
        if path.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        built.rename(path)


def sync_folder(folder: Path) -> None:
    """Wait until the names in `folder` are on the disk (Windows does this by itself)."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write(path: Path, content: bytes, *, overwrite: bool, sync: bool = True) -> None:
    """Write a file completely or not at all; a symbolic link at `path` is replaced, not followed."""
    part = path.with_name(f".{uuid.uuid4().hex}.part")
    try:
        write_new(part, content, sync=sync)
        move_in(part, path, overwrite=overwrite, sync=sync)
    finally:
        with suppress(OSError):  # must not hide the first error
            part.unlink()


def save(path: Path, content: bytes, *, overwrite: bool) -> None:
    """Write `content` to `path` so that a crash leaves the old file, or none, and never half a file.

    Its owner alone can read it then, also where it replaces a file that others could read. A link at `path`
    is replaced as a file is; what it leads to stays as it was.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(Path(folder, "a.txt"), b"first", overwrite=False)
    ...     save(Path(folder, "a.txt"), b"second", overwrite=True)
    ...     Path(folder, "a.txt").read_bytes()
    b'second'
    """
    refuse_taken(path, overwrite=overwrite)
    try:
        write(path, content, overwrite=overwrite)
    except FileExistsError:  # taken meanwhile
        raise _taken(path) from None


def write_by_suffix(
    path: str | Path, formats: Mapping[str, Callable[[], bytes]], *, what: str, overwrite: bool
) -> None:
    """Save what the format of the suffix of `path` gives; errors as of `save`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.txt")
    ...     write_by_suffix(path, {".txt": lambda: b"one"}, what="table", overwrite=False)
    ...     path.read_bytes()
    b'one'
    """
    if not isinstance(path, str | os.PathLike):
        raise ArgumentError(
            f"{what}: expected a path that ends in {', '.join(formats)} – found {type(path).__name__} – pass "
            "its name as text."
        )
    path = Path(path)
    if path.suffix.lower() not in formats:
        raise ArgumentError(
            f"{what}: expected a path that ends in {', '.join(formats)} – found {path.name!r} – "
            f"{did_you_mean(path.suffix, formats)}"
        )
    refuse_taken(path, overwrite=overwrite)  # before the work of drawing it
    save(path, formats[path.suffix.lower()](), overwrite=overwrite)


def undated(document: bytes) -> bytes:
    """Return a Word document or workbook without the time at which it was made: equal contents, equal bytes.

    Examples
    --------
    >>> made = io.BytesIO()
    >>> with zipfile.ZipFile(made, "w") as archive:
    ...     archive.writestr("a.txt", b"one")
    >>> zipfile.ZipFile(io.BytesIO(undated(made.getvalue()))).getinfo("a.txt").date_time[0]
    1980
    """
    same = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(document)) as old, zipfile.ZipFile(same, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "docProps/core.xml":
                content = _TIMES.sub(rb"\g<1>1980-01-01T00:00:00Z", content)
            member = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(member, content)
    return same.getvalue()


def refuse_taken(path: Path, *, overwrite: bool) -> None:
    """Raise `StoreError` if there is a file, or a link, and `overwrite` is false."""
    if not overwrite and (path.exists() or path.is_symlink()):
        raise _taken(path)


def _taken(path: Path) -> StoreError:
    return StoreError(
        f"the file {path.name!r} already exists and was left unchanged – choose another name, or pass "
        "overwrite=True."
    )
