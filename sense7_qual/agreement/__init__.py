"""How well coders agree: coefficients, intervals, and where it goes wrong."""

from __future__ import annotations

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
from sense7_qual.agreement.intervals import Estimate, estimate
from sense7_qual.agreement.patterns import Patterns
from sense7_qual.agreement.scales import icc, kendall_w, per_category

__all__ = [
    "Estimate",
    "Patterns",
    "brennan_prediger",
    "by_code",
    "cohen_kappa",
    "conger_kappa",
    "estimate",
    "fleiss_kappa",
    "gwet_ac",
    "icc",
    "kendall_w",
    "krippendorff_alpha",
    "light_kappa",
    "overall",
    "per_category",
    "percent_agreement",
    "scott_pi",
    "specific_agreement",
]
