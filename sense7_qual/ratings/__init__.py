"""Ratings: the five-level truth of a conversation, and how well a predictor meets it."""

from __future__ import annotations

from sense7_qual.ratings._cross_validate import compare, cross_validate
from sense7_qual.ratings._evaluate import Evaluation, evaluate, evaluate_runs
from sense7_qual.ratings._ground_truth import ground_truth
from sense7_qual.ratings._judge import INSTRUCTIONS, judge, judge_prompts
from sense7_qual.ratings._ordinal_regression import OrdinalRegression, ordinal_regression

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
