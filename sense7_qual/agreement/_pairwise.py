"""Agreement of every two coders on every code."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._reasons import Reason
from sense7_qual.agreement._counts import (
    Pairs,
    binary_alpha,
    binary_kappa,
    own_decisions,
    paired,
)
from sense7_qual.agreement._results import PAIRWISE

__all__ = ["Integers", "pairwise"]


Integers = npt.NDArray[np.int64]


@PAIRWISE.returns
def pairwise(decisions: pd.DataFrame, *, with_models: bool = False) -> pd.DataFrame:
    """Return how well every two coders agree on each code, on the units that both have finished.

    Use it to find the coder who reads a code differently, before retraining or adjudication. Do not take
    it for the reliability of a study: report `by_code`, which uses all coders at once. Pairs with few
    units in common scatter widely.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). A unit that one of the two has not finished is missing for
        that pair. Models are left out, which a warning says.
    with_models : bool
        Whether models count as coders: each then has its pairs.

    Raises
    ------
    TableError
        `decisions` is not what its contract says.

    References
    ----------
    Cohen (1960), A coefficient of agreement for nominal scales, Educational and Psychological Measurement
    20, 37–46. Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.

    Examples
    --------
    The binary example of Krippendorff (2011, section A), published as alpha .095 with 60 % agreement:

    >>> given = {"ana": [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], "ben": [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]}
    >>> decisions = pd.DataFrame([
    ...     {"unit_id": f"m{i}", "coder": coder, "code": "interest", "applied": bool(value)}
    ...     for coder, row in given.items() for i, value in enumerate(row)])
    >>> columns = ["coder_a", "coder_b", "n_units", "percent", "kappa", "alpha"]
    >>> pairwise(decisions)[columns].round(3).values.tolist()
    [['ana', 'ben', 10, 0.6, 0.091, 0.095]]
    """
    check_arguments(pairwise, locals())
    pairs = paired(own_decisions(decisions, function="pairwise", with_models=with_models))
    cells = _cells(pairs)
    one, two = np.triu_indices(len(pairs.coders), k=1)
    neither, only_b, only_a, both = np.moveaxis(cells[:, one, two, :].reshape(-1, 4).astype(np.float64), 1, 0)
    n_units = both + only_a + only_b + neither
    disputed = only_a + only_b
    alpha = binary_alpha(np.stack([2 * disputed, 2 * both + disputed, 2 * neither + disputed], axis=1))
    agreed = np.full(len(n_units), np.nan)
    np.divide(both + neither, n_units, out=agreed, where=n_units > 0)
    reason = np.full(len(n_units), None, dtype=object)
    reason[np.isnan(alpha)] = Reason.NO_VARIATION
    reason[n_units == 0] = Reason.NO_PAIRABLE_UNITS
    columns = {
        "code": np.repeat(pairs.codes, len(one)),
        "coder_a": np.tile(pairs.coders[one], len(pairs.codes)),
        "coder_b": np.tile(pairs.coders[two], len(pairs.codes)),
        "n_units": n_units,
        "n_both": both,
        "n_only_a": only_a,
        "n_only_b": only_b,
        "n_neither": neither,
        "percent": agreed,
        "kappa": binary_kappa(both, only_a, only_b, neither),
        "alpha": alpha,
        "reason": reason,
    }
    return PAIRWISE.frame(columns)


def _cells(pairs: Pairs) -> Integers:
    """Count the units by code, coders and what they decided: (codes, coders, coders, 4).

    The four cells are: neither applied the code, only the second did, only the first, both.
    """
    shape = (len(pairs.codes), len(pairs.coders), len(pairs.coders), 4)
    decided = 2 * pairs.applied_first.astype(np.int64) + pairs.applied_second
    place = ((pairs.code * shape[1] + pairs.first) * shape[2] + pairs.second) * 4 + decided
    return np.bincount(place, minlength=int(np.prod(shape))).reshape(shape)
