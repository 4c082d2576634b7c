"""The categories that could have been given, and their order.

Numbers have an order. Words have none but the one that the caller gives: `categories=[…]`, or an ordered
Categorical. The alphabet is no order of a scale ("fair" would come before "good" and "poor").
"""

from __future__ import annotations

from collections.abc import Sequence, Set as AbstractSet
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._missing_codes import codes_for_missing, counted
from sense7_qual.agreement.coefficients._patterns import Coded, Patterns
from sense7_qual.agreement.coefficients._weights import Weights, agreement_weights
from sense7_qual.errors import ArgumentError, TableError

__all__ = ["check_scale", "weighted"]

Floats = npt.NDArray[np.float64]


def check_scale(table: Coded | Patterns, categories: Sequence[Any] | None) -> None:
    """Refuse values that are not among `categories` or, where these are not stated, codes for missing."""
    if isinstance(table, Patterns):
        counts = table.marginals.astype(np.int64)
    else:
        counts = np.bincount(table.codes.ravel(), minlength=len(table.categories) + 1)[1:]
    levels, counts = table.categories[counts > 0], counts[counts > 0]
    text = levels.dtype == object
    if categories is not None and len(levels):
        _places(levels, _wanted(categories, text=text))
    if categories is not None or table.ordered or not len(levels):
        return
    try:  # words may be numbers as text
        numbers = levels.astype(np.float64)
    except ValueError:
        return
    order = np.argsort(numbers)
    numbers, counts = numbers[order], counts[order]
    bad = codes_for_missing(numbers) if np.isfinite(numbers).all() else np.zeros(len(numbers), dtype=bool)
    if bad.any():
        beside = f"{numbers[~bad][0]:g} to {numbers[~bad][-1]:g}"
        codes = counted(numbers[bad], counts[bad], unit="cells")
        raise TableError(
            f"values: expected missing values to be None or NaN – found {codes}, beside {beside}"
            f", as codes for missing are – make them missing, or state the scale if they count: "
            "categories=[…] with every value."
        )


def _places(levels: npt.NDArray[Any], named: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return the place of each value among the named categories, or refuse one that is not there."""
    place: npt.NDArray[np.intp] = pd.Index(named).get_indexer(pd.Index(levels))
    absent = int((place < 0).sum())
    if absent:
        raise ArgumentError(
            f"categories: expected every value that occurs – found {absent} of {len(place)} missing from the "
            "categories – add them, or correct the values."
        )
    return place


def weighted(
    patterns: Patterns, categories: Sequence[Any] | None, weights: Weights | None
) -> tuple[Patterns, Floats]:
    """Return the patterns with all `categories`, and the weights of each pair of them (V, V)."""
    by_row = not (weights is None or isinstance(weights, str | pd.DataFrame))
    patterns = _with_categories(patterns, categories, by_row=by_row)
    words = patterns.categories.dtype == object
    if words and weights is not None and not patterns.ordered and not isinstance(weights, pd.DataFrame):
        raise ArgumentError(
            f"weights: expected an order of the {len(patterns.categories)} categories, because they are "
            "words – found none (words that look like numbers are words, too) – give them in order, "
            'categories=["poor", "fair", "good"], as an ordered Categorical, or as numbers.'
        )
    return patterns, agreement_weights(patterns.categories, weights)


def _with_categories(patterns: Patterns, categories: Sequence[Any] | None, *, by_row: bool) -> Patterns:
    """Add the categories that could have been given and were not; `by_row`: their order is a matrix's."""
    if categories is None or not len(patterns.categories):
        return patterns
    text = patterns.categories.dtype == object
    named = _wanted(categories, text=text)
    if by_row and not text and not np.array_equal(named, np.asarray(list(categories), dtype=np.float64)):
        raise ArgumentError(
            "categories: expected numbers in ascending order, as the rows of the matrix of weights are – "
            "found another order – sort them, and the rows and columns of the matrix with them."
        )
    place = _places(patterns.categories, named)
    counts = np.zeros((len(patterns.counts), len(named)), dtype=np.int64)
    counts[:, place] = patterns.counts
    coders = None if patterns.coders is None else np.append(place, -1)[patterns.coders]
    return replace(patterns, categories=named, counts=counts, coders=coders, ordered=True)


def _wanted(categories: Sequence[Any], *, text: bool) -> npt.NDArray[Any]:
    """Return the named categories in the kind of the values: words in their order, numbers sorted."""
    unordered = isinstance(categories, str) or (text and isinstance(categories, AbstractSet | dict))
    listed = [] if unordered or not np.iterable(categories) else list(categories)
    if listed and all(isinstance(one, str) for one in listed) and text:
        words = [one.strip() for one in listed]
        if len(set(words)) == len(words) and all(words):
            return np.asarray(words, dtype=object)
    elif listed and not any(isinstance(one, str | bytes) for one in listed) and not text:
        try:
            numbers = np.unique(np.asarray(listed, dtype=np.float64))
        except (TypeError, ValueError):
            numbers = np.array([np.nan])
        if np.isfinite(numbers).all():
            return numbers
    kind = "strings, each once, in the order of the scale" if text else "numbers"
    raise ArgumentError(
        f"categories: expected a list of {kind}, as the values are, none of them missing – found a "
        f"{type(categories).__name__} of others – name every category that could have been given."
    )
