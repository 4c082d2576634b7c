"""Texts as a search compares them: without case and accents."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["FoldedTexts", "find_folded", "folded"]

_END: Final = b"\xff"  # after each text; no byte of UTF-8
_BLOCK: Final = 1 << 17  # bytes that a search compares at once: they stay in the processor's cache


class _Letters(dict[int, str]):
    """What each letter is compared as, computed when it first comes."""

    def __missing__(self, letter: int) -> str:
        parts = unicodedata.normalize("NFKD", chr(letter).casefold())
        plain = "".join(part for part in parts if unicodedata.category(part) != "Mn").casefold()
        self[letter] = plain
        return plain


_LETTERS = _Letters()


def folded(text: str) -> str:
    """Return the text without case and accents, letter by letter; a new line counts as a space.

    >>> folded("Café, STRASSE, straße")
    'cafe, strasse, strasse'
    """
    return (text.lower() if text.isascii() else text.translate(_LETTERS)).replace("\n", " ")


def find_folded(text: str, wanted: str) -> tuple[int, int]:
    """Return where the folded `wanted` first stands in `text`, as code points; (0, 0) where it does not.

    >>> find_folded("Ein Café", "cafe")
    (4, 8)
    """
    at = folded(text).find(wanted)
    if at < 0 or not wanted:
        return 0, 0
    if text.isascii():  # each letter is one letter folded
        return at, at + len(wanted)
    start = end = length = 0
    for place, letter in enumerate(text):
        if length <= at:
            start = place
        length += len(folded(letter))
        end = place + 1
        if length >= at + len(wanted):
            break
    return start, end


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
        """Return which of the texts `among` these (one bool a text) hold the folded `wanted`."""
        held = np.zeros(len(among), dtype=bool)
        for first, last in zip(self._blocks[:-1], self._blocks[1:], strict=True):
            if among[first:last].any():
                held[first:last] = self._in_block(_encoded(wanted), first, last)
        return held & among

    def _in_block(self, wanted: bytes, first: int, last: int) -> npt.NDArray[np.bool_] | bool:
        """Return which of the texts from `first` to `last` hold the wanted bytes; False for none."""
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
