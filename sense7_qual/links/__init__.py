"""Links: the statistical association of each code with a rating, whole participants at a time.

A link says that units with a code are rated higher or lower than units without it. It does not say why.
"""

from __future__ import annotations

from sense7_qual.links.corrected import corrected
from sense7_qual.links.distributions import distributions
from sense7_qual.links.effects import code_to_rating
from sense7_qual.links.fitted import CumulativeModel
from sense7_qual.links.marginal import marginal
from sense7_qual.links.mixed import cumulative_mixed
from sense7_qual.links.multiverse import multiverse
from sense7_qual.links.polychoric import polychoric

__all__ = [
    "CumulativeModel",
    "code_to_rating",
    "corrected",
    "cumulative_mixed",
    "distributions",
    "marginal",
    "multiverse",
    "polychoric",
]
