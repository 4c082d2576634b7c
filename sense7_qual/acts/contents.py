"""What acts hold beside a code: a plan that is registered, a new code, words of a text, suggestions.

`propose` takes a `Proposal`, `memo` a `SpanMemo`; `show_suggestions` takes what a model suggested for a unit
(`Suggestion`), and such an act is read as `Suggested`. `Store.preregister` registers an `AnalysisPlan`.
"""

from __future__ import annotations

from sense7_qual.acts._analysis_plan import AnalysisPlan
from sense7_qual.acts._make import Proposal
from sense7_qual.acts._suggest import Suggested, Suggestion, reject_suggestion, show_suggestions
from sense7_qual.acts._validate import SpanMemo

__all__ = [
    "AnalysisPlan",
    "Proposal",
    "SpanMemo",
    "Suggested",
    "Suggestion",
    "reject_suggestion",
    "show_suggestions",
]


def __dir__() -> list[str]:
    return __all__
