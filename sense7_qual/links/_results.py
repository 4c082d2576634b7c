"""The result frames of this package: each column with its type, meaning and range."""

from __future__ import annotations

from typing import Final

from sense7_qual._basis import BASIS
from sense7_qual._contract import (
    Contract,
    coefficient,
    count,
    estimated,
    flag,
    number,
    reason,
    settings,
    share,
    text,
)

LEVEL: Final = share("as given")
RANK: Final = number("the rank-biserial correlation, −1 to 1", -1, 1)
_ODDS: Final = number("above 0", 0)
_P: Final = number("two-sided, of the hypothesis that the estimate is 0", 0, 1)

CO_OCCURRENCE: Final = Contract(
    "pairs",
    ("code", "other"),
    {
        "code, other, source": text(),
        "n": count("units on which the source decided on both"),
        "n_code, n_other, n_both": count("those with each, and with both"),
        "phi": number(
            "the correlation of the two, −1 to 1; NaN where one is applied to none or to all of the units",
            -1,
            1,
        ),
        "lift": number(
            "n_both over the number expected if they were unrelated, 0 or more (1 = as by chance); NaN "
            "where one is applied to none",
            0,
        ),
        "reason": reason("`no_common_units`, `code_never_applied`, `code_always_applied`"),
        **BASIS,
    },
    row="One row per pair of codes, in the order in which they first appear",
)

WHY: Final = (
    "`no_rated_units`, `code_never_applied`, `code_always_applied`, `constant_rating` (no effect); "
    "`one_cluster`, `few_clusters` (the code is applied in, or absent from, fewer than six clusters: effect, "
    "but no interval and no p); `complete_separation` (effect of ±1: no interval and no p); "
    "`no_variation_between_clusters` (leaving out any cluster leaves the effect as it is: no interval and no "
    "p); `fewer_than_two_coders` (pooled: fewer than two coders have an effect and an interval)"
)
_WAITING: Final = "`waiting_for_review` (the code has no figure until its texts are reviewed)"
OF_BASIS: Final = (
    "`mixed_basis` (the decisions rest on several bases, see the column basis), `partly_reviewed` (some "
    "texts wait for review of the code)"
)
WHY_NO_ODDS: Final = (
    "`separation` (it would be infinite or 0), `no_variation_within_clusters` (of the rating), "
    "`levels_not_separable` (`nested` has one conversation a participant, or one unit a conversation), "
    "`not_converged`"
)
LINKS: Final = Contract(
    "links",
    ("source", "code"),
    {
        "code, source": text(),
        "n_with, n_without": count(
            "rated units with and without the code (pooled: units to which any of its coders, and to which "
            "none, applied it: each unit once)",
            missing=True,
        ),
        "n_clusters, n_clusters_with*, n_clusters_without*": count(
            "participants of all these units, of those with, and of those without it (one can be in both)",
            missing=True,
        ),
        "n_clusters_both": count(
            "participants with units with the code and units without it: they alone carry odds_ratio "
            "(pooled: by the code of any of its coders)",
            missing=True,
        ),
        "n_coders*": count(
            "the coders who decided (consensus: missing; pooled: those in the estimate)", missing=True
        ),
        "n_tied": count(
            "rated units left out of the row because as many coders applied the code as did not: for the "
            "majority; with two coders every unit on which they differ",
            missing=True,
        ),
        "mean_with*, mean_without*, mean_difference": number(
            "in points of the rating; positive = higher with the code"
        ),
        **estimated(
            "rank_biserial",
            number(
                "−1 to 1; the probability that a unit with the code is rated higher than one without, minus "
                "the probability that it is rated lower (ties count for neither). The probability of "
                "superiority is (rank_biserial + 1) / 2",
                -1,
                1,
            ),
        ),
        "p": number("two-sided, of the hypothesis that **rank_biserial** is 0", 0, 1),
        "p_adjusted, p_holm*": number(
            "Benjamini–Hochberg, and Holm, both over the codes of the source that have a p; with `adjust` "
            '"max-t" the step-down max-T, and Holm, over all rows that have one',
            0,
            1,
        ),
        "family": text("the name of that family of tests"),
        "adjustment*": text('"Benjamini–Hochberg" or "max-t"; also returned with the latter'),
        "odds_ratio, odds_ratio_low, odds_ratio_high": number(
            "above 0; of a higher rating of a unit with the code than of the same participant's units "
            "without it, and its interval: cumulative-link mixed model with the code less the participant's "
            "share, that share, and a random intercept for the participant",
            0,
        ),
        "odds_ratio_df": number(
            "degrees of freedom of its interval and p: n_clusters_both − 1; pooled by "
            "Satterthwaite's, or Barnard and Rubin's, formula",
            0,
        ),
        "odds_ratio_p": number("of the hypothesis that **odds_ratio** is 1", 0, 1),
        "odds_ratio_p_adjusted, odds_ratio_p_holm*": number(
            "as above, over the odds ratios of the source", 0, 1
        ),
        "between_odds_ratio, between_odds_ratio_low, between_odds_ratio_high, between_odds_ratio_p": number(
            "of a participant who always has the code against one who never has, from the model of "
            "odds_ratio; missing where all participants have the code in the same share of units",
            0,
        ),
        "between_odds_ratio_p_adjusted*, between_odds_ratio_p_holm*": number(
            'as above; the former also returned with `hypothesis` "between"', 0, 1
        ),
        "contextual_p*": number(
            "of the hypothesis that the odds ratios within and between participants are the same; below .05 "
            "the row has the caution `within_and_between_differ`",
            0,
            1,
        ),
        "mixed_odds_ratio*, mixed_odds_ratio_low*, mixed_odds_ratio_high*, mixed_odds_ratio_p*": number(
            "of one odds ratio for both, which mixes them where they differ; Student's t with as many "
            "degrees of freedom as rank_biserial",
            0,
        ),
        "hypothesis*": text('as given; also returned with "between"'),
        "gee_odds_ratio*, gee_odds_ratio_low*, gee_odds_ratio_high*, gee_odds_ratio_p*": number(
            "also returned with `sensitivity`", 0
        ),
        "equivalence_effect*": text(
            "as given; this and the next three also returned with `equivalence`", missing=True
        ),
        "equivalence_margin*": number("as given", 0),
        "equivalence_p*, equivalence_p_adjusted*": number(
            "the larger of two one-sided p, of the hypotheses that the effect is at the margin or beyond it, "
            "above or below; adjusted over the family, by Benjamini–Hochberg, or by Holm with `adjust` "
            '"max-t"',
            0,
            1,
        ),
        "spearman*, spearman_low*, spearman_high*": number(
            "−1 to 1; of the rating with the share of coders who apply the code, in the rows of majority and "
            "pooled",
            -1,
            1,
        ),
        "between_coder_share, odds_ratio_between_coder_share*": share(
            "the part of the variance of rank_biserial (on Fisher's z) and of log odds_ratio that is due to "
            "the choice of coder",
            "pooled rows",
        ),
        "pooling": text("as given, in the pooled rows", missing=True),
        "varies*": text(
            '"within" participants, "between" them alone (a participant always or never has the code: '
            'nothing separates the code from who the participant is), or "both"',
            missing=True,
        ),
        "caution": reason(
            'warnings about a row with numbers, joined by ", ": `fewer_than_10_clusters` (on the rarer '
            "side, or in n_clusters_both), `varies_between_only`, `clusters_of_one` (no participant has two "
            "units, so the odds ratio between them is of a model without random intercepts), "
            "`within_and_between_differ` (contextual_p is below .05), `coders_left_out` (pooled without the "
            "coders for whom the code has no effect and interval), `ties_left_out` (see n_tied: the link "
            "is that of the undisputed "
            "units, which need not be the link of all), `models_counted` (`with_models`: a model is among "
            "the "
            f"coders of the majority, or of the pooled estimate); {OF_BASIS}"
        ),
        **settings("those in which no unit or every unit had the code"),
        "reason": reason(f"why rank_biserial, its interval and p are missing: {WHY}; {_WAITING}"),
        "odds_ratio_reason": reason(
            f"why the odds ratio is missing: a reason as above, such as {_WAITING}, `no_rated_units`, "
            "`code_never_applied`, `code_always_applied`, `constant_rating`, `one_cluster`, `few_clusters`, "
            "`fewer_than_two_coders`; also `no_own_comparison` (the code varies between participants only), "
            "`few_own_comparisons` (n_clusters_both is below six: no interval and no p), "
            f"{WHY_NO_ODDS}"
        ),
        **BASIS,
    },
    row=(
        "One row per source and code, in the order in which they first appear, majority, consensus and "
        "pooled last"
    ),
)

CORRECTED: Final = Contract(
    "corrected",
    ("code",),
    {
        "code": text(),
        "n_units, n_clusters": count("rated units, and their clusters"),
        "n_with": number("expected number of rated units that truly have the code", 0),
        "mean_difference": number("in points of the rating"),
        **estimated("rank_biserial", RANK),
        "p": _P,
        "p_adjusted, p_holm": number("Benjamini–Hochberg, and Holm, over the codes with a p", 0, 1),
        "odds_ratio, odds_ratio_low, odds_ratio_high": number(
            "above 0, with its interval, where asked for", 0
        ),
        "odds_ratio_p": number("of the hypothesis that odds_ratio is 1", 0, 1),
        "imputation_share": share(
            "the part of the variance of rank_biserial, on Fisher's z, due to not knowing the true codes"
        ),
        "n_imputations": count(missing=True),
        "parameters_drawn": flag("whether `posterior` had draws"),
        "confidence_level": LEVEL,
        "seed": count("as given", missing=True),
        "reason": reason(
            "why there is no effect: `no_posterior` (the model could not be fitted), or a reason of "
            "`code_to_rating` "
            f"that held in some imputation: {WHY}"
        ),
    },
    row="One row per code",
)


DISTRIBUTIONS: Final = Contract(
    "distributions",
    ("source", "code", "applied", "level"),
    {
        "code, source": text(),
        "applied": flag("whether the units have the code"),
        "level": number("every rating that occurs on a decided unit, rising"),
        "n": count("units"),
        "share": share("of the units with, or without, the code", "missing where there are none"),
        **BASIS,
    },
    row="One row per source, code, applied and level, also where there is no unit",
)

JOINT: Final = Contract(
    "joint",
    ("code", "effect", "level"),
    {
        "code, source": text(),
        "effect": text("`code` or `interaction`"),
        "level, reference": text("the conditions compared; missing for effect `code`", missing=True),
        "n": count("units in the model"),
        "n_tied*": count(
            "of the majority, rated units that are left out because coders are tied on one code or more",
            missing=True,
        ),
        "n_with": count(
            "units with the code (of the condition `level`; where the code is not in the model, of all rated "
            "units, and missing for an interaction)",
            missing=True,
        ),
        "n_clusters": count("participants in the model"),
        "n_clusters_both": count(
            "those who have texts with the code and texts without it: the degrees of freedom are one less "
            "(interaction: in `level`, or in `reference`, whichever are fewer)",
            missing=True,
        ),
        "odds_ratio, odds_ratio_low, odds_ratio_high": number(
            "above 0; of a participant's ratings with and without the code, the other codes being equal, "
            "with its interval; for an interaction the ratio of the odds ratio in `level` to that in "
            "`reference`",
            0,
        ),
        "p": number("two-sided", 0, 1),
        "p_adjusted, p_holm*": number("Benjamini–Hochberg, and Holm, over the rows named by `family`", 0, 1),
        "joint_p": number(
            "of the hypothesis that the code's odds ratio is the same in all conditions (Wald's F test)", 0, 1
        ),
        "family": text("over which p is adjusted"),
        "variance_inflation": number(
            "1 / (1 − R²) of the code given the other codes, all less their shares, 1 or more; its square "
            "root says by how much the standard error grows because codes occur together. Infinite where "
            "the other codes determine it",
            1 - 1e-9,
        ),
        "confidence_level": LEVEL,
        "caution": reason(
            "several with a space between: `ties_left_out`, where n_tied is above 0, and those of "
            "`CumulativeModel`: `few_clusters`, `clusters_of_one`, `zero_variance`, `zero_nested_variance`, "
            f"`laplace_approximation`, `coarse_quadrature`; {OF_BASIS}"
        ),
        "reason": reason(
            "why there is no estimate: `no_rated_units`, `code_never_applied`, `code_always_applied`, "
            "`collinear_codes` (infinite variance_inflation), `no_own_comparison` (no participant has both), "
            "`few_own_comparisons` (fewer than six have: no interval and no p), `separation` (all units with "
            "the code, or all without it, are at the highest or at the lowest level: the odds ratio is "
            "infinite or "
            "0; those units "
            "carry no information on the other codes, which are estimated from the rest), or the model's own "
            "(`CumulativeModel`): `no_complete_rows`, `constant_rating`, `one_cluster`, "
            "`levels_not_separable`, `no_variation_within_clusters`, `not_converged`"
        ),
        **BASIS,
    },
    row="One row per code (effect `code`) and, with `interaction`, one more per code and condition but the "
    "first (effect `interaction`)",
)


MULTIVERSE: Final = Contract(
    "multiverse",
    ("code", "source", "analysis", "exclusion"),
    {
        "code, source, analysis, exclusion": text('analysis "whole": the whole error, with `arms`'),
        "effect": text(
            '"rank_biserial" or "odds_ratio": the scale of the estimate, −1 to 1 around 0, or above 0 '
            "around 1"
        ),
        "estimate, low, high": number("the effect and its interval"),
        "p*": number(
            "of the hypothesis of no effect, unadjusted: the rows are not independent tests and no selection "
            "among them is a result",
            0,
            1,
        ),
        "whole_p*": number(
            "of the hypothesis that the code is unrelated to the rating within participants, whatever the "
            "source and the exclusion, from permutations; the same in all rows of a code. Missing where no "
            "participant has two different ratings, or the code does not vary",
            0,
            1,
        ),
        "n_coders*, n_prompts*": count(
            "of the whole error: the coders, and the prompts, that the interval rests on; 0 prompts: the "
            "model was not used",
            missing=True,
        ),
        "between_share*": share(
            "of the whole error: the part of the variance that is due to who coded, or in the row of a "
            "model to how it was asked",
            "missing in other rows",
        ),
        "n_units*, n_clusters*": count(),
        "confidence_level": LEVEL,
        "reason": reason(
            f"why numbers are missing: {WHY}; {WHY_NO_ODDS}; `no_own_comparison`, `few_own_comparisons` "
            f"(of "
            "within), `not_estimated`"
        ),
        "rank*": count(
            "the place of the estimate, from 1, among those of its code and effect, equal ones by the names "
            "of analysis, exclusion and source; missing where there is none, and for the whole error",
            missing=True,
        ),
        **BASIS,
    },
    row="One row per code × source × analysis × exclusion, by code as it first appears, effect and rank, "
    "missing last; with `arms` three more for the whole error at the end of each code",
)

CONTEXT: Final = Contract(
    "context",
    ("variable", "level"),
    {
        "variable": text(),
        "level": text("missing in the variable's own row", missing=True),
        "reference": text("the level compared with", missing=True),
        "n_units, n_clusters": count("rated rows in which no variable is missing, and their clusters"),
        "mean": number("of their ratings, not adjusted"),
        "mean_difference, low, high": number(
            "in points, adjusted, with its interval: of a level from the reference; in a numeric variable's "
            "own row, per 1 more of it"
        ),
        "statistic": number("Wald's F of the whole variable", 0),
        "df": count("its numerator degrees of freedom", missing=True),
        "p": number(
            "of the hypothesis that the ratings do not depend on it (of a level: that it does not differ "
            "from the reference)",
            0,
            1,
        ),
        "n_missing": count("rated rows left out because a variable is missing"),
        "confidence_level": LEVEL,
        "reason": reason(
            "why there are no effects: `no_rated_units`, `constant_rating`, `constant_variable` (one level "
            "or number alone), `collinear_predictors` (the variables determine one another), `few_clusters` "
            "(fewer than six, or no more than coefficients: no interval, no p), `level_in_few_clusters` "
            "(leaving out some cluster leaves no such level: no interval, no p)"
        ),
    },
    row="For each variable a row of its own, and one per level or number that occurs (of up to 30)",
)

DISRUPTION: Final = Contract(
    "disruption",
    ("contrast", "code"),
    {
        "contrast": text(
            "`later_turns`, `later_turns_adjusted`, `within_document` (see Notes), or the outcome's name"
        ),
        "code": text(
            "missing for all poor turns; otherwise only first poor turns with the code count", missing=True
        ),
        "n_documents, n_clusters": count("that take part"),
        "n_with, n_without": count("rows compared (see Notes)"),
        "mean_with, mean_without": number("in points, not adjusted"),
        "mean_difference, difference_low, difference_high": number("in points, with its interval"),
        "cohens_d, d_low, d_high": number(
            "the difference divided by the pooled standard deviation (see Notes), with its interval"
        ),
        "p": number(
            "two-sided, of the hypothesis that the difference is 0; never given for `later_turns`, "
            "because their difference is not 0 even without an effect of a poor turn",
            0,
            1,
        ),
        **settings("those without a value"),
        "caution*": reason(
            "`selection` for `later_turns` and outcomes: the difference is also, or only, that between "
            "poorer and better conversations; `turn_or_mood` for `within_document`: also that of first "
            "turns rated differently, or of lasting moods; missing for `later_turns_adjusted`; "
            f"{OF_BASIS}"
        ),
        "reason": reason(
            "`no_rated_units`, `no_poor_turn`, `no_comparison` (nothing to compare with), `constant_rating` "
            "(no spread to divide by); or, with an effect but no interval and no p, `few_clusters` (fewer "
            "than six on a side), `no_variation_between_clusters`"
        ),
        **BASIS,
    },
    row="One row per contrast, overall and then for each code. Negative = lower where a turn was poor",
)

BY_DIMENSION: Final = Contract(
    "by_dimension",
    ("code", "dimension"),
    {
        "code, source": text(),
        "dimension": text("the rating; missing in the row of the contrast", missing=True),
        "own": flag("whether it is the code's own rating; missing where the code has none", missing=True),
        "estimate": number(
            "of a rating, the rank-biserial correlation as in `code_to_rating` (−1 to 1, positive = rated "
            "higher with the code); of the contrast, the own rating's less the mean of the others'",
            -2,
            2,
        ),
        "low, high": number("its interval from resampling clusters, the same resamples for all rows", -2, 2),
        "p*": _P,
        "p_adjusted*, p_holm*": number(
            "Benjamini–Hochberg, and Holm: over all rows of the ratings, and apart from them over those of "
            "the contrasts",
            0,
            1,
        ),
        "n_with*, n_without*": count(
            "units with and without the code that have the rating (of the contrast: the "
            "smallest of the ratings')"
        ),
        "n_clusters*": count("their clusters"),
        **settings("those without a value", aside=("n_boot", "n_undefined", "seed")),
        "reason": reason(
            "`no_rated_units`, `code_never_applied`, `code_always_applied`, `constant_rating`, "
            "`no_own_rating`, `rating_not_computable` (one of the ratings that the contrast needs); or with "
            "an estimate, but no interval and no p: `few_clusters` (with the code, or without it, fewer "
            "than six), `complete_separation`, `no_variation_between_clusters`"
        ),
        **BASIS,
    },
    row="For each code one row per rating, then one for the contrast",
)

CONSISTENCY: Final = Contract(
    "internal_consistency",
    ("without",),
    {
        "without": text("missing, or the rating that is left out", missing=True),
        "n_items": count(),
        "n": count("rows with every rating (listwise), or with any (pairwise)"),
        "n_missing": count("rows of `units` (or conversations) that lack one or more of the ratings"),
        "n_clusters": count("of the n rows"),
        "alpha, alpha_low, alpha_high": coefficient(
            "Cronbach's, and its interval, from leaving out each cluster"
        ),
        "feldt_low, feldt_high": coefficient(
            "the interval that treats the rows as independent, as most software prints it",
            "too narrow where participants gave several; listwise only",
        ),
        "confidence_level": LEVEL,
        "reason": reason(
            "`no_rated_units` (fewer than two rows), `constant_rating` (no alpha); `few_clusters` (fewer "
            "than six) or `no_variation_between_clusters`: no interval of that kind"
        ),
    },
    row="One row for all ratings, and one without each of them where there are three or more",
)

CORRELATIONS: Final = Contract(
    "dimension_correlations",
    ("rating", "other"),
    {
        "rating, other": text(),
        "n, n_clusters": count("rows that have both, and their clusters"),
        **estimated(
            "spearman",
            number(
                "−1 to 1, over all rows, so it mixes differences between and within participants; its "
                "interval is from leaving out each cluster",
                -1,
                1,
            ),
        ),
        "within": number(
            "the mean of the participants' own Spearman correlations, each counting once", -1, 1
        ),
        "n_within": count("the participants who have one (three or more rows, and both ratings vary)"),
        "confidence_level": LEVEL,
        "reason": reason(
            "`no_rated_units` (fewer than two rows), `constant_rating`, and with a correlation but no "
            "interval: `few_clusters` (fewer than six), `many_levels` (a rating of more than 40 levels), "
            "`no_variation_between_clusters`"
        ),
    },
    row="One row per pair, in the order given",
)

VARIANCE_SHARES: Final = Contract(
    "shares",
    ("level",),
    {
        "level": text(),
        "n_groups": count("its groups that have ratings (of the remainder: the ratings)"),
        "variance": number("its variance component, in squared points, 0 or more", 0),
        "share": share("its part of the sum of the components"),
        "low, high": number("interval of the share", 0, 1),
        **settings("those in which the levels could not be told apart", aside=("n_boot", "n_undefined")),
        "reason": reason(
            "`negative_estimate` (the component came out below 0 and counts as 0: groups of this level "
            "differ no more than by chance); or why there are no numbers: `no_rated_units`, `one_cluster` "
            "(of the outermost level), `levels_not_separable` (a level has as many groups as the one within "
            "it, such as one turn per conversation), `constant_rating`; or no interval: `few_clusters` "
            "(fewer than six of the outermost level)"
        ),
    },
    row=(
        "One row per level, in the order given, and one for the `remainder`, the turn within its "
        "conversation together with all error of measurement"
    ),
)

POWER: Final = Contract(
    "power",
    ("participants",),
    {
        "participants": count(),
        "units*": number("expected number of texts", 0),
        "n_with*": number("expected number of texts given the code", 0),
        "n_clusters_both*": number(
            "median number of participants with texts given the code and texts without it", 0
        ),
        "power": share("share of the simulated studies with a p below `significance`"),
        "standard_error": number("of that share, from the number of simulations", 0),
        "undefined*": share(
            "share of the studies without a p, counted as not found: for example with the code in the texts "
            "of fewer than six participants"
        ),
        "odds_ratio": number("the true link, above 0", 0),
        "rank_biserial*": number("the true link, −1 to 1", -1, 1),
        "observed*": number(
            "the mean rank-biserial correlation with this quality of coding, nearer to 0", -1, 1
        ),
        "sensitivity, specificity, significance": share("as given"),
        "n_simulations, seed*": count("as given"),
        "enough*": flag("with `target`: whether the power is the target or more"),
    },
    row="One row per number of participants; with `target`, of those that were tried, in rising order. The "
    "first that is enough is the answer, to within about 3 % of its number and the simulation's own error "
    "(`standard_error`); without one, 20,000 participants are not enough",
)
