"""Adjudication: disagreements of coders, the rulings that settle them, and what is likely true.

Nothing here changes a coder's own decisions: consensus is a set of decisions under that coder's name, which
agreement never counts, and the probabilities of `dawid_skene` are nobody's decisions.

==========================================  ===============  ===================
question                                    function         file
==========================================  ===============  ===================
Where do coders disagree?                   `disagreements`  ``_consensus.py``
… and what of it is settled, and why?       `queue`          ``_consensus.py``
How much is open, for each code?            `remaining`      ``_consensus.py``
What was decided in the end?                `consensus`      ``_consensus.py``
Which decisions of a study count, and why?  `decide`         ``_decide.py``
Who was overruled on what, and why?         `overruled`      ``_consensus.py``
Slip, ambiguous text, or way of reading?    `profile`        ``_profile.py``
Which codes are likely true, who errs how?  `dawid_skene`    ``_dawid_skene.py``
==========================================  ===============  ===================
"""

from __future__ import annotations

from sense7_qual.adjudication._consensus import (
    consensus,
    disagreements as disagreements,
    overruled,
    queue,
    remaining,
)
from sense7_qual.adjudication._dawid_skene import TrueCodes as TrueCodes, dawid_skene
from sense7_qual.adjudication._decide import Choice as Choice, SettledBy as SettledBy, decide as decide
from sense7_qual.adjudication._kinds import against_others as against_others
from sense7_qual.adjudication._profile import Profile as Profile, coder_profiles as coder_profiles, profile
from sense7_qual.adjudication._results import OVERRULED as OVERRULED, QUEUE as QUEUE

__all__ = ["consensus", "dawid_skene", "overruled", "profile", "queue", "remaining"]


def __dir__() -> list[str]:
    return __all__
