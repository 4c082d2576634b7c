"""What somebody has begun and not saved, in the study folder: ``drafts/<work>-<coder>.json``.

It is nobody's record: it goes into no copy, archive, hand-out or merge, and the file is gone once what was
begun is saved or discarded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from sense7_qual._atomic import make_folder
from sense7_qual._limits import read_file
from sense7_qual._messages import word
from sense7_qual.errors import ArgumentError, StoreError
from sense7_qual.store._stored.whole_files import seal, unseal, write

DRAFTS: Final = "drafts"
LARGEST: Final = 5_000_000  # bytes of a draft, at most
_NAME: Final = re.compile(r"[a-z]{1,40}-\w[^./]{0,79}\.json")


def checked_work(name: str) -> str:
    """Return the kind of work of a draft; raise `ArgumentError` if it cannot name a file."""
    if not re.fullmatch(r"[a-z]{1,40}", name):
        raise ArgumentError(
            f"draft: expected a word of small letters as work – found {word(name)} – write 'codebook', say."
        )
    return name


def plain(draft: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a draft as JSON gives it back; raise `ArgumentError` where JSON cannot hold it."""
    try:
        text = json.dumps(None if draft is None else dict(draft), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise ArgumentError(
            "draft: expected what JSON can hold: texts, numbers, lists and mappings of them – found other "
            "values – convert them."
        ) from None
    if len(text) > LARGEST // 4:  # of which a file may have four bytes for each
        raise ArgumentError(
            f"draft: expected at most {LARGEST // 4:,} characters – found {len(text):,} – save some of it."
        )
    value: dict[str, Any] | None = json.loads(text)
    return value


def read(study: Path, work: str, coder: str) -> dict[str, Any] | None:
    """Return the draft of `coder` for `work`; None if there is none."""
    try:
        return unseal(read_file(file_of(study, work, coder), LARGEST))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(
            f"'{DRAFTS}/{work}-{coder}.json': expected a draft as it was written – found it unreadable or "
            f"changed ({type(error).__name__}) – delete the file; new drafts can be saved."
        ) from None


def keep(study: Path, work: str, coder: str, draft: Mapping[str, Any] | None) -> None:
    """Replace the draft; None removes it."""
    file = file_of(study, work, coder)
    if draft is None:
        file.unlink(missing_ok=True)
        return
    make_folder(file.parent)
    write(file, seal(with_strings(draft, _encodable)), overwrite=True)


def draft_files(study: Path) -> list[Path]:
    """Return the drafts in a study folder, sorted by name."""
    folder = study / DRAFTS
    return sorted(file for file in folder.iterdir() if is_draft(file)) if folder.is_dir() else []


def is_draft(file: Path) -> bool:
    """Return True if a file in ``drafts/`` has the name of a draft."""
    return _NAME.fullmatch(file.name) is not None


def strings(value: Any) -> Iterator[str]:
    """Yield every text of a draft, with the names that its values have."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from (str(name), *strings(one))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from strings(one)


def with_strings(value: Any, made: Callable[[str], str]) -> Any:
    """Return a draft with each of its texts replaced."""
    if isinstance(value, str):
        return made(value)
    if isinstance(value, Mapping):
        return {made(str(name)): with_strings(one, made) for name, one in value.items()}
    return [with_strings(one, made) for one in value] if isinstance(value, list | tuple) else value


def _encodable(text: str) -> str:
    """Return a text with U+FFFD for half an emoji, which a text field can hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def file_of(study: Path, work: str, coder: str) -> Path:
    """Return the path of a draft, which need not exist yet."""
    return study / DRAFTS / f"{work}-{coder}.json"
