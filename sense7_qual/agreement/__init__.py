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

from sense7_qual.agreement._by_code import by_code, overall
from sense7_qual.agreement._coefficients import (
    brennan_prediger,
    cohen_kappa,
    conger_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    light_kappa,
    percent_agreement,
    scott_pi,
    specific_agreement,
)
from sense7_qual.agreement._coefficients._icc_kendall import icc, kendall_w
from sense7_qual.agreement._coefficients._patterns import Patterns
from sense7_qual.agreement._coefficients._per_category import per_category
from sense7_qual.agreement._diagnostics._alternative_annotator_test import (
    AlternativeAnnotatorTest,
    alternative_annotator_test,
)
from sense7_qual.agreement._diagnostics._before_after import before_after
from sense7_qual.agreement._diagnostics._confusion import by_unit, confusion
from sense7_qual.agreement._diagnostics._cross_check import cross_check
from sense7_qual.agreement._diagnostics._drift import drift
from sense7_qual.agreement._diagnostics._human_model import human_model
from sense7_qual.agreement._diagnostics._mastery import Mastery, mastery
from sense7_qual.agreement._diagnostics._over_time import over_time, stability
from sense7_qual.agreement._diagnostics._pairwise import pairwise
from sense7_qual.agreement._diagnostics._sequential import sequential
from sense7_qual.agreement._diagnostics._units_needed import UnitsNeeded, units_needed
from sense7_qual.agreement._engines import patterns
from sense7_qual.agreement._from_wide import from_wide
from sense7_qual.agreement._intervals import Estimate, estimate
from sense7_qual.agreement._results import AGREEMENT as AGREEMENT
from sense7_qual.agreement._results import BEFORE_AFTER as BEFORE_AFTER
from sense7_qual.agreement._results import CROSS_CHECK as CROSS_CHECK
from sense7_qual.agreement._results import HUMAN_MODEL as HUMAN_MODEL
from sense7_qual.agreement._sets import (
    dice_distance,
    jaccard_distance,
    masi_distance,
    multivalued_alpha,
    set_alpha,
)
from sense7_qual.agreement._spans import (
    UnitizingAlphas,
    alpha_u_2004,
    overlap_f1,
    span_agreement,
    unitizing_alphas,
)
from sense7_qual.agreement._spans._boundary_similarity import (
    SegmentationAgreement,
    boundary_similarity,
    segmentation_agreement,
)
from sense7_qual.agreement._spans._gamma import Gamma, gamma, gamma_dissimilarity

__all__ = [
    "AlternativeAnnotatorTest",
    "Estimate",
    "Gamma",
    "Mastery",
    "Patterns",
    "SegmentationAgreement",
    "UnitizingAlphas",
    "UnitsNeeded",
    "alpha_u_2004",
    "alternative_annotator_test",
    "before_after",
    "boundary_similarity",
    "brennan_prediger",
    "by_code",
    "by_unit",
    "cohen_kappa",
    "confusion",
    "conger_kappa",
    "cross_check",
    "dice_distance",
    "drift",
    "estimate",
    "fleiss_kappa",
    "from_wide",
    "gamma",
    "gamma_dissimilarity",
    "gwet_ac",
    "human_model",
    "icc",
    "jaccard_distance",
    "kendall_w",
    "krippendorff_alpha",
    "light_kappa",
    "masi_distance",
    "mastery",
    "multivalued_alpha",
    "over_time",
    "overall",
    "overlap_f1",
    "pairwise",
    "patterns",
    "per_category",
    "percent_agreement",
    "scott_pi",
    "segmentation_agreement",
    "sequential",
    "set_alpha",
    "span_agreement",
    "specific_agreement",
    "stability",
    "unitizing_alphas",
    "units_needed",
]
