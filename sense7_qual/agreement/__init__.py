"""How well coders agree: coefficients, intervals, and where it goes wrong.

`by_code` and `overall` take the decisions of a study. The coefficients take an array of values (coders,
units) or `Patterns`, `estimate` gives any of them an interval, and `patterns` counts a table of any size
where it lies. ``docs/agreement.md`` says when to take which.

=========================================  ============================  ==================================
question                                   function                      file
=========================================  ============================  ==================================
How reliable is each code? All together?   `by_code`, `overall`          ``_by_code.py``
… ratings, categories?                     `krippendorff_alpha`, kappas  ``_coefficients/``
… each category of a scale?                `per_category`                ``_coefficients/_per_category.py``
… means of ratings, rank orders?           `icc`, `kendall_w`            ``_coefficients/_icc_kendall.py``
… several codes on one unit?               `set_alpha`, distances        ``_sets/``
… codes on passages?                       `span_agreement`, `gamma`     ``_spans/``
… where segments end?                      `segmentation_agreement`      ``_spans/_boundary_similarity.py``
How precise is a coefficient?              `estimate`                    ``_intervals/``
Who differs from whom?                     `pairwise`                    ``_diagnostics/_pairwise.py``
Which codes are mixed up?                  `confusion`                   ``_diagnostics/_confusion.py``
Which units cost most agreement?           `by_unit`                     ``_diagnostics/_by_unit.py``
Do coders grow apart over time?            `over_time`                   ``_diagnostics/_over_time.py``
Does a coder apply a code more, or less?   `drift`                       ``_diagnostics/_drift.py``
What did a discussion change?              `before_after`                ``_diagnostics/_before_after.py``
Is one coder steady?                       `stability`                   ``_diagnostics/_stability.py``
Has a trainee learned it, surely?          `mastery`                     ``_diagnostics/_mastery.py``
How many units must be coded twice?        `units_needed`                ``_diagnostics/_units_needed.py``
… and when are they enough?                `sequential`                  ``_diagnostics/_sequential.py``
Does a model agree with people?            `human_model`                 ``_diagnostics/_human_model.py``
May it replace one of them?                `alternative_annotator_test`  ``_diagnostics/``
Are the numbers right?                     `cross_check`                 ``_diagnostics/_cross_check.py``
Is the table in a database, or too large?  `patterns`                    ``_engines/``
Are the values in a wide table?            `from_wide`                   ``_from_wide.py``
=========================================  ============================  ==================================
"""

from __future__ import annotations

from sense7_qual.agreement import coefficients, diagnosis, sets, spans
from sense7_qual.agreement._before_after import before_after
from sense7_qual.agreement._by_code import by_code, overall
from sense7_qual.agreement._drift import drift
from sense7_qual.agreement._from_wide import from_wide
from sense7_qual.agreement._human_model import human_model
from sense7_qual.agreement._mastery import Mastery as Mastery
from sense7_qual.agreement._mastery import mastery
from sense7_qual.agreement._over_time import over_time, stability
from sense7_qual.agreement._pairwise import pairwise
from sense7_qual.agreement._results import AGREEMENT as AGREEMENT
from sense7_qual.agreement._results import BEFORE_AFTER as BEFORE_AFTER
from sense7_qual.agreement._results import CROSS_CHECK as CROSS_CHECK
from sense7_qual.agreement._results import HUMAN_MODEL as HUMAN_MODEL
from sense7_qual.agreement._sequential import sequential
from sense7_qual.agreement._units_needed import UnitsNeeded as UnitsNeeded
from sense7_qual.agreement._units_needed import units_needed

__all__ = [
    "before_after",
    "by_code",
    "coefficients",
    "diagnosis",
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
