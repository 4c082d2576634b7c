"""Links: the statistical association of each code with a rating, whole participants at a time.

A link says that units with a code are rated higher or lower than units without it. It does not say why.
"""

from __future__ import annotations

from sense7_qual.links.conditions import context
from sense7_qual.links.correction import corrected
from sense7_qual.links.correlation import Polychoric, polychoric
from sense7_qual.links.effects import code_to_rating
from sense7_qual.links.estimating_equations import marginal
from sense7_qual.links.fitted import CumulativeModel
from sense7_qual.links.internal import dimension_correlations, internal_consistency
from sense7_qual.links.levels import distributions
from sense7_qual.links.mixed import cumulative_mixed
from sense7_qual.links.pairs import co_occurrence
from sense7_qual.links.planning import power, sample_size
from sense7_qual.links.specifications import multiverse
from sense7_qual.links.together import joint
from sense7_qual.links.turns import disruption
from sense7_qual.links.validity import by_dimension
from sense7_qual.links.variance import variance_shares

__all__ = [
    "CumulativeModel",
    "Polychoric",
    "by_dimension",
    "co_occurrence",
    "code_to_rating",
    "context",
    "corrected",
    "cumulative_mixed",
    "dimension_correlations",
    "disruption",
    "distributions",
    "internal_consistency",
    "joint",
    "marginal",
    "multiverse",
    "polychoric",
    "power",
    "sample_size",
    "variance_shares",
]
