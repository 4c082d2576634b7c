"""The lists of `words.toml`: what redaction looks for, or looks away from, by its words."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Final

__all__ = ["any_of", "words"]

_LISTS: Final = tomllib.loads((Path(__file__).parent / "words.toml").read_text("utf-8"))


def words(name: str) -> tuple[str, ...]:
    """Return the list called `name`."""
    return tuple(_LISTS[name])


def any_of(*names: str) -> str:
    """Return the words of the lists as alternatives of a regular expression, in their order."""
    return "|".join(re.escape(word) for name in names for word in words(name))
