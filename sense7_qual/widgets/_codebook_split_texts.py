"""The texts of split codes as the lead goes through them: page by page, and taken back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from sense7_qual import acts as record
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError
from sense7_qual.widgets._codebook_sight import Sight
from sense7_qual.widgets._codebook_sorting import Sorting, Split
from sense7_qual.widgets._codebook_themes import ThemesOfTexts
from sense7_qual.widgets._folded import folded

__all__ = ["SplitTexts"]

_PAGE: Final = 20

Save = Callable[[Sequence[Act]], object]


class SplitTexts:
    """What is to be sorted, read once, and what was sorted since.

    Attributes
    ----------
    sight : Sight
        What may be seen.
    codebook : Codebook
        The current version.
    versions : mapping of str to Codebook
        All versions: a code that was split is in none that is current.
    viewer : str
        Who sorts.
    order : sequence of str
        All units, in their order.
    themes : ThemesOfTexts
        The themes of the study.
    """

    def __init__(
        self,
        sight: Sight,
        codebook: Codebook,
        *,
        versions: Mapping[str, Codebook],
        viewer: str,
        order: Sequence[str],
        themes: ThemesOfTexts,
    ) -> None:
        self._sight, self._codebook, self._versions, self._themes = sight, codebook, versions, themes
        self._sorting = Sorting(sight.seen, codebook, viewer=viewer, order=order)
        self._done: list[tuple[str, tuple[str, ...], list[Act]]] = []

    def __repr__(self) -> str:
        return f"SplitTexts({self._sorting!r}, {len(self._done)} sorted)"

    def page(
        self, code: object, *, find: str = "", theme: int | None = None, first: int = 0
    ) -> dict[str, Any]:
        """Return which texts of a split code wait, and one page of them; without such a code of the first.

        `find` and `theme` choose among them; ``themes`` says of which themes they are.
        """
        splits = self._sorting.splits
        left = {one.code: self._left(one) for one in splits}
        one = next((each for each in splits if each.code == code), next(iter(splits), None))
        waiting = [] if one is None else left[one.code]
        units = self._with(find, theme, waiting)
        return {
            "splits": [{"code": each.code, "label": self._label(each.code), "n": len(left[each.code]),
                        "n_all": each.n_all} for each in splits],
            "code": None if one is None else one.code,
            "parts": [] if one is None else [
                {"id": part, "label": self._codebook[part].label} for part in one.parts
            ],
            "themes": self._themes.among(waiting, theme),
            "n": len(units),
            "first": first,
            "ids": units,
            "can_undo": bool(self._done),
            "rows": [] if one is None else [self._row(unit, one) for unit in units[first : first + _PAGE]],
        }  # fmt: skip

    def sort(self, code: str, units: Sequence[str], parts: Sequence[str], *, asked: str, save: Save) -> None:
        """Record to which parts texts belong."""
        done = {unit for one, others, _ in self._done if one == code for unit in others}
        if done & set(units):
            raise ActError("sorting: expected texts that wait – found some that are sorted – take it back.")
        made = self._sorting.acts(code, units, parts, asked=asked)
        save(made)
        self._done.append((code, tuple(units), made))

    def take_back(self, *, codebook: Codebook, save: Save) -> None:
        """Take back what was sorted last."""
        if not self._done:
            raise ActError("sorting: expected texts that were sorted here – found none – nothing was done.")
        save([record.undo(act, codebook=codebook) for act in reversed(self._done[-1][2])])
        self._done.pop()

    def _left(self, split: Split) -> list[str]:
        done = {unit for code, units, _ in self._done if code == split.code for unit in units}
        return [unit for unit in split.units if unit not in done]

    def _with(self, find: str, theme: int | None, units: Sequence[str]) -> list[str]:
        wanted = folded(find[:200]).strip()
        of_theme = [unit for unit in units if theme is None or self._themes.of(unit) == theme]
        return [unit for unit in of_theme if wanted in folded(self._sight.quotes.text(unit))]

    def _row(self, unit: str, split: Split) -> dict[str, Any]:
        quotes = self._sight.quotes
        return {
            "unit_id": unit,
            "text": quotes.text(unit),
            "quotes": quotes.of_unit(unit, split.sources),
        }

    def _label(self, code: str) -> str:
        """Return what a code was called last, in any version of the codebook."""
        versions = [self._codebook, *reversed(list(self._versions.values()))]
        return next(str(book[code].label) for book in versions if code in book)
