"""Ratings: the true rating of a conversation on five levels, and the accuracy of predictors.

===========================================  ===========================  ==========================
question                                     function                     file
===========================================  ===========================  ==========================
What is the rating of a conversation?        `ground_truth`               ``_ground_truth.py``
How accurate is a predictor of the ratings?  `evaluate`, `evaluate_runs`  ``_evaluate.py``
… for people it has not seen?                `cross_validate`, `compare`  ``_cross_validate.py``
What does a plain model of words reach?      `ordinal_regression`         ``_cross_validate.py``
Can a language model estimate them?          `judge`, `judge_prompts`     ``_judge.py``
===========================================  ===========================  ==========================
"""

from __future__ import annotations

from sense7_qual.ratings._cross_validate import (
    OrdinalRegression as OrdinalRegression,
    compare,
    cross_validate,
    ordinal_regression,
)
from sense7_qual.ratings._evaluate import Evaluation as Evaluation, evaluate, evaluate_runs
from sense7_qual.ratings._ground_truth import ground_truth
from sense7_qual.ratings._judge import INSTRUCTIONS as INSTRUCTIONS, judge, judge_prompts
from sense7_qual.ratings._results import COMPARISON as COMPARISON

__all__ = [
    "compare",
    "cross_validate",
    "evaluate",
    "evaluate_runs",
    "ground_truth",
    "judge",
    "judge_prompts",
    "ordinal_regression",
]


def __dir__() -> list[str]:
    return __all__
