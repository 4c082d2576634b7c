"""Themes: groups of texts that a topic model proposes, for people to read, name, merge or throw away.

A theme is never a code. `fit` groups the units by meaning and says how stable each group is; `quotes`
puts the texts back; `against_codebook` and `codes_by_theme` say which themes the codebook already speaks
of; `nearest` serves studies too small to group.
"""

from __future__ import annotations

from sense7_qual.themes._against_codebook import against_codebook, codes_by_theme
from sense7_qual.themes._fit import fit
from sense7_qual.themes._nearest import nearest
from sense7_qual.themes._themes import Themes, quotes

__all__ = ["Themes", "against_codebook", "codes_by_theme", "fit", "nearest", "quotes"]
