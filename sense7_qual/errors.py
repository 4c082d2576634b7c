"""The errors of the package: one tree, one form.

Every message says what was expected, what was found (the first three, where, and how many) and what
to do. Catch `QualError` to catch them all:

- `QualError`
    - `ArgumentError`: an argument that a function does not accept
    - `CodebookError`: an invalid codebook, or a code that it does not have
    - `TableError`: a frame that does not meet its contract in columns, keys or values
    - `ActError`: an invalid act (unknown unit or code, a span outside the text …)
    - `ImportRefused`: a file that could only be read by guessing
    - `StoreError`: a study or file that cannot be read or written
    - `models.EndpointError`, `models.NoAnswer`: a language model that cannot be reached or gave no answer

The first five are also `ValueError`s, the others `OSError`s. An unknown parameter is Python's own
`TypeError`.

No message contains a participant's text, only ids, positions and column names.
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
    """An argument that a function does not accept."""


class CodebookError(QualError, ValueError):
    """An invalid codebook, or a code that it does not have."""


class TableError(QualError, ValueError):
    """A frame that does not meet its contract in columns, keys or values."""


class ActError(QualError, ValueError):
    """An invalid act; nothing of its batch was recorded."""


class ImportRefused(QualError, ValueError):
    """A file that could only be read by guessing, and so was not read."""


class StoreError(QualError, OSError):
    """A study or file that cannot be read or written; everything saved in it is unchanged."""


class Damaged(StoreError):
    """Damaged acts; callers that can continue with the intact ones catch this."""


class NotLetIn(StoreError):
    """A study that this role of the database may not open; the coder's page has words of its own for it."""
