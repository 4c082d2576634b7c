"""The result frames of models of ratings: each column with its type, meaning and range."""

from __future__ import annotations

from typing import Final

from sense7_qual._basis import BASIS
from sense7_qual._contract import (
    Contract,
    count,
    estimated,
    number,
    reason,
    settings,
    share,
    text,
)
from sense7_qual.links._results import LEVEL, OF_BASIS, RANK, WHY, WHY_NO_ODDS

_OF_CODED: Final = "`model + human`"

WITH_MODEL: Final = Contract(
    "with_model",
    ("source", "code"),
    {
        "code": text(),
        "source": text(
            "`human`: people's codes on the texts coded by hand; `model`: the model's codes on all texts, "
            "as if "
            f"it made no errors; {_OF_CODED}: people's link, made more precise by the model's codes"
        ),
        "n_with, n_without": count(
            f"rated texts with and without the code ({_OF_CODED}: those coded by hand)"
        ),
        "n_clusters, n_clusters_with, n_clusters_without": count(
            "participants of these texts, and of those with and without the code (one can be in both)"
        ),
        "n_clusters_both": count("those with texts with the code and texts without it"),
        "n_by_hand": count("rated texts that were coded by hand and are used"),
        "n_left_out": count(
            "rated texts coded by hand that are not used: the model has learned from them or from their "
            "participant, or the coder had seen suggestions"
        ),
        "n_tied": count("rated texts coded by hand that the majority leaves out as tied", missing=True),
        **estimated("mean_difference", number("in points of the rating; positive = higher with the code")),
        **estimated("rank_biserial", RANK),
        "p": number("two-sided, of the hypothesis that rank_biserial is 0", 0, 1),
        "p_adjusted, p_holm": number(
            "Benjamini–Hochberg, and Holm, over the codes of the source with a p", 0, 1
        ),
        "family": text("the name of that family of tests"),
        "model_weight": number(
            f"of {_OF_CODED}, 0–1: how much of the difference between the model's two links is used", 0, 1
        ),
        "worth": number(
            f"of {_OF_CODED}, 0–1: the share of the variance of people's link that the model's codes "
            f"explain. A "
            "text coded by hand then counts as 1 / (1 − worth) texts",
            0,
            1,
        ),
        "width_ratio": number(
            f"of {_OF_CODED}, 0–1: the width of its interval over that of people alone, on Fisher's z", 0, 1
        ),
        "differs": number(
            "of `model`: Fisher's z of the model's link less that of people's, on the same texts"
        ),
        "differs_p, differs_p_holm": number(
            "two-sided, of the hypothesis that it is 0; Holm over the codes", 0, 1
        ),
        **estimated(
            "odds_ratio",
            number("above 0, of a participant's own texts, as in `code_to_rating`, where asked for", 0),
        ),
        "odds_ratio_df": number("degrees of freedom of its interval and p: n_clusters_both − 1", 0),
        **estimated(
            "between_odds_ratio",
            number(
                "missing, as is its p: a share of texts that were drawn, or misread, is no participant's "
                "share",
                0,
            ),
        ),
        "between_odds_ratio_p": number("", 0, 1),
        "odds_ratio_p, odds_ratio_p_adjusted": number("of the hypothesis that odds_ratio is 1", 0, 1),
        **estimated(
            "gee_odds_ratio",
            number("above 0, averaged over the population of participants; where texts were drawn", 0),
        ),
        "gee_odds_ratio_p": number("of the hypothesis that gee_odds_ratio is 1", 0, 1),
        "var_model, var_human, var_same": number(
            f"of {_OF_CODED}, on Fisher's z over participants: the variances of the model's link on all "
            f"texts, "
            "of people's, and of the model's on the same texts; for `by_hand`",
            0,
        ),
        "cov_model_human, cov_model_same, cov_human_same": number("their covariances"),
        "between_coder_share": share("missing, as is pooling: no coders are pooled"),
        "pooling": text(missing=True),
        "caution": reason(
            'warnings, joined by ", ": `fewer_than_10_clusters` (on the rarer side), `varies_between_only`, '
            "`clusters_of_one`, `within_and_between_differ`, `ties_left_out`; "
            "`sample_differs` (ratings of the texts coded by hand differ from those of all, p below .05); "
            "`drawn_not_coded` (texts that were drawn have no human decision, so those that do may not "
            "represent all); `model_differs` (row `model`: its link is not people's, Holm's p below .05); "
            "`model_not_used` "
            f"(row {_OF_CODED}: model_weight is 0, so rank_biserial is people's); {OF_BASIS}"
        ),
        **settings("none, because nothing is resampled"),
        "reason": reason(f"why rank_biserial, its interval and p are missing: {WHY}"),
        "odds_ratio_reason": reason(
            "why the odds ratio is missing: `texts_drawn` (only where whole participants were coded by hand "
            "is it the same in all texts as in some: see gee_odds_ratio), `unequal_inclusion`, or as in "
            "`code_to_rating`: `no_rated_units`, `code_never_applied`, `code_always_applied`, "
            "`constant_rating`, `one_cluster`, `few_clusters`, `no_own_comparison`, `few_own_comparisons`; "
            f"{WHY_NO_ODDS}"
        ),
        **BASIS,
    },
    row="Three rows per code, by source, in the order in which the codes first appear in `decisions`. "
    "`report.tables.link` and `figures.link_plot` take the frame",
)

BY_HAND: Final = Contract(
    "by_hand",
    ("code", "n"),
    {
        "code": text(),
        "n": count("texts coded by hand, as given"),
        "n_clusters": number(
            "participants with, or without, the code in these texts, whichever are fewer: a forecast", 0
        ),
        "half_width_human, half_width": number(
            "half the width of the interval of rank_biserial: of people alone, and of `model + human`", 0, 1
        ),
        "confidence_level": LEVEL,
        "reason": reason(
            "why there is no forecast: `few_clusters` (for an interval, now or with so few texts), "
            "`complete_separation`, `no_rated_units`, `code_never_applied`, `code_always_applied`, "
            "`constant_rating`, `one_cluster`, `no_variation_between_clusters`"
        ),
    },
    row="One row per code and n, in the order of `linked` and as given",
)

MISSING_RATINGS: Final = Contract(
    "missing_ratings",
    ("source", "code", "direction", "delta"),
    {
        "code, source": text(),
        "direction": text(
            "how the missing ratings are assumed to differ from those observed: `same`, by delta with and "
            "without the code; `opposite`, by delta with the code and by −delta without it"
        ),
        "delta": number(
            "in points of the rating: the mean of the missing ratings less that of the observed ones, of "
            "texts with the code (of texts without it as `direction` says). A mean that would leave the "
            "scale stops at its end. 0: the missing are like the observed ones with, or without, the code"
        ),
        "n_with, n_without": count("rated texts with and without the code"),
        "n_missing_with, n_missing_without": count(
            "decided texts with and without the code that lack a rating"
        ),
        "missing_with, missing_without": share(
            "their part of the decided texts with, and without, the code", "missing where there are none"
        ),
        "missing_p": number("two-sided, of the hypothesis that both parts are equal", 0, 1),
        "n_clusters, n_clusters_missing, n_clusters_unrated": count(
            "participants of the decided texts; those who lack a rating of one or more of them; of all of "
            "them"
        ),
        "mean_missing_with, mean_missing_without": number("means of the missing ratings, as assumed"),
        **estimated(
            "mean_difference",
            number("in points of the rating, over all decided texts; positive = higher with the code"),
        ),
        **estimated(
            "rank_biserial", number("as in `code_to_rating`, but over all decided texts, −1 to 1", -1, 1)
        ),
        "p": number("two-sided, of the hypothesis that rank_biserial is 0, unadjusted", 0, 1),
        "delta_sign": number(
            "the delta nearest to 0 at which rank_biserial reaches 0; missing where none does"
        ),
        "delta_interval": number(
            "the delta nearest to 0 at which the interval of rank_biserial begins to hold 0, or ceases to "
            "if it holds 0 at delta 0; missing where none does"
        ),
        "lowest, highest": number(
            "bounds of rank_biserial: whatever the missing ratings are, it lies between them", -1, 1
        ),
        "bounds_low, bounds_high": number(
            "the same with the error of sampling: the lower end of the interval of lowest, and the upper "
            "end of that of highest",
            -1,
            1,
        ),
        "mean_lowest, mean_highest": number("bounds of mean_difference"),
        "confidence_level": LEVEL,
        "reason": reason(f"why rank_biserial, its interval and p are missing, as in `code_to_rating`: {WHY}"),
        **BASIS,
    },
    row="One row per source, code, direction and delta; what does not depend on the last two is in each of "
    "them",
)

PROPORTIONAL_ODDS: Final = Contract(
    "odds",
    ("predictor", "split"),
    {
        "predictor": text(),
        "split": text(
            "the level from which on a rating counts as higher; missing in the row of the ordinal "
            "model, of all splits",
            missing=True,
        ),
        "model": text("as given"),
        "n, n_clusters": count("rows in the model, and their participants"),
        "n_above": count(
            "rows with that level or a higher one; missing in the row of the model", missing=True
        ),
        "odds_ratio, low, high": number("above 0, with the ends of its interval", 0),
        "p": number("two-sided, of an odds ratio of 1", 0, 1),
        "p_proportional": number(
            "of the same odds ratio at all splits, the same in all rows of a predictor", 0, 1
        ),
        "confidence_level": LEVEL,
        "caution": reason(
            "several with a space between: `not_proportional` (p_proportional is below .05) and those of "
            "`CumulativeModel`"
        ),
        "reason": reason(
            "why a number is missing: those of `CumulativeModel`; `few_clusters` (fewer than six "
            "participants above or below the split: no interval; or, in the row of the model, too few for "
            "the test), `two_levels`, `no_variation_between_clusters` (no test)"
        ),
    },
    missing_in_key=frozenset({"split"}),
    row="One row per predictor and split, the first for all splits together",
)
