"""What repeats a rare passage of participants' texts, where it is too short to be surely theirs.

A passage is one that only few participants wrote: 18 letters and digits in a row, or 12 with a word in
them that few used and that is no common word of a language. A name in half a sentence is one; "in the
conversation" is none. A person must judge: a rule of a codebook has such passages by chance, too.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from typing import Final

import pandas as pd

from sense7_qual._languages import COMMON_WORDS
from sense7_qual.codebook import Codebook
from sense7_qual.corpus import QUESTION
from sense7_qual.store._stored.repeated_passages import Search, normalised, run_words, texts_in, words_in

_RUN: Final = 12  # letters and digits: two or three words
_LONG: Final = 18  # of them: by chance, one in a hundred rules of a codebook has so many of 1,860 essays
_FEW: Final = 2  # participants
_SHORTEST_WORD: Final = 3  # letters of a word that can be rare

_COMMON: Final = frozenset(map(normalised, COMMON_WORDS))

Said = Sequence[tuple[str, str]]
"""Who said it, and the text."""


Written = tuple[str, str, str]
"""A text that somebody wrote: its field, its place there, and the text."""


def repeating_rarely(words: Collection[str], said: Said, *, free: Iterable[str] = ()) -> set[str]:
    """Return which of `words` repeat a rare passage of what was `said`.

    Passages of the texts in `free`, and of the codebook that comes with the package, are no one's in
    particular.
    """
    runs = {text: {**run_words(text, _RUN), **run_words(text, _LONG)} for text in words}
    search = Search.of(run for own in runs.values() for run in own)
    everybodys = frozenset().union(*map(search.runs_in, (*free, *_shipped())))
    speakers: dict[str, set[str]] = defaultdict(set)
    for person, text in said:
        for run in search.runs_in(text) - everybodys:
            speakers[run].add(person)
    inside = {word for own in runs.values() for run in speakers.keys() & own.keys() for word in own[run]}
    rare = _rare_words(inside, said)
    rare_runs = {run for own in runs.values() for run in _rare_runs(own, speakers, rare)}
    return {text for text, own in runs.items() if not rare_runs.isdisjoint(own)}


def words_of_codebook(book: Codebook) -> Iterator[Written]:
    """Yield every text of a codebook, with its code."""
    for code in book.codes:
        where = f"{book.fingerprint}, code {code.id!r}"
        yield from (("codebook", where, text) for text in texts_in(asdict(code)))
    rest = {name: value for name, value in asdict(book).items() if name != "codes"}
    yield from (("codebook", book.fingerprint, text) for text in texts_in(rest))


def said_in(units: pd.DataFrame, columns: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Return who said what: the texts, the turns before them, and what is in these other columns."""
    person = dict(zip(units["unit_id"], units["case_id"].fillna(units["unit_id"]), strict=True))
    said = [(str(person[unit_id]), text) for unit_id, _, _, text in all_texts(units)]
    for name in columns:
        if name != "context":
            pairs = zip(units["unit_id"], units[name], strict=True)
            said += [(str(person[unit_id]), value) for unit_id, value in pairs if isinstance(value, str)]
    return said


def all_texts(units: pd.DataFrame) -> Iterator[tuple[str, str, int | None, str]]:
    """Yield every text of the units, and every turn before one but the study's questions, with its place."""
    for unit_id, text in zip(units["unit_id"], units["text"], strict=True):
        yield unit_id, "text", None, text
    if "context" not in units:
        return
    for unit_id, context in zip(units["unit_id"], units["context"], strict=True):
        for turn, said in enumerate(json.loads(context) if isinstance(context, str) else ()):
            if said["role"] != QUESTION:
                yield unit_id, "context", turn, said["text"]


def _rare_runs(
    own: Mapping[str, Sequence[str]], speakers: Mapping[str, set[str]], rare: frozenset[str]
) -> Iterator[str]:
    """Yield the runs of a text that are rare: few said them, or one of their words."""
    for run in speakers.keys() & own.keys():
        is_long = len(run) >= _LONG or any(_is_caseless(letter) for letter in run)
        if (is_long and len(speakers[run]) <= _FEW) or not rare.isdisjoint(own[run]):
            yield run


def _is_caseless(letter: str) -> bool:
    """Return True for a letter of a script without capitals, of which a few say a sentence."""
    return letter.isalpha() and letter.upper() == letter


def _rare_words(words: set[str], said: Said) -> frozenset[str]:
    speakers: dict[str, set[str]] = {
        word: set() for word in words if len(word) >= _SHORTEST_WORD and word not in _COMMON
    }
    for person, text in said if speakers else ():
        for word in words_in(text) & speakers.keys():
            speakers[word].add(person)
    return frozenset(word for word, by in speakers.items() if len(by) <= _FEW)


@cache
def _shipped() -> tuple[str, ...]:
    """Return the texts of the codebook that comes with the package."""
    return tuple(texts_in(asdict(Codebook.read("sense7"))))
