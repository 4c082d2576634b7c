"""What several modules ask of a value: a codebook, a printable name, whole characters."""

from __future__ import annotations

from sense7_qual._messages import UNPRINTABLE
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError

__all__ = ["check_codebook", "is_name", "is_unicode"]


def check_codebook(codebook: Codebook) -> Codebook:
    """Return `codebook`, or raise `ActError` where it is none (but its name, say)."""
    if not isinstance(codebook, Codebook):
        raise ActError(
            f"codebook: expected a Codebook – found {type(codebook).__name__} – pass store.codebook, or "
            "Codebook.read(…)."
        )
    return codebook


def is_name(value: object) -> bool:
    """Return True if a value can name a round: text without control characters, and no space at its ends."""
    return (
        isinstance(value, str)
        and bool(value)
        and value == value.strip()
        and UNPRINTABLE.search(value) is None
    )


def is_unicode(value: str) -> bool:
    """Return True if a text holds whole characters only, no half of a surrogate pair."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
