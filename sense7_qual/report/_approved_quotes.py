"""Quotes that were approved: which of them are printed, in which words, and what is kept out and why."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual import redact
from sense7_qual.codebook import Codebook
from sense7_qual.frames import QUOTES
from sense7_qual.report._quote_passages import (
    Passage,
    Span,
    identifying,
    overlap,
    refuse_outside,
    slice_of,
    span_of,
    texts_of,
)

__all__ = ["approved", "covered", "has_approved", "kept_out"]

_COVERING: Final = ("approved", "stale", "erased")
_CUT: Final = "[…]"

LeftOut = tuple[str, str]
"""The label of a code, and why a quote for it is not printed."""


def has_approved(quotes: pd.DataFrame | None) -> bool:
    """Return True if a quote is approved: then these are printed, and none is drawn."""
    return quotes is not None and bool((QUOTES.check(quotes)["state"] == "approved").any())


def covered(quotes: pd.DataFrame) -> dict[str, list[tuple[str, Span]]]:
    """Return by unit which words stand in a paraphrase that was approved, and for which code.

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
            yield passage, "its words stand in a paraphrase"
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
    printed.sort(key=lambda row: (places[row["code"]], row["role"] == "disconfirms", pd.isna(row["rating"]),
                                  row["rating"], row["unit_id"], span_of(row) or ()))  # fmt: skip
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
        return "its code or its text is no more there"
    if row["role"] == "shows" and not bearing:
        return "no coding of its words stands any more"
    if pd.isna(row["paraphrase"]):
        under = [code for code, span in hidden.get(row["unit_id"], ()) if overlap(span, span_of(row))]
        if under:
            label = codebook[under[0]].label if under[0] in codebook else under[0]
            return f"its words stand in a paraphrase under {label}"
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
    kinds = [] if found is None else [
        ", ".join(sorted(set(found.loc[found["unit_id"] == str(at), "kind"]))) for at in range(len(said))
    ]  # fmt: skip
    of_paraphrases = iter(kinds)
    return [next(of_paraphrases) if row["is_paraphrase"] else next(of_originals) for row in printed]
