"""The errors of the package: one tree, one sentence form.

Every message says what was expected, what was found (the first three, where, and how many) and what
to do about it. Catch `QualError` to catch them all:

- `QualError`
    - `ArgumentError`: an argument that is none of those that a function takes
    - `CodebookError`: a codebook that is not one, or a code that it does not have
    - `TableError`: a frame whose columns, keys or values are not what its contract says
    - `ActError`: an act that cannot stand (unknown unit or code, a span outside the text …)
    - `ImportRefused`: a file that is not read, because reading it would mean guessing
    - `StoreError`: a study, or a file to be written, that cannot be read or written
    - `models.EndpointError`, `models.NoAnswer`: a language model that cannot be reached, or gave no answer

The first five are `ValueError`s too, the others `OSError`s. A parameter that a function does not have is
Python's own `TypeError`.

No message ever holds a participant's text: ids, positions and column names only.
"""

from __future__ import annotations

__all__ = [
    "ActError",
    "ArgumentError",
    "CodebookError",
    "ImportRefused",
    "QualError",
    "StoreError",
    "TableError",
]


def __dir__() -> list[str]:
    return __all__


class QualError(Exception):
    """Any error that this package raises on purpose."""


class ArgumentError(QualError, ValueError):
    """An argument that is none of those that a function takes."""


class CodebookError(QualError, ValueError):
    """A codebook that is not one, or a code that it does not have."""


class TableError(QualError, ValueError):
    """A frame whose columns, keys or values are not what its contract says."""


class ActError(QualError, ValueError):
    """An act that cannot stand; nothing of the batch it came in was recorded."""


class ImportRefused(QualError, ValueError):
    """A file that is not read, because reading it would mean guessing."""


class StoreError(QualError, OSError):
    """A study, or a file, that cannot be read or written; what was saved in it is unchanged."""


class Damaged(StoreError):
    """Acts that are not what was written; whoever can go on with what is sound catches this."""
