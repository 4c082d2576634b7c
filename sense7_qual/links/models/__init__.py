"""Models of an ordinal rating, and links from the codes of a model that codes texts.

==============================================  ===================  ===================
question                                        function             file
==============================================  ===================  ===================
What is a participant's own odds ratio?         `cumulative_mixed`   ``_ordinal.py``
What is it over the population?                 `marginal`           ``_ordinal.py``
Is it the same all along the scale?             `proportional_odds`  ``_proportional_odds.py``
How large is a link that a model has coded?     `with_model`         ``_with_model.py``
How many texts should people code by hand?      `by_hand`            ``_by_hand.py``
==============================================  ===================  ===================
"""

from __future__ import annotations

from sense7_qual.links.models._by_hand import by_hand
from sense7_qual.links.models._model import CumulativeModel as CumulativeModel
from sense7_qual.links.models._ordinal import cumulative_mixed, marginal
from sense7_qual.links.models._proportional_odds import proportional_odds
from sense7_qual.links.models._with_model import with_model

__all__ = ["by_hand", "cumulative_mixed", "marginal", "proportional_odds", "with_model"]


def __dir__() -> list[str]:
    return __all__
