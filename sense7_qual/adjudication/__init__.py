"""Adjudication: where coders disagree, the decisions that settle it, and what is likely true.

Nothing here changes a coder's own decisions: consensus is the decisions of a coder of that name, which
agreement never counts, and the probabilities of `dawid_skene` are nobody's decisions.
"""

from __future__ import annotations

from sense7_qual.adjudication.settling import consensus, disagreements
from sense7_qual.adjudication.true_codes import TrueCodes, dawid_skene

__all__ = ["TrueCodes", "consensus", "dawid_skene", "disagreements"]
