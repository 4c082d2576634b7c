"""The coded passages: the words of each, their participant, and what in them might identify a person."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual import redact
from sense7_qual._messages import first_three
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError
from sense7_qual.frames import CODINGS, QUOTES, UNITS, require_column

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
    """Return the participant; a text without one is one of its own."""
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
            f"codings: expected units of the units frame – found others: {first_three(unknown)} – "
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


_COVERING: Final = ("approved", "stale", "erased")
_CUT: Final = "[…]"

LeftOut = tuple[str, str]
"""The label of a code, and why a quote for it is not printed."""


def has_approved(quotes: pd.DataFrame | None) -> bool:
    """Return True if a quote is approved: then these are printed, and none is drawn."""
    return quotes is not None and bool((QUOTES.check(quotes)["state"] == "approved").any())


def covered(quotes: pd.DataFrame) -> dict[str, list[tuple[str, Span]]]:
    """Return by unit the words that an approved paraphrase replaces, and its code.

    A paraphrase covers the words also where the code changed since, or a withdrawal erased it.
    """
    rows = QUOTES.check(quotes)
    chosen = rows[rows["paraphrase"].notna() & rows["state"].isin(_COVERING)]
    spans: dict[str, list[tuple[str, Span]]] = {}
    for row in chosen.to_dict("records"):
        spans.setdefault(row["unit_id"], []).append((row["code"], span_of(_named(row))))
    return spans


def kept_out(passages: Sequence[Passage], quotes: pd.DataFrame) -> Iterator[tuple[Passage, str]]:
    """Yield passages that are not to be drawn, because of what was decided about their words."""
    by_unit: dict[str, list[dict[str, Any]]] = {}
    for row in QUOTES.check(quotes).to_dict("records"):
        by_unit.setdefault(row["unit_id"], []).append(_named(row))
    hidden = covered(quotes)
    for passage in passages:
        own, words = by_unit.get(passage["unit_id"], ()), span_of(passage)
        here = [one for one in own if one["code"] == passage["code"] and overlap(words, span_of(one))]
        if any(one["state"] == "refused" for one in here):
            yield passage, "refused"
        elif any(overlap(words, span) for _, span in hidden.get(passage["unit_id"], ())):
            yield passage, "a paraphrase replaces its words"
        elif any(not pd.isna(one["paraphrase"]) for one in here):
            yield passage, "a paraphrase of it waits for approval"


def approved(
    quotes: pd.DataFrame,
    passages: Sequence[Passage],
    units: pd.DataFrame,
    *,
    codebook: Codebook,
    rating: str | None,
    names: Collection[str],
) -> tuple[list[dict[str, Any]], list[LeftOut]]:
    """Return the approved quotes as they are printed, and those that are not, with the reason.

    Each has code, role, words (whole: who approved saw them so), is_paraphrase, case_id, rating, coders,
    identifies, coder (who approved) and at.
    """
    rows = QUOTES.check(quotes)
    chosen = rows[rows["state"] == "approved"].merge(texts_of(units, rating), on="unit_id", how="left")
    refuse_outside(chosen[chosen["text"].notna()], frame_name="quotes")
    hidden, printed, left_out = covered(quotes), [], []
    coded: dict[tuple[str, str], list[Passage]] = {}
    for passage in passages:
        coded.setdefault((passage["unit_id"], passage["code"]), []).append(passage)
    for row in map(_named, chosen.to_dict("records")):
        here = coded.get((row["unit_id"], row["code"]), [])
        bearing = [one for one in here if overlap(span_of(one), span_of(row))]
        why = _why_not(row, bearing, hidden, codebook)
        if why:
            label = codebook[row["code"]].label if row["code"] in codebook else str(row["code"])
            left_out.append((label, why))
        else:
            coders = here[0]["coders"] if here else ""  # all who applied the code to the text
            printed.append(row | {"coders": coders} | _worded(row, bearing))
    for row, identifies in zip(printed, _identified(printed, names), strict=True):
        row["identifies"] = identifies
    places = {code: place for place, code in enumerate(codebook.ids)}
    printed.sort(
        key=lambda row: (
            places[row["code"]],
            row["role"] == "disconfirms",
            pd.isna(row["rating"]),
            row["rating"],
            row["unit_id"],
            span_of(row) or (),
        )
    )
    return printed, left_out


def _named(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): value for name, value in row.items()}


def _why_not(
    row: Mapping[str, Any],
    bearing: Sequence[Passage],
    hidden: Mapping[str, Sequence[tuple[str, Span]]],
    codebook: Codebook,
) -> str:
    """Return why an approved quote is not printed; empty where it is."""
    if row["code"] not in codebook or pd.isna(row["text"]):
        return "its code or its text no longer exists"
    if row["role"] == "shows" and not bearing:
        return "its words are no longer coded"
    if pd.isna(row["paraphrase"]):
        under = [code for code, span in hidden.get(row["unit_id"], ()) if overlap(span, span_of(row))]
        if under:
            label = codebook[under[0]].label if under[0] in codebook else under[0]
            return f"a paraphrase under {label} replaces its words"
    return ""


def _worded(row: Mapping[str, Any], bearing: Sequence[Passage]) -> dict[str, Any]:
    """Return the words of a quote as they are printed."""
    if not pd.isna(row["paraphrase"]):
        return {"words": row["paraphrase"], "is_paraphrase": True}
    return {"words": _with_omissions(row, bearing), "is_paraphrase": False}


def _with_omissions(row: Mapping[str, Any], bearing: Sequence[Passage]) -> str:
    """Return the words, with […] on the side on which words of the coded passage were left out."""
    words, span, text = slice_of(row).strip(), span_of(row), str(row["text"])
    if span is None:
        return words
    around = [passage for passage in bearing if _contains(span_of(passage), span)]
    if not around:
        return words
    widths = {id(one): (span_of(one) or (0, len(text))) for one in around}
    first, last = min(widths.values(), key=lambda ends: ends[1] - ends[0])
    before, after = text[first : span[0]].strip(), text[span[1] : last].strip()
    return f"{f'{_CUT} ' if before else ''}{words}{f' {_CUT}' if after else ''}"


def _contains(outer: Span, inner: tuple[int, int]) -> bool:
    return outer is None or (outer[0] <= inner[0] and inner[1] <= outer[1])


def _identified(printed: Sequence[Mapping[str, Any]], names: Collection[str]) -> list[str]:
    """Return what might tell who somebody is in the words that are printed: paraphrases are read too."""
    texts = {str(row["unit_id"]): str(row["text"]) for row in printed if not row["is_paraphrase"]}
    originals = [row for row in printed if not row["is_paraphrase"]]
    of_originals = iter(identifying(texts, ((r["unit_id"], span_of(r)) for r in originals), names))
    said = [row["words"] for row in printed if row["is_paraphrase"]]
    units = pd.DataFrame({"unit_id": [str(at) for at in range(len(said))], "text": said}, dtype="string")
    found = redact.find(units, names=names, columns=["text"]) if said else None
    kinds = (
        []
        if found is None
        else [
            ", ".join(sorted(set(found.loc[found["unit_id"] == str(at), "kind"]))) for at in range(len(said))
        ]
    )
    of_paraphrases = iter(kinds)
    return [next(of_paraphrases) if row["is_paraphrase"] else next(of_originals) for row in printed]
