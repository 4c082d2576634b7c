"""The terms that set each group of texts apart: class-based TF-IDF, as BERTopic computes it."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from sense7_qual.errors import TableError
from sense7_qual.themes._communities import NO_GROUP, Labels

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import CountVectorizer

__all__ = ["N_TERMS", "StopWords", "Terms", "counter", "labels_of", "plain_texts"]

StopWords = str | Collection[str] | None

N_TERMS: Final = 10
_LABEL_TERMS: Final = 3
_WORD: Final = r"(?u)\b\w\w+\b"

#: Kept beside another word ("not helpful"), no term alone.
_NEGATIONS: Final = frozenset({"not", "no", "never"})
#: In scikit-learn's English list, but a whole answer in a comment field.
_ANSWERS: Final = frozenset({"nothing", "none", "nobody"})
_UNAPOSTROPHED: Final = frozenset({"im", "ive", "id", "youre", "youve", "theyre", "theyve", "weve", "thats"})
_CONTRACTIONS: Final = (
    (re.compile(r"[’ʼ]"), "'"),
    (re.compile(r"\bcan(?:'t|not|t)\b"), "can not"),
    (re.compile(r"\bwon'?t\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\b(do|did|does|is|was|are|were|has|have|had|could|would|should)nt\b"), r"\1 not"),
    (re.compile(r"'(?:s|m|d|ve|re|ll)\b"), " "),
)


class Terms:
    """The counts of words and pairs of words in distinct texts, from which groups get their terms."""

    def __init__(self, texts: list[str], stop_words: StopWords) -> None:
        words = plain_texts(texts, stop_words)
        self._names, self._counts = _counted(words, stop_words)

    def of(self, groups: Labels) -> pd.DataFrame:
        """Return the terms of each group: theme, rank, term, weight (c-TF-IDF).

        The weight is the square root of a term's share of the group's words, times log(1 + A / f): A is the
        mean number of words of a group, f how often the term stands in all texts (Grootendorst 2022; the
        square root keeps one talkative writer from being a theme). Texts in no group count as one.
        """
        if self._counts is None:
            return _terms_frame([])
        from scipy.sparse import csr_matrix

        numbers, row = np.unique(groups, return_inverse=True)
        member = csr_matrix((np.ones(len(row)), (row, np.arange(len(row)))))
        counts = csr_matrix(member @ self._counts)
        counts.sort_indices()
        total = np.asarray(counts.sum(axis=1)).ravel()
        rarity = np.log(1 + int(total.mean()) / np.asarray(counts.sum(axis=0)).ravel())
        rows = []
        for place, number in enumerate(numbers.tolist()):
            own = slice(counts.indptr[place], counts.indptr[place + 1])
            terms, weight = counts.indices[own], counts.data[own]
            weight = np.sqrt(weight / max(total[place], 1)) * rarity[terms]
            best = np.argsort(-weight.round(9), kind="stable")[:N_TERMS]
            if number != NO_GROUP:
                rows += [(number, self._names[terms[at]], float(weight[at])) for at in best]
        return _terms_frame([row for row in rows if row[2] > 0])


def labels_of(terms: pd.DataFrame) -> dict[int, str]:
    """Join the top terms of each theme, leaving out a term that repeats a word of one before it."""
    labels: dict[int, str] = {}
    for theme, listed in terms.groupby("theme")["term"]:
        chosen: list[str] = []
        for term in listed:
            if not set(term.split()) & set(" ".join(chosen).split()) and len(chosen) < _LABEL_TERMS:
                chosen.append(term)
        labels[int(str(theme))] = ", ".join(chosen)
    return labels


def plain_texts(texts: list[str], stop_words: StopWords) -> list[str]:
    """Return the texts in lower case, English contractions written out where the stop words are English."""
    english = isinstance(stop_words, str) and stop_words == "english"
    return [_plain(text, english=english) for text in texts]


def counter(words: list[str], stop_words: StopWords) -> CountVectorizer | None:
    """Return a counter of the words and pairs that stand in two texts or more, or None without any."""
    vocabulary, _ = _counted(words, stop_words)
    return _all_words(stop_words, vocabulary=vocabulary) if vocabulary else None


def _counted(words: list[str], stop_words: StopWords) -> tuple[list[str], csr_matrix | None]:
    """Return the words and pairs that stand in two texts or more, and how often in which text."""
    every = _all_words(stop_words)
    analyse = every.build_analyzer()
    if not any(analyse(text) for text in words):
        return [], None
    counts = every.fit_transform(words)
    names = every.get_feature_names_out()
    in_texts = np.bincount(counts.indices, minlength=len(names))
    kept = np.flatnonzero((in_texts >= 2) & ~np.isin(names, sorted(_NEGATIONS)))
    return names[kept].tolist(), counts[:, kept] if len(kept) else None


def _all_words(stop_words: StopWords, vocabulary: list[str] | None = None) -> CountVectorizer:
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(
        ngram_range=(1, 2), stop_words=_stop_list(stop_words), token_pattern=_WORD, vocabulary=vocabulary
    )


def _stop_list(stop_words: StopWords) -> list[str] | None:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    if isinstance(stop_words, str) and stop_words == "english":
        return sorted((ENGLISH_STOP_WORDS | _UNAPOSTROPHED) - _NEGATIONS - _ANSWERS)
    if isinstance(stop_words, str):
        raise TableError(
            f"fit: expected stop_words 'english', a list of words, or None – found {stop_words!r} – pass the "
            "words of that language as a list."
        )
    return None if stop_words is None else sorted(word.casefold() for word in stop_words)


def _plain(text: str, *, english: bool) -> str:
    text = text.lower()
    for pattern, plain in _CONTRACTIONS if english else ():
        text = pattern.sub(plain, text)
    return text


def _terms_frame(rows: list[tuple[int, str, float]]) -> pd.DataFrame:
    # Equal weights stand in the order of their terms, whatever the machine's sums are in the last digit.
    ordered = sorted(rows, key=lambda row: (row[0], -round(row[2], 9), row[1]))
    frame = pd.DataFrame(ordered, columns=["theme", "term", "weight"])
    frame = frame.astype({"theme": "int64", "term": "string", "weight": "float64"})
    frame.insert(1, "rank", frame.groupby("theme").cumcount() + 1)
    return frame
