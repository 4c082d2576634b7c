"""Texts as a browser counts them, in UTF-16 code units, and as a search compares them, without case."""

from __future__ import annotations

import base64
import json
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sense7_qual.acts import Act, standing
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError


def turns(context: object) -> list[dict[str, str]]:
    """Parse the earlier turns (role and text); a missing context, however pandas writes it, has none."""
    if not isinstance(context, str) or not context:
        return []
    return [
        {"role": str(turn.get("role") or ""), "text": str(turn.get("text") or "")}
        for turn in json.loads(context)
    ]


def shown_value(value: object) -> str | None:
    """Return a value of a variable in words."""
    if value is None:
        return None
    # A column with a missing rating holds floats: 2 is shown as it was given, not as 2.0.
    if isinstance(value, float | np.floating) and value.is_integer():
        return str(int(value))
    return str(value)


def shown_coding(act: Act, text: str, codebook: Codebook) -> dict[str, Any]:
    """Return a coding as the browser shows it, its span in UTF-16 code units."""
    span: tuple[int | None, int | None] = (None, None)
    if act.start is not None and act.end is not None:
        span = utf16_units(text, act.start, act.end)
    # What an earlier version of the codebook had cannot be said again, so it is not shown as if it could.
    known = {facet.name: facet.names for facet in codebook.facets_of(str(act.code))}
    stated = act.facet_values.items()
    return {
        "code": act.code,
        "start": span[0],
        "end": span[1],
        "facets": {name: value for name, value in stated if value in known.get(name, ())},
        "confidence": act.confidence,
    }


def on_text(act: Act, text: str | None) -> dict[str, Any]:
    """Describe a memo for the browser; its span is in UTF-16 code units of `text`."""
    start, end = act.start, act.end
    if text is not None and start is not None and end is not None:
        start, end = utf16_units(text, start, end)
    return {
        "memo_id": act.memo_id,
        "on": act.target_kind,
        "code": act.code if act.target_kind == "code" else None,
        "start": start,
        "end": end,
        "text": act.memo_text,
        "team": act.round is not None,
    }


def free_memos(acts: Sequence[Act]) -> list[dict[str, Any]]:
    """Return the memos on codes and on the study that stand after `acts`."""
    return [on_text(act, None) for act in standing(acts, subject="memo") if act.kind == "memo"]


def as_text(text: object) -> str:
    """Return a text that was typed; half of an emoji, which a text field can hold, becomes U+FFFD."""
    if not isinstance(text, str | None):
        raise ActError(f"act: expected text as memo – found {type(text).__name__} – write it again.")
    return (text or "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def code_points(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of code points that a browser's selection `start` … `end` covers.

    `start` and `end` are in UTF-16 code units, as JavaScript counts; an offset inside a surrogate pair is
    moved outwards, so that no character is ever cut.

    Examples
    --------
    >>> code_points("a 👍🏽 b", 2, 6)
    (2, 4)
    """
    units = [2 if ord(character) > 0xFFFF else 1 for character in text]
    if not 0 <= start < end <= sum(units):
        raise ActError(
            f"selection: {start} to {end} lies outside the text of {sum(units)} UTF-16 units – select again."
        )
    first = last = position = 0
    for index, width in enumerate(units):
        if position <= start:
            first = index
        if position < end:
            last = index + 1
        position += width
    return first, last


def utf16_units(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span in UTF-16 code units of the code points `start` … `end`.

    Examples
    --------
    >>> utf16_units("a 👍🏽 b", 2, 4)
    (2, 6)
    """
    before = _length(text[:start])
    return before, before + _length(text[start:end])


def _length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def as_bits(fits: npt.NDArray[np.bool_]) -> str:
    """Return one bit a unit, the first in the lowest, in base64: what a browser unpacks at once."""
    return base64.b64encode(np.packbits(fits, bitorder="little").tobytes()).decode("ascii")


def as_numbers(places: npt.NDArray[np.uint32]) -> str:
    """Return the places as 32-bit numbers, the lowest byte first, in base64."""
    return base64.b64encode(places.astype("<u4").tobytes()).decode("ascii")


_END: Final = b"\xff"  # after each text; no byte of UTF-8
_BLOCK: Final = 1 << 17  # bytes that a search compares at once: they stay in the processor's cache


_UNHEARD: Final = ("Mn", "Cf")  # accents; what has no width, such as joiners and soft hyphens


class _Letters(dict[int, str]):
    """What each letter is compared as, computed when it first comes."""

    def __missing__(self, letter: int) -> str:
        parts = unicodedata.normalize("NFKD", chr(letter).casefold())
        plain = "".join(part for part in parts if unicodedata.category(part) not in _UNHEARD).casefold()
        self[letter] = plain
        return plain


_LETTERS = _Letters()


def folded(text: str) -> str:
    """Return the text without case, accents and invisible signs; a new line counts as a space.

    >>> folded("Café, STRASSE, straße")
    'cafe, strasse, strasse'
    """
    return (text.lower() if text.isascii() else text.translate(_LETTERS)).replace("\n", " ")


def find_folded(text: str, wanted: str) -> tuple[int, int]:
    """Return the span (code points) of the first `wanted`, folded, in `text`; (0, 0) if there is none.

    >>> find_folded("Ein Café", "cafe")
    (4, 8)
    """
    return next(iter(find_all_folded(text, wanted)), (0, 0))


def find_all_folded(text: str, wanted: str) -> list[tuple[int, int]]:
    """Return the spans (code points) of all `wanted`, folded, in `text`; none of them overlap.

    A letter belongs to a hit with the accents behind it.

    >>> find_all_folded("Cafe\u0301, café", "cafe")
    [(0, 5), (7, 11)]
    """
    if not wanted:
        return []
    hits, whole = [], folded(text)
    at = whole.find(wanted)
    if at < 0:
        return []
    lengths = [1] * len(text) if text.isascii() else [len(folded(letter)) for letter in text]
    begins = [0, *accumulate(lengths)]  # where each letter begins in the folded text
    while at >= 0:
        end = bisect_right(begins, at + len(wanted) - 1)
        while end < len(text) and unicodedata.category(text[end]) == "Mn":
            end += 1
        hits.append((bisect_right(begins, at) - 1, end))
        at = whole.find(wanted, begins[end])
    return hits


class FoldedTexts:
    """Many texts, each folded, one behind the other in memory, so that all are searched in one go.

    Attributes
    ----------
    texts : iterable of str
        The texts, not folded.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        encoded = [_encoded(folded(text)) + _END for text in texts]
        lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
        self._letters = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        self._bounds = np.concatenate([[0], np.cumsum(lengths)])
        full = np.arange(0, len(self._letters), _BLOCK)
        self._blocks = np.unique([*np.searchsorted(self._bounds, full), len(encoded)])

    def __repr__(self) -> str:
        return f"FoldedTexts({len(self._bounds) - 1} texts)"

    def holding(self, wanted: str, among: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Mark the texts `among` these (one bool a text) that contain the folded `wanted`."""
        held = np.zeros(len(among), dtype=bool)
        for first, last in zip(self._blocks[:-1], self._blocks[1:], strict=True):
            if among[first:last].any():
                held[first:last] = self._in_block(_encoded(wanted), first, last)
        return held & among

    def _in_block(self, wanted: bytes, first: int, last: int) -> npt.NDArray[np.bool_] | bool:
        """Mark the texts from `first` to `last` that contain the wanted bytes; False for none."""
        start, end = self._bounds[first], self._bounds[last]
        letters = self._letters[start:end]
        begins = np.ones(len(letters), dtype=bool)  # whether the wanted letters begin here, as far as seen
        for place, letter in enumerate(wanted):  # at the end of a text, which is no letter, they end too
            begins[: len(letters) - place] &= letters[place:] == letter
            if not begins.any():
                return False
        return np.asarray(np.logical_or.reduceat(begins, self._bounds[first:last] - start))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # half a letter, as a browser may send it, is found too
