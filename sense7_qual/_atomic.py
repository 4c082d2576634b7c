"""A file is written whole or not at all, and takes the place of another only where it may."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

from sense7_qual._messages import did_you_mean
from sense7_qual.errors import ArgumentError, StoreError

__all__ = ["save", "write_by_suffix"]


def save(path: Path, content: bytes, *, overwrite: bool) -> None:
    """Write `content` to `path` so that a crash leaves the old file, or none, and never half a file.

    Raises
    ------
    StoreError
        There is a file and `overwrite` is false; it is unchanged.
    OSError
        The folder is not there, or cannot be written to.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(Path(folder, "a.txt"), b"first", overwrite=False)
    ...     save(Path(folder, "a.txt"), b"second", overwrite=True)
    ...     Path(folder, "a.txt").read_bytes()
    b'second'
    """
    target = Path(os.path.realpath(path))
    if not overwrite and target.exists():
        raise _taken(path)
    part = target.with_name(f".{uuid.uuid4().hex}.part")
    try:
        with part.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if overwrite:
            if target.exists():
                shutil.copymode(target, part)
            part.replace(target)
        else:
            _link(part, target)
    finally:
        part.unlink(missing_ok=True)


def write_by_suffix(
    path: str | Path, formats: Mapping[str, Callable[[], bytes]], *, what: str, overwrite: bool
) -> None:
    """Save what the format of the suffix of `path` gives; errors as of `save`.

    Raises
    ------
    ArgumentError
        `path` is no path, or ends otherwise; nothing was written.

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
    if path.exists() and not overwrite:
        raise _taken(path)  # before the work of drawing it
    save(path, formats[path.suffix.lower()](), overwrite=overwrite)


def _link(part: Path, target: Path) -> None:
    """Give the file its name unless another took it meanwhile; some disks have no links to tell by."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise _taken(target) from None
    except OSError:
        if target.exists():
            raise _taken(target) from None
        part.replace(target)


def _taken(path: Path) -> StoreError:
    return StoreError(
        f"expected a path where nothing is – found a file {path.name!r} there, which was left as it is – "
        "choose another name, or pass overwrite=True."
    )
