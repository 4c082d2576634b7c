"""The units nearest to each unit: what can be said where there are too few for themes."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual.errors import TableError
from sense7_qual.themes._neighbours import check_number, nearest_neighbours
from sense7_qual.themes._texts import Embed, distinct_texts, embedded

__all__ = ["nearest"]


def nearest(units: pd.DataFrame, *, embed: Embed, k: int = 5) -> pd.DataFrame:
    """Return each unit's `k` nearest others by meaning: what can be said of a study too small for themes.

    Parameters
    ----------
    units
        The `units` frame, from 2 units on. Blank texts have no row and are nobody's neighbour.
    embed
        A function from a list of texts to an array (n, d).
    k
        Neighbours per unit; fewer where there are not so many.

    Returns
    -------
    pandas.DataFrame
        One row per unit and rank, by unit_id: `unit_id`, `rank` (from 1), `neighbour_id`, `similarity`
        (cosine, −1 … 1; 1 for an equal text). Ties stand in the order of their ids.

    Raises
    ------
    TableError
        Not a `units` frame, fewer than two texts, or `k` below 1.
    ImportRefused
        More than 20,000 texts, and the extra ``large`` (faiss) is not installed.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": ["a", "b", "c"], "text": ["slow", "kind", "slow"],
    ...     "document_id": "d", "case_id": "p", "position": [1, 2, 3]})
    >>> nearest(units, embed=lambda texts: np.array([[len(set(t)), t == "slow"] for t in texts]), k=1)
      unit_id  rank neighbour_id  similarity
    0       a     1            c    1.000000
    1       b     1            a    0.970143
    2       c     1            a    1.000000
    """
    check_arguments(nearest, locals())
    texts = distinct_texts(units)
    has_text = texts.text_of >= 0
    if has_text.sum() < 2 or k < 1:
        raise TableError(
            f"nearest: expected two texts or more and k from 1 – found {int(has_text.sum())} texts, k = {k} "
            "– pass more units."
        )
    check_number(int(has_text.sum()), function="nearest")
    ids = texts.units["unit_id"]
    vectors = embedded(texts.distinct, embed, lambda stage, done, total: None)
    near = nearest_neighbours(vectors[texts.text_of[has_text]], k)
    n, k = near.index.shape
    names = ids[has_text].to_numpy()
    return pd.DataFrame(
        {
            "unit_id": names.repeat(k),
            "rank": np.tile(np.arange(1, k + 1), n),
            "neighbour_id": names[near.index.ravel()],
            "similarity": near.similarity.ravel(),
        }
    )
