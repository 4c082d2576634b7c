"""Tables for a paper, one function each.

Each takes unrounded frames and returns a `report.Table`, which can be written as Markdown, LaTeX, HTML and
Word. ``docs/tables.md`` shows them.

=====================================  =====================  =======================================
question                               function               file
=====================================  =====================  =======================================
What do the codes mean?                `codebook`             ``_codebook.py``
… and how did they come about?         `revision`             ``_codebook.py``
… and the themes, with their memos?    `theme`                ``_themes.py``
How well do coders agree?              `reliability`          ``_agreement.py``
… better than before? Than others?     `difference`           ``_agreement.py``
… and a model with them?               `human_model`          ``_agreement.py``
What is a model worth, by code?        `model_card`           ``_models.py``
What became of suggestions?            `suggestion`           ``_themes.py``
Why did they disagree?                 `disagreement`         ``_adjudication.py``
How often is each code applied?        `condition`            ``_co_occurrence.py``
Which codes come together?             `co_occurrence`        ``_co_occurrence.py``
Which codes go with higher ratings?    `link`                 ``_links.py``
… and what could missing ratings do?   `missing`              ``_missing.py``
… all in one model?                    `joint`                ``_links.py``
… under other choices?                 `multiverse`           ``_multiverse.py``
How individual are the judgements?     `variance`             ``_ratings.py``
What else does a reviewer ask for?     `further`              ``_further.py``
What follows a poor turn?              `disruption`           ``_ratings.py``
How well are ratings predicted?        `rating`               ``_ratings.py``
Which quotes show a code?              `quote`                ``_quotes.py``, ``../_choose_quotes.py``
What was noted, and on which words?    `memo`                 ``_quotes.py``
Who was overruled, and why?            `overruled`            ``_adjudication.py``
What was registered in advance?        `preregistration`      ``_codebook.py``
=====================================  =====================  =======================================
"""

from __future__ import annotations

from sense7_qual.report.tables._adjudication import disagreement, overruled
from sense7_qual.report.tables._agreement import difference, human_model, reliability
from sense7_qual.report.tables._co_occurrence import co_occurrence, condition
from sense7_qual.report.tables._codebook import codebook, preregistration, revision
from sense7_qual.report.tables._further import further
from sense7_qual.report.tables._links import joint, link
from sense7_qual.report.tables._missing import missing
from sense7_qual.report.tables._models import model_card
from sense7_qual.report.tables._multiverse import multiverse
from sense7_qual.report.tables._quotes import memo, quote
from sense7_qual.report.tables._ratings import disruption, rating, variance
from sense7_qual.report.tables._themes import suggestion, theme

__all__ = [
    "co_occurrence",
    "codebook",
    "condition",
    "difference",
    "disagreement",
    "disruption",
    "further",
    "human_model",
    "joint",
    "link",
    "memo",
    "missing",
    "model_card",
    "multiverse",
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
