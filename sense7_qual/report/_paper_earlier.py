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

__all__ = ["listed", "note_begun", "note_written", "outdated"]

#: Which files a paper wrote, each with its SHA-256.
_LIST: Final = "paper.json"

#: In place of the SHA-256: the paper was broken off before it had written all its files.
_UNFINISHED: Final = ""


def outdated(folder: Path, earlier: Mapping[str, str], written: Collection[str]) -> list[str]:
    """Return the files of an earlier paper that the present one, with the files `written`, does not have.

    They may hold words that must not be there any more, or numbers of another state. Raises `StoreError`
    where one of them was changed since, or where the earlier paper was broken off.
    """
    others = {
        name: digest for name, digest in earlier.items() if name not in written and (folder / name).is_file()
    }
    changed = [name for name, digest in others.items() if _digest(folder / name) != digest]
    if changed:
        raise StoreError(
            "paper: expected the files of an earlier paper as it wrote them, to take their place – found "
            f"{first_three(changed)} changed since, or of a paper that was broken off; this paper does not "
            "have them – move them elsewhere or delete them, or name another folder."
        )
    return list(others)


def note_begun(folder: Path, earlier: Mapping[str, str], written: Iterable[str]) -> None:
    """Note which files a paper is about to write, so that they are known where it is broken off."""
    _note(folder, earlier, dict.fromkeys(written, _UNFINISHED))


def note_written(folder: Path, earlier: Mapping[str, str], written: Iterable[str]) -> None:
    """Note which files a paper wrote; those of an earlier one that are still there stay noted."""
    _note(folder, earlier, {name: _digest(folder / name) for name in written})


def _note(folder: Path, earlier: Mapping[str, str], own: Mapping[str, str]) -> None:
    stay = {name: digest for name, digest in earlier.items() if (folder / name).is_file()}
    content = json.dumps({"files": dict(sorted({**stay, **own}.items()))}, indent=2) + "\n"
    _atomic.write(folder / _LIST, content.encode(), overwrite=True)


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
