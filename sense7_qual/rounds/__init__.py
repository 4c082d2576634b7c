"""Rounds of coding: calibration 1, calibration 2, final – their units, their coders, their codebook.

The lead opens a round (`open_round`), the coders' acts carry its name, and the lead ends its blindness
(`unblind`): from then on the coders may see each other's acts of that round. Both are acts, so that the
record says who did it and when, and neither can be undone. A round is its opener's: only who opened it first,
and whom they named as `leads`, may open it again or unblind it; the like acts of others count for nothing.

Blindness itself is kept by where the acts are. In a study folder a coder is not sent the others' files
until the lead has unblinded the round; send them the lead's own file, so that they know the rounds, and let
the lead code under another pseudonym. In PostgreSQL the database keeps it, from the same acts. `visible`
says what a coder may see, for a notebook that holds everybody's acts.

A round with gold decisions is one of training: the widget shows after each finished text where the coder
differs from gold, and its decisions are never among those of the study (`Store.decisions`) unless they are
asked for by its name.

A round that discusses another one is opened once that is unblinded: its coders look at each other's codings
and revise their own, as acts of the discussion. These are never mixed into the agreement of the discussed
round either: `agreement.difference` reports both, and consensus takes what was decided in the end.

============================================  ==============================  ================
question                                      function                        file
============================================  ==============================  ================
What is a round, who opens and unblinds it?   `Round`, `open_round`, …        ``_rounds.py``
Who may see what?                             `visible`                       ``_visible.py``
What was decided independently of others?     `independent`                   ``_independent.py``
How far are coders? What did they decide?     `progress`, `first_decisions`   ``_rounds.py``
Who codes what in a study that keeps a plan?  `planned`, `assignments`        ``_plan.py``
============================================  ==============================  ================
"""

from __future__ import annotations

from sense7_qual.rounds._independent import Independent as Independent, independent as independent
from sense7_qual.rounds._plan import (
    Assignment as Assignment,
    assignments as assignments,
    coders_named as coders_named,
    planned as planned,
)
from sense7_qual.rounds._rounds import (
    Round as Round,
    ever_opened as ever_opened,
    first_decisions,
    open_round,
    opened as opened,
    own_codings,
    progress,
    unblind,
)
from sense7_qual.rounds._visible import Sight as Sight, visible as visible

__all__ = ["first_decisions", "open_round", "own_codings", "progress", "unblind"]


def __dir__() -> list[str]:
    return __all__
