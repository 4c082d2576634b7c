"""How well coders agree: coefficients, intervals, and where it goes wrong.

`by_code` and `overall` take the decisions of a study. The coefficients take an array of values (coders,
units) or `Patterns`, `estimate` gives any of them an interval, and `patterns` counts a table of any size
where it lies. `docs/agreement.md` says which one answers which question.
"""

from __future__ import annotations

from sense7_qual.agreement.alternative import AlternativeAnnotatorTest, alternative_annotator_test
from sense7_qual.agreement.codes import by_code, overall
from sense7_qual.agreement.coefficients import (
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
from sense7_qual.agreement.comparison import over_time, stability
from sense7_qual.agreement.diagnostics import by_unit, confusion, pairwise
from sense7_qual.agreement.engines import patterns
from sense7_qual.agreement.frames import from_wide
from sense7_qual.agreement.gamma_alignment import Gamma, gamma, gamma_dissimilarity
from sense7_qual.agreement.groups import human_model
from sense7_qual.agreement.intervals import Estimate, estimate
from sense7_qual.agreement.pattern_counts import Patterns
from sense7_qual.agreement.planning import UnitsNeeded, units_needed
from sense7_qual.agreement.scales import icc, kendall_w, per_category
from sense7_qual.agreement.second_opinion import cross_check
from sense7_qual.agreement.segmentation import (
    SegmentationAgreement,
    boundary_similarity,
    segmentation_agreement,
)
from sense7_qual.agreement.sets import (
    dice_distance,
    jaccard_distance,
    masi_distance,
    multivalued_alpha,
    set_alpha,
)
from sense7_qual.agreement.spans import (
    UnitizingAlphas,
    alpha_u_2004,
    overlap_f1,
    span_agreement,
    unitizing_alphas,
)

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
