"""How well coders agree: numbers, intervals, and where it goes wrong.

`by_code` and `overall` take the decisions of a study. The rooms hold what is for other data: `coefficients`
takes an array of values (coders, units), `sets` takes units with several codes each, `spans` takes passages;
`diagnosis` asks where agreement goes wrong. ``docs/agreement.md`` says when to take which.

=========================================  ============================  ==================================
question                                   function                      file
=========================================  ============================  ==================================
How reliable is each code? All together?   `by_code`, `overall`          ``_by_code.py``
Who differs from whom?                     `pairwise`                    ``_human_model.py``
Do coders grow apart over time?            `over_time`                   ``_drift.py``
Does a coder apply a code more, or less?   `drift`                       ``_drift.py``
Has it changed? Which of two is higher?    `difference`                  ``_difference.py``
Is one coder steady?                       `stability`                   ``_drift.py``
Has a trainee learned it, surely?          `mastery`                     ``_mastery.py``
How many units must be coded twice?        `units_needed`                ``_units_needed.py``
… and when are they enough?                `sequential`                  ``_sequential.py``
Does a model agree with people?            `human_model`                 ``_human_model.py``
Are the values in a wide table?            `from_wide`                   ``_from_wide.py``
… ratings, categories?                     `krippendorff_alpha`, kappas  ``coefficients/``
… each category of a scale?                `per_category`                ``coefficients/_compute.py``
… means of ratings, rank orders?           `icc`, `kendall_w`            ``coefficients/_icc_kendall.py``
How precise is a coefficient?              `estimate`                    ``_intervals/``
Is the table in a database, or too large?  `patterns`                    ``_engines/``
… several codes on one unit?               `set_alpha`, `distance`       ``sets/``
… codes on passages?                       `span_agreement`, `gamma`     ``spans/``
… where segments end?                      `segmentation_agreement`      ``spans/_boundary_similarity.py``
Which codes are mixed up?                  `confusion`                   ``diagnosis/``
Which units cost most agreement?           `by_unit`                     ``diagnosis/``
May a model replace a coder?               `alternative_annotator_test`  ``diagnosis/``
What is it worth, code by code?            `model_card`, `model_words`   ``diagnosis/``
Are the numbers right?                     `cross_check`                 ``diagnosis/``
=========================================  ============================  ==================================
"""

from __future__ import annotations

from sense7_qual.agreement import coefficients, diagnosis, sets, spans
from sense7_qual.agreement._by_code import by_code, overall
from sense7_qual.agreement._difference import difference
from sense7_qual.agreement._drift import drift, over_time, stability
from sense7_qual.agreement._from_wide import from_wide
from sense7_qual.agreement._human_model import human_model, pairwise
from sense7_qual.agreement._mastery import Mastery as Mastery, mastery
from sense7_qual.agreement._results import (
    AGREEMENT as AGREEMENT,
    CROSS_CHECK as CROSS_CHECK,
    DIFFERENCE as DIFFERENCE,
    HUMAN_MODEL as HUMAN_MODEL,
    MODEL_CARD as MODEL_CARD,
    MODEL_WORDS as MODEL_WORDS,
)
from sense7_qual.agreement._sequential import sequential
from sense7_qual.agreement._units_needed import UnitsNeeded as UnitsNeeded, units_needed

__all__ = [
    "by_code",
    "coefficients",
    "diagnosis",
    "difference",
    "drift",
    "from_wide",
    "human_model",
    "mastery",
    "over_time",
    "overall",
    "pairwise",
    "sequential",
    "sets",
    "spans",
    "stability",
    "units_needed",
]


def __dir__() -> list[str]:
    return __all__
