"""Models of an ordinal rating, and links from the codes of a model that codes texts.

==============================================  ===================  ===================
question                                        function             file
==============================================  ===================  ===================
What is a participant's own odds ratio?         `cumulative_mixed`   ``_ordinal.py``
What is it over the population?                 `marginal`           ``_ordinal.py``
Is it the same all along the scale?             `proportional_odds`  ``_proportional_odds.py``
How large is a link that a model has coded?     `with_model`         ``_with_model.py``
How many texts should people code by hand?      `by_hand`            ``_by_hand.py``
What could missing ratings do to a link?        `missing_ratings`    ``_missing_ratings.py``
Does a link differ between participants?        `r_script`           ``_r_script.py``
==============================================  ===================  ===================
"""

from __future__ import annotations

from sense7_qual.links.models._by_hand import by_hand
from sense7_qual.links.models._missing_ratings import missing_ratings
from sense7_qual.links.models._model import CumulativeModel as CumulativeModel
from sense7_qual.links.models._ordinal import cumulative_mixed, marginal
from sense7_qual.links.models._proportional_odds import proportional_odds
from sense7_qual.links.models._r_script import r_script
from sense7_qual.links.models._results import (
    MISSING_RATINGS as MISSING_RATINGS,
    PROPORTIONAL_ODDS as PROPORTIONAL_ODDS,
)
from sense7_qual.links.models._with_model import with_model

__all__ = [
    "by_hand",
    "cumulative_mixed",
    "marginal",
    "missing_ratings",
    "proportional_odds",
    "r_script",
    "with_model",
]


def __dir__() -> list[str]:
    return __all__
