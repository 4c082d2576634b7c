"""Tables for a paper, one function each: what a result frame says, in finished text.

Each takes unrounded frames and returns a `report.Table`, which is written as Markdown, LaTeX, HTML and Word.
``docs/tables.md`` shows them.

=====================================  =====================  =======================================
question                               function               file
=====================================  =====================  =======================================
What do the codes mean?                `codebook`             ``_codebook.py``
… and how did they come about?         `revision`             ``_codebook.py``
… and the themes, with their memos?    `theme`                ``_theme.py``
How well do coders agree?              `reliability`          ``_reliability.py``
… before and after they discussed?     `discussion`           ``_disagreement.py``
… and a model with them?               `human_model`          ``_reliability.py``
What was made of suggestions?          `suggestion`           ``_theme.py``
Why did they disagree?                 `disagreement`         ``_disagreement.py``
How often is each code applied?        `condition`            ``_co_occurrence.py``
Which codes come together?             `co_occurrence`        ``_co_occurrence.py``
Which codes go with higher ratings?    `link`                 ``_link.py``
… beside each other?                   `joint`                ``_joint.py``
How individual are the judgements?     `variance`             ``_variance.py``
What follows a poor turn?              `disruption`           ``_variance.py``
How well are ratings predicted?        `rating`               ``_rating.py``
Which quotes show a code?              `quote`                ``_quote.py``, ``../_choose_quotes.py``
What was noted, and on which words?    `memo`                 ``_quote.py``
Who was overruled, and why?            `overruled`            ``_overruled.py``
What is to be done, as registered?     `preregistration`      ``_preregistration.py``
=====================================  =====================  =======================================
"""

from __future__ import annotations

from sense7_qual.report.tables._co_occurrence import co_occurrence, condition
from sense7_qual.report.tables._codebook import codebook, revision
from sense7_qual.report.tables._disagreement import disagreement, discussion
from sense7_qual.report.tables._joint import joint
from sense7_qual.report.tables._link import link
from sense7_qual.report.tables._overruled import overruled
from sense7_qual.report.tables._preregistration import preregistration
from sense7_qual.report.tables._quote import memo, quote
from sense7_qual.report.tables._rating import rating
from sense7_qual.report.tables._reliability import human_model, reliability
from sense7_qual.report.tables._theme import suggestion, theme
from sense7_qual.report.tables._variance import disruption, variance

__all__ = [
    "co_occurrence",
    "codebook",
    "condition",
    "disagreement",
    "discussion",
    "disruption",
    "human_model",
    "joint",
    "link",
    "memo",
    "overruled",
    "preregistration",
    "quote",
    "rating",
    "reliability",
    "revision",
    "suggestion",
    "theme",
    "variance",
]


def __dir__() -> list[str]:
    return __all__
