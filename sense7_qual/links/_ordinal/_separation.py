"""Where a maximum-likelihood estimate does not exist: reasons that are seen before, or after, a search."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from sense7_qual._present import Reason
from sense7_qual.links._ordinal._design import Observed
from sense7_qual.links._ordinal._link_functions import Link
from sense7_qual.links._ordinal._maximise import Maximum

__all__ = ["reason_before", "reason_within", "runs_away", "separated"]

_FLAT: Final = 30.0
"""A standard error (predictors in standard deviations) that only an estimate on its way to infinity has."""
_LARGEST_SD: Final[dict[Link, float]] = {"logit": 12.0, "probit": 7.0}
"""Beyond (98 % of the latent variance between clusters) clusters tell the ratings apart all but perfectly."""


def reason_before(rows: Observed) -> Reason | None:
    """Return why nothing can be estimated, as far as that is seen before trying."""
    if not rows.n:
        return Reason.NO_COMPLETE_ROWS
    if len(rows.labels) == 1:
        return Reason.CONSTANT_RATING
    if len(rows.sizes) == 1:
        return Reason.ONE_CLUSTER
    return Reason.COLLINEAR_PREDICTORS if rows.dependent else None


def reason_within(rows: Observed) -> Reason | None:
    """Return why the random intercepts have no finite variance, or cannot be told from what is within."""
    inner = rows.cluster if rows.nested is None else rows.nested
    n_clusters, n_inner = len(rows.sizes), len(np.unique(inner))
    if rows.nested is not None and not n_clusters < n_inner < rows.n:
        return Reason.LEVELS_NOT_SEPARABLE
    # Each has one level alone, and some has more than one row.
    pairs = pd.DataFrame({"inner": inner, "level": rows.level}).drop_duplicates()
    return Reason.NO_VARIATION_WITHIN_CLUSTERS if len(pairs) == n_inner < rows.n else None


def runs_away(maximum: Maximum, link: Link) -> bool:
    """Return whether the likelihood is all but flat, or a random intercept's sd all but infinite."""
    known = np.isfinite(maximum.hessian).all()
    flat = known and np.linalg.eigvalsh(-maximum.hessian).min() < 1 / _FLAT**2
    return bool(flat or max(maximum.at.sd, maximum.at.inner_sd) > _LARGEST_SD[link])


def separated(rows: Observed) -> bool:
    """Return whether some direction of the parameters raises the likelihood for ever.

    That is so where thresholds and coefficients can move so that no row's level becomes less probable and
    some row's becomes more so: perfect, or quasi-perfect, prediction (a linear programme decides).
    """
    from scipy import optimize

    distinct = np.unique(np.column_stack([rows.level, rows.predictors]), axis=0)
    level, x = distinct[:, 0].astype(np.int64), distinct[:, 1:]
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    steps = np.eye(len(rows.labels) - 1)
    upper, lower = level < len(steps), level > 0
    gains = np.vstack(
        [
            np.hstack([steps[level[upper]], -x[upper]]),  # each upper threshold rises above the row …
            np.hstack([-steps[level[lower] - 1], x[lower]]),  # … and each lower one falls below it
        ]
    )
    best = optimize.linprog(-gains.sum(axis=0), A_ub=-gains, b_ub=np.zeros(len(gains)), bounds=(-1, 1))
    return bool(best.status == 0 and gains.sum(axis=0) @ best.x > 1e-6)
