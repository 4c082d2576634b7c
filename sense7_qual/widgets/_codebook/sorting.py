"""The texts of split codes as the lead goes through them, and which part each belongs to."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import pandas as pd

from sense7_qual import acts as record, themes as models
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook, Revision
from sense7_qual.codings import of_round, rulings
from sense7_qual.errors import ActError, QualError
from sense7_qual.widgets._codebook.in_use import InUse
from sense7_qual.widgets._lead_view import Seen
from sense7_qual.widgets._offsets import folded


@dataclass(frozen=True, slots=True)
class Split:
    """A code that was split, what had gone into it, its parts, and the texts that are still to be sorted."""

    code: str
    sources: frozenset[str]
    parts: tuple[str, ...]
    units: tuple[str, ...]
    n_all: int


class Sorting:
    """What is to be sorted after codes were split, of what one person may see.

    Attributes
    ----------
    seen : Seen
        What may be seen.
    viewer : str
        Who sorts.
    """

    def __init__(self, seen: Seen, *, viewer: str) -> None:
        self._seen, self._codebook, self._viewer = seen, seen.codebook, viewer
        self._place = {unit_id: place for place, unit_id in enumerate(seen.texts)}
        self._codings, self._coverage = of_round(seen.codings, seen.coverage)
        own = self._codings[self._codings["coder"] == viewer]
        self._own_parts = set(zip(own["unit_id"], own["code"], strict=True))
        undecided = seen.standing[1]
        self._waiting = undecided[undecided["reason"] == "split"]
        self._other_reasons = undecided[(undecided["coder"] == viewer) & (undecided["reason"] != "split")]
        standing = rulings(seen.rulings, seen.codebook, revisions=seen.revisions)
        self._ruled = {(str(act.unit_id), str(act.code)): bool(act.applied) for act in standing}

    def __repr__(self) -> str:
        return f"Sorting({len(self.splits)} splits)"

    @cached_property
    def splits(self) -> list[Split]:
        """The codes that were split and whose texts wait, in the order of the revisions."""
        found = []
        for code, parts in _split_codes(self._seen.revisions, self._codebook).items():
            waiting = self._waiting[self._waiting["code"].isin(parts)]
            all_units = waiting["unit_id"].unique()
            if not len(all_units):
                continue
            units = [unit_id for unit_id in all_units if self._is_open(unit_id, waiting, parts)]
            units.sort(key=self._place.__getitem__)
            sources = frozenset(_went_into(code, self._seen.revisions))
            found.append(Split(code, sources, parts, tuple(units), len(all_units)))
        return found

    def _is_open(self, unit_id: str, waiting: pd.DataFrame, parts: Sequence[str]) -> bool:
        coders = set(waiting.loc[waiting["unit_id"] == unit_id, "coder"])
        # One's own text that waits for another change as well is not finished by sorting.
        own = self._viewer in coders and not any((unit_id, part) in self._own_parts for part in parts)
        unruled = any((unit_id, part) not in self._ruled for part in parts)
        return own or (bool(coders - {self._viewer}) and unruled)

    def acts(self, code: str, unit_ids: Sequence[str], parts: Collection[str], *, asked: str) -> list[Act]:
        """Return the acts that say which parts of a split code these texts belong to; none, where empty."""
        one = next((split for split in self.splits if split.code == code), None)
        if one is None:
            raise ActError("sorting: no texts of this code wait for sorting – open the split texts again.")
        unknown = sorted(set(parts) - set(one.parts))
        if unknown or not set(unit_ids) <= set(one.units):
            raise ActError(
                "sorting: these texts or parts no longer wait for sorting – open the split texts again."
            )
        made = [make for unit_id in unit_ids for make in self._of_unit(unit_id, one, parts)]
        return [
            getattr(record, kind)(
                **named,
                coder=self._viewer,
                codebook=self._codebook,
                act_id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{asked} {n}")),
            )
            for n, (kind, named) in enumerate(made)
        ]

    def _of_unit(
        self, unit_id: str, split: Split, parts: Collection[str]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        here = self._waiting[(self._waiting["unit_id"] == unit_id) & self._waiting["code"].isin(split.parts)]
        coders = set(here["coder"])
        if self._viewer in coders:
            yield from self._own(unit_id, split, parts)
        if coders - {self._viewer}:
            for part in split.parts:
                if self._ruled.get((unit_id, part)) is not (part in parts):
                    yield "rule", {"unit_id": unit_id, "code": part, "applied": part in parts}

    def _own(
        self, unit_id: str, split: Split, parts: Collection[str]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the acts on the lead's own codings: what they say, on the same words; then the finish.

        It is not, where another change of the codebook waits on it as well: that would decide on that, too.
        """
        own, covered = (
            frame[(frame["coder"] == self._viewer) & (frame["unit_id"] == unit_id)]
            for frame in (self._codings, self._coverage)
        )
        under = {row["act_id"]: row for row in own.to_dict("records") if row["code"] in split.sources}
        for row in under.values():
            values: dict[Any, Any] = {name: None if pd.isna(value) else value for name, value in row.items()}
            span = {name: None if values[name] is None else int(values[name]) for name in ("start", "end")}
            about = {"unit_id": unit_id, "round": values["round"], **span}
            for part in split.parts:
                if part in parts:
                    facets = {
                        facet.name: values[facet.name]
                        for facet in self._codebook.facets_of(part)
                        if values.get(facet.name) in facet.names
                    }
                    yield (
                        "apply",
                        {**about, "code": part, "facets": facets, "confidence": values["confidence"]},
                    )
            if not parts:
                yield "remove", {**about, "code": values["code"]}
        others = set(self._other_reasons["unit_id"]) | set(
            self._waiting.loc[
                (self._waiting["coder"] == self._viewer) & ~self._waiting["code"].isin(split.parts), "unit_id"
            ]
        )
        if unit_id not in others:
            round = covered["round"].iloc[0]
            yield "finish", {"unit_id": unit_id, "round": None if pd.isna(round) else round}


def _split_codes(revisions: Sequence[Revision], codebook: Codebook) -> dict[str, tuple[str, ...]]:
    """Return the codes that were split, each with those of its parts that there are now."""
    codable = {code.id for code in codebook.codable}
    found: dict[str, tuple[str, ...]] = {}
    for step in revisions:
        for change in step.changes:
            if change.kind == "split":
                found[change.code] = tuple(part for part in change.into if part in codable)
    return {code: parts for code, parts in found.items() if parts}


def _went_into(code: str, revisions: Sequence[Revision]) -> set[str]:
    """Return a code and those that were merged into it, at any remove."""
    sources = {code}
    for step in reversed(revisions):
        sources |= {one.code for one in step.changes if one.kind == "merge" and one.into[0] in sources}
    return sources


_PAGE: Final = 20

Save = Callable[[Sequence[Act]], object]


class SplitTexts:
    """What is to be sorted, read once, and what was sorted since.

    Attributes
    ----------
    use : InUse
        What may be seen.
    versions : mapping of str to Codebook
        All versions: a code that was split is in none that is current.
    viewer : str
        Who sorts.
    themes : ThemesOfTexts
        The themes of the study.
    """

    def __init__(
        self,
        use: InUse,
        *,
        versions: Mapping[str, Codebook],
        viewer: str,
        themes: ThemesOfTexts,
    ) -> None:
        self._use, self._codebook, self._versions, self._themes = use, use.seen.codebook, versions, themes
        self._sorting = Sorting(use.seen, viewer=viewer)
        self._done: list[tuple[str, tuple[str, ...], list[Act]]] = []

    def __repr__(self) -> str:
        return f"SplitTexts({self._sorting!r}, {len(self._done)} sorted)"

    def page(
        self, code: object, *, find: str = "", theme: int | None = None, first: int = 0
    ) -> dict[str, Any]:
        """List the waiting texts of a split code, page by page; of the first split code if `code` is none.

        `find` and `theme` choose among them; ``themes`` says of which themes they are.
        """
        splits = self._sorting.splits
        left = {one.code: self._left(one) for one in splits}
        one = next((each for each in splits if each.code == code), next(iter(splits), None))
        waiting = [] if one is None else left[one.code]
        units = self._with(find, theme, waiting)
        return {
            "splits": [
                {
                    "code": each.code,
                    "label": self._label(each.code),
                    "n": len(left[each.code]),
                    "n_all": each.n_all,
                }
                for each in splits
            ],
            "code": None if one is None else one.code,
            "parts": []
            if one is None
            else [{"id": part, "label": self._codebook[part].label} for part in one.parts],
            "themes": self._themes.among(waiting, theme),
            "n": len(units),
            "first": first,
            "ids": units,
            "can_undo": bool(self._done),
            "rows": [] if one is None else [self._row(unit, one) for unit in units[first : first + _PAGE]],
        }

    def sort(self, code: str, units: Sequence[str], parts: Sequence[str], *, asked: str, save: Save) -> None:
        """Record to which parts texts belong."""
        done = {unit for one, others, _ in self._done if one == code for unit in others}
        if done & set(units):
            raise ActError("sorting: some of these texts are already sorted – take that back first.")
        made = self._sorting.acts(code, units, parts, asked=asked)
        save(made)
        self._done.append((code, tuple(units), made))

    def take_back(self, *, codebook: Codebook, save: Save) -> None:
        """Take back what was sorted last."""
        if not self._done:
            raise ActError("sorting: nothing was sorted here, so there is nothing to take back.")
        save([record.undo(act, codebook=codebook) for act in reversed(self._done[-1][2])])
        self._done.pop()

    def _left(self, split: Split) -> list[str]:
        done = {unit for code, units, _ in self._done if code == split.code for unit in units}
        return [unit for unit in split.units if unit not in done]

    def _with(self, find: str, theme: int | None, units: Sequence[str]) -> list[str]:
        wanted = folded(find[:200]).strip()
        of_theme = [unit for unit in units if theme is None or self._themes.of(unit) == theme]
        return [unit for unit in of_theme if wanted in folded(self._use.quotes.text(unit))]

    def _row(self, unit: str, split: Split) -> dict[str, Any]:
        quotes = self._use.quotes
        return {
            "unit_id": unit,
            "text": quotes.text(unit),
            "quotes": quotes.of_unit(unit, split.sources),
        }

    def _label(self, code: str) -> str:
        """Look up a code's latest label in all versions of the codebook."""
        versions = [self._codebook, *reversed(list(self._versions.values()))]
        return next(str(book[code].label) for book in versions if code in book)


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
        if not any(act.traits.subject == "themes" for act in acts):
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
