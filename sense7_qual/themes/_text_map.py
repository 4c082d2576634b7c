"""A map of the texts: texts that are alike in meaning stand near each other in the plane."""

from __future__ import annotations

import importlib.util
from typing import Final

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments, check_least
from sense7_qual.errors import ImportRefused
from sense7_qual.themes._neighbours import Floats, Vectors
from sense7_qual.themes._results import PLACES
from sense7_qual.themes._texts import Embed, Progress, Texts, distinct_texts, embedded

#: So many texts are placed by t-SNE itself; the others between those that they are nearest to.
_MOST_LANDMARKS: Final = 2_000
_LEAST_FOR_TSNE: Final = 10
_PERPLEXITY: Final = 30.0
_ITERATIONS: Final = 500
_NEAREST: Final = 3
#: Of the map's width: how far apart equal texts are drawn.
_APART: Final = 0.004
_GOLDEN_ANGLE: Final = np.pi * (3 - np.sqrt(5))
_BLOCK: Final = 1_000


@PLACES.returns
def text_map(
    units: pd.DataFrame, *, embed: Embed, seed: int = 0, progress: Progress | None = None
) -> pd.DataFrame:
    """Place the texts in the plane, texts of similar meaning close to each other.

    For looking, not for measuring: close texts are alike, but distance says little, and neither the axes nor
    the gaps have a meaning (t-SNE). Up to 2,000 distinct texts are placed by t-SNE; of more, 2,000 drawn by
    `seed` are, and each other text is placed among the three of them that are most similar to it. The order
    of the rows has no effect; the same units, model, seed and versions give the same map.

    Parameters
    ----------
    units
        The `units` frame.
    embed
        A function from a list of texts to an array (n, d), such as `models.embedder()`.
    seed
        Seed, 0 or more.
    progress
        `progress(stage, done, total)` with the stages embed and place.

    Raises
    ------
    TableError
        Not a `units` frame; `embed` does not return one finite vector per text.
    ImportRefused
        The extra ``themes`` is not installed.

    References
    ----------
    van der Maaten & Hinton (2008), Journal of Machine Learning Research 9, 2579–2605; Kobak & Berens (2019),
    Nature Communications 10, 5416 (begin with principal components).

    Examples
    --------
    >>> from sklearn.feature_extraction.text import HashingVectorizer
    >>> counts = HashingVectorizer(n_features=64)
    >>> units = pd.DataFrame({"unit_id": ["a", "b", "c"], "text": ["so kind", "too slow", ""],
    ...     "document_id": "d", "case_id": "p", "position": [1, 2, 3]})
    >>> text_map(units, embed=lambda texts: counts.transform(texts).toarray()).round(2)
      unit_id    x    y
    0       a  1.0  0.0
    1       b -1.0  0.0
    2       c  NaN  NaN
    """
    check_arguments(text_map, locals())
    check_least(text_map, 0, seed=seed)
    if importlib.util.find_spec("sklearn") is None:
        raise ImportRefused(
            "text_map: expected the packages of the extra 'themes' – found no sklearn – "
            "pip install 'sense7_qual[themes]'."
        )
    report = progress or (lambda stage, done, total: None)
    texts = distinct_texts(units)
    places = np.empty((0, 2))
    if texts.distinct:
        vectors = embedded(texts.distinct, embed, report)
        report("place", 0, len(vectors))
        places = _scaled(_placed(vectors, seed))
        report("place", len(vectors), len(vectors))
    own = texts.units[["unit_id"]].assign(x=np.nan, y=np.nan)
    own[["x", "y"]] = _spread(texts, places)
    return own.set_index("unit_id").loc[units["unit_id"].tolist()].reset_index()


def _placed(vectors: Vectors, seed: int) -> Floats:
    n = len(vectors)
    if n <= _MOST_LANDMARKS:
        return _by_tsne(vectors, seed)
    drawn = np.sort(np.random.default_rng(seed).permutation(n)[:_MOST_LANDMARKS])
    places = np.empty((n, 2))
    places[drawn] = _by_tsne(vectors[drawn], seed)
    others = np.setdiff1d(np.arange(n), drawn)
    for begin in range(0, len(others), _BLOCK):
        block = others[begin : begin + _BLOCK]
        cosines = (vectors[block] @ vectors[drawn].T).round(6)
        nearest = np.argsort(-cosines, axis=1, kind="stable")[:, :_NEAREST]
        weights = np.exp(5 * np.take_along_axis(cosines, nearest, 1).astype(np.float64))
        weights /= weights.sum(axis=1, keepdims=True)
        places[block] = (places[drawn][nearest] * weights[:, :, None]).sum(axis=1)
    return places


def _by_tsne(vectors: Vectors, seed: int) -> Floats:
    """Return the places of the rows: by t-SNE from their principal components, few of them by these alone."""
    import threadpoolctl  # type: ignore[import-untyped]
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    n, width = vectors.shape
    if n == 1:
        return np.zeros((1, 2))
    # Sums over several threads differ in the last bit from run to run, and t-SNE makes much of that.
    with threadpoolctl.threadpool_limits(1):
        most = min(50, n, width)
        parts = PCA(n_components=most, svd_solver="full").fit_transform(vectors.astype(np.float64))
        begin = np.zeros((n, 2))
        begin[:, : min(2, most)] = parts[:, :2]
        if n < _LEAST_FOR_TSNE or not begin[:, 0].any():
            return begin
        model = TSNE(
            perplexity=min(_PERPLEXITY, (n - 1) / 3),
            init=begin / begin[:, 0].std() * 1e-4,
            learning_rate="auto",
            max_iter=_ITERATIONS,
            random_state=seed,
            n_jobs=1,
        )
        placed: Floats = model.fit_transform(parts).astype(np.float64)
    return placed


def _scaled(places: Floats) -> Floats:
    """Bring the map into −1 … 1, with the same scale on both axes."""
    low, high = places.min(axis=0), places.max(axis=0)
    half = float((high - low).max()) / 2
    scaled: Floats = ((places - (low + high) / 2) / (half or 1.0)).round(9) + 0.0
    return scaled


def _spread(texts: Texts, places: Floats) -> Floats:
    """Return the place of each unit: those of an equal text on a spiral around it."""
    text_of = texts.text_of
    rank = pd.Series(text_of).groupby(text_of).cumcount().to_numpy(np.float64)
    turn = rank * _GOLDEN_ANGLE
    around = np.column_stack([np.cos(turn), np.sin(turn)]) * (_APART * np.sqrt(rank))[:, None]
    of_unit = np.full((len(text_of), 2), np.nan)
    inside = text_of >= 0
    of_unit[inside] = np.clip(places[text_of[inside]] + around[inside], -1.0, 1.0)
    return of_unit
