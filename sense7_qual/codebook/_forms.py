"""What an id and a colour look like, and ids that are made of labels."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection
from typing import Final

from sense7_qual._arguments import check_arguments

__all__ = ["COLOUR", "ID", "free_id"]

ID: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
COLOUR: Final = re.compile(r"#[0-9A-Fa-f]{6}")
_NO_ID: Final = re.compile("[^A-Za-z0-9_.-]+")


def free_id(label: str, taken: Collection[str], times: Counter[str]) -> str:
    """Return an id made of a code's name; `times` counts how often the same was made, from call to call.

    >>> free_id("Would recommend?", ["would-recommend"], Counter())
    'would-recommend-2'
    """
    check_arguments(free_id, locals())
    plain = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode()
    base = _NO_ID.sub("-", plain).strip("-.")[:56].lower()
    base = base if base[:1].isalpha() else f"code-{base}".rstrip("-")
    while True:
        times[base] += 1
        free = base if times[base] == 1 else f"{base}-{times[base]}"
        if free not in taken:
            return free
