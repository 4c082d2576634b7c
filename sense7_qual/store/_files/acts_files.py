"""The acts files of a study folder: which there are, and which a sync client left in the cloud."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Final

from sense7_qual._messages import first_three
from sense7_qual.acts import check_coder
from sense7_qual.errors import ActError, StoreError
from sense7_qual.store._files.layout import ACTS, refusing

__all__ = [
    "acts_file",
    "acts_files",
    "coder_of",
    "is_acts_file",
    "is_coder",
    "placeholder",
    "refuse_absent",
    "refuse_device",
]

_DEVICE: Final = re.compile(r"CON|PRN|AUX|NUL|COM[0-9]|LPT[0-9]")


def is_coder(name: str) -> bool:
    """Return True if an acts file of this name (without its suffix) can be a coder's."""
    try:
        check_coder(name)
    except ActError:
        return False
    return True


def acts_files(path: Path) -> list[Path]:
    """Return the acts files of the study folder `path`, sorted by coder.

    Hidden files (``._ana.sqlite`` of macOS, say) are other programs' own.
    """
    with refusing(path):
        files = [file for file in (path / ACTS).iterdir() if is_acts_file(file)]
    files.sort(key=lambda file: unicodedata.normalize("NFC", file.name))
    times = Counter(map(coder_of, files))
    twice = [file.name for file in files if times[coder_of(file)] > 1]
    if twice:
        raise StoreError(
            f"study {path.name!r}: expected one acts file of a coder – found {first_three(twice)}, whose "
            "names look the same and differ in how accents are written – move one out of the folder, and "
            "merge it."
        )
    return files


def coder_of(file: Path) -> str:
    """Return whose acts an acts file holds by its name, which some disks and programs spell in another
    normal form of Unicode."""
    return unicodedata.normalize("NFC", file.stem)


def refuse_absent(path: Path, coder: str | None = None) -> None:
    """Raise `StoreError` where a sync client has left the acts of `coder`, or of any coder, in the cloud:
    without them, numbers would be of fewer coders, and a first act would begin a second file."""
    with refusing(path):
        named = [placeholder(file) for file in sorted((path / ACTS).iterdir())]
    absent = [one for one in named if one and coder in (None, one) and not acts_file(path, one).exists()]
    if absent:
        raise StoreError(
            f"study {path.name!r}: expected the acts on this computer – found those of "
            f"{first_three(absent)} left in the cloud (.icloud) – download the study folder (in the Finder: "
            "Download Now), and do it again."
        )


def refuse_device(coder: str) -> None:
    """Raise `ActError` where Windows would take the name of the coder's file for a device (CON, COM1 …)."""
    if _DEVICE.fullmatch(coder.upper()):
        raise ActError(
            f"coder: expected a pseudonym that can name a file on every computer – found {coder!r}, which is "
            "a device on Windows – choose another."
        )


def is_acts_file(file: Path) -> bool:
    """Return True if a file in ``acts/`` has a name under which acts are read."""
    return file.suffix == ".sqlite" and not file.name.startswith(".")


def placeholder(file: Path) -> str | None:
    """Return whose acts a file of iCloud stands for, which is there until they are downloaded."""
    match = re.fullmatch(r"\.(.+)\.sqlite\.icloud", unicodedata.normalize("NFC", file.name))
    return match[1] if match and is_coder(match[1]) else None


def acts_file(path: Path, coder: str) -> Path:
    """Return where the acts of `coder` are, or will be."""
    file = path / ACTS / f"{coder}.sqlite"
    if coder.isascii() or file.exists():
        return file
    return next((one for one in acts_files(path) if coder_of(one) == coder), file)
