"""What a reply says: a verdict with words of the text, or the reason why it does not count.

A quote counts only where it is in the text. One that breaks off inside a word is there, and is taken with
the whole word; one that begins inside a word is another word ("happy" of "unhappy"). Nothing else is mended:
no near miss, no words joined by dots, no second try. What cannot be read is missing, and never counts as
absent.
"""

from __future__ import annotations

import difflib
import json
import re
import unicodedata
from typing import Any, Final, NamedTuple

from sense7_qual._reasons import Reason

UNUSABLE: Final = frozenset({Reason.QUOTE_NOT_IN_TEXT, Reason.NO_QUOTE, Reason.UNPARSABLE, Reason.NO_ANSWER})
_KEYS: Final = ("quote", "verdict", "why")
_LEAST: Final = 3
_ALIKE: Final = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´‹›", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
    }
)
_OUTER: Final = "\"'. \t\n"
_WORD: Final = re.compile(r"\w+|\W")


class Read(NamedTuple):
    """A verdict, its words in code points of the text (none: the whole text), why, and why it is missing."""

    verdict: str | None
    start: int | None = None
    end: int | None = None
    why: str | None = None
    reason: Reason | None = None


def read_reply(reply: str, text: str, sent: str | None = None) -> Read:
    """Read a reply about `text`; `sent` is the text as it was sent, where that differs.

    Examples
    --------
    >>> read_reply('{"quote": "it LISTENED.", "verdict": "yes", "why": "heard"}', "Well, it  listened!")
    Read(verdict='yes', start=6, end=18, why='heard', reason=None)
    >>> read_reply('{"quote": "it heard", "verdict": "yes", "why": ""}', "It listened.").reason
    'quote_not_in_text'
    """
    content = _parsed(reply)
    if content is None:
        return Read(None, reason=Reason.UNPARSABLE)
    quote, verdict, why = content["quote"], content["verdict"], content["why"] or None
    if verdict != "yes":
        return Read(verdict, why=why, reason=Reason.UNSURE if verdict == "unsure" else None)
    sent = text if sent is None else sent
    folded, places = _folded(sent)
    sought = _folded(quote)[0].strip(_OUTER)
    whole = sought == folded.strip(_OUTER)
    if not sought or (sum(map(str.isalnum, sought)) < _LEAST and not whole):
        return Read(verdict, why=why, reason=Reason.NO_QUOTE)
    if whole:
        return Read(verdict, why=why)
    found = _place(sought, folded)
    span = None if found is None else _back(places[found[0]], places[found[1] - 1] + 1, sent, text)
    if span is None:
        return Read(verdict, why=why, reason=Reason.QUOTE_NOT_IN_TEXT)
    start, end = (None, None) if span == (0, len(text)) else span
    return Read(verdict, start, end, why)


def _parsed(reply: str) -> dict[str, str] | None:
    """Return the object that a reply is, if it has just the keys that were asked for."""
    try:
        pairs = json.loads(reply, object_pairs_hook=list)
    except (ValueError, RecursionError):
        return None
    if not isinstance(pairs, list) or not all(isinstance(pair, tuple) for pair in pairs):
        return None
    content: dict[str, Any] = dict(pairs)
    if sorted(name for name, _ in pairs) != sorted(_KEYS) or not all(
        isinstance(value, str) for value in content.values()
    ):
        return None
    return content if content["verdict"] in ("yes", "no", "unsure") else None


def _folded(text: str) -> tuple[str, list[int]]:
    """Return a text without what a quote may change, and where each of its letters comes from."""
    letters: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(text):
        if letter.isspace():
            if letters and letters[-1] == " ":
                continue
            letter = " "
        for one in letter.casefold().translate(_ALIKE):
            letters.append(one)
            places.append(place)
    return "".join(letters), places


def _place(sought: str, folded: str) -> tuple[int, int] | None:
    """Return where a quote that begins with a word is, to the end of its last word.

    The first place where it ends with a word is taken, else the first where it breaks off inside one.
    """
    cut: tuple[int, int] | None = None
    start = folded.find(sought)
    while start >= 0:
        if not _inside(folded[start - 1 : start], sought[0]):
            end = start + len(sought)
            whole = _end_of_word(folded, end)
            if whole == end:
                return start, end
            cut = cut or (start, whole)
        start = folded.find(sought, start + 1)
    return cut


def _end_of_word(folded: str, end: int) -> int:
    """Return where the word ends of which `end` is inside; `end` itself between words."""
    while _inside(folded[end - 1 : end], folded[end : end + 1]):
        end += 1
    return end


def _inside(before: str, after: str) -> bool:
    """Return True between two letters of a word; many scripts with letters of kind Lo have no spaces."""
    pair = before + after
    if len(pair) < 2 or not (after.isalnum() or unicodedata.combining(after)):
        return False
    of_a_word = before.isalnum() or unicodedata.combining(before)
    return bool(of_a_word) and not any(unicodedata.category(one) == "Lo" for one in pair)


def _back(start: int, end: int, sent: str, text: str) -> tuple[int, int] | None:
    """Return a span of what was sent as one of the text; None where it holds a pseudonym alone.

    What a pseudonym replaced is taken in as a whole.
    """
    if sent == text:
        return start, end
    (words, at), (of_text, of_text_at) = _words(sent), _words(text)
    blocks = difflib.SequenceMatcher(None, words, of_text, autojunk=False).get_opcodes()
    spans: list[tuple[int, int]] = []
    kept = False
    for kind, low, high, there, until in blocks:
        inside = [i for i in range(low, high) if at[i] < end and at[i + 1] > start]
        if inside and kind == "equal":
            kept |= any(words[i].isalnum() for i in inside)
            spans += [
                (
                    max(start - at[i], 0) + of_text_at[i - low + there],
                    of_text_at[i - low + there] + min(end, at[i + 1]) - at[i],
                )
                for i in inside
            ]
        elif inside:
            spans.append((of_text_at[there], of_text_at[until]))
    return (min(low for low, _ in spans), max(high for _, high in spans)) if kept else None


def _words(text: str) -> tuple[list[str], list[int]]:
    """Return the words and other characters of a text, and where each begins, and the last ends."""
    found = list(_WORD.finditer(text))
    return [one[0] for one in found], [*(one.start() for one in found), len(text)]
