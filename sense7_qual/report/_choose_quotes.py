"""Quotes for each code, chosen by a seeded rule that a paper can state."""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual._messages import first_three
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.tables import CODINGS, UNITS, require_column

__all__ = ["select", "shortened"]

_COLUMNS: Final = ("code", "unit_id", "start", "end", "case_id", "rating", "coders", "quote")

# Marks, modifiers and joiners that belong to the character before them.
_EXTENDING: Final = frozenset({"Mn", "Mc", "Me", "Sk", "Cf"})


def select(
    codings: pd.DataFrame,
    units: pd.DataFrame,
    *,
    codebook: Codebook,
    per_code: int = 3,
    rating: str | None = None,
    seed: int,
) -> pd.DataFrame:
    """Choose quotes for each code, at most one from each participant, spread over the ratings.

    The first quote of a code is drawn at random; with `rating`, each next one is a quote whose rating is
    farthest from those already chosen (ties at random). The choice depends on the seed and on the content of
    the frames, not on the order of their rows, and the quotes of one code do not depend on the others.

    Parameters
    ----------
    codings : DataFrame
        The codings that stand (`tables.CODINGS`). A coding of a span gives the span's text, one of a whole
        unit the unit's text; `start` and `end` count code points. Blank passages are left out.
    units : DataFrame
        The texts (`tables.UNITS`). A unit without case_id counts as a participant of its own.
    codebook : Codebook
        Gives the codes and their order.
    per_code : int
        Most quotes per code.
    rating : str, optional
        The column of `units` with the rating; quotes without one are chosen last.
    seed : int
        Zero or more.

    Returns
    -------
    DataFrame
        One row per quote: code, unit_id, start, end (missing for a whole unit), case_id, rating (missing
        where not given), coders (all who applied the code to the unit, joined by ", "), quote. Ordered by
        code as in the codebook, then by rating.

    Raises
    ------
    TableError
        A column is missing, a coding is on an unknown unit or a span outside its text, or a rating is not a
        number.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `per_code` or `seed` is out of range.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": ["m1"], "text": ["It asked how my sister was doing."],
    ...     "document_id": ["t1"], "case_id": ["P07"], "position": [1]})
    >>> codings = CODINGS.empty()
    >>> codings.loc[0, ["unit_id", "coder", "code", "start", "end"]] = ["m1", "ana", "interest", 3, 8]
    >>> select(codings, units, codebook=Codebook.read("sense7"), seed=7)["quote"].tolist()
    ['asked']
    """
    for name, value, least in (("per_code", per_code, 1), ("seed", seed, 0)):
        if value < least:
            raise ArgumentError(f"quotes: expected {name} of {least} or more – found {value} – correct it.")
    of_code: dict[str, list[dict[str, Any]]] = {}
    for passage in _passages(codings, units, codebook, rating):
        of_code.setdefault(passage["code"], []).append(passage)
    chosen = [
        quote
        for code in codebook.ids
        for quote in _chosen(of_code.get(code, []), per_code, (seed, _number_of(code)))
    ]
    return pd.DataFrame(chosen, columns=list(_COLUMNS))


def shortened(text: str, max_length: int) -> str:
    """Cut a text to at most `max_length` code points and mark the omission with "[…]".

    It is cut at the last white space that fits; where there is none, never between a character and the
    marks that belong to it.

    >>> shortened("It asked how my sister was doing.", 20)
    'It asked how my […]'
    """
    if max_length < 1:
        raise ArgumentError(f"quotes: expected max_length of 1 or more – found {max_length} – correct it.")
    if len(text) <= max_length:
        return text
    cut = next((at for at in range(max_length, 0, -1) if text[at].isspace()), 0)
    if cut == 0:
        cut = max_length
        while cut > 1 and _belongs(text[cut], text[cut - 1]):
            cut -= 1
    return f"{text[:cut].rstrip()} […]"


def _belongs(character: str, before: str) -> bool:
    """Whether a code point is drawn together with the one before it: a mark, a joined emoji, half a flag."""
    flag = all("\U0001f1e6" <= half <= "\U0001f1ff" for half in (character, before))
    return flag or before == "\u200d" or unicodedata.category(character) in _EXTENDING


def _number_of(code: str) -> int:
    """Return a number for a code, so that its quotes stay the same when other codes come or go."""
    return zlib.crc32(code.encode())


def _passages(
    codings: pd.DataFrame, units: pd.DataFrame, codebook: Codebook, rating: str | None
) -> list[dict[str, Any]]:
    """Return every coded passage once, in an order that the rows of the frames do not decide."""
    checked, texts = CODINGS.check(codings), UNITS.check(units)
    for code in checked["code"].unique():
        codebook[code]
    unknown = sorted(set(checked["unit_id"]) - set(texts["unit_id"]))
    if unknown:
        raise TableError(
            f"codings: expected units that stand in the units frame – found others: {first_three(unknown)} – "
            "pass all the units that were coded."
        )
    spans = checked.drop_duplicates(["unit_id", "code", "start", "end"])[["unit_id", "code", "start", "end"]]
    coders = checked.groupby(["unit_id", "code"])["coder"].agg(lambda names: ", ".join(sorted(set(names))))
    known = texts[["unit_id", "text", "case_id"]].assign(rating=_ratings(texts, rating))
    joined = spans.merge(known, on="unit_id").merge(
        coders.rename("coders").reset_index(), on=["unit_id", "code"]
    )
    joined = joined.sort_values(["unit_id", "start", "end"], na_position="first")
    _check_spans(joined)
    records = [{str(name): value for name, value in row.items()} for row in joined.to_dict("records")]
    return [row | {"quote": quote} for row in records if (quote := _slice(row).strip())]


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


def _check_spans(passages: pd.DataFrame) -> None:
    start, end = passages["start"], passages["end"]
    inside = (start >= 0) & (start < end) & (end <= passages["text"].str.len())
    fits = (start.isna() & end.isna()) | inside.fillna(False)
    if not fits.all():
        raise TableError(
            "codings: expected spans inside their text – found others on units "
            f"{first_three(passages.loc[~fits, 'unit_id'])} – pass the units as they were coded."
        )


def _slice(passage: Mapping[str, Any]) -> str:
    text = str(passage["text"])
    return text if pd.isna(passage["start"]) else text[int(passage["start"]) : int(passage["end"])]


def _chosen(passages: Sequence[dict[str, Any]], per_code: int, seed: tuple[int, int]) -> list[dict[str, Any]]:
    """Choose passages one by one, each of a new participant and far from the ratings chosen before."""
    order = np.random.default_rng(seed).permutation(len(passages))
    pool = [passages[position] for position in order]
    chosen: list[dict[str, Any]] = []
    while pool and len(chosen) < per_code:
        shown = [quote["rating"] for quote in chosen if not pd.isna(quote["rating"])]
        # `max` keeps the first of equals, and the pool is shuffled: ties are broken at random.
        best = max(pool, key=lambda passage: _spread(passage["rating"], shown))
        chosen.append(best)
        pool = [passage for passage in pool if _participant(passage) != _participant(best)]
    return sorted(chosen, key=lambda quote: (pd.isna(quote["rating"]), quote["rating"]))


def _spread(rating: float, shown: Sequence[float]) -> tuple[float, float]:
    """Rank a rating by its distance to the nearest one shown, then by how seldom it was shown itself."""
    if pd.isna(rating):
        return (-1.0, 0.0)
    return (min((abs(rating - other) for other in shown), default=0.0), -float(shown.count(rating)))


def _participant(passage: Mapping[str, Any]) -> tuple[str, str]:
    missing = pd.isna(passage["case_id"])
    return ("unit", str(passage["unit_id"])) if missing else ("case", str(passage["case_id"]))
