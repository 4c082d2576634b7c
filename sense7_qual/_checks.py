"""What several modules ask of a value: a codebook, True or False, a printable name, whole characters."""

from __future__ import annotations

import numpy as np

from sense7_qual._messages import UNPRINTABLE
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, ArgumentError

__all__ = ["check_codebook", "check_switch", "is_name", "is_unicode"]


def check_codebook(codebook: Codebook) -> Codebook:
    """Return `codebook`, or raise `ActError` where it is none (but its name, say)."""
    if not isinstance(codebook, Codebook):
        raise ActError(
            f"codebook: expected a Codebook – found {type(codebook).__name__} – pass store.codebook, or "
            "Codebook.read(…)."
        )
    return codebook


def check_switch(value: bool, *, name: str, of: str) -> bool:
    """Return `value`, or raise `ArgumentError` where the parameter `name` is neither True nor False.

    A word would pass for True: ``valence="met"`` does not choose what was met.
    """
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(
            f"{of}: expected {name} to be True or False – found {type(value).__name__} – say which."
        )
    return bool(value)


def is_name(value: object) -> bool:
    """Tell whether a value can name a round: text without control characters, and no space at its ends."""
    return (
        isinstance(value, str)
        and bool(value)
        and value == value.strip()
        and UNPRINTABLE.search(value) is None
    )


def is_unicode(value: str) -> bool:
    """Tell whether a text holds whole characters only, no half of a surrogate pair."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
