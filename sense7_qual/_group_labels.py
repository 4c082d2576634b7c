"""Labels of groups of texts: participants, conversations. One participant in two spellings would be two."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

import pandas as pd

from sense7_qual._messages import first_three, word
from sense7_qual._missing_words import is_code_for_missing, words_for_missing
from sense7_qual.errors import TableError

_BEFORE_A_NUMBER: Final = re.compile(r"(?<=[^\W\d_])[\s_.-]+(?=\d)")
_NUMBERED: Final = re.compile(r"([^\W\d_]*)0*(\d+)")


def check_groups(labels: pd.Series, *, name: str) -> None:
    """Raise `TableError` if two labels are likely one ("P01" and "p01"), or one means that there is none.

    Every interval rests on the number of groups: participants who are split have too narrow ones, and those
    whose id is "NA" would be one participant.
    """
    known = [one.strip() for one in map(str, labels.dropna().unique())]
    nobody = [*words_for_missing(known), *(one for one in known if is_code_for_missing(one))]
    if nobody:
        raise TableError(
            f"{name}: expected a label of each group – found {first_three(dict.fromkeys(nobody))}, as "
            "what is missing is called – fill in the label, or give each unknown one a label of its own."
        )
    spellings: dict[str, list[str]] = {}
    for one in dict.fromkeys(known):
        spellings.setdefault(_folded(one), []).append(one)
    alike = [one for several in spellings.values() if len(several) > 1 for one in several]
    if alike:
        raise TableError(
            f"{name}: expected one spelling of each label – found {', '.join(map(word, alike[:4]))}"
            f"{f' ({len(alike)} in all)' if len(alike) > 4 else ''}, which differ in upper and lower case, "
            "spaces or zeros alone – use one spelling, or they count as several groups; if they are several, "
            "rename them."
        )


def _folded(label: str) -> str:
    """Return a label without what typing changes: case, width, spaces, "P-1" or "P01" for "P1"."""
    folded = " ".join(unicodedata.normalize("NFKC", label).casefold().split())
    folded = _BEFORE_A_NUMBER.sub("", folded)
    numbered = _NUMBERED.fullmatch(folded)
    return f"{numbered[1]}{int(numbered[2])}" if numbered else folded
