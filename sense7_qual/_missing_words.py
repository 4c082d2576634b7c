"""The words and numbers that people and programs write where they mean "no value": one list for all.

Counted as a category, one such word lowers an agreement without disagreement to .6; as a text it is coded, as
a participant it joins strangers into one cluster. What is done where one is found is decided by the place: a
coefficient refuses it unless the categories are stated, an id is refused, a text is asked about.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

import pandas as pd

_WRITTEN: Final = frozenset(
    {
        "na",
        "n/a",
        "n.a.",
        "n.a",
        "n / a",
        "n/k",
        "none",
        "nil",
        "missing",
        "blank",
        "empty",
        "no answer",
        "no response",
        "not applicable",
        "not available",
        "not answered",
        "unanswered",
        "not coded",
        "uncoded",
        "skipped",
        "keine angabe",
        "k.a.",
        "k. a.",
        "k.a",
        "k/a",
        "nicht beantwortet",
        "fehlend",
        "sans réponse",
        "sin respuesta",
        "geen antwoord",
        "inget svar",
        "無回答",
        "无回答",
        "未回答",
    }
)
"""What people write, who may also mean it as an answer."""
_BY_PROGRAM: Final = frozenset(
    {
        "nan",
        "null",
        "nat",
        "<na>",
        "<nan>",
        "<null>",
        "#n/a",
        "#na",
        "##n/a##",
        "#null!",
        "#value!",
        "#ref!",
        "#div/0!",
        "#name?",
        "#num!",
        "1.#qnan",
        "-1.#ind",
        "undefined",
        "sysmis",
        "system missing",
        "(null)",
        "(blank)",
        "(empty)",
    }
)
"""What programs write, and nobody else."""
_SIGNS: Final = re.compile(r"[-–—./?？…·]+")
_MINUS: Final = re.compile(r"[-–—]+")
_CODE: Final = re.compile(r"-(?:[6-9]|66|77|88|9\d|666|777|888|99[0-9]|9{4,5})(?:\.0+)?")
"""Negative numbers that survey programs write into boxes of text, too."""


def means_missing(value: object) -> bool:
    """Return True for a word or sign that people or programs write for "no value"; not for blanks.

    Examples
    --------
    >>> [means_missing(one) for one in ("N/A", "None", "-", "?", "NaN", "no", "nothing", "0", "")]
    [True, True, True, True, True, False, False, False, False]
    """
    if not isinstance(value, str):
        return False
    word = _folded(value)
    return word in _WRITTEN or word in _BY_PROGRAM or _SIGNS.fullmatch(word) is not None


def words_for_missing(values: Iterable[object]) -> list[str]:
    """Return those of `values` that mean "no value", each once, in their order; "-" next to "+" is minus."""
    words = [one.strip() for one in dict.fromkeys(values) if isinstance(one, str)]
    signed = any(word and set(word) == {"+"} for word in words)
    return [
        word for word in words if means_missing(word) and not (signed and _MINUS.fullmatch(_folded(word)))
    ]


def no_answers(texts: pd.Series, questions: pd.Series | None = None) -> pd.Series:
    """Mark the cells of a column of texts, or of several `questions`, that are filled and yet no answer.

    These are what programs alone write (also −99 and its like), and the words and signs of people that come
    back: a single "None" may be somebody's answer.
    """
    folded = texts.astype("string").map(_folded, na_action="ignore").astype("string")
    counted = folded
    if questions is not None:
        counted = folded.str.cat(questions.astype("string").set_axis(folded.index), "\0")
    counts = counted.map(counted.value_counts())
    by_program = folded.map(lambda word: word in _BY_PROGRAM or is_code_for_missing(word), na_action="ignore")
    by_people = folded.map(means_missing, na_action="ignore")
    found = by_program.eq(True) | (by_people.eq(True) & counts.gt(1).fillna(False))
    return found.fillna(False).astype(bool)


def is_code_for_missing(written: str) -> bool:
    """Return True for a negative number that survey programs write for "no value": "-99", "-77.0"."""
    return _CODE.fullmatch(_folded(written)) is not None


_AS_IDS: Final = frozenset(
    {
        *(
            "nan",
            "NaN",
            "NAN",
            "None",
            "NONE",
            "null",
            "NULL",
            "Null",
            "<NA>",
            "NaT",
            "N/A",
            "n/a",
            "#N/A",
            "NA",
        ),
    }
)
"""How missing ids look once they were turned into text."""


def missing_ids(ids: pd.Series) -> pd.Series:
    """Mark the ids that are missing, blank, or the text into which a missing one was turned."""
    return (ids.isna() | (ids == "") | ids.isin(_AS_IDS)).fillna(True).astype(bool)


def _folded(word: str) -> str:
    return unicodedata.normalize("NFKC", word).replace("−", "-").strip().casefold()
