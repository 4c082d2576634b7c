"""Figures for a paper: agreement, where coders disagree, links with ratings, and the power to find them.

Every function takes an unrounded result frame and returns a `Figure`, drawn without a network, that can be
written as SVG, PNG and PDF at the width of one or two columns of a page. Figures show no text of a unit. A
row that could not be computed is kept, and marked. Points, lines and their dashes can be told apart in grey.
With ``codebook=store.codebook`` each code's label has the line and colour of the widgets.

==============================================  ==================================  =========================
question                                        function                            file
==============================================  ==================================  =========================
How well do coders agree on each code?          `agreement_plot`                    ``_forest.py``
Which codes go with higher ratings?             `link_plot`                         ``_forest.py``
… whoever codes?                                `link_forest`                       ``_forest.py``
What are texts with a code rated?               `rating_distributions`              ``_ratings.py``
Does the rating change after the code?          `disruption`                        ``_forest.py``
Would another analysis say the same?            `specification_curve`               ``_multiverse.py``
Where, when and on what do coders differ?       `pairwise_plot`, `drift_plot`,      ``_disagreement.py``
                                                `unit_plot`
What is a model that codes worth?               `model_card`                        ``_model_card.py``
Which codes go with which dimension?            `code_dimension_matrix`             ``_ratings.py``
How many texts are needed?                      `power_curve`                       ``_power.py``
How reproducible are themes?                    `granularity_plot`                  ``_themes.py``
In which conditions or turns are themes?        `theme_spread`                      ``_themes.py``
==============================================  ==================================  =========================
"""

from __future__ import annotations

from sense7_qual.figures._disagreement import drift_plot, pairwise_plot, unit_plot as unit_plot
from sense7_qual.figures._figure import Figure as Figure
from sense7_qual.figures._forest import agreement_plot, disruption_plot, link_forest, link_plot
from sense7_qual.figures._model_card import model_card
from sense7_qual.figures._multiverse import specification_curve
from sense7_qual.figures._power import power_curve as power_curve
from sense7_qual.figures._ratings import code_dimension_matrix, rating_distributions
from sense7_qual.figures._themes import granularity_plot, theme_spread

__all__ = [
    "agreement_plot",
    "code_dimension_matrix",
    "disruption_plot",
    "drift_plot",
    "granularity_plot",
    "link_forest",
    "link_plot",
    "model_card",
    "pairwise_plot",
    "rating_distributions",
    "specification_curve",
    "theme_spread",
]


def __dir__() -> list[str]:
    return __all__
