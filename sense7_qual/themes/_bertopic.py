"""BERTopic on a neighbour graph: the groups of texts, the terms that set each apart, their stability.

BERTopic's own reduction and clustering (UMAP, HDBSCAN) return one topic, or lose a sixth of the texts,
on a few hundred short texts; here it is given the vectors as they are and a graph clusterer.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual.errors import TableError
from sense7_qual.themes._graph_clusters import (
    NO_GROUP,
    Floats,
    Labels,
    Neighbours,
    Vectors,
    by_size,
    group,
    nearest_neighbours,
)
from sense7_qual.themes._stability import jaccard_of_resamples
from sense7_qual.themes._texts import Progress

if TYPE_CHECKING:
    from bertopic import BERTopic
    from sklearn.feature_extraction.text import CountVectorizer

__all__ = ["Topics", "topics"]

_N_NEIGHBOURS: Final = 10
#: A resample draws 63 % of the texts: of 40 known neighbours at least 10 are drawn, but for 1 row in 10⁶.
_N_KNOWN: Final = 40
_N_STARTS: Final = 10
_N_TERMS: Final = 10
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


@dataclass(frozen=True, slots=True)
class Topics:
    """Groups of distinct texts: a number per text, terms per group, Jaccard per resample and group."""

    labels: Labels
    terms: pd.DataFrame = field(repr=False)
    jaccard: Floats
    settings: dict[str, Any]


@dataclass(slots=True)
class _GraphClusterer:
    """The clusterer that BERTopic is given: `fit` and `labels_` (`predict` is for new texts: none here)."""

    weights: npt.NDArray[np.int64]
    resolution: float
    min_size: int
    seed: int
    report: Progress
    labels_: Labels = field(init=False)
    near: Neighbours = field(init=False)

    def fit(self, X: Vectors, y: None = None) -> _GraphClusterer:  # noqa: N803 - BERTopic's name
        self.report("cluster", 0, 1)
        self.near = nearest_neighbours(X, _N_KNOWN)
        labels = group(
            X,
            self.near.nearest(_N_NEIGHBOURS),
            resolution=self.resolution,
            min_size=self.min_size,
            seed=self.seed,
            n_starts=_N_STARTS,
        )
        self.labels_ = by_size(labels, self.weights)
        self.report("cluster", 1, 1)
        return self


def topics(
    texts: list[str],
    vectors: Vectors,
    *,
    weights: npt.NDArray[np.int64],
    resolution: float,
    min_size: int,
    n_resamples: int,
    seed: int,
    stop_words: str | Collection[str] | None,
    report: Progress,
) -> Topics:
    """Group distinct texts, name each group's terms, and resample the grouping.

    Parameters
    ----------
    texts, vectors, weights
        Distinct texts, their vectors (n, d) of length 1, and how many units have each.
    resolution, min_size, n_resamples, seed, stop_words
        As `granularity` and the others of `themes.fit`.
    report
        Called with (stage, done, total).

    Returns
    -------
    Topics
        `labels` (n,): 0 has the most units, −1 is none. `terms`: theme, rank, term, weight (c-TF-IDF).
    """
    clusterer = _GraphClusterer(weights, resolution, min_size, seed, report)
    terms = _described(texts, vectors, clusterer, stop_words)
    report("describe", 1, 1)
    jaccard = jaccard_of_resamples(
        vectors,
        clusterer.near,
        clusterer.labels_,
        n_neighbours=_N_NEIGHBOURS,
        resolution=resolution,
        min_size=min_size,
        n_resamples=n_resamples,
        seed=seed,
        report=lambda done, total: report("resample", done, total),
    )
    settings = {"n_neighbours": _N_NEIGHBOURS, "n_starts": _N_STARTS}
    return Topics(clusterer.labels_, terms, jaccard, settings)


def _described(
    texts: list[str],
    vectors: Vectors,
    clusterer: _GraphClusterer,
    stop_words: str | Collection[str] | None,
) -> pd.DataFrame:
    """Run BERTopic with the clusterer and return the terms of each group."""
    english = isinstance(stop_words, str) and stop_words == "english"
    words = [_plain(text, english=english) for text in texts]
    counter = _counter(words, _stop_list(stop_words))
    if counter is None:  # no word stands in two texts: groups without terms
        clusterer.fit(vectors)
        return _terms_frame([])
    model = _bertopic(clusterer, counter)
    model.fit_transform(words, embeddings=vectors)
    # BERTopic numbers groups by distinct texts, we by units: any text of a group tells which is which.
    number = dict(zip(model.topics_, clusterer.labels_.tolist(), strict=True))
    return _terms_frame(
        [
            (number[topic], term, weight)
            for topic, listed in model.get_topics().items()
            for term, weight in listed
            if number[topic] != NO_GROUP and term  # BERTopic fills up a short list with empty terms
        ]
    )


def _bertopic(clusterer: _GraphClusterer, counter: CountVectorizer) -> BERTopic:
    with warnings.catch_warnings():
        # umap, which BERTopic imports and we do not use, misses Tensorflow.
        warnings.filterwarnings("ignore", message="Tensorflow not installed", category=ImportWarning)
        from bertopic import BERTopic
        from bertopic.dimensionality import BaseDimensionalityReduction
        from bertopic.vectorizers import ClassTfidfTransformer

    return BERTopic(
        language="multilingual",  # "english" would delete every letter outside A–Z
        umap_model=BaseDimensionalityReduction(),
        hdbscan_model=clusterer,
        vectorizer_model=counter,
        # The square root of frequencies: in a few hundred short texts one talkative writer is no theme.
        ctfidf_model=ClassTfidfTransformer(reduce_frequent_words=True),
        top_n_words=_N_TERMS,
        calculate_probabilities=False,
        verbose=False,
    )


def _counter(words: list[str], stop_list: list[str] | None) -> CountVectorizer | None:
    """Return a counter of the words and pairs that stand in two texts or more, or None without any."""
    from sklearn.feature_extraction.text import CountVectorizer

    settings: dict[str, Any] = {"ngram_range": (1, 2), "stop_words": stop_list, "token_pattern": _WORD}
    counts = CountVectorizer(binary=True, **settings)
    analyse = counts.build_analyzer()
    if not any(analyse(text) for text in words):
        return None
    in_texts = np.asarray(counts.fit_transform(words).sum(axis=0)).ravel()
    known = counts.get_feature_names_out()[in_texts >= 2]
    vocabulary = [term for term in known if term not in _NEGATIONS]
    return CountVectorizer(vocabulary=vocabulary, **settings) if vocabulary else None


def _stop_list(stop_words: str | Collection[str] | None) -> list[str] | None:
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
