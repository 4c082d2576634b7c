"""Tables for a paper: codebook, reliability, links to ratings, predictions of ratings, and quotes.

Every function takes unrounded frames and returns a `Table` of finished text that can be written as Markdown,
LaTeX, HTML and Word. Numbers are rounded here and in figures alone, in APA style. What could not be computed
is printed as "–", and a note under the table says why.
"""

from __future__ import annotations

from sense7_qual.report._codebook_table import codebook_table
from sense7_qual.report._joint_table import joint_table
from sense7_qual.report._judgement_tables import disruption_table, variance_table
from sense7_qual.report._link_table import link_table
from sense7_qual.report._quote_table import quote_table
from sense7_qual.report._rating_table import rating_table
from sense7_qual.report._reliability_table import reliability_table
from sense7_qual.report._table import Table

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
