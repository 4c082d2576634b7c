"""Decisions: each coder's decision on each code for each unit that they finished.

Every statistic of the package takes `decisions`: one row for every finished unit × coder × code, with
`applied` True or False. A unit that a coder has not finished has no row: *not coded* is missing, *coded
absent* is data. With 20 % of units double-coded and a true alpha of .66, counting unseen units as "absent"
gives an alpha of about .16.

Decisions computed from several coders have a coder of their own, such as `majority`, and are left out
wherever coders are counted.

From codings to decisions: ``_decisions.py``; from codings made elsewhere, as marks: ``_from_table.py``, as
names of codes: ``_segments.py``. Codings and rulings under an earlier codebook: ``_carry_over.py``. Those of
a round, what the majority decided, in which order units were coded: ``sense7_qual/_decisions.py``, for the
statistics, too. Decisions about quotes: ``_decisions.py``. The number of codes after each participant
(`development`), the new codes to expect from further participants (`saturation`), and those of each run of
participants, in any order (`new_information`): ``_saturation.py``.
"""

from __future__ import annotations

from sense7_qual._decisions import (
    after_discussion as after_discussion,
    finish_order as finish_order,
    majority,
    of_round as of_round,
    tally as tally,
)
from sense7_qual.codings._carry_over import carried, rulings as rulings, stale
from sense7_qual.codings._decisions import decided_on as decided_on, decisions, quotes as quotes
from sense7_qual.codings._from_table import from_table
from sense7_qual.codings._read import read
from sense7_qual.codings._saturation import development, new_information, saturation
from sense7_qual.codings._segments import from_segments

__all__ = [
    "carried",
    "decisions",
    "development",
    "from_segments",
    "from_table",
    "majority",
    "new_information",
    "read",
    "saturation",
    "stale",
]


def __dir__() -> list[str]:
    return __all__
