"""Why a value is missing, and what to know of one that is there: each code with its sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

__all__ = ["CAUTIONS", "REASONS", "caution_words", "reason_words"]

REASONS: Final[Mapping[str, str]] = {
    "no_pairable_units": "no text was finished by two or more coders",
    "no_variation": "every decision was the same, so agreement beyond chance is not defined",
    "no_disagreement": "the coders never disagreed; some disagreement could have gone unseen",
    "no_rated_units": "no decided text has a rating",
    "constant_rating": "every rating was the same",
    "code_never_applied": "the code was never applied",
    "code_always_applied": "the code was applied to every text",
    "complete_separation": "the ratings with and without the code do not overlap",
    "no_variation_between_clusters": "no cluster makes a difference to the effect",
    "one_cluster": "all texts belong to one cluster",
    "few_clusters": "too few clusters have, or lack, the code",
    "few_humans": "fewer than three people could be tested against the model",
    "few_units": "too few texts for an interval, or for a test, that could be relied on",
    "few_coders": "too few coders to say whether others would agree as well",
    "few_levels": "the rating has too few levels",
    "fewer_than_two_coders": "fewer than two coders have an effect and an interval",
    "one_unit": "only one text was coded by two or more coders",
    "one_coder": "there is only one coder",
    "one_pattern": "all texts were coded in the same way, so resampling says nothing",
    "one_code": "there is no other code to take it for",
    "not_coded_by_two": "no text was given some code by two or more coders where this one was",
    "too_few_spans": "there are too few spans that one of them could meet by chance",
    "overlapping_codes": "a coder gave one stretch of text several codes: compare code by code",
    "no_comparison": "there is nothing to compare with",
    "no_common_units": "no text was decided on for both codes",
    "no_complete_rows": "no text has a value of every variable",
    "no_own_rating": "no participant rated this",
    "no_pairs": "there is no pair of a true and a predicted value",
    "no_poor_turn": "no turn was rated as poor",
    "no_posterior": "the model of the coders' errors could not be fitted",
    "no_rated_turn": "no turn was rated",
    "no_answer": "the model gave no answer",
    "unparsable": "the model's answer is not a number alone",
    "outside_scale": "the model's answer is not on the scale",
    "rating_not_computable": "a rating that the comparison needs could not be computed",
    "constant_predictions": "every prediction was the same",
    "constant_truth": "every true value was the same",
    "constant_within_folds": "every prediction was the same within each fold",
    "constant_variable": "a variable has the same value everywhere",
    "collinear_codes": "the other codes say exactly whether the code is applied",
    "collinear_predictors": "one variable follows from the others",
    "code_varies_between_only": "each cluster has the code in all of its texts or in none",
    "only_between_clusters": "the code differs between clusters only, not within them",
    "no_variation_within_clusters": "nothing differs within the clusters, only between them",
    "separation": "the code tells the ratings apart without exception, so the effect has no finite estimate",
    "not_converged": "the model's estimates did not converge",
    "not_estimated": "the effect was not estimated",
    "not_identified": "the coders share too few texts to tell their errors from how often the code applies",
    "level_in_few_clusters": "a level of the variable occurs in too few clusters",
    "levels_not_separable": "one level has as many groups as the one within it, so they cannot be told apart",
    "many_levels": "the rating has too many levels for an interval",
    "negative_estimate": "the component came out below zero and counts as zero",
    "not_decided": "no decision on the code is there",
    "few_decided": "too few texts were decided on",
    "one_side_undefined": "only one of the two programs gives a number",
    "package_absent": "the other package is not installed",
}


# Of numbers that there are: what to know of them. Some have the name of a reason, and mean less by it.
CAUTIONS: Final[Mapping[str, str]] = {
    "fewer_than_10_clusters": "fewer than 10 clusters have, or lack, the code",
    "few_clusters": "there are fewer than 10 clusters",
    "varies_between_only": "the code differs between clusters only, so it cannot be told apart from them",
    "clusters_of_one": "no cluster has two texts, so the odds ratio is of a model without random intercepts",
    "coders_left_out": "coders for whom the code has no effect and interval are left out",
    "ties_left_out": "texts on which the coders were tied are left out, and so the disputed ones",
    "zero_variance": "the variance between clusters was estimated as 0",
    "zero_nested_variance": "the variance between conversations of a cluster was estimated as 0",
    "laplace_approximation": "variances are somewhat small where conversations have few texts",
    "selection": "conversations with a poor turn may have been poorer all along: no effect of that turn",
    "coarse_quadrature": "with more quadrature nodes the estimate would move",
}


def reason_words(reason: Any) -> str:
    """Return a reason code in words; a code that is not known here is printed with spaces.

    >>> reason_words("constant_rating")
    'every rating was the same'
    """
    if pd.isna(reason) or not str(reason):
        return "the result gives no reason"
    return REASONS.get(str(reason), str(reason).replace("_", " "))


def caution_words(cautions: Any) -> list[str]:
    """Return in words each caution of a cell that lists them with commas or spaces between.

    >>> caution_words("few_clusters, zero_variance")
    ['there are fewer than 10 clusters', 'the variance between clusters was estimated as 0']
    """
    if pd.isna(cautions):
        return []
    codes = str(cautions).replace(",", " ").split()
    return [CAUTIONS.get(code, code.replace("_", " ")) for code in codes]
