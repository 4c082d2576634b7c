"""Tables and texts for a paper: codebook, reliability, links to ratings, methods, checklists, and quotes.

Every function takes unrounded frames and returns a `Table` of finished text that can be written as Markdown,
LaTeX, HTML and Word. Numbers are rounded here and in figures alone, in APA style. What could not be computed
is printed as "–", and a note under the table says why.

=====================================  =======================  ==========================================
question                               function                 file
=====================================  =======================  ==========================================
What do the codes mean?                `codebook_table`         ``_codebook_table.py``
… and how did they come about?         `revision_table`         ``_revision_table.py``
… and the themes, with their memos?    `theme_table`            ``_theme_table.py``
How well do coders agree?              `reliability_table`      ``_reliability_table.py``
… before and after they discussed?     `discussion_table`       ``_discussion_table.py``
… and a model with them?               `human_model_table`      ``_human_model_table.py``
What was made of suggestions?          `suggestion_table`       ``_suggestion_table.py``
Why did they disagree?                 `disagreement_table`     ``_disagreement_table.py``
How often is each code applied?        `condition_table`        ``_condition_table.py``
Which codes come together?             `co_occurrence_table`    ``_co_occurrence_table.py``
Which codes go with higher ratings?    `link_table`             ``_link_table.py``
… beside each other?                   `joint_table`            ``_joint_table.py``
How individual are the judgements?     `variance_table`         ``_variance_table.py``
What follows a poor turn?              `disruption_table`       ``_disruption_table.py``
How well are ratings predicted?        `rating_table`           ``_rating_table.py``
Which quotes show a code?              `quote_table`            ``_quote_table.py``, ``_choose_quotes.py``
… and which could be quoted?           `quote_candidates`       ``_quote_candidates.py``
What was noted, and on which words?    `memo_table`             ``_memo_table.py``
Who was overruled, and why?            `overruled_table`        ``_overruled_table.py``
What will a reviewer object to?        `review`, `Review`       ``_review.py``
What is to be done, as registered?     `preregistration_table`  ``_preregistration_table.py``
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

from sense7_qual.report._ai_statement import ai_statement
from sense7_qual.report._checklist import checklist
from sense7_qual.report._co_occurrence_table import co_occurrence_table
from sense7_qual.report._codebook_table import codebook_table
from sense7_qual.report._condition_table import condition_table
from sense7_qual.report._deviations import Deviations, deviations
from sense7_qual.report._disagreement_table import disagreement_table
from sense7_qual.report._discussion_table import discussion_table
from sense7_qual.report._disruption_table import disruption_table
from sense7_qual.report._human_model_table import human_model_table
from sense7_qual.report._joint_table import joint_table
from sense7_qual.report._link_table import link_table
from sense7_qual.report._memo_table import memo_table
from sense7_qual.report._methods import methods, results
from sense7_qual.report._overruled_table import overruled_table
from sense7_qual.report._paper import PaperFolder, paper
from sense7_qual.report._preregistration_table import preregistration_table
from sense7_qual.report._quote_candidates import quote_candidates
from sense7_qual.report._quote_table import quote_table
from sense7_qual.report._rating_table import rating_table
from sense7_qual.report._reliability_table import reliability_table
from sense7_qual.report._review import Review, review
from sense7_qual.report._revision_table import revision_table
from sense7_qual.report._suggestion_table import suggestion_table
from sense7_qual.report._table import Table
from sense7_qual.report._text import Text
from sense7_qual.report._theme_table import theme_table
from sense7_qual.report._variance_table import variance_table

__all__ = [
    "Deviations",
    "PaperFolder",
    "Review",
    "Table",
    "Text",
    "ai_statement",
    "checklist",
    "co_occurrence_table",
    "codebook_table",
    "condition_table",
    "deviations",
    "disagreement_table",
    "discussion_table",
    "disruption_table",
    "human_model_table",
    "joint_table",
    "link_table",
    "memo_table",
    "methods",
    "overruled_table",
    "paper",
    "preregistration_table",
    "quote_candidates",
    "quote_table",
    "rating_table",
    "reliability_table",
    "results",
    "review",
    "revision_table",
    "suggestion_table",
    "theme_table",
    "variance_table",
]
