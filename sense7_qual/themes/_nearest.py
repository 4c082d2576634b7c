"""The units nearest to each unit, and the codes nearest to each theme."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments, check_least
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import TableError
from sense7_qual.themes import _themes
from sense7_qual.themes._expected import described
from sense7_qual.themes._neighbours import check_number, nearest_neighbours
from sense7_qual.themes._results import NEAREST, NEAREST_CODES
from sense7_qual.themes._texts import Embed, distinct_texts, embedded
from sense7_qual.themes._themes import Themes


@NEAREST.returns
def nearest(units: pd.DataFrame, *, embed: Embed, k: int = 5) -> pd.DataFrame:
    """List each unit's `k` nearest others by meaning, for studies too small for themes.

    Parameters
    ----------
    units
        The `units` frame, with 2 units or more. Blank texts have no row and are no neighbours.
    embed
        A function from a list of texts to an array (n, d).
    k
        Neighbours per unit; fewer if there are not enough.

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


#: As many as `fit` gives of each theme.
_MOST_QUOTES: Final = 10


@NEAREST_CODES.returns
def nearest_codes(
    themes: Themes, units: pd.DataFrame, codebook: Codebook, *, embed: Embed, k: int = 3
) -> pd.DataFrame:
    """List the codes with the definition and examples nearest to the typical texts of each theme.

    Read these codes first before you make a code from a theme. Similarity does not show that the codebook
    covers the theme: a near definition can mean something else, or the opposite, and one in other words, or
    in another language, can fit and be far. The decisions of people on its texts show whether a theme is
    covered (`against_codebook`).

    Parameters
    ----------
    themes, units
        The result of `fit`, and the units that it was computed from.
    codebook
        Its codable codes are compared: each by its label with the definition, and by its examples. A code
        without a definition is compared by its label and its examples.
    embed
        A function from a list of texts to an array (n, d).
    k
        Codes per theme; fewer if the codebook does not have enough.

    Raises
    ------
    TableError
        A typical unit is not among `units`, or `embed` does not return finite numbers.
    ArgumentError
        `k` is below 1.

    Notes
    -----
    In the shipped synthetic example, in which all codes have three examples, the code that covers a theme is
    the nearest for 12 of 19 covered themes, and among the nearest three for 15; without the examples it is
    the nearest for 3.

    Examples
    --------
    >>> themes = Themes(
    ...     assignments=pd.DataFrame(), terms=pd.DataFrame(), parameters={},
    ...     summary=pd.DataFrame({"theme": [0], "label": ["slow"]}),
    ...     quotes=pd.DataFrame({"theme": [0], "rank": [1], "unit_id": ["a"], "typicality": [0.9]}))
    >>> units = pd.DataFrame({"unit_id": ["a"], "text": ["so slow"], "document_id": "d", "case_id": "p",
    ...     "position": [1]})
    >>> book = Codebook(name="two", codes=(Code(id="care", label="Care"),
    ...     Code(id="speed", label="Speed", definition="How slow or fast it was.")))
    >>> nearest_codes(themes, units, book, embed=lambda texts: np.array(
    ...     [[1, "slow" in text] for text in texts]))[["theme", "rank", "code", "similarity"]].round(2)
       theme  rank   code  similarity
    0      0     1  speed        1.00
    1      0     2   care        0.71
    """
    check_arguments(nearest_codes, locals())
    check_least(nearest_codes, 1, k=k)
    typical = _themes.typical(themes, units, n=_MOST_QUOTES)
    codes = list(codebook.codable)
    of_code = [described(code) for code in codes]
    texts = sorted({*typical["text"], *(text for each in of_code for text in each)})
    if not len(typical) or not codes:
        return _table([], codes, themes)
    vectors = embedded(texts, embed, lambda stage, done, total: None).astype(float)
    place = {text: row for row, text in enumerate(texts)}
    middles = np.array([_mean(vectors[[place[text] for text in each]]) for each in of_code])
    rows: list[tuple[Any, ...]] = []
    for theme, listed in typical.groupby("theme", sort=False):
        similarity = middles @ _mean(vectors[listed["text"].map(place)])
        near = np.argsort(-similarity.round(12), kind="stable")[:k]
        rows += [(theme, rank, at, similarity[at]) for rank, at in enumerate(near, start=1)]
    return _table(rows, codes, themes)


def _mean(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the mean of vectors of length 1, brought to length 1."""
    mean: npt.NDArray[np.float64] = vectors.mean(axis=0)
    return mean / (np.linalg.norm(mean) or 1.0)


def _table(rows: list[tuple[Any, ...]], codes: list[Code], themes: Themes) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["theme", "rank", "code", "similarity"])
    table = table.astype({"theme": "int64", "rank": "int64", "code": "int64", "similarity": "float64"})
    whole = table.merge(themes.summary[["theme", "label"]], on="theme") if len(rows) else table
    if not len(rows):
        whole["label"] = pd.Series(dtype="string")
    whole["has_definition"] = [bool(codes[at].definition.strip()) for at in whole["code"]]
    whole["n_examples"] = [len(codes[at].examples) for at in whole["code"]]
    whole["code"] = pd.array([codes[at].id for at in whole["code"]], dtype="string")
    return whole[["theme", "label", "rank", "code", "similarity", "has_definition", "n_examples"]]
