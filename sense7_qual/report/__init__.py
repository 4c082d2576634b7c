"""Tables and texts for a paper: codebook, reliability, links to ratings, methods, checklists, and quotes.

Every function takes unrounded frames and returns a `Table` of finished text that can be written as Markdown,
LaTeX, HTML and Word. Numbers are rounded here and in figures alone, in APA style. What could not be computed
is printed as "–", and a note under the table says why.

=====================================  =======================  ==========================================
question                               function                 file
=====================================  =======================  ==========================================
What do the codes mean?                `report.tables.codebook`         ``_codebook_table.py``
… and how did they come about?         `report.tables.revision`         ``_revision_table.py``
… and the themes, with their memos?    `report.tables.theme`            ``_theme_table.py``
How well do coders agree?              `report.tables.reliability`      ``_reliability_table.py``
… before and after they discussed?     `report.tables.discussion`       ``_discussion_table.py``
… and a model with them?               `report.tables.human_model`      ``_human_model_table.py``
What was made of suggestions?          `report.tables.suggestion`       ``_suggestion_table.py``
Why did they disagree?                 `report.tables.disagreement`     ``_disagreement_table.py``
How often is each code applied?        `report.tables.condition`        ``_condition_table.py``
Which codes come together?             `report.tables.co_occurrence`    ``_co_occurrence_table.py``
Which codes go with higher ratings?    `report.tables.link`             ``_link_table.py``
… beside each other?                   `report.tables.joint`            ``_joint_table.py``
How individual are the judgements?     `report.tables.variance`         ``_variance_table.py``
What follows a poor turn?              `report.tables.disruption`       ``_disruption_table.py``
How well are ratings predicted?        `report.tables.rating`           ``_rating_table.py``
Which quotes show a code?              `report.tables.quote`            ``_quote_table.py``, ``_choose_quotes.py``
… and which could be quoted?           `quote_candidates`       ``_quote_candidates.py``
What was noted, and on which words?    `report.tables.memo`             ``_memo_table.py``
Who was overruled, and why?            `report.tables.overruled`        ``_overruled_table.py``
What will a reviewer object to?        `review`, `Review`       ``_review.py``
What is to be done, as registered?     `report.tables.preregistration`  ``_preregistration_table.py``
… and what was done otherwise?         `deviations`             ``_deviations.py``
How is all of it written?              `paper`                  ``_paper.py``, ``_paper_parts.py``
How was it done, what came out?        `methods`, `results`     ``_methods.py``; sentences: ``_text_*.py``
What does a reporting guideline ask?   `checklist`              ``_checklist.py``, ``_checklist.py``
What is stated on the use of AI?       `ai_statement`           ``_ai_statement.py``
How is a table written?                `Table`                  ``_table.py``, ``_latex.py``, ``_docx.py``
… a text, and whence a number in it?   `Text`                   ``_text.py``, ``_traced.py``
=====================================  =======================  ==========================================
"""

from __future__ import annotations

from sense7_qual.report import tables
from sense7_qual.report._ai_statement import ai_statement
from sense7_qual.report._checklist import checklist
from sense7_qual.report._deviations import Deviations as Deviations
from sense7_qual.report._deviations import deviations
from sense7_qual.report._methods import methods, results
from sense7_qual.report._paper import PaperFolder as PaperFolder
from sense7_qual.report._paper import paper
from sense7_qual.report._quote_candidates import quote_candidates
from sense7_qual.report._review import Review as Review
from sense7_qual.report._review import review
from sense7_qual.report._table import Table
from sense7_qual.report._text import Text as Text

__all__ = [
    "Table",
    "ai_statement",
    "checklist",
    "deviations",
    "methods",
    "paper",
    "quote_candidates",
    "results",
    "review",
    "tables",
]


def __dir__() -> list[str]:
    return __all__
