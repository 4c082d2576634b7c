"""Links: the statistical association of each code with a rating, whole participants at a time.

A link says that units with a code are rated higher or lower than units without it. It does not say why.
Two rooms hold what lies behind it: `models` of an ordinal rating, and models that code; and the rating
`scales` themselves.
``docs/links.md`` says when to take which.

======================================  ==============================  ===================================
question                                function                        file
======================================  ==============================  ===================================
Are texts with a code rated higher?     `code_to_rating`                ``_code_to_rating.py``
What are they rated?                    `distributions`                 ``_distributions.py``
Would another choice say the same?      `multiverse`                    ``_multiverse.py``
How large if coders had not erred?      `corrected`                     ``_corrected.py``
What could missing ratings do to it?    `missing_ratings`               ``models/``
… if a model coded all, people some?    `with_model`, `by_hand`         ``models/``
Is it the link of other codes with it?  `joint`                         ``_joint.py``
Which codes come together?              `co_occurrence`                 ``_joint.py``
Does a code go with its dimension?      `by_dimension`                  ``_by_dimension.py``
How individual are the judgements?      `variance_shares`               ``_variance_shares.py``
Does a poor turn spoil what follows?    `disruption`                    ``_disruption.py``
Do ratings depend on the system?        `context`                       ``_context.py``
How many participants?                  `power`                         ``_power.py``
An odds ratio, several predictors?      `cumulative_mixed`, `marginal`  ``models/``
Do two ordinal ratings go together?     `polychoric`                    ``scales/_polychoric.py``
Do the dimensions measure one thing?    `internal_consistency`          ``scales/``
======================================  ==============================  ===================================
"""

from __future__ import annotations

from sense7_qual.links import models, scales
from sense7_qual.links._by_dimension import by_dimension
from sense7_qual.links._code_to_rating import code_to_rating
from sense7_qual.links._context import context
from sense7_qual.links._corrected import corrected
from sense7_qual.links._disruption import disruption
from sense7_qual.links._distributions import distributions
from sense7_qual.links._family import Adjustment as Adjustment, Margin as Margin
from sense7_qual.links._joint import co_occurrence, joint
from sense7_qual.links._multiverse import multiverse
from sense7_qual.links._odds import Hypothesis as Hypothesis
from sense7_qual.links._power import power
from sense7_qual.links._results import (
    BY_DIMENSION as BY_DIMENSION,
    CO_OCCURRENCE as CO_OCCURRENCE,
    DISRUPTION as DISRUPTION,
    DISTRIBUTIONS as DISTRIBUTIONS,
    JOINT as JOINT,
    LINKS as LINKS,
    MULTIVERSE as MULTIVERSE,
    POWER as POWER,
    VARIANCE_SHARES as VARIANCE_SHARES,
)
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
