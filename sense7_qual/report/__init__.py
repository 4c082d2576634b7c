"""Tables and texts for a paper: tables, methods, results, checklists, and quotes.

Every function takes unrounded frames or a study and returns finished text that can be written as Markdown,
LaTeX, HTML and Word; the room `tables` has one function for each table. Numbers are rounded here and in
figures alone, in APA style. What could not be computed is printed as "–", and a note below says why.

=====================================  =======================  ==========================================
question                               function                 file
=====================================  =======================  ==========================================
How is all of it written?              `paper`                  ``_paper.py``, ``_paper_parts.py``
What does one result say?                                       ``tables/``
How was it done, what came out?        `methods`, `results`     ``_methods.py``; sentences: ``_text_*.py``
What will a reviewer object to?        `review`                 ``_review.py``
What was done otherwise than said?     `deviations`             ``_deviations.py``
What does a reporting guideline ask?   `checklist`              ``_checklist.py``
What is stated on the use of AI?       `ai_statement`           ``_ai_statement.py``
Which passages could be quoted?        `quote_candidates`       ``_choose_quotes.py``
How is a table written?                `Table`                  ``_table.py``, ``_latex.py``, ``_docx.py``
… a text, and whence a number in it?                            ``_text.py``
=====================================  =======================  ==========================================
"""

from __future__ import annotations

from sense7_qual.report import tables
from sense7_qual.report._ai_statement import ai_statement
from sense7_qual.report._checklist import checklist
from sense7_qual.report._choose_quotes import quote_candidates
from sense7_qual.report._deviations import Deviations as Deviations, deviations
from sense7_qual.report._methods import methods, results
from sense7_qual.report._paper import PaperFolder as PaperFolder, paper
from sense7_qual.report._review import Review as Review, review
from sense7_qual.report._settled_by import (
    QUESTION as QUESTION,
    ask_in_call as ask_in_call,
    listed as listed,
    open_answers as open_answers,
)
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
