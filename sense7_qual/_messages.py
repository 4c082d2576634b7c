"""The parts of messages: the first three of many, a word without texts, the nearest known name."""

from __future__ import annotations

import difflib
import numbers
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pandas as pd

UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that no XML, and so no drawing, can hold: a name with one is refused."""

_MOST_COMPARED: Final = 1_000  # words that a mistyped one is compared with


def legible(text: str | None) -> str | None:
    """Return `text` with bytes of a file name that are not Unicode as escapes, for a frame."""
    return None if text is None else text.encode("utf-8", "backslashreplace").decode()


def first_three(values: Iterable[object]) -> str:
    """Name the first three of `values` and say how many there are in all.

    >>> first_three(["m1", "m2", "m3", "m4"])
    "'m1', 'm2', 'm3' (4 in all)"
    """
    listed = list(values)
    shown = (str(value) for value in listed[:3])
    named = ", ".join(repr(each if len(each) <= 200 else f"{each[:200]}…") for each in shown)
    return f"{named} ({len(listed)} in all)" if len(listed) > 3 else named


def word(value: object) -> str:
    """Show a value that should be an id or a word; only its length if it may be a participant's text.

    >>> word("m17"), word(17), word("It listened to me.")
    ("'m17'", "'17'", '18 characters')
    """
    if not isinstance(value, str | numbers.Number):
        return type(value).__name__
    shown = str(value)
    is_word = len(shown) <= 40 and not any(letter.isspace() for letter in shown)
    return repr(shown) if is_word else f"{len(shown)} characters"


def shown(value: object, *, limit: int = 60, words: int = 6) -> str:
    """Return `value` for use in an error, or only its length if it may be somebody's text.

    It may be one if it has more characters than `limit`, more words than `words`, or a line break.

    >>> shown("PostTaskExperience_UseAgain"), shown("I felt that it did not listen", limit=20)
    ('PostTaskExperience_UseAgain', '(29 characters)')
    """
    written = str(value)
    short = len(written) <= limit and len(written.split()) <= words and not re.search(r"[\r\n]", written)
    return written if short else f"({len(written)} characters)"


def places(index: pd.Index[Any]) -> str:
    """Name the first three places that `index` holds and say how many there are in all.

    >>> import pandas as pd
    >>> places(pd.Index([3, 5, 8, 9], name="line"))
    'lines 3, 5, 8 (4 in all)'
    """
    named = ", ".join(str(place) for place in index[:3])
    some = f"{index.name or 'row'}{'' if len(index) == 1 else 's'} {named}"
    return f"{some} ({len(index)} in all)" if len(index) > 3 else some


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint: the nearest known word, or the known words if none is near.

    >>> did_you_mean("prosical", ["affective", "prosocial"])
    "did you mean 'prosocial'?"
    """
    words = [str(word) for word in known]
    folded = {word.casefold(): word for word in words[:_MOST_COMPARED]}
    near = difflib.get_close_matches(str(name)[:100].casefold(), list(folded), n=1, cutoff=0.6)
    if near:
        return f"did you mean {folded[near[0]]!r}?"
    return f"known are {first_three(words)}" if words else "there are none"


def outside() -> int:
    """Return the `stacklevel` that makes a warning name the caller outside this package."""
    package, level = __name__.partition(".")[0], 1
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(f"{package}."):
        frame, level = frame.f_back, level + 1
    return level
