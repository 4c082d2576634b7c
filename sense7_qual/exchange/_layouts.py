"""Which sources a study's texts become in another program: one each, or one for each participant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import pandas as pd

__all__ = ["Layout", "LayoutName", "Place", "layout_of"]

LayoutName = Literal["texts", "participants"]

_OF_TEXTS: Final = ("unit_id", "text", "document_id", "case_id", "position", "context")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a text stands: in which source, from which character on, and how many it has."""

    source: str
    start: int
    length: int


@dataclass(frozen=True, slots=True, repr=False)
class Layout:
    """The sources as a frame of units, where each text stands in them, and what did not come along."""

    units: pd.DataFrame
    places: Mapping[str, Place]
    joined: bool
    left_out: tuple[str, ...] = ()  # variables that differ between the texts of a source
    together: tuple[str, ...] = ()  # texts that stand with others in a source

    def codings(self, codings: pd.DataFrame) -> pd.DataFrame:
        """Return codings with their places in the sources: one of a whole text is of its words there."""
        return self._placed(codings, "unit_id") if self.joined else codings

    def memos(self, memos: pd.DataFrame) -> pd.DataFrame:
        """Return memos with their places in the sources: one on a whole text is on its words there."""
        if not self.joined:
            return memos
        on_text = memos["target_kind"].isin(["unit", "span"])
        placed = self._placed(memos[on_text], "target_id").assign(target_kind="span")
        return pd.concat([memos[~on_text], placed.astype({"target_kind": memos["target_kind"].dtype})])

    def finished(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return who finished which source: all of its texts, in one round."""
        if not self.joined:
            return rows
        sizes = pd.Series([place.source for place in self.places.values()]).value_counts()
        moved = rows.assign(unit_id=[self.places[unit].source for unit in rows["unit_id"]])
        counts = moved.groupby(["unit_id", "coder", "round"], dropna=False, sort=False).size()
        whole = counts[counts.to_numpy() == sizes.reindex(counts.index.get_level_values(0)).to_numpy()]
        found: pd.DataFrame = whole.reset_index()[["unit_id", "coder", "round"]]
        return found

    def _placed(self, rows: pd.DataFrame, column: str) -> pd.DataFrame:
        places = [self.places[unit_id] for unit_id in rows[column]]
        offset = pd.Series([place.start for place in places], index=rows.index, dtype="Int64")
        length = pd.Series([place.length for place in places], index=rows.index, dtype="Int64")
        first = rows["start"].astype("Int64").fillna(0) + offset
        last = rows["end"].astype("Int64").fillna(length) + offset
        sources = pd.array([place.source for place in places], dtype="string")
        placed = rows.assign(start=first, end=last)
        placed[column] = sources
        return placed


def layout_of(units: pd.DataFrame, name: LayoutName) -> Layout:
    """Return the sources of some units.

    With "participants" the texts of one participant stand in one source, in the order of `units`, each under
    its id in brackets; a text without a participant stays a source by itself.
    """
    if name == "texts":
        lengths = units["text"].str.len().fillna(0).astype(int)
        all_of = zip(units["unit_id"], lengths, strict=True)
        return Layout(units, {unit_id: Place(unit_id, 0, n) for unit_id, n in all_of}, joined=False)
    taken = set(units.loc[units["case_id"].isna(), "unit_id"])
    names = {
        case: case if case not in taken else f"{case} (participant)" for case in units["case_id"].dropna()
    }
    sources = units["case_id"].map(names).fillna(units["unit_id"])
    places: dict[str, Place] = {}
    rows: list[dict[str, object]] = []
    for source, own in units.groupby(sources, sort=False):
        text = ""
        alone = bool(own["case_id"].isna().any())
        for unit_id, words in zip(own["unit_id"], own["text"], strict=True):
            text += "" if alone else f"{'' if not text else chr(10) * 2}[{unit_id}]\n"
            places[unit_id] = Place(str(source), len(text), len(words))
            text += words
        rows.append({"unit_id": str(source), "text": text, "document_id": str(source),
                     "case_id": own["case_id"].iloc[0], "position": len(rows)})  # fmt: skip
    frame = pd.DataFrame(rows).astype({one: units[one].dtype for one in ("unit_id", "text", "case_id")})
    alike, left_out = _variables(units, sources, frame)
    together = tuple(units.loc[sources.duplicated(keep=False), "unit_id"])
    return Layout(alike, places, joined=True, left_out=left_out, together=together)


def _variables(
    units: pd.DataFrame, sources: pd.Series, frame: pd.DataFrame
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the frame with the variables that are alike in each source, and the names of the others."""
    left_out = ["context"] if "context" in units and units["context"].notna().any() else []
    for name in (one for one in units.columns if one not in _OF_TEXTS):
        grouped = units[name].groupby(sources, sort=False)
        if (units.groupby([sources, units[name].astype("string").fillna("")]).ngroups) > grouped.ngroups:
            left_out.append(str(name))
        else:
            frame[name] = grouped.first().reindex(frame["unit_id"]).astype(units[name].dtype).array
    return frame, tuple(left_out)
