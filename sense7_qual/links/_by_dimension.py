"""Convergent and discriminant validity: does a code go with its own rating more than with the others?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments, read_mapping
from sense7_qual._bootstrap import FEWEST_CLUSTERS
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual._reasons import Reason
from sense7_qual._rests_on import rests_on
from sense7_qual.errors import TableError
from sense7_qual.links._inputs import RatingRange, checked_units, numbered, ratings_of
from sense7_qual.links._resample import (
    Resampling,
    decided_by,
    interval,
    jackknife_p,
    left_out,
    rank_biserial,
    resampled,
    settings,
    with_adjusted,
)
from sense7_qual.links._results import BY_DIMENSION

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]


@rests_on("decisions")
@BY_DIMENSION.returns
def by_dimension(
    decisions: pd.DataFrame,
    units: pd.DataFrame,
    *,
    ratings: Sequence[str],
    rating_range: RatingRange = None,
    cluster: str,
    source: str,
    mapping: Mapping[str, str] | None = None,
    n_boot: int = 2000,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Estimate each code's link with the rating of each dimension, and test whether its own is the strongest.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool).
    units : DataFrame
        unit_id and the columns named.
    ratings : sequence of str
        Two or more columns of numeric ratings: the dimensions. A unit without one of them is left out of that
        dimension only.
    cluster : str
        The column that says which units belong together: the participant. No label may be missing.
    source : str
        A coder, "majority" or "consensus".
    mapping : mapping of str to str, optional
        Each code's own rating: {"affective": "Affective"}. By default the rating of the same name, ignoring
        case; codes without one have links, but no contrast.
    rating_range, n_boot, confidence_level, seed
        As for `code_to_rating`.

    Raises
    ------
    TableError
        A column is missing, a rating contains something other than numbers, a unit of `decisions` or the
        source is unknown, or `mapping` names an unknown code or rating.
    ArgumentError
        A setting is out of its range.

    Notes
    -----
    A contrast above 0 is evidence that coders and raters mean the same by the dimension (Campbell & Fiske
    1959). Where a code is used for both praise and criticism, met and unmet cancel out: pass decisions by
    that facet. p and intervals are computed as in `code_to_rating`.

    References
    ----------
    Campbell & Fiske (1959), Convergent and discriminant validation by the multitrait-multimethod matrix,
    Psychological Bulletin 56, 81–105.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": list("abcdef"), "Affective": [5, 4, 4, 2, 1, 2],
    ...     "Interest": [3, 4, 2, 3, 4, 2], "case_id": list("pqrstu")})
    >>> decisions = pd.DataFrame({"unit_id": list("abcdef"), "coder": "ana", "code": "affective",
    ...     "applied": [True, True, True, False, False, False]})
    >>> links = by_dimension(decisions, units, ratings=["Affective", "Interest"], cluster="case_id",
    ...     source="ana")
    >>> links["dimension"].tolist(), links["estimate"].tolist()
    (['Affective', 'Interest', <NA>], [1.0, 0.0, 1.0])
    """
    check_arguments(by_dimension, locals())
    how = settings("by_dimension", n_boot=n_boot, confidence_level=confidence_level, seed=seed)
    ratings = [ratings] if isinstance(ratings, str) else list(ratings)
    if len(set(ratings)) < max(2, len(ratings)):
        raise TableError(
            f"by_dimension: expected two or more different columns of ratings – found "
            f"{first_three(ratings) or 'none'} – `code_to_rating` takes one."
        )
    units = checked_units(units, *ratings, cluster)
    decided = decided_by(decisions, units, source, function="by_dimension")
    codes = list(decided["code"].unique())
    own = _own(codes, ratings, mapping)
    units = units[units["unit_id"].isin(decided["unit_id"])].reset_index(drop=True)
    values = np.column_stack([ratings_of(units, name, rating_range) for name in ratings])
    cases = numbered(units, cluster)
    of_codes = []
    for code in codes:
        part = decided[decided["code"] == code].set_index("unit_id")["applied"]
        is_decided = units["unit_id"].isin(part.index).to_numpy(dtype=np.bool_)
        applied = part.loc[units.loc[is_decided, "unit_id"]].to_numpy(dtype=np.bool_)
        matrix = _Matrix.of(applied, values[is_decided], cases[is_decided])
        of_codes += [{"code": code, **row} for row in _rows(matrix, ratings, own.get(code), how)]
    setting_columns = {"source": source, "confidence_level": how.confidence_level, "seed": how.seed}
    rows = BY_DIMENSION.frame([row | setting_columns for row in of_codes])
    return _adjusted(rows)


def _own(codes: Sequence[str], ratings: Sequence[str], mapping: Mapping[str, str] | None) -> dict[str, str]:
    """Return the own rating of each code that has one."""
    if mapping is None:
        folded = {name.casefold(): name for name in ratings}
        return {code: folded[code.casefold()] for code in codes if code.casefold() in folded}
    own = read_mapping(mapping)
    for code, rating in own.items():
        for name, known, what in ((code, codes, "code of the decisions"), (rating, ratings, "rating")):
            if name not in known:
                raise TableError(
                    f"by_dimension: expected a {what} in mapping – found {name!r} – "
                    f"{did_you_mean(name, known)}"
                )
    return own


class _Matrix:
    """Counts of one code by cluster, rating, code and rating level, in one row per cluster."""

    def __init__(self, sums: Floats, edges: Integers, n_clusters: Integers, fewest: Integers) -> None:
        self.sums = sums
        self.edges = edges
        self.n_clusters = n_clusters
        self.fewest = fewest

    @classmethod
    def of(cls, applied: Truths, values: Floats, cases: Integers) -> _Matrix:
        clusters, case = np.unique(cases, return_inverse=True)
        parts, sizes = [], []
        n_clusters, fewest = [], []
        for column in values.T:
            is_rated = ~np.isnan(column)
            levels, level = np.unique(column[is_rated], return_inverse=True)
            counts = np.zeros((len(clusters), 2, len(levels)))
            np.add.at(counts, (case[is_rated], (~applied[is_rated]).astype(np.int64), level), 1)
            having, lacking = (counts.sum(axis=2) > 0).T
            n_clusters.append(int((having | lacking).sum()))
            fewest.append(int(min(having.sum(), lacking.sum())))
            parts.append(counts.reshape(len(clusters), -1))
            sizes.append(2 * len(levels))
        return cls(np.hstack(parts), np.cumsum([0, *sizes]), np.array(n_clusters), np.array(fewest))

    def effects(self, sums: Floats) -> Floats:
        """Return the rank-biserial correlation with each rating (…, ratings)."""
        return np.stack([rank_biserial(*self.halves(sums, at)) for at in range(len(self.fewest))], axis=-1)

    def halves(self, sums: Floats, at: int) -> tuple[Floats, Floats]:
        """Return the counts with and without the code by level of the rating (…, levels)."""
        start, stop = self.edges[at], self.edges[at + 1]
        middle = (start + stop) // 2
        return sums[..., start:middle], sums[..., middle:stop]

    def row(self, at: int) -> dict[str, object]:
        """Return the counts of one rating, and why there is no effect."""
        having, lacking = (part.sum() for part in self.halves(self.sums.sum(axis=0), at))
        reason = None
        if not having + lacking:
            reason = Reason.NO_RATED_UNITS
        elif not having or not lacking:
            reason = Reason.CODE_ALWAYS_APPLIED if having else Reason.CODE_NEVER_APPLIED
        elif self.edges[at + 1] - self.edges[at] == 2:
            reason = Reason.CONSTANT_RATING
        numbers = {"n_with": int(having), "n_without": int(lacking), "n_clusters": self.n_clusters[at]}
        return numbers | {"reason": reason}


def _rows(
    matrix: _Matrix, ratings: Sequence[str], own: str | None, how: Resampling
) -> list[dict[str, object]]:
    """Return one row per rating and the contrast."""
    rows = [{"dimension": name, **matrix.row(at)} for at, name in enumerate(ratings)]
    effects = matrix.effects(matrix.sums.sum(axis=0))
    known = np.array([row["reason"] is None for row in rows])
    contrast: dict[str, object] = {
        name: min(int(str(row[name])) for row in rows) for name in ("n_with", "n_without", "n_clusters")
    }
    if known.any() and matrix.fewest[known].max() >= FEWEST_CLUSTERS:
        without = left_out(matrix.sums, matrix.effects)
        resamples = resampled(matrix.sums, matrix.effects, how)
    else:
        without = resamples = np.empty((0, len(ratings)))
    for at, row in enumerate(rows):
        row["own"] = None if own is None else ratings[at] == own
        if known[at]:
            separated = abs(effects[at]) == 1 and matrix.fewest[at] >= FEWEST_CLUSTERS
            row |= (
                {"estimate": effects[at], "reason": Reason.COMPLETE_SEPARATION}
                if separated
                else _estimated(effects[at], without[:, at], resamples[:, at], int(matrix.fewest[at]), how)
            )
    if own is None:
        return [*rows, contrast | {"reason": Reason.NO_OWN_RATING}]
    if not known.all():
        return [*rows, contrast | {"reason": Reason.RATING_NOT_COMPUTABLE}]
    weights = np.where(np.array(ratings) == own, 1.0, -1 / (len(ratings) - 1))
    fewest = int(matrix.fewest.min())
    own_minus_others = float(effects @ weights)
    return [
        *rows,
        contrast | _estimated(own_minus_others, without @ weights, resamples @ weights, fewest, how),
    ]


def _estimated(
    estimate: float, without: Floats, resamples: Floats, fewest: int, how: Resampling
) -> dict[str, object]:
    """Return the estimate, with interval and p where there are clusters enough."""
    row: dict[str, object] = {"estimate": estimate}
    if fewest < FEWEST_CLUSTERS:
        return row | {"reason": Reason.FEW_CLUSTERS}
    p = jackknife_p(estimate, without, fewest)
    if np.isnan(p):
        return row | {"reason": Reason.NO_VARIATION_BETWEEN_CLUSTERS}
    low, high, n_undefined = interval(resamples, fewest, how)
    return row | {"low": low, "high": high, "p": p, "n_boot": how.n_boot, "n_undefined": n_undefined}


def _adjusted(rows: pd.DataFrame) -> pd.DataFrame:
    """Adjust p over the ratings' rows, and over the contrasts'."""
    contrasts = rows["dimension"].isna()
    return pd.concat([with_adjusted(rows[~contrasts], "p"), with_adjusted(rows[contrasts], "p")]).sort_index()
