"""Links: the statistical association of each code with a rating, whole participants at a time.

A link says that units with a code are rated higher or lower than units without it. It does not say why.
``docs/links.md`` says when to take which.

======================================  ==============================  ===================================
question                                function                        file
======================================  ==============================  ===================================
Are texts with a code rated higher?     `code_to_rating`                ``_association/_code_to_rating.py``
What are they rated?                    `distributions`                 ``_association/_distributions.py``
Would another choice say the same?      `multiverse`                    ``_association/_multiverse.py``
How large if coders had not erred?      `corrected`                     ``_association/_corrected.py``
Is it the link of other codes with it?  `joint`                         ``_association/_joint.py``
Which codes come together?              `co_occurrence`                 ``_association/_co_occurrence.py``
An odds ratio, several predictors?      `cumulative_mixed`, `marginal`  ``_ordinal/``
Do two ordinal ratings go together?     `polychoric`                    ``_ordinal/_polychoric.py``
Does a code go with its dimension?      `by_dimension`                  ``_instrument/_by_dimension.py``
Do the dimensions measure one thing?    `internal_consistency`          ``_instrument/_cronbach_alpha.py``
How individual are the judgements?      `variance_shares`               ``_instrument/_variance_shares.py``
Does a poor turn spoil what follows?    `disruption`                    ``_conversation/_disruption.py``
Do ratings depend on the system?        `context`                       ``_conversation/_context.py``
How many participants?                  `sample_size`, `power`          ``_power.py``
======================================  ==============================  ===================================
"""

from __future__ import annotations

from sense7_qual.links import models, scales
from sense7_qual.links._by_dimension import by_dimension
from sense7_qual.links._co_occurrence import co_occurrence
from sense7_qual.links._code_to_rating import code_to_rating
from sense7_qual.links._context import context
from sense7_qual.links._corrected import corrected
from sense7_qual.links._disruption import disruption
from sense7_qual.links._distributions import distributions
from sense7_qual.links._joint import joint
from sense7_qual.links._multiverse import multiverse
from sense7_qual.links._power import power
from sense7_qual.links._results import BY_DIMENSION as BY_DIMENSION
from sense7_qual.links._results import CO_OCCURRENCE as CO_OCCURRENCE
from sense7_qual.links._results import DISRUPTION as DISRUPTION
from sense7_qual.links._results import DISTRIBUTIONS as DISTRIBUTIONS
from sense7_qual.links._results import JOINT as JOINT
from sense7_qual.links._results import LINKS as LINKS
from sense7_qual.links._results import MULTIVERSE as MULTIVERSE
from sense7_qual.links._results import POWER as POWER
from sense7_qual.links._results import VARIANCE_SHARES as VARIANCE_SHARES
from sense7_qual.links._variance_shares import variance_shares

__all__ = [
    "by_dimension",
    "co_occurrence",
    "code_to_rating",
    "context",
    "corrected",
    "disruption",
    "distributions",
    "joint",
    "models",
    "multiverse",
    "power",
    "scales",
    "variance_shares",
]


def __dir__() -> list[str]:
    return __all__
