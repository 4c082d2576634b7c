"""How ratings depend on context: the condition, the stated importance, the empathy wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._bootstrap import FEWEST_CLUSTERS, check_resampling
from sense7_qual._messages import first_three
from sense7_qual._reasons import Reason
from sense7_qual.errors import TableError
from sense7_qual.links._inputs import RatingRange, checked_units, numbered, numbers_of, ratings_of
from sense7_qual.links._resample import cluster_sums, left_out
from sense7_qual.links._results import CONTEXT

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_MOST_LEVELS: Final = 30


@CONTEXT.returns
def context(
    units: pd.DataFrame,
    *,
    rating: str,
    rating_range: RatingRange = None,
    variables: str | Sequence[str],
    cluster: str,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Regress ratings on the condition and on answers given before the task.

    Parameters
    ----------
    units : DataFrame
        unit_id and the columns named; one row per turn, or per conversation.
    rating : str
        The column of numeric ratings, taken as equally spaced.
    rating_range : pair of numbers, or mapping of str to pair, optional
        As for `code_to_rating`; a mapping gives the ranges of numeric variables, too.
    variables : str or sequence of str
        Columns of the context. Numbers (stated importance) enter as a straight line; words, truth values and
        Categoricals (the condition) as levels, each compared with the first category of a Categorical, else
        with the first in alphabetical order. All are in one model, so each is adjusted for the others; pass
        one alone for its unadjusted effect.
    cluster : str
        The column that says which rows belong together: the participant. No label may be missing.
    confidence_level : float
        Level of the intervals, between 0 and 1.

    Raises
    ------
    TableError
        A column or a label is missing, the rating or a numeric variable is not numeric or off its scale, a
        variable of words has over 30 levels, or a variable is named twice.
    ArgumentError
        `confidence_level` is out of its range.

    Notes
    -----
    A linear model by least squares. Its covariance is from leaving out each participant in turn (CV3:
    MacKinnon, Nielsen & Webb 2023), with Student's t and F on k − 1 degrees of freedom for k participants.
    This allows for anything that makes the ratings of a participant alike, including that they come from the
    same conversation, without modelling it. A condition without effect, drawn for each conversation, was
    found (p < .05) in 3 % of 100 simulated studies; by a mixed model of participants alone in 15 %, by
    row-wise regression in 24 % (benchmarks/links_paper.py). Use `cumulative_mixed` for odds ratios of what
    varies between turns, or where each participant gave one conversation. Variables that were not assigned at
    random show an association with ratings, not an effect.

    References
    ----------
    MacKinnon, Nielsen & Webb (2023), Leverage, influence, and the jackknife in clustered regression models,
    The Stata Journal 23, 942–982.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": list("abcdefgh"), "case_id": list("pqrstuvw"),
    ...     "system": ["old", "new"] * 4, "empathy": [2, 4, 3, 4, 3, 5, 2, 5]})
    >>> effects = context(units, rating="empathy", variables=["system"], cluster="case_id")
    >>> effects.loc[effects["level"] == "old", ["reference", "n_units", "mean_difference"]].values.tolist()
    [['new', 4, -2.0]]
    """
    check_arguments(context, locals())
    check_resampling("context", n_boot=1, confidence_level=confidence_level, seed=0)
    variables = [variables] if isinstance(variables, str) else list(variables)
    if not variables or len(set(variables)) < len(variables) or rating in variables:
        raise TableError(
            f"context: expected one or more different columns as variables, without the rating – found "
            f"{first_three(variables) or 'none'} – pass for example variables=['Model']."
        )
    units = checked_units(units, rating, cluster, *variables)
    rated = units[~np.isnan(ratings_of(units, rating, rating_range))]
    complete = rated[rated[variables].notna().all(axis=1)]
    terms = [_Term.of(complete, name, rating_range) for name in variables]
    ratings, cases = numbers_of(complete, rating), numbered(complete, cluster)
    fitted = _fit(ratings, terms, cases)
    rows: list[dict[str, object]] = []
    at = 1
    for term in terms:
        own = slice(at, at + term.columns.shape[1])
        rows += _rows(term, own, ratings, cases, fitted, confidence_level)
        at = own.stop
    settings = {"n_missing": len(rated) - len(complete), "confidence_level": confidence_level}
    return CONTEXT.frame([row | settings for row in rows])


@dataclass(frozen=True, slots=True)
class _Term:
    """A variable in the model: its columns (rows, coefficients), and the level of each row."""

    name: str
    columns: Floats
    levels: tuple[str, ...]
    level: Integers
    numeric: bool

    @classmethod
    def of(cls, rows: pd.DataFrame, name: str, rating_range: RatingRange) -> _Term:
        column = rows[name]
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            values = ratings_of(rows, name, rating_range, is_rating=False)
            kinds, level = np.unique(values, return_inverse=True)
            columns = values[:, None] if len(kinds) > 1 else np.empty((len(values), 0))
            return cls(
                name, columns, tuple(f"{kind:g}" for kind in kinds), level.astype(np.int64), numeric=True
            )
        if isinstance(column.dtype, pd.CategoricalDtype):
            labels = [label for label in column.cat.categories if (column == label).any()]
        else:
            labels = sorted(column.astype(str).unique())
        level = pd.Index([str(label) for label in labels]).get_indexer(pd.Index(column.astype(str)))
        if len(labels) > _MOST_LEVELS:
            raise TableError(
                f"context: expected at most {_MOST_LEVELS} levels in column {name!r} – found {len(labels)} – "
                "group them, or convert the column to numbers."
            )
        columns = (level[:, None] == np.arange(1, max(len(labels), 1))).astype(np.float64)
        return cls(name, columns, tuple(map(str, labels)), level.astype(np.int64), numeric=False)


@dataclass(frozen=True, slots=True)
class _Fit:
    """Coefficients (q,) and their covariance (q, q), NaN where they are not to be had, and why."""

    coefficients: Floats
    covariance: Floats
    n_clusters: int
    reason: str | None


def _fit(ratings: Floats, terms: Sequence[_Term], cases: Integers) -> _Fit:
    design = np.column_stack([np.ones(len(ratings)), *(term.columns for term in terms)])
    n, q = design.shape
    n_clusters = len(np.unique(cases))
    unknown, nothing = np.full(q, np.nan), np.full((q, q), np.nan)
    if not n or np.ptp(ratings) == 0:
        return _Fit(unknown, nothing, n_clusters, Reason.CONSTANT_RATING if n else Reason.NO_RATED_UNITS)
    centre = design.mean(axis=0) * (np.arange(q) > 0)
    scale = np.where(design.std(axis=0) > 0, design.std(axis=0), 1)
    scaled = (design - centre) / scale
    if np.linalg.matrix_rank(scaled) < q:
        return _Fit(unknown, nothing, n_clusters, Reason.COLLINEAR_PREDICTORS)
    products = (scaled[:, :, None] * scaled[:, None, :]).reshape(n, q * q)
    sums = cluster_sums(np.hstack([products, scaled * ratings[:, None]]), cases)
    coefficients = _solved(sums.sum(axis=0), q) / scale
    if n_clusters < max(FEWEST_CLUSTERS, q + 1):
        return _Fit(coefficients, nothing, n_clusters, Reason.FEW_CLUSTERS)
    without = left_out(sums, lambda total: _solved(total, q)) / scale
    around = without - without.mean(axis=0)
    covariance = (n_clusters - 1) / n_clusters * around.T @ around
    return _Fit(coefficients, covariance, n_clusters, None)


def _solved(sums: Floats, q: int) -> Floats:
    """Return the least-squares coefficients (…, q), NaN where the sums do not determine them."""
    normal = sums[..., : q * q].reshape(*sums.shape[:-1], q, q)
    spectrum = np.linalg.eigvalsh(normal)
    usable = spectrum[..., 0] > 1e-10 * spectrum[..., -1]
    normal = np.where(usable[..., None, None], normal, np.eye(q))
    solved = np.linalg.solve(normal, sums[..., q * q :][..., None])[..., 0]
    return np.where(usable[..., None], solved, np.nan)


def _rows(
    term: _Term, own: slice, ratings: Floats, cases: Integers, fitted: _Fit, confidence_level: float
) -> list[dict[str, object]]:
    """Return the variable's own row, and one per level."""
    effects = fitted.coefficients[own]
    reason = fitted.reason or (Reason.CONSTANT_VARIABLE if not len(effects) else None)
    if reason is None and np.isnan(fitted.covariance[own, own]).any():
        reason = Reason.LEVEL_IN_FEW_CLUSTERS
    rows: list[dict[str, object]] = [
        {"variable": term.name, "n_units": len(ratings), "n_clusters": fitted.n_clusters, "reason": reason}
    ]
    rows[0]["mean"] = ratings.mean() if len(ratings) else np.nan
    if len(term.levels) <= _MOST_LEVELS:
        for number, level in enumerate(term.levels):
            has_level = term.level == number
            rows.append(
                {"variable": term.name, "level": level, "n_units": int(has_level.sum()), "reason": reason}
            )
            rows[-1] |= {"n_clusters": len(np.unique(cases[has_level])), "mean": ratings[has_level].mean()}
            rows[-1] |= {} if term.numeric else {"reference": term.levels[0]}
    compared = rows[:1] if term.numeric else rows[2:]
    for at, row in enumerate(compared[: len(effects)]):
        row["mean_difference"] = effects[at]
        if reason is None:
            variance = fitted.covariance[own, own][at, at]
            row |= _student(effects[at], np.sqrt(variance), fitted.n_clusters - 1, confidence_level)
    if reason is None:
        rows[0] |= _wald(effects, fitted.covariance[own, own], fitted.n_clusters - 1)
    return rows


def _student(effect: float, error: float, df: int, confidence_level: float) -> dict[str, object]:
    from scipy import special

    half = special.stdtrit(df, (1 + confidence_level) / 2) * error
    p = 2 * special.stdtr(df, -abs(effect) / error) if error > 0 else np.nan
    return {"low": effect - half, "high": effect + half, "p": p}


def _wald(effects: Floats, covariance: Floats, df: int) -> dict[str, object]:
    """Return Wald's F, its numerator degrees of freedom and p; NaN where the covariance is singular."""
    from scipy import special

    if np.linalg.matrix_rank(covariance) < len(effects):
        return {"df": len(effects)}
    statistic = float(effects @ np.linalg.solve(covariance, effects)) / len(effects)
    return {
        "statistic": statistic,
        "df": len(effects),
        "p": float(special.fdtrc(len(effects), df, statistic)),
    }
