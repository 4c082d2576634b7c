"""The themes as a fitted BERTopic, for its pictures and tools."""

from __future__ import annotations

import importlib.util
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual.errors import ImportRefused, TableError
from sense7_qual.themes._communities import Labels
from sense7_qual.themes._terms import N_TERMS, counter, plain_texts
from sense7_qual.themes._texts import Embed, Texts, distinct_texts, embedded, sha256_of
from sense7_qual.themes._themes import Themes

if TYPE_CHECKING:
    from bertopic import BERTopic


def to_bertopic(themes: Themes, units: pd.DataFrame, *, embed: Embed) -> Any:
    """Convert the themes to a fitted BERTopic with the same topic numbers and terms.

    For BERTopic's figures (`visualize_topics()`, `visualize_hierarchy()`) and tools. Terms that BERTopic
    computes later, such as those of joined topics, are its own: the ten of most weight. Its documents are the
    distinct texts that are not blank, in the order of the texts: it holds participants' words, so save it
    only where the texts may be kept.

    Parameters
    ----------
    themes, units
        The result of `fit`, and the units that it was computed from.
    embed
        The function that `fit` was given (with a cache no text is embedded twice).

    Returns
    -------
    bertopic.BERTopic
        Fitted; `topics_` has one number per distinct text, −1 for one in no theme.

    Raises
    ------
    TableError
        Not the units of the themes, or themes without a word shared by two texts.
    ImportRefused
        The extra ``themes`` is not installed.

    References
    ----------
    Grootendorst (2022), BERTopic, arXiv 2203.05794.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import HashingVectorizer
    >>> from sense7_qual.themes import fit
    >>> words = ["wait queue slow", "kind warm caring", "answer wrong fact"]
    >>> units = pd.DataFrame({"unit_id": [f"u{i:02}" for i in range(60)], "document_id": "d",
    ...     "text": [f"{words[i % 3]} {'abcdefghijklmnopqrst'[i // 3]}x" for i in range(60)],
    ...     "case_id": "p", "position": range(60)})
    >>> embed = lambda texts: HashingVectorizer(n_features=256).transform(texts).toarray()
    >>> model = to_bertopic(fit(units, embed=embed, n_resamples=2, seed=7), units, embed=embed)
    >>> sorted(model.topic_sizes_.items())
    [(0, 20), (1, 20), (2, 20)]
    """
    check_arguments(to_bertopic, locals())
    if importlib.util.find_spec("bertopic") is None:
        raise ImportRefused(
            "to_bertopic: expected the packages of the extra 'themes' – found no bertopic – "
            "pip install 'sense7_qual[themes]'."
        )
    texts = distinct_texts(units)
    if sha256_of(texts) != themes.parameters.get("units_sha256"):
        raise TableError(
            "to_bertopic: expected the units of the themes – found other ids or texts – pass the frame that "
            "`fit` was given."
        )
    words = plain_texts(texts.distinct, themes.parameters["stop_words"])
    made = counter(words, themes.parameters["stop_words"])
    if made is None:
        raise TableError(
            "to_bertopic: expected words that occur in two texts or more – found none – BERTopic cannot "
            "describe these topics."
        )
    model = _unfitted(_labels(themes, texts), made)
    vectors = embedded(texts.distinct, embed, lambda stage, done, total: None)
    # BERTopic would number topics anew, by distinct texts; ours are numbered by units.
    model._sort_mappings_by_frequency = lambda documents: documents
    model.representation_model = [_KnownTerms(themes.terms)]
    try:
        model.fit_transform(words, embeddings=vectors)
    finally:
        del model._sort_mappings_by_frequency
        model.representation_model = None
    return model


class _Known:
    """The clusterer that BERTopic is given: it knows the groups already."""

    def __init__(self, labels: Labels) -> None:
        self.labels_ = labels

    def fit(self, X: object, y: None = None) -> _Known:  # noqa: N803 - BERTopic's name
        return self


class _KnownTerms:
    """The terms that BERTopic is given for its topics; a topic without any keeps BERTopic's own."""

    def __init__(self, terms: pd.DataFrame) -> None:
        own = terms.groupby("theme")
        self._of = {theme: list(zip(one["term"], one["weight"], strict=True)) for theme, one in own}

    def extract_topics(
        self, model: object, documents: object, weights: object, topics: dict[int, list[tuple[str, float]]]
    ) -> dict[int, list[tuple[str, float]]]:
        """Return the terms of each topic, as many for each as BERTopic's figures expect."""
        blank = [("", 0.00001)] * N_TERMS  # as BERTopic fills up
        return {topic: [*self._of.get(topic, found), *blank][:N_TERMS] for topic, found in topics.items()}


def _labels(themes: Themes, texts: Texts) -> Labels:
    theme = themes.assignments["theme"].to_numpy()
    labels = np.empty(len(texts.distinct), dtype=np.int64)
    has_text = texts.text_of >= 0
    labels[texts.text_of[has_text]] = theme[has_text]
    return labels


def _unfitted(labels: Labels, made: object) -> BERTopic:
    with warnings.catch_warnings():
        # umap, which BERTopic imports and we do not use, misses Tensorflow.
        warnings.filterwarnings("ignore", message="Tensorflow not installed", category=ImportWarning)
        from bertopic import BERTopic
        from bertopic.dimensionality import BaseDimensionalityReduction
        from bertopic.vectorizers import ClassTfidfTransformer

    return BERTopic(
        language="multilingual",  # "english" would delete every letter outside A–Z
        umap_model=BaseDimensionalityReduction(),
        hdbscan_model=_Known(labels),
        vectorizer_model=made,
        # The square root of frequencies: in a few hundred short texts one talkative writer is no theme.
        ctfidf_model=ClassTfidfTransformer(reduce_frequent_words=True),
        top_n_words=N_TERMS,
        calculate_probabilities=False,
        verbose=False,
    )
