"""How sure the parameters of the latent-class model are, and whether coders err independently, as it says."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._bootstrap import FEWEST_CLUSTERS, widened_quantile
from sense7_qual._reasons import Reason
from sense7_qual.adjudication._latent_class import Parameters, Patterns

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_FEWEST_DRAWS: Final = 100


@dataclass(frozen=True, slots=True, repr=False)
class Draws:
    """How many units each pattern has in each resample of clusters, and the parameters refitted to them."""

    weights: list[Floats]
    parameters: list[Parameters]
    n_clusters: int
    confidence_level: float

    def half(self, drawn: Floats, *, together: int = 1) -> Floats:
        """Return half the width of intervals from draws (n_draws, k); NaN with few draws or clusters.

        Of so many intervals `together` none misses with the probability of the level (Bonferroni).
        """
        if len(drawn) < _FEWEST_DRAWS or self.n_clusters < FEWEST_CLUSTERS:
            return np.full(drawn.shape[1:], np.nan)
        level = 1 - (1 - self.confidence_level) / max(together, 1)
        return np.asarray(widened_quantile(self.n_clusters, level) * drawn.std(axis=0, ddof=1))

    def ends(self, name: str, at: Parameters) -> dict[str, Floats]:
        """Return the columns of the intervals of some parameters, made on the scale of their log odds."""
        from scipy import special

        middle = special.logit(getattr(at, name))
        drawn = np.array([special.logit(getattr(one, name)) for one in self.parameters])
        half = self.half(drawn.reshape(len(self.parameters), len(middle)))
        return {f"{name}_low": special.expit(middle - half), f"{name}_high": special.expit(middle + half)}


def residuals(
    patterns: Patterns,
    weights: Floats,
    coders: list[str],
    at: Parameters | None = None,
    draws: Draws | None = None,
) -> pd.DataFrame:
    """Return, of each two coders, how often they decide alike, and how often if errors were their own.

    Without parameters `at`, only how often they do.
    """
    decided = patterns.applied + patterns.absent
    shared = np.einsum("p,pa,pb->ab", weights, decided, decided)
    pairs = [pair for pair in itertools.combinations(range(len(coders)), 2) if shared[pair] > 0]
    first, second = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
    observed = _alike(patterns, weights, first, second)
    table = pd.DataFrame(
        {
            "coder_a": [coders[one] for one in first],
            "coder_b": [coders[one] for one in second],
            "n_units": shared[first, second].astype(np.int64),
            "observed": observed,
        }
    )
    if at is None or draws is None:
        return table
    expected = _expected(patterns, weights, at, first, second)
    table = table.assign(expected=expected, difference=observed - expected)
    if len(coders) == 3 and patterns.n_strata == 1:
        return table.assign(reason=Reason.SATURATED)
    drawn = np.array(
        [
            _alike(patterns, row, first, second) - _expected(patterns, row, one, first, second)
            for row, one in zip(draws.weights, draws.parameters, strict=True)
        ]
    ).reshape(len(draws.weights), len(pairs))
    half = draws.half(drawn, together=len(pairs))
    return table.assign(
        low=np.maximum(table["difference"] - half, -1), high=np.minimum(table["difference"] + half, 1)
    )


def _alike(patterns: Patterns, weights: Floats, first: Integers, second: Integers) -> Floats:
    """Return the share of the shared units on which each two coders decided alike; NaN of none."""
    both = weights @ (patterns.applied[:, first] * patterns.applied[:, second])
    neither = weights @ (patterns.absent[:, first] * patterns.absent[:, second])
    decided = patterns.applied + patterns.absent
    with np.errstate(invalid="ignore"):
        return np.asarray((both + neither) / (weights @ (decided[:, first] * decided[:, second])))


def _expected(
    patterns: Patterns, weights: Floats, at: Parameters, first: Integers, second: Integers
) -> Floats:
    """Return the same under the model."""
    alike = [
        rate[first] * rate[second] + (1 - rate[first]) * (1 - rate[second])
        for rate in (at.sensitivity, at.specificity)
    ]
    prevalence = at.prevalence[patterns.stratum][:, None]
    decided = patterns.applied + patterns.absent
    shared = weights[:, None] * decided[:, first] * decided[:, second]
    with np.errstate(invalid="ignore"):
        return np.asarray(
            (shared * (prevalence * alike[0] + (1 - prevalence) * alike[1])).sum(axis=0) / shared.sum(axis=0)
        )
