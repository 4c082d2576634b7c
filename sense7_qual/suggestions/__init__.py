"""Suggestions: codes that a text may have, learned from people's decisions, for people to accept or reject.

A suggestion is never a coding and never among the decisions.

==========================================  ==========================  ===================
question                                    function                    file
==========================================  ==========================  ===================
Which codes may these texts have?           `fit`, `Suggester`          ``_fit.py``
Which words carry a suggestion?             `Suggester.suggest`         ``_suggester.py``
Which coded texts are similar?              `Suggester.nearest`         ``_suggester.py``
Which suggestions may a coder be shown?     `suggest`                   ``_suggest.py``
Are my own suggestions valid?               `check`                     ``_suggest.py``
Which units never get suggestions?          `withheld`                  ``_suggest.py``
Which units are coded next?                 `order`                     ``_suggest.py``
On which units were suggestions shown?      `shown`                     ``_effect.py``
How did coders answer them?                 `answers`                   ``_effect.py``
How do suggestions affect coding?           `effect`                    ``_effect.py``
What may a model decide alone?              `screen`, `Screening`       ``_screen.py``
==========================================  ==========================  ===================
"""

from __future__ import annotations

from sense7_qual.suggestions._effect import (
    answers,
    effect,
    made_when as made_when,
    model_uses as model_uses,
    shown,
)
from sense7_qual.suggestions._fit import fit
from sense7_qual.suggestions._results import ANSWERS as ANSWERS
from sense7_qual.suggestions._screen import Screening as Screening, screen
from sense7_qual.suggestions._suggest import check, order, suggest, withheld
from sense7_qual.suggestions._suggester import Suggester as Suggester

__all__ = ["answers", "check", "effect", "fit", "order", "screen", "shown", "suggest", "withheld"]


def __dir__() -> list[str]:
    return __all__
