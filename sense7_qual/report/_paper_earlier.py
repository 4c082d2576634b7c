"""The files of an earlier paper in the same folder: which they are, and whether they are as it wrote them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

from sense7_qual import _atomic
from sense7_qual._messages import first_three
from sense7_qual.errors import StoreError

__all__ = ["list_files", "listed", "outdated"]

#: Which files a paper wrote, each with its SHA-256.
_LIST: Final = "paper.json"


def outdated(folder: Path, earlier: Mapping[str, str], written: Collection[str]) -> list[str]:
    """Return the files of an earlier paper that the present one, with the files `written`, does not have.

    They may hold words that must not be there any more, or numbers of another state. Raises `StoreError`
    where one of them was changed since.
    """
    others = {
        name: digest for name, digest in earlier.items() if name not in written and (folder / name).is_file()
    }
    changed = [name for name, digest in others.items() if _digest(folder / name) != digest]
    if changed:
        raise StoreError(
            "paper: expected the files of an earlier paper as it wrote them, to take their place – found "
            f"{first_three(changed)} changed since, which this paper does not have – move them elsewhere, or "
            "name another folder."
        )
    return list(others)


def list_files(folder: Path, written: Iterable[str]) -> None:
    """Note which files a paper wrote; those of an earlier one that are still there stay noted."""
    stay = {name: digest for name, digest in listed(folder).items() if (folder / name).is_file()}
    now = {name: _digest(folder / name) for name in written}
    content = json.dumps({"files": dict(sorted({**stay, **now}.items()))}, indent=2) + "\n"
    _atomic.write(folder / _LIST, content.encode(), overwrite=True, mode=0o644)


def listed(folder: Path) -> dict[str, str]:
    """Return the files that earlier papers wrote there, each with its SHA-256; none where there were none.

    Raises `StoreError` where their list cannot be read.
    """
    try:
        content = (folder / _LIST).read_bytes()
    except OSError:  # there is none; a folder that cannot be read cannot be written either, which is told
        return {}
    try:
        files = json.loads(content)["files"]
    except (ValueError, TypeError, KeyError, RecursionError):
        files = None
    if not isinstance(files, dict) or not all(
        isinstance(digest, str) and Path(name).name == name for name, digest in files.items()
    ):
        raise StoreError(
            f"paper: expected the list of an earlier paper's files in {_LIST!r} – found something else – "
            "name another folder, or move that file away."
        )
    return files


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
