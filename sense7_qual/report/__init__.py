"""Tables for a paper: codebook, reliability, links to ratings, predictions of ratings, and quotes.

Every function takes unrounded frames and returns a `Table` of finished text that can be written as Markdown,
LaTeX, HTML and Word. Numbers are rounded here and in figures alone, in APA style. What could not be computed
is printed as "–", and a note under the table says why.
"""

from __future__ import annotations

from sense7_qual.report.association import link_table
from sense7_qual.report.codes import codebook_table
from sense7_qual.report.judgements import disruption_table, variance_table
from sense7_qual.report.predictions import rating_table
from sense7_qual.report.quotations import quote_table
from sense7_qual.report.reliability import reliability_table
from sense7_qual.report.table import Table
from sense7_qual.report.together import joint_table

__all__ = [
    "Table",
    "codebook_table",
    "disruption_table",
    "joint_table",
    "link_table",
    "quote_table",
    "rating_table",
    "reliability_table",
    "variance_table",
]
