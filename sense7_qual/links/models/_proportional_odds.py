"""Is one odds ratio enough? The odds ratio at each split of the scale, and a test that they are the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._bootstrap import FEWEST_CLUSTERS, check_resampling
from sense7_qual._reasons import Caution, Reason
from sense7_qual.errors import TableError
from sense7_qual.links._inputs import Range
from sense7_qual.links._resample import t_test
from sense7_qual.links._shares import adds, n_with_both
from sense7_qual.links.models._likelihood import Floats, Parameters, patterns_of
from sense7_qual.links.models._maximise import fixed_maximum, reason_before, runs_away
from sense7_qual.links.models._model import CumulativeModel, Observed, observed
from sense7_qual.links.models._ordinal import cumulative_mixed, marginal
from sense7_qual.links.models._results import PROPORTIONAL_ODDS

Model = Literal["mixed", "marginal"]

_MOST_LEVELS: Final = 12
_SIZE: Final = 0.05
_SPARE: Final = 3
"""Clusters beyond the number of differences that the test needs."""


@PROPORTIONAL_ODDS.returns
def proportional_odds(
    rating: pd.Series,
    predictors: pd.DataFrame | pd.Series,
    *,
    groups: pd.Series,
    model: Model,
    rating_range: Range | None = None,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Return each predictor's odds ratio at each split of the scale, next to that of the ordinal model.

    An ordinal model has one odds ratio for all splits of a scale: of 2 or more against 1, of 3 or more
    against 2 or less, and so on. Here each split has its own, by the same model of whether the rating is at
    least that high, and a test says whether they differ by more than chance. Where they do, report the
    splits.

    Parameters
    ----------
    rating, predictors, groups, rating_range
        As in `cumulative_mixed`; at most 12 levels.
    model : {"mixed", "marginal"}
        `cumulative_mixed`, or `marginal`, averaged over participants. "mixed" adds the participants' means of
        each predictor to the model, so that the odds ratio compares a participant's own rows, as that of
        `code_to_rating` does; that of a predictor that varies between participants only compares them. No
        default, because it is what the odds ratio means.
    confidence_level : float
        Level of every interval, between 0 and 1.

    Raises
    ------
    TableError
        As in `cumulative_mixed`; or more than 12 levels occur.
    ArgumentError
        `model` is unknown, or `confidence_level` is out of its range.

    Notes
    -----
    The test is the generalised score test of Boos (1992) on the ordinal model with working independence
    (Barnhart and Williamson), one for each predictor: what participants add to the differences between
    neighbouring splits is compared with its variance over participants by Hotelling's T², which holds its
    size with few of them (corrected, as Mancl and DeRouen's errors are, for the estimates that each
    participant draws to itself). It needs no estimate at any split, so a level that hardly occurs does no
    harm. It is of the odds ratios over the population also where `model` is "mixed": with one odds ratio for
    each participant, those over the population are the same at all splits but for terms of second order.

    In simulated studies of 12 to 60 participants p was below .05 in 5 % (3 to 7) where the odds ratio was the
    same, and in up to a third with rows taken as independent; intervals at the splits held the true one in 92
    to 99 % (benchmarks/proportional_odds.md). Of odds ratios from 1 to 5 along the scale a tenth was found
    with 12 to 20 participants, half with 40 to 60: a p above .05 shows little, so look at the splits.

    References
    ----------
    Brant (1990), Assessing proportionality in the proportional odds model for ordinal logistic regression,
    Biometrics 46, 1171–1178. Boos (1992), On generalized score tests, The American Statistician 46, 327–333.
    Barnhart & Williamson (1998), Goodness-of-fit tests for GEE modeling with binary responses, Biometrics 54,
    720–729. Hotelling (1931), The generalization of Student's ratio, Annals of Mathematical Statistics 2.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> case, code = np.repeat(np.arange(40), 6), (rng.random(240) < 0.4) * 1.0
    >>> mood = rng.logistic(size=240) + rng.normal(size=40)[case]
    >>> rating = pd.Series(1 + (mood + 2 * code > -1) + (mood + 1 * code > 0) + (mood > 1.5))
    >>> warm = pd.Series(code, name="warm")
    >>> table = proportional_odds(rating, warm, groups=pd.Series(case), model="marginal")
    >>> table[["split", "odds_ratio"]].round(1).fillna("all").values.tolist()
    [['all', 1.9], ['2', 6.0], ['3', 1.9], ['4', 1.2]]
    >>> bool(table["p_proportional"][0] < 0.01), table["caution"][0]
    (True, 'not_proportional')
    """
    check_arguments(proportional_odds, locals())
    check_resampling("proportional_odds", n_boot=1, confidence_level=confidence_level, seed=0)
    rows = observed("proportional_odds", rating, predictors, groups, rating_range=rating_range)
    own = rows.names
    rows = _with_shares(rows) if model == "mixed" else rows
    if len(rows.labels) > _MOST_LEVELS:
        raise TableError(
            f"proportional_odds: expected at most {_MOST_LEVELS} levels of the rating – found "
            f"{len(rows.labels)} – merge neighbouring ones first."
        )
    splits = [None, *range(1, len(rows.labels))]
    fits = {split: _fitted(rows, split, model) for split in splits}
    proportional = _tested(rows)
    table = [
        _row(rows, name, split, fits[split], proportional[name], confidence_level)
        for name in own
        for split in splits
    ]
    return PROPORTIONAL_ODDS.frame(pd.DataFrame(table).assign(model=model))


def _with_shares(rows: Observed) -> Observed:
    """Return the rows with each predictor's means by participant, where they say something new.

    The coefficient of the predictor is then that within participants.
    """
    predictors = pd.DataFrame(rows.predictors, columns=list(rows.names))
    known = predictors.copy()
    for name in rows.names:
        means = predictors[name].groupby(rows.cluster).transform("mean")
        if adds(known, means):
            known[f"share of {name}"] = means
    return replace(rows, predictors=known.to_numpy(), names=tuple(known.columns))


def _fitted(rows: Observed, split: int | None, model: Model) -> CumulativeModel:
    """Return the model of the rating, or of whether it is at or above a level."""
    fit = cumulative_mixed if model == "mixed" else marginal
    level = rows.level if split is None else rows.level >= split
    predictors = pd.DataFrame(rows.predictors, columns=list(rows.names))
    rating, whole = pd.Series(level.astype(np.float64)), (0, len(rows.labels))
    return fit(rating, predictors, groups=pd.Series(rows.cluster), rating_range=whole)


def _row(
    rows: Observed,
    name: str,
    split: int | None,
    fit: CumulativeModel,
    proportional: tuple[float, Reason | None],
    confidence_level: float,
) -> dict[str, Any]:
    """Return a predictor's odds ratio at a split, or of all of them, with what is to be known of it."""
    p, why = proportional
    sides = [rows.level >= (split or 1), rows.level < (split or 1)]
    found: dict[str, Any] = {"reason": fit.reason or (why if split is None else None)}
    if fit.reason is None:
        found |= _ratio(fit, name, _df(rows, name, fit), confidence_level)
    if split is not None and min(len(np.unique(rows.cluster[side])) for side in sides) < FEWEST_CLUSTERS:
        found |= {"low": np.nan, "high": np.nan, "p": np.nan}
        found["reason"] = found["reason"] or Reason.FEW_CLUSTERS
    cautions = [*fit.cautions, *([Caution.NOT_PROPORTIONAL] if p < _SIZE else [])]
    return found | {
        "predictor": name,
        "split": pd.NA if split is None else rows.labels[split],
        "n": rows.n,
        "n_above": pd.NA if split is None else int(sides[0].sum()),
        "n_clusters": len(rows.sizes),
        "p_proportional": p,
        "confidence_level": confidence_level,
        "caution": " ".join(cautions) or pd.NA,
    }


def _df(rows: Observed, name: str, fit: CumulativeModel) -> float:
    """Return the degrees of freedom: where own rows are compared, the participants who have both − 1."""
    if f"share of {name}" not in rows.names:
        return fit.degrees_of_freedom
    column = pd.Series(rows.predictors[:, rows.names.index(name)])
    return n_with_both(column, rows.cluster) - 1.0


def _ratio(fit: CumulativeModel, name: str, df: float, confidence_level: float) -> dict[str, float]:
    """Return the odds ratio of a predictor with its interval and p, NaN without degrees of freedom."""
    from scipy import special

    estimate, error = float(fit.coefficients[name]), float(fit.standard_errors[name])
    half = float(special.stdtrit(df, (1 + confidence_level) / 2)) * error if df > 0 else np.nan
    with np.errstate(over="ignore"):
        ends = {"odds_ratio": estimate, "low": estimate - half, "high": estimate + half}
        ratios = {end: float(np.exp(value)) for end, value in ends.items()}
    return ratios | {"p": t_test(estimate, error, df) if df > 0 else np.nan}


def _tested(rows: Observed) -> dict[str, tuple[float, Reason | None]]:
    """Return, of each predictor, the p of the same odds ratio at all splits, or why there is none."""
    n_splits, reason = len(rows.labels) - 1, reason_before(rows)
    if reason is None and n_splits < 2:
        reason = Reason.TWO_LEVELS
    if reason is not None:
        return dict.fromkeys(rows.names, (np.nan, reason))
    fit = fixed_maximum(patterns_of(rows.level, rows.scaled, rows.cluster), "logit")
    if not fit.converged or runs_away(fit, "logit"):
        reason = Reason.SEPARATION if runs_away(fit, "logit") else Reason.NOT_CONVERGED
        return dict.fromkeys(rows.names, (np.nan, reason))
    added, without = _added(rows, fit.at)
    return {
        name: _hotelling(np.diff(added[:, :, place]), np.diff(without[:, :, place]))
        for place, name in enumerate(rows.names, start=1)
    }


def _added(rows: Observed, at: Parameters) -> tuple[Floats, Floats]:
    """Return what each cluster adds to the intercept and the coefficients that each split would have.

    Both results (clusters, splits, 1 + predictors) are the inverse information of the model with coefficients
    of their own at every split, times the clusters' scores at the estimates of the ordinal model: as they
    are, and as they would be had the cluster not drawn these estimates to itself (Mancl and DeRouen).
    """
    x = np.column_stack([np.ones(rows.n), rows.scaled])
    score, weight = _by_row(rows, at)
    n_splits, q = score.shape[1], x.shape[1]
    parts = np.split(np.arange(rows.n), np.cumsum(rows.sizes)[:-1])
    scores = np.array([(score[part].T @ x[part]).ravel() for part in parts])
    information = np.array(
        [
            np.einsum("njl,np,nq->jplq", weight[part], x[part], x[part]).reshape(n_splits * q, -1)
            for part in parts
        ]
    )
    own = np.eye(q)
    common = np.hstack([np.kron(np.eye(n_splits), own[:, :1]), np.tile(own[:, 1:], (n_splits, 1))])
    total = information.sum(axis=0)
    drawn = common @ np.linalg.solve(common.T @ total @ common, common.T)
    without = np.linalg.pinv(np.eye(len(total)) - information @ drawn) @ scores[:, :, None]
    shape = len(parts), n_splits, q
    return tuple(np.linalg.solve(total, one.T).T.reshape(shape) for one in (scores, without[:, :, 0]))  # type: ignore[return-value]


def _by_row(rows: Observed, at: Parameters) -> tuple[Floats, Floats]:
    """Return the score (n, splits) of each row by the log odds at each split, and its expected square."""
    from scipy import special

    above = special.expit((rows.scaled @ at.coefficients)[:, None] - at.thresholds)
    beyond = np.column_stack([np.ones(rows.n), above, np.zeros(rows.n)])
    share, density = -np.diff(beyond), above * (1 - above)
    here = (rows.level[:, None] == np.arange(len(rows.labels))) / share
    place = np.arange(above.shape[1])
    weight = np.zeros((rows.n, len(place), len(place)))
    weight[:, place, place] = np.square(density) * (1 / share[:, 1:] + 1 / share[:, :-1])
    between = -density[:, 1:] * density[:, :-1] / share[:, 1:-1]
    weight[:, place[1:], place[:-1]] = weight[:, place[:-1], place[1:]] = between
    return density * (here[:, 1:] - here[:, :-1]), weight


def _hotelling(moved: Floats, without: Floats) -> tuple[float, Reason | None]:
    """Return the p that the mean of `moved` (clusters, differences) is 0, by the variance of `without`."""
    from scipy import special

    n, d = moved.shape
    if n < max(FEWEST_CLUSTERS, d + _SPARE):
        return np.nan, Reason.FEW_CLUSTERS
    mean, covariance = moved.mean(axis=0), np.atleast_2d(np.cov(without.T))
    if np.linalg.matrix_rank(covariance, hermitian=True) < d:
        return np.nan, Reason.NO_VARIATION_BETWEEN_CLUSTERS
    direction = np.linalg.solve(covariance, mean)
    # Degrees of freedom of the variance in that direction (Satterthwaite): a rare level leaves fewer.
    along = np.square((without - without.mean(axis=0)) @ direction)
    excess = n * float(np.square(along).sum()) / float(along.sum()) ** 2 - 1
    degrees = float(np.clip(2 * n / excess, d, n - 1)) if excess > 0 else n - 1.0
    t_squared, rest = n * float(mean @ direction), degrees + 1 - d
    return float(special.fdtrc(d, rest, t_squared * rest / (d * degrees))), None
