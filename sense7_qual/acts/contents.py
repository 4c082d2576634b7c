"""What acts hold in addition to a code: a registered plan, a new code, words of a text, suggestions.

A `Proposal` is the content of `propose`, a `SpanMemo` that of a `memo` on a span. `show_suggestions` takes a
model's `Suggestion` for a unit and is read as `Suggested`. `describe` takes the settings of a model that
codes (`settings_of` reads them), `abstain` is a decision that it could not make. `Store.preregister`
registers an `AnalysisPlan`.
"""

from __future__ import annotations

from sense7_qual.acts._act import SpanMemo
from sense7_qual.acts._analysis_plan import AnalysisPlan
from sense7_qual.acts._make import Proposal
from sense7_qual.acts._suggest import (
    Suggested,
    Suggestion,
    abstain,
    describe,
    reject_suggestion,
    settings_of,
    show_suggestions,
)

__all__ = [
    "AnalysisPlan",
    "Proposal",
    "SpanMemo",
    "Suggested",
    "Suggestion",
    "abstain",
    "describe",
    "reject_suggestion",
    "settings_of",
    "show_suggestions",
]


def __dir__() -> list[str]:
    return __all__
