"""Why a value is missing, and cautions about values: each code with its sentence."""

from __future__ import annotations

from enum import StrEnum, auto
from typing import Any, Self

import pandas as pd


class Worded(StrEnum):
    """A code and its sentence; in a frame, a file and a pickle, and where it is printed, the plain text."""

    words: str

    def __new__(cls, code: str, words: str = "") -> Self:
        member = str.__new__(cls, code)
        member._value_ = code
        member.words = words
        return member

    __repr__ = str.__repr__

    def __reduce_ex__(self, _: object) -> tuple[type[str], tuple[str]]:
        return str, (self.value,)


class Reason(Worded):
    """Why a number is missing, or is not reliable."""

    NO_PAIRABLE_UNITS = auto(), "no text was finished by two or more coders"
    NO_VARIATION = auto(), "every decision was the same, so agreement beyond chance is not defined"
    NO_DISAGREEMENT = auto(), "the coders never disagreed; some disagreement could have gone unseen"
    NO_RATED_UNITS = auto(), "no decided text has a rating"
    CONSTANT_RATING = auto(), "every rating was the same"
    CODE_NEVER_APPLIED = auto(), "the code was never applied"
    NONE_FOUND_ONCE = auto(), "no code was found in one participant alone, so nothing says how many are left"
    CODE_ALWAYS_APPLIED = auto(), "the code was applied to every text"
    COMPLETE_SEPARATION = auto(), "the ratings with and without the code do not overlap"
    NO_VARIATION_BETWEEN_CLUSTERS = auto(), "no cluster makes a difference to the effect"
    ONE_CLUSTER = auto(), "all texts belong to one cluster"
    FEW_CLUSTERS = auto(), "too few clusters have, or lack, the code"
    FEW_HUMANS = auto(), "fewer than three people could be tested against the model"
    FEW_REPEATS = auto(), "too few texts were decided on again by the same coders to tell slips from stances"
    FEW_UNITS = auto(), "too few texts for an interval, or for a test, that could be relied on"
    FEW_CODERS = auto(), "too few coders to say whether others would agree as well"
    TWO_CODERS = auto(), "there are only two coders, too few for an interval that could be relied on"
    FEWER_THAN_TWO_CODERS = auto(), "fewer than two coders have an effect and an interval"
    SATURATED = auto(), "three coders' agreement is met exactly, whatever errors they share"
    TWO_LEVELS = auto(), "the rating has two levels, and so one split"
    ONE_UNIT = auto(), "only one text was coded by two or more coders"
    ONE_CODER = auto(), "there is only one coder"
    ONE_PATTERN = auto(), "all texts were coded in the same way, so resampling says nothing"
    ONE_CODE = auto(), "there is no other code to confuse it with"
    NOT_CODED_BY_TWO = auto(), "no text was given some code by two or more coders where this one was"
    TOO_FEW_SPANS = auto(), "there are too few spans that one of them could meet by chance"
    OVERLAPPING_CODES = auto(), "a coder gave one stretch of text several codes: compare code by code"
    NO_COMPARISON = auto(), "there is nothing to compare with"
    NO_COMMON_UNITS = auto(), "no text was decided on for both codes"
    NO_COMPLETE_ROWS = auto(), "no text has a value of every variable"
    NO_OWN_COMPARISON = auto(), "no participant has texts with the code and texts without it"
    FEW_OWN_COMPARISONS = auto(), "fewer than six participants have texts with the code and texts without it"
    NO_OWN_RATING = auto(), "no participant rated this"
    NO_PAIRS = auto(), "there is no pair of a true and a predicted value"
    NO_POOR_TURN = auto(), "no turn was rated as poor"
    NO_POSTERIOR = auto(), "the model of the coders' errors could not be fitted"
    NO_RATED_TURN = auto(), "no turn was rated"
    NO_ANSWER = auto(), "the model gave no answer"
    UNPARSABLE = auto(), "the model's answer is not what was asked for"
    UNSURE = auto(), "the model says that the text does not let it tell"
    QUOTE_NOT_IN_TEXT = auto(), "the words that the model quotes are not in the text"
    NO_QUOTE = auto(), "the model says yes and quotes nothing"
    OUTSIDE_SCALE = auto(), "the model's answer is not on the scale"
    RATING_NOT_COMPUTABLE = auto(), "a rating that the comparison needs could not be computed"
    CONSTANT_PREDICTIONS = auto(), "every prediction was the same"
    CONSTANT_TRUTH = auto(), "every true value was the same"
    CONSTANT_WITHIN_FOLDS = auto(), "every prediction was the same within each fold"
    CONSTANT_VARIABLE = auto(), "a variable has the same value everywhere"
    COLLINEAR_CODES = auto(), "the other codes say exactly whether the code is applied"
    COLLINEAR_PREDICTORS = auto(), "one variable follows from the others"
    NO_VARIATION_WITHIN_CLUSTERS = (
        auto(),
        "the rating is the same in all texts of each cluster, or of each conversation",
    )
    SEPARATION = (
        auto(),
        "the code tells the ratings apart without exception, so the effect has no finite estimate",
    )
    NOT_CONVERGED = auto(), "the model's estimates did not converge"
    NOT_ESTIMATED = auto(), "the effect was not estimated"
    NOT_IDENTIFIED = (
        auto(),
        "the coders share too few texts to tell their errors from how often the code applies",
    )
    TEXTS_DRAWN = auto(), "texts were drawn, not whole participants: see the population-averaged odds ratio"
    UNEQUAL_INCLUSION = auto(), "texts were drawn with unequal probabilities"
    LEVEL_IN_FEW_CLUSTERS = auto(), "a level of the variable occurs in too few clusters"
    LEVELS_NOT_SEPARABLE = (
        auto(),
        "one level has as many groups as the one within it, so they cannot be told apart",
    )
    MANY_LEVELS = auto(), "the rating has too many levels for an interval"
    NEGATIVE_ESTIMATE = auto(), "the component came out below zero and counts as zero"
    NOT_DECIDED = auto(), "there is no decision on the code"
    WAITING_FOR_REVIEW = auto(), "the code has no figure until the texts that it was changed for are reviewed"
    BLANK_TEXT = auto(), "the text is blank"
    LOW_AGREEMENT = auto(), "people do not agree on where the code applies, so they are no standard for it"
    PROMISE_NOT_KEPT = auto(), "no level keeps the promise on these texts"
    OPEN_BETWEEN = (
        auto(),
        "texts must be looked at again first: until then the code is undecided on some between others",
    )
    NO_BETTER_THAN_CHANCE = (
        auto(),
        "on texts that it had not seen, the model told those with the code from others no better than chance",
    )
    NO_PROBABILITIES = auto(), "no suggestion of the code on these texts has a probability"
    FEW_DECIDED = auto(), "too few texts were decided on"
    ONE_SIDE_UNDEFINED = auto(), "only one of the two programs gives a number"
    PACKAGE_ABSENT = auto(), "the other package is not installed"


class Caution(Worded):
    """What to know about a number. Some have the name of a reason, and mean less by it."""

    FEWER_THAN_10_CLUSTERS = (
        auto(),
        "fewer than 10 clusters have the code, lack it, or have texts with and without it",
    )
    WITHIN_AND_BETWEEN_DIFFER = (
        auto(),
        "the link within participants and the link between them are not the same",
    )
    FEW_CLUSTERS = auto(), "there are fewer than 10 clusters"
    VARIES_BETWEEN_ONLY = (
        auto(),
        "the code differs between clusters only, so it cannot be told apart from them",
    )
    CLUSTERS_OF_ONE = (
        auto(),
        "no cluster has two texts, so the odds ratio is of a model without random intercepts",
    )
    CODERS_LEFT_OUT = auto(), "coders for whom the code has no effect and interval are left out"
    MODELS_COUNTED = auto(), "models count among the coders"
    MODEL_DIFFERS = auto(), "the model's link differs from people's on the same texts"
    MODEL_NOT_USED = auto(), "the model's codes made the estimate no more precise and are not used"
    SAMPLE_DIFFERS = auto(), "the texts coded by hand are rated otherwise than all texts, more than by chance"
    DRAWN_NOT_CODED = auto(), "some of the texts that were drawn have no human decision"
    TIES_LEFT_OUT = auto(), "texts on which the coders were tied are left out, and so the disputed ones"
    ZERO_VARIANCE = auto(), "the variance between clusters was estimated as 0"
    ZERO_NESTED_VARIANCE = auto(), "the variance between conversations of a cluster was estimated as 0"
    LAPLACE_APPROXIMATION = auto(), "variances are somewhat small where conversations have few texts"
    SELECTION = (
        auto(),
        "conversations with a poor turn may have been poorer all along: no effect of that turn",
    )
    COARSE_QUADRATURE = auto(), "with more quadrature nodes the estimate would move"
    NOT_PROPORTIONAL = auto(), "the odds ratio is not the same all along the scale"
    MIXED_BASIS = auto(), "the decisions rest on several bases, so the number is of no one of them"
    PARTLY_REVIEWED = auto(), "some texts wait for review of the code, and are not in the number"
    TURN_OR_MOOD = auto(), "first turns that are rated otherwise, or a mood that lasts, count in it too"


def reason_words(reason: Any) -> str:
    """Put a reason code into words; an unknown code is printed with spaces.

    >>> reason_words("constant_rating")
    'every rating was the same'
    """
    if pd.isna(reason) or not str(reason):
        return "the result gives no reason"
    return _words(Reason, str(reason))


def caution_words(cautions: Any) -> list[str]:
    """Put the cautions of a cell, separated by commas or spaces, into words.

    >>> caution_words("few_clusters, zero_variance")
    ['there are fewer than 10 clusters', 'the variance between clusters was estimated as 0']
    """
    if pd.isna(cautions):
        return []
    codes = str(cautions).replace(",", " ").split()
    return [_words(Caution, code) for code in codes]


def _words(codes: type[Worded], code: str) -> str:
    return next((each.words for each in codes if each == code), code.replace("_", " "))
