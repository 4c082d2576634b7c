"""Themes: groups of texts that a topic model proposes, for people to read, name, merge or dismiss.

A theme is never a code.

==========================================  ====================================  ========================
question                                    function                              file
==========================================  ====================================  ========================
Which themes are in the texts?              `fit`                                 ``_fit.py``
How fine are they, and in which hierarchy?  `fit`                                 ``_granularity.py``
How stable are they?                        `fit`                                 ``_granularity.py``
Which texts are typical of a theme?         `typical`                             ``_themes.py``
Which themes does the codebook lack?        `against_codebook`, `codes_by_theme`  ``_against_codebook.py``
Which definitions are nearest to a theme?   `nearest_codes`                       ``_nearest.py``
How is a theme spread over participants?    `spread`, `participants_by_theme`     ``_spread.py``
Which texts are like these?                 `nearest`                             ``_nearest.py``
Which texts are close on a map?             `text_map`                            ``_text_map.py``
Which pictures does BERTopic draw of them?  `to_bertopic`                         ``_to_bertopic.py``
Which theme is which of those before?       `match_recorded`                      ``_edit.py``
How do they come into the study's record?   `record`, `edit`                      ``_edit.py``
Which themes does the study have now?       `recorded`, `check_recorded`          ``_recorded.py``
How did they come about, and why?           `history`                             ``_recorded.py``
==========================================  ====================================  ========================
"""

from __future__ import annotations

from sense7_qual.themes._against_codebook import against_codebook, codes_by_theme
from sense7_qual.themes._edit import edit as edit, match_recorded as match_recorded, record as record
from sense7_qual.themes._fit import fit
from sense7_qual.themes._nearest import nearest, nearest_codes
from sense7_qual.themes._record import check_recorded as check_recorded
from sense7_qual.themes._recorded import history, recorded as recorded
from sense7_qual.themes._spread import participants_by_theme, spread
from sense7_qual.themes._text_map import text_map
from sense7_qual.themes._themes import Themes as Themes, typical
from sense7_qual.themes._to_bertopic import to_bertopic

__all__ = [
    "against_codebook",
    "codes_by_theme",
    "fit",
    "history",
    "nearest",
    "nearest_codes",
    "participants_by_theme",
    "spread",
    "text_map",
    "to_bertopic",
    "typical",
]


def __dir__() -> list[str]:
    return __all__
