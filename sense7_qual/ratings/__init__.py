"""Ratings: the five-level truth of a conversation, and how well a predictor meets it."""

from __future__ import annotations

from sense7_qual.ratings.baselines import OrdinalRegression, ordinal_regression
from sense7_qual.ratings.comparison import compare, cross_validate
from sense7_qual.ratings.evaluation import Evaluation, evaluate, evaluate_runs
from sense7_qual.ratings.judging import INSTRUCTIONS, judge, judge_prompts
from sense7_qual.ratings.truth import ground_truth

__all__ = [
    "INSTRUCTIONS",
    "Evaluation",
    "OrdinalRegression",
    "compare",
    "cross_validate",
    "evaluate",
    "evaluate_runs",
    "ground_truth",
    "judge",
    "judge_prompts",
    "ordinal_regression",
]
