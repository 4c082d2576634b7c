"""Quotes as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual._present import MISSING
from sense7_qual.codebook import Codebook
from sense7_qual.report import _choose_quotes
from sense7_qual.report._notes import made_with
from sense7_qual.report._table import Table

__all__ = ["quote_table"]


def quote_table(
    codings: pd.DataFrame,
    units: pd.DataFrame,
    *,
    codebook: Codebook,
    per_code: int = 3,
    max_length: int = 200,
    rating: str | None = None,
    seed: int = 0,
    notes: Sequence[str] = (),
) -> Table:
    """Return quotes for each code with participant, rating and coders, chosen as the foot states.

    One row per quote as `quotes.select` chooses them: at most one per participant and code, spread over the
    ratings, seeded. A participant or rating that is not known is printed as "–".

    Parameters
    ----------
    codings, units : DataFrame
        The codings that stand (`tables.CODINGS`) and the texts (`tables.UNITS`).
    codebook : Codebook
        Gives the labels and the order of the codes.
    per_code : int
        Most quotes per code.
    max_length : int
        Characters (code points) after which a quote is cut at a word boundary and ends in "[…]".
    rating : str, optional
        The column of `units` with the rating.
    seed : int
        Zero or more; printed in the foot.
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    TableError
        A column is missing, a coding is on an unknown unit or a span outside its text, or a rating is not a
        number.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `per_code`, `max_length` or `seed` is out of range.

    References
    ----------
    Tong, Sainsbury & Craig (2007), COREQ, International Journal for Quality in Health Care 19(6), 349–357,
    item 29: quotations with participant numbers.

    Examples
    --------
    >>> from sense7_qual.tables import CODINGS
    >>> units = pd.DataFrame({"unit_id": ["m1"], "text": ["It asked how my sister was doing."],
    ...     "document_id": ["t1"], "case_id": ["P07"], "position": [1], "EmpathyOverall": [4.0]})
    >>> codings = CODINGS.empty()
    >>> codings.loc[0, ["unit_id", "coder", "code", "start", "end"]] = ["m1", "ana", "interest", 3, 32]
    >>> table = quote_table(codings, units, codebook=Codebook.read("sense7"), rating="EmpathyOverall", seed=7)
    >>> table.rows
    (('Interest', 'asked how my sister was doing', 'P07', '4', 'ana'),)
    """
    check_arguments(quote_table, locals())
    chosen = _choose_quotes.select(
        codings, units, codebook=codebook, per_code=per_code, rating=rating, seed=seed
    )
    rated = rating is not None
    return Table(
        title="Quotes by code",
        headers=("Code", "Quote", "Participant", *([str(rating)] if rated else []), "Coders"),
        rows=tuple(_quote_row(quote, codebook, max_length, rated) for quote in chosen.to_dict("records")),
        notes=(
            _selection_note(per_code, max_length, rating, seed),
            *_shortage_notes(chosen, per_code, codebook),
            "Quotes are printed as written: check each for what could identify a person before publishing.",
            *notes,
            made_with(codebook),
        ),
        alignments=("left", "left", "left", "right", "left") if rated else ("left",) * 4,
    )


def _quote_row(quote: Mapping[Any, Any], codebook: Codebook, max_length: int, rated: bool) -> tuple[str, ...]:
    case = MISSING if pd.isna(quote["case_id"]) else str(quote["case_id"])
    rating = _present.number(quote["rating"], 2).removesuffix(".00")
    label, text = codebook[quote["code"]].label, _choose_quotes.shortened(quote["quote"], max_length)
    return (label, text, case, rating, quote["coders"]) if rated else (label, text, case, quote["coders"])


def _selection_note(per_code: int, max_length: int, rating: str | None, seed: int) -> str:
    spread = f"; the first at random, each next one with the rating ({rating}) farthest from those chosen"
    return (
        f"Selection: up to {per_code} quotes per code and at most one per participant and code, drawn at "
        f"random (seed {seed}){spread if rating else ''}. A coding of a span shows the span, one of a whole "
        f"text the text; over {max_length} characters it is cut at a word boundary: […]. Coders = all who "
        "applied the code to that text."
    )


def _shortage_notes(chosen: pd.DataFrame, per_code: int, codebook: Codebook) -> list[str]:
    shown = chosen["code"].value_counts()
    few = [f"{c.label} ({shown.get(c.id, 0)})" for c in codebook.codable if shown.get(c.id, 0) < per_code]
    notes = [f"Fewer than {per_code} participants have the code: {', '.join(few)}."] if few else []
    if chosen["case_id"].isna().any():
        notes.append(f"{MISSING} as participant = not known; such a text counts as a participant of its own.")
    return notes
