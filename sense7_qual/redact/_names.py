"""A list of names, and their places in a text: in any case, with or without accents and usual endings."""

from __future__ import annotations

import re
import sys
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

_LISTS: Final = tomllib.loads((Path(__file__).parent / "words.toml").read_text("utf-8"))


def words(name: str) -> tuple[str, ...]:
    """Return the list called `name`."""
    return tuple(_LISTS[name])


def any_of(*names: str) -> str:
    """Return the words of the lists as alternatives of a regular expression, in their order."""
    return "|".join(re.escape(word) for name in names for word in words(name))


#: Letters of the scripts that do not part words: there a name is found inside of what looks like one.
UNPARTED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"

_HAS_UNPARTED: Final = re.compile(f"[{UNPARTED}]")
_BETWEEN: Final = re.compile(r"[\s.,'’·\u2010\u2011-]{1,3}")
# Letters that are typed without what NFKD cannot take off; vowel points of Hebrew and Arabic; accents.
_PLAINER: Final = str.maketrans(
    {
        "ł": "l",
        "Ł": "L",
        "ø": "o",
        "Ø": "O",
        "ı": "i",
        "đ": "d",
        "Đ": "D",
        "ð": "d",
        "æ": "ae",
        "œ": "oe",
        "ς": "σ",
    }
)
_MARKS: Final = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]")
_PREFIXES: Final = {"ARABIC": words("arabic_prefixes"), "HEBREW": words("hebrew_prefixes")}
_CASES: Final = re.compile(f"(?:{any_of('cyrillic_endings')})$")
_SHORTEST: Final = 3

_Span = tuple[int, int]


class Names:
    """A list of names, each found as whole words; the longest first.

    Attributes
    ----------
    names
        {name as written: the person}.
    exact
        Whether a name counts as it is listed and in capitals alone.
    inflected
        Whether endings, particles and initials that are usual in the name's script count.
    """

    __slots__ = ("_cases", "_forms", "_inside", "_longest", "_persons", "exact")

    def __init__(self, names: Mapping[str, str], *, exact: bool, inflected: bool) -> None:
        self.exact = exact
        self._persons = {_spelling(name): person(whose) for name, whose in names.items()}
        self._forms: dict[tuple[str, ...], str] = {}
        parted = {name: whose for name, whose in names.items() if not _HAS_UNPARTED.search(name)}
        for make in (_as_listed, _inflected, _shortened) if inflected else (_as_listed,):
            for name, whose in parted.items():  # what is listed comes before what is made of it
                for form in make(tuple(word for word, _, _ in _words(self._cased(name)))):
                    self._forms.setdefault(form, person(whose))
        stems = {_stems(form): whose for form, whose in self._forms.items() if inflected}
        self._cases = {form: whose for form, whose in stems.items() if form}
        self._longest = max(map(len, self._forms), default=0)
        unparted = [_BETWEEN.split(name) for name in names if _HAS_UNPARTED.search(name)]
        unparted += [[last, *first] for *first, last in unparted if inflected and first]
        inside = sorted((_joined(parts) for parts in unparted), key=len, reverse=True)
        self._inside = re.compile("|".join(inside)) if inside else None

    def __repr__(self) -> str:
        """Show the number of names, and no name."""
        return f"Names({len(self._persons)})"

    def _cased(self, text: str) -> str:
        return text if self.exact else text.casefold()

    def person(self, written: str) -> str:
        """Return the person of a name, in one spelling; a name that is not listed is its own."""
        if (spelling := _spelling(written)) in self._persons:
            return self._persons[spelling]
        words = tuple(word for word, _, _ in _words(self._cased(written)))
        return self._forms.get(words) or self._cases.get(_stems(words)) or person(written)

    def spans(self, text: str) -> Iterator[_Span]:
        """Yield the span of each name in `text`, from left to right."""
        inside = [at.span() for at in self._inside.finditer(text)] if self._inside else []
        last = 0
        for start, end in sorted([*self._whole(text), *inside], key=lambda span: (span[0], -span[1])):
            if start >= last:
                yield start, end
                last = end

    def _whole(self, text: str) -> Iterator[_Span]:
        words = list(_words(text)) if self._forms else []
        at = 0
        while at < len(words):
            length = self._length_at(words, at, text)
            if length:
                yield words[at][1], words[at + length - 1][2]
            at += length or 1

    def _length_at(self, words: list[tuple[str, int, int]], at: int, text: str) -> int:
        """Return the length in words of the longest name that begins at `at`; 0 if there is none."""
        longest, so_far = 0, list[str]()
        for length, (word, start, _) in enumerate(words[at : at + self._longest], start=1):
            if length > 1 and not _BETWEEN.fullmatch(text, words[at + length - 2][2], start):
                break
            if len(word) == 1 and so_far and not _is_initial(text, start):
                break
            so_far.append(word)
            if self._is_known(so_far):
                longest = length
        return longest

    def _is_known(self, written: list[str]) -> bool:
        if not self.exact:
            words = tuple(map(str.casefold, written))
        elif all(map(str.isupper, written)):
            words = tuple(word.capitalize() for word in written)
        else:
            words = tuple(written)
        return words in self._forms or tuple(written) in self._forms or _stems(words) in self._cases


def _joined(parts: list[str]) -> str:
    return r"[\s·]{0,2}".join(map(re.escape, parts))


def _is_initial(text: str, at: int) -> bool:
    """Return True if the letter stands for a name: "Anna M", not "Anna's", "anna a year ago" or "May I"."""
    return text[at - 1] not in "'’" and (
        text[at + 1 : at + 2] == "." or (text[at].isupper() and text[at] != "I")
    )


def person(written: str) -> str:
    """Return the one spelling of a name, by which it has one pseudonym."""
    return " ".join(_BETWEEN.sub(" ", _plainer(_spelling(written))).split())


def _spelling(written: str) -> str:
    return unicodedata.normalize("NFC", written).casefold()


def _as_listed(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield words


def _inflected(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the name with what its script writes to its words: Annas, Γιάννη, وأحمد."""
    if not words or len(words[-1]) < _SHORTEST:
        return
    script = unicodedata.name(words[-1][0], "").partition(" ")[0]
    if script == "LATIN":
        yield (*words[:-1], words[-1] + "s")
    if script == "GREEK" and words[-1].endswith("σ"):
        yield (*words[:-1], words[-1][:-1])
    yield from ((before + words[0], *words[1:]) for before in _PREFIXES.get(script, ()))


def _stems(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return words of Cyrillic letters without their case endings (Ивана Петрова); () for others."""
    stems = tuple(_CASES.sub("", word) for word in words if "\u0400" <= word[0] <= "\u04ff")
    return stems if len(stems) == len(words) and all(len(stem) >= _SHORTEST for stem in stems) else ()


def _shortened(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield J. Smith, John S. and Smith, John of John Smith."""
    if len(words) > 1 and all(len(word) > 1 for word in words):
        first, *middle, last = words
        yield (first[0], last)
        yield (first, last[0])
        yield (last, first, *middle)
        if middle:
            yield (first, last)
            yield (first, middle[0][0])
            yield (first[0], *middle, last)
            yield (*middle, last, first)
            yield (first[0], *(word[0] for word in middle), last)


def _words(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each word without its accents, with its place."""
    for match in _word_pattern().finditer(text):
        word = match[0]
        yield (word if word.isascii() else _plainer(word)), *match.span()


@lru_cache(maxsize=65536)
def _plainer(word: str) -> str:
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", word))).translate(
        _PLAINER
    )


@lru_cache(maxsize=1)
def _word_pattern() -> re.Pattern[str]:
    # Python's \w has no combining marks, of which many scripts write their vowels.
    marks = [sign for sign in map(chr, range(0x300, 0x1F000)) if unicodedata.category(sign).startswith("M")]
    marks += [sign for sign in map(chr, range(0xE0100, 0xE01F0)) if ord(sign) <= sys.maxunicode]
    return re.compile(f"[^\\W_](?:[^\\W_]|[{''.join(marks)}])*")
