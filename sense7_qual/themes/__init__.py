"""Themes: groups of texts that a topic model proposes, for people to read, name, merge or throw away.

A theme is never a code.

==========================================  ====================================  ========================
question                                    function                              file
==========================================  ====================================  ========================
Which themes are in the texts?              `fit`                                 ``_fit.py``
How fine are they, and in which hierarchy?  `fit`                                 ``_granularity.py``
How stable are they?                        `fit`                                 ``_stability.py``
Which texts stand for a theme?              `quotes`                              ``_themes.py``
Which themes has the codebook not?          `against_codebook`, `codes_by_theme`  ``_against_codebook.py``
Which texts are like these?                 `nearest`                             ``_nearest.py``
Which pictures does BERTopic draw of them?  `to_bertopic`                         ``_to_bertopic.py``
==========================================  ====================================  ========================
"""

from __future__ import annotations

from sense7_qual.themes._against_codebook import against_codebook, codes_by_theme
from sense7_qual.themes._fit import fit
from sense7_qual.themes._nearest import nearest
from sense7_qual.themes._themes import Themes, quotes
from sense7_qual.themes._to_bertopic import to_bertopic

__all__ = ["Themes", "against_codebook", "codes_by_theme", "fit", "nearest", "quotes", "to_bertopic"]
