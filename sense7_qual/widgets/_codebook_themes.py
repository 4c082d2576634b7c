"""The themes that a study has recorded, as the codebook widget sorts texts by them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual import themes as models
from sense7_qual.acts import Act
from sense7_qual.errors import QualError

__all__ = ["NO_THEME", "ThemesOfTexts"]

NO_THEME: Final = -1
"""Stands for the texts of no theme: outside of all, of one that was dismissed, or later than the run."""


class ThemesOfTexts:
    """The theme of each text, and what the themes are called; none where none were recorded.

    A theme that a person dismissed is none.

    Attributes
    ----------
    acts : list of Act
        The acts of the study.
    units : DataFrame
        The texts.
    """

    def __init__(self, acts: Sequence[Act], units: pd.DataFrame) -> None:
        self._labels: dict[int, str] = {}
        self._of_unit: dict[str, int] = {}
        if not any(act.kind == "record_themes" for act in acts):
            return
        try:
            themes = models.recorded(acts, units)
        except QualError:  # what is damaged is told of where the themes are read
            return
        kept = themes.summary[~themes.summary["dismissed"]]
        self._labels = {int(n): str(label) for n, label in zip(kept["theme"], kept["label"], strict=True)}
        rows = themes.assignments[themes.assignments["theme"].isin(self._labels)]
        self._of_unit = {str(unit): int(n) for unit, n in zip(rows["unit_id"], rows["theme"], strict=True)}

    def __repr__(self) -> str:
        return f"ThemesOfTexts({len(self._labels)} themes)"

    def of(self, unit_id: str) -> int:
        """Return the number of a text's theme; `NO_THEME` where it has none."""
        return self._of_unit.get(unit_id, NO_THEME)

    def among(self, units: Iterable[str], chosen: int | None) -> list[dict[str, Any]]:
        """Return the themes of these texts, and how many each has of them, the largest first.

        The one that is `chosen` is there without any, too. Empty where the study has no themes.
        """
        if not self._labels:
            return []
        counts = Counter(map(self.of, units))
        if chosen is not None and (chosen in self._labels or chosen == NO_THEME):
            counts[chosen] += 0
        order = sorted(counts, key=lambda theme: (theme == NO_THEME, -counts[theme], theme))
        return [{"theme": theme, "label": self._labels.get(theme, ""), "n": counts[theme]} for theme in order]
