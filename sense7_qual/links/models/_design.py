"""What a model of ratings is fitted to: rows with a rating, predictors and a cluster, checked."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._messages import first_three
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.links._inputs import Range, checked_range, refuse_off_scale

__all__ = ["Observed", "levels_of", "observed"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Observed:
    """The complete rows: rating level, predictors in their own units, and cluster.

    Attributes
    ----------
    level : array (n,)
        0 … len(labels) − 1, in the order of the labels.
    labels : tuple of str
        The levels that occur, lowest first.
    predictors : array (n, predictors)
    names : tuple of str
    cluster : array (n,)
        0 … n_clusters − 1.
    n_missing : int
        Rows left out because a value is missing.
    nested : array (n,) or None
        0 … n_nested − 1, in the order of the clusters in which they are nested.
    """

    level: Integers
    labels: tuple[str, ...]
    predictors: Floats
    names: tuple[str, ...]
    cluster: Integers
    n_missing: int
    nested: Integers | None = None

    @property
    def n(self) -> int:
        """Complete rows."""
        return len(self.level)

    @property
    def sizes(self) -> Integers:
        """Rows of each cluster."""
        return np.bincount(self.cluster).astype(np.int64)

    @property
    def scale(self) -> tuple[Floats, Floats]:
        """Mean and standard deviation of each predictor."""
        return self.predictors.mean(axis=0), self.predictors.std(axis=0)

    @property
    def scaled(self) -> Floats:
        """The predictors centred and in standard deviations (n, predictors)."""
        mean, sd = self.scale
        return (self.predictors - mean) / sd

    def unscaling(self, *, extra: int = 0) -> Floats:
        """Return the matrix that takes thresholds, coefficients and `extra` others to the own units."""
        mean, sd = self.scale
        n_thresholds = len(self.labels) - 1
        matrix = np.eye(n_thresholds + len(sd) + extra)
        inner = slice(n_thresholds, n_thresholds + len(sd))
        matrix[inner, inner] = np.diag(1 / sd)
        matrix[:n_thresholds, inner] = mean / sd
        return matrix

    @property
    def dependent(self) -> tuple[str, ...]:
        """Predictors that are constant, or a linear combination of those before them."""
        if not self.n:
            return ()
        centred = self.predictors - self.predictors.mean(axis=0)
        lengths = np.linalg.norm(centred, axis=0)
        dependent, basis = [], np.empty((self.n, 0))
        for name, column, length, largest in zip(
            self.names, centred.T, lengths, np.abs(self.predictors).max(axis=0), strict=True
        ):
            rest = column - basis @ (basis.T @ column)
            rest = rest - basis @ (basis.T @ rest)  # twice is enough for full precision
            if np.linalg.norm(rest) <= 1e-9 * max(length, 1e-3 * largest * np.sqrt(self.n)):
                dependent.append(name)
            else:
                basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
        return tuple(dependent)


def observed(
    function: str,
    rating: pd.Series,
    predictors: pd.DataFrame | pd.Series,
    cluster: pd.Series,
    nested: pd.Series | None = None,
    *,
    rating_range: Range | None = None,
) -> Observed:
    """Return the complete rows of columns or frames that run alike, row by row.

    The rows are sorted, so that the order in which they were given changes no digit of a fitted number.
    """
    frame = _frame(function, predictors)
    inner = cluster if nested is None else nested
    _check_rows(function, rating, frame, cluster, inner)
    values, names_of_levels = levels_of(function, pd.Series(rating), rating_range)
    x = np.column_stack(
        [_numbers(f"{function}: predictor {name!r}", frame.iloc[:, i]) for i, name in enumerate(frame)]
        or [np.empty((len(frame), 0))]
    )
    label, inner_label = (
        pd.Series(column).astype(object).reset_index(drop=True) for column in (cluster, inner)
    )
    labelled = (label.notna() & inner_label.notna()).to_numpy(dtype=np.bool_)
    complete = ~np.isnan(values) & ~np.isnan(x).any(axis=1) & labelled
    distinct, level = np.unique(values[complete], return_inverse=True)
    number, _ = pd.factorize(label[complete].astype(str), sort=True)
    within = pd.DataFrame({"cluster": number, "nested": inner_label[complete].astype(str).to_numpy()})
    inner_number = within.groupby(["cluster", "nested"]).ngroup().to_numpy().astype(np.int64)
    order = np.lexsort((*x[complete].T, level, inner_number))  # of clusters, too: their numbers come first
    return Observed(
        level=level.astype(np.int64)[order],
        labels=tuple(names_of_levels[value] for value in distinct),
        predictors=x[complete][order],
        names=tuple(str(name) for name in frame.columns),
        cluster=number.astype(np.int64)[order],
        n_missing=int((~complete).sum()),
        nested=None if nested is None else inner_number[order],
    )


def levels_of(
    function: str, rating: pd.Series, rating_range: Range | None = None
) -> tuple[Floats, dict[float, str]]:
    """Return ratings as numbers in their order, NaN where missing, and what each number is called."""
    known = checked_range(rating_range)
    if isinstance(rating.dtype, pd.CategoricalDtype):
        if known is not None:
            raise ArgumentError(
                f"{function}: expected rating_range for numbers – found an ordered Categorical, whose "
                "categories are its levels – leave rating_range out."
            )
        if not rating.cat.ordered:
            raise TableError(
                f"{function}: expected ordinal ratings – found a categorical column without an order – make "
                "it ordered (pandas.Categorical(…, categories=[lowest, …, highest], ordered=True))."
            )
        codes = rating.cat.codes.to_numpy(dtype=np.float64)
        named = {float(code): str(label) for code, label in enumerate(rating.cat.categories)}
        return np.where(codes < 0, np.nan, codes), named
    values = _numbers(f"{function}: rating", rating)
    refuse_off_scale(values, known, what=f"{function}: rating")
    return values, {value: f"{value:g}" for value in np.unique(values[~np.isnan(values)])}


def _frame(function: str, predictors: pd.DataFrame | pd.Series) -> pd.DataFrame:
    if isinstance(predictors, pd.Series):
        predictors = predictors.to_frame(name="predictor" if predictors.name is None else predictors.name)
    if not isinstance(predictors, pd.DataFrame):
        raise TableError(
            f"{function}: expected predictors as a DataFrame, one column each – found "
            f"{type(predictors).__name__} – pass for example units[['applied']]."
        )
    twice = predictors.columns[predictors.columns.duplicated()]
    if len(twice):
        raise TableError(
            f"{function}: expected every predictor once – found twice: {first_three(twice.unique())} – "
            "rename or drop one."
        )
    return predictors


def _check_rows(
    function: str, rating: pd.Series, frame: pd.DataFrame, cluster: pd.Series, nested: pd.Series
) -> None:
    """Refuse columns of different lengths, and pandas columns whose rows are named differently."""
    lengths = {
        "rating": len(rating),
        "predictors": len(frame),
        "groups": len(cluster),
        "nested": len(nested),
    }
    if len(set(lengths.values())) > 1:
        described = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise TableError(
            f"{function}: expected as many ratings as rows of predictors and groups – found {described} – "
            "take all of them from one frame."
        )
    others = [column.index for column in (rating, cluster, nested) if isinstance(column, pd.Series)]
    if any(not frame.index.equals(index) for index in others):
        raise TableError(
            f"{function}: expected rating, predictors and groups with the same index, row by row – found "
            "different ones – take all of them from one frame, or reset the index of each."
        )


def _numbers(what: str, column: pd.Series | Sequence[object]) -> Floats:
    """Return finite numbers (True is 1), NaN where missing; the message names rows, never a value."""
    column = pd.Series(column)
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_complex_dtype(column.dtype):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        bad = np.isinf(values)
    else:
        column = column.astype(object)
        real = column.map(lambda value: isinstance(value, numbers.Real)).to_numpy(dtype=np.bool_)
        values = column.where(real, np.nan).to_numpy(dtype=np.float64)
        bad = (column.notna().to_numpy() & ~real) | np.isinf(values)
    if bad.any():
        raise TableError(
            f"{what}: expected finite numbers – found something else in {int(bad.sum())} rows (first: row "
            f"{first_three(np.flatnonzero(bad))}) – convert them (words in an order: an ordered Categorical "
            "for a rating, a 0/1 column for a predictor), missing where there is none."
        )
    return np.asarray(values, dtype=np.float64)
