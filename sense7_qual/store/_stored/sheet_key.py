"""The secret with which a study folder seals its coding sheets: ``sheet_key.json``.

It is made when the first sheet is written. A backup, and any other copy of the whole folder, has it and reads
the sheets that are out; an archive, which is deposited, a hand-out and a bundle do not. Whoever has it could
make a sheet of any coder.
"""

from __future__ import annotations

import hashlib
import secrets
from pathlib import Path
from typing import Final

from sense7_qual.errors import StoreError
from sense7_qual.store._stored import layout, study_notes, whole_files

FILE: Final = "sheet_key.json"
_BYTES: Final = 32


def key_of(path: Path, coder: str) -> bytes:
    """Return the key that seals the sheets of `coder`; the secret is made if there is none yet."""
    secret = read(path)
    if secret is None:
        layout.refuse_newer(path, layout.read(path))
        with layout.exclusively(path), layout.refusing(path):
            secret = read(path) or _made(path)
    return hashlib.sha256(secret + hashlib.sha256(coder.encode()).digest()).digest()


def read(path: Path) -> bytes | None:
    """Return the secret of the study folder `path`; None where there is none."""
    try:
        secret = bytes.fromhex(whole_files.unseal(study_notes.read_bytes(path / FILE))["secret"])
        if len(secret) != _BYTES:
            raise ValueError("another length")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(
            f"study {path.name!r}: expected {FILE} as write_coding_sheets made it – found it unreadable or "
            f"changed ({type(error).__name__}) – put the file of a backup back. Without it, delete the file "
            "and write the sheets again: those that are out are then refused."
        ) from None
    return secret


def copy(path: Path, building: Path) -> None:
    """Give the copy of a study folder that is being built the same secret, if there is one."""
    secret = read(path)
    if secret is not None:
        whole_files.write(building / FILE, _sealed(secret))


def _made(path: Path) -> bytes:
    secret = secrets.token_bytes(_BYTES)
    whole_files.write(path / FILE, _sealed(secret))
    return secret


def _sealed(secret: bytes) -> bytes:
    return whole_files.seal({"secret": secret.hex()})
