"""How well coders agree: coefficients, intervals, and where it goes wrong.

`by_code` and `overall` take the decisions of a study. The coefficients take an array of values (coders,
units) or `Patterns`, `estimate` gives any of them an interval, and `patterns` counts a table of any size
where it lies. `docs/agreement.md` says which one answers which question.
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
from sense7_qual.agreement._coefficients._icc_kendall import icc, kendall_w, per_category
from sense7_qual.agreement._coefficients._patterns import Patterns
from sense7_qual.agreement._diagnostics._alternative_annotator_test import (
    AlternativeAnnotatorTest,
    alternative_annotator_test,
)
from sense7_qual.agreement._diagnostics._cross_check import cross_check
from sense7_qual.agreement._diagnostics._human_model import human_model
from sense7_qual.agreement._diagnostics._over_time import over_time, stability
from sense7_qual.agreement._diagnostics._pairwise import by_unit, confusion, pairwise
from sense7_qual.agreement._diagnostics._units_needed import UnitsNeeded, units_needed
from sense7_qual.agreement._engines import patterns
from sense7_qual.agreement._frames import from_wide
from sense7_qual.agreement._intervals import Estimate, estimate
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
    "Patterns",
    "SegmentationAgreement",
    "UnitizingAlphas",
    "UnitsNeeded",
    "alpha_u_2004",
    "alternative_annotator_test",
    "boundary_similarity",
    "brennan_prediger",
    "by_code",
    "by_unit",
    "cohen_kappa",
    "confusion",
    "conger_kappa",
    "cross_check",
    "dice_distance",
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
    "set_alpha",
    "span_agreement",
    "specific_agreement",
    "stability",
    "unitizing_alphas",
    "units_needed",
]
