"""The coded passages: the words of each, whose they are, and what in them might tell who that is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual import redact
from sense7_qual._messages import first_three
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError
from sense7_qual.frames import CODINGS, UNITS, require_column

__all__ = [
    "Passage",
    "Screen",
    "Span",
    "identifying",
    "overlap",
    "participant_of",
    "passages_of",
    "span_of",
    "texts_of",
]

Passage = dict[str, Any]
"""Words that bear a code: unit_id, code, start, end, text (of the unit), case_id, rating, coders, quote."""

Span = tuple[int, int] | None
"""Code points of a text; None: all of it."""

_FIRST_BATCH: Final = 16


def passages_of(
    codings: pd.DataFrame, units: pd.DataFrame, codebook: Codebook, rating: str | None
) -> list[Passage]:
    """Return every coded passage once, in an order that the rows of the frames do not decide."""
    checked = CODINGS.check(codings)
    for code in checked["code"].unique():
        codebook[code]
    texts = texts_of(units, rating)
    _refuse_unknown(checked, texts)
    spans = checked.drop_duplicates(["unit_id", "code", "start", "end"])[["unit_id", "code", "start", "end"]]
    coders = checked.groupby(["unit_id", "code"])["coder"].agg(lambda names: ", ".join(sorted(set(names))))
    joined = spans.merge(texts, on="unit_id").merge(
        coders.rename("coders").reset_index(), on=["unit_id", "code"]
    )
    joined = joined.sort_values(["unit_id", "start", "end"], na_position="first")
    refuse_outside(joined, frame_name="codings")
    records = [{str(name): value for name, value in row.items()} for row in joined.to_dict("records")]
    return [row | {"quote": words} for row in records if (words := slice_of(row).strip())]


def texts_of(units: pd.DataFrame, rating: str | None) -> pd.DataFrame:
    """Return unit_id, text, case_id and rating of each unit."""
    table = UNITS.check(units)
    return table[["unit_id", "text", "case_id"]].assign(rating=_ratings(table, rating))


def slice_of(row: Mapping[str, Any]) -> str:
    """Return the words of a span; of none, the whole text."""
    text, span = str(row["text"]), span_of(row)
    return text if span is None else text[span[0] : span[1]]


def span_of(row: Mapping[str, Any]) -> Span:
    """Return the span of a row of a frame."""
    return None if pd.isna(row["start"]) else (int(row["start"]), int(row["end"]))


def overlap(one: Span, other: Span) -> bool:
    """Return True if two spans of one text have words in common."""
    return one is None or other is None or (one[0] < other[1] and other[0] < one[1])


def participant_of(passage: Mapping[str, Any]) -> tuple[str, str]:
    """Return whose words they are; a text without a participant is one of its own."""
    missing = pd.isna(passage["case_id"])
    return ("unit", str(passage["unit_id"])) if missing else ("case", str(passage["case_id"]))


def identifying(
    texts: Mapping[str, str], spans: Iterable[tuple[str, Span]], names: Collection[str]
) -> list[str]:
    """Return for each span which kinds of identifier `redact.find` finds in it, joined by ", ".

    `texts` are by unit_id. An identifier counts that begins before the words, or ends behind them: a part of
    a number may do.
    """
    wanted = list(spans)
    of_unit: dict[str, list[tuple[str, int, int]]] = {}
    read = {unit_id: texts[unit_id] for unit_id, _ in wanted}
    if read:
        units = pd.DataFrame({"unit_id": list(read), "text": list(read.values())})
        found = redact.find(units, names=names, columns=["text"])
        for unit_id, kind, start, end in found[["unit_id", "kind", "start", "end"]].itertuples(index=False):
            of_unit.setdefault(str(unit_id), []).append((str(kind), int(start), int(end)))
    return [
        ", ".join(sorted({kind for kind, *at in of_unit.get(unit_id, ()) if overlap((at[0], at[1]), span)}))
        for unit_id, span in wanted
    ]


class Screen:
    """Looks for identifiers in passages as far as it is asked: looking through all takes most of the time.

    Attributes
    ----------
    names : collection of str
        Names to look for, as in `redact.find`.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def look(self, passages: Iterable[Passage]) -> None:
        """Say of each passage which kinds of identifier it holds, where that is not known (None) yet."""
        new = [passage for passage in passages if passage["identifies"] is None]
        texts = {passage["unit_id"]: passage["text"] for passage in new}
        spans = ((passage["unit_id"], span_of(passage)) for passage in new)
        for passage, identifies in zip(new, identifying(texts, spans, self._names), strict=True):
            passage["identifies"] = identifies

    def first_without(self, ranked: Sequence[Passage]) -> Passage:
        """Return the first passage that holds no identifier; where all do, the first."""
        at, n = 0, _FIRST_BATCH
        while at < len(ranked):
            batch = ranked[at : at + n]
            self.look(batch)
            free = next((passage for passage in batch if not passage["identifies"]), None)
            if free is not None:
                return free
            at, n = at + n, 2 * n
        return ranked[0]


def refuse_outside(rows: pd.DataFrame, *, frame_name: str) -> None:
    """Raise `TableError` where a span does not lie inside its text."""
    start, end = rows["start"], rows["end"]
    inside = (start >= 0) & (start < end) & (end <= rows["text"].str.len())
    fits = (start.isna() & end.isna()) | inside.fillna(False)
    if not fits.all():
        raise TableError(
            f"{frame_name}: expected spans inside their text – found others on units "
            f"{first_three(rows.loc[~fits, 'unit_id'])} – pass the units as they were coded."
        )


def _refuse_unknown(codings: pd.DataFrame, texts: pd.DataFrame) -> None:
    unknown = sorted(set(codings["unit_id"]) - set(texts["unit_id"]))
    if unknown:
        raise TableError(
            f"codings: expected units that stand in the units frame – found others: {first_three(unknown)} – "
            "pass all the units that were coded."
        )


def _ratings(units: pd.DataFrame, rating: str | None) -> pd.Series:
    if rating is None:
        return pd.Series(np.nan, index=units.index)
    require_column(units, rating, frame_name="units")
    numbers = pd.to_numeric(units[rating], errors="coerce").astype("Float64").astype("float64")
    wrong = units.loc[numbers.isna() & units[rating].notna(), "unit_id"]
    if len(wrong):
        raise TableError(
            f"units: expected numbers in the rating {rating!r} – found other values in units "
            f"{first_three(wrong)} – correct them or make them missing."
        )
    return numbers
