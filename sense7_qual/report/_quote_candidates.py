"""Which passages could be quoted for each code, in the order of the rule."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Literal

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._contract import Column, Contract, count, flag, text
from sense7_qual.codebook import Codebook
from sense7_qual.report import _choose_quotes

__all__ = ["quote_candidates"]

CANDIDATES: Final = Contract("candidates", ("code", "unit_id", "start", "end"), {
    "code, unit_id": text(),
    "start, end": count("code points; missing for a whole unit", missing=True),
    "case_id": text(missing=True),
    "rating": Column("number", "missing where not given"),
    "coders": text('all who applied the code to the unit, joined by ", "'),
    "role": text('"shows" or "disconfirms" the code; empty where it is not to be drawn'),
    "identifies": text(
        'kinds of identifier found in it, joined by ", "; empty: none; missing: not looked for',
        missing=True),
    "drawn": flag(),
    "why": text("why it was drawn, or why it cannot be; empty: others were"),
}, row="One row per passage, without its words, by code as in the codebook, the drawn ones "
       "first")  # fmt: skip


@CANDIDATES.returns
def quote_candidates(
    codings: pd.DataFrame,
    units: pd.DataFrame,
    *,
    codebook: Codebook,
    per_code: int = 3,
    per_participant: int | None = None,
    rating: str | None = None,
    decisions: pd.DataFrame | None = None,
    quotes: pd.DataFrame | None = None,
    names: Collection[str] = (),
    seed: int = 0,
    screened: Literal["all", "drawn"] = "all",
) -> pd.DataFrame:
    """Return every coded passage as a candidate for print, those that a stated rule draws first.

    The rule: at most one quote from each participant for each code. The first quote of a code is drawn at
    random; with `rating`, each next one is a passage whose rating is farthest from those drawn (ties at
    random). A passage in which `redact.find` finds something that might tell who somebody is comes after all
    that are without. The choice depends on the seed and on the content of the frames, not on the order of
    their rows; without `per_participant`, the quotes of one code do not depend on the others.

    Parameters
    ----------
    codings : DataFrame
        The codings that stand (`frames.CODINGS`). A coding of a span gives the span's words, one of a whole
        unit the unit's text; `start` and `end` count code points. Blank passages are left out.
    units : DataFrame
        The texts (`frames.UNITS`). A unit without case_id counts as a participant of its own.
    codebook : Codebook
        Gives the codes and their order.
    per_code : int
        Most quotes per code; a case that speaks against it is one more.
    per_participant : int, optional
        Most quotes of one participant over all codes together. Codes then draw one quote each in turn, those
        with fewest participants first, and cases that speak against codes are taken last.
    rating : str, optional
        The column of `units` with the rating; passages without one are drawn last.
    decisions : DataFrame, optional
        What was decided (``store.decisions(consensus=True, single=True)``). With it, a text shows a code only
        where all coders of it applied the code, or where it was settled that it applies; and for each code
        one disconfirming case is taken, of a participant who is not quoted for the code, where there is one:
        the first of these three kinds. A *near miss* (a coder applied the code, and it was settled that it
        does not apply; the one that most coders applied); a case *against the trend* of the rating (the code
        applies, and the rating lies beyond the mean of the texts without the code, away from the mean of
        those with it; the farthest); a *disputed* case (some coders applied the code, others did not, and
        nothing is settled; the one that most applied).
    quotes : DataFrame, optional
        What is decided about quotes (`Store.quotes`): a passage is not drawn that was refused, whose words
        stand in a paraphrase, or of which a paraphrase waits for approval.
    names : collection of str
        Names to look for, as in `redact.find`.
    seed : int
        Zero or more.
    screened : {"all", "drawn"}
        In which passages identifiers are looked for: in all, which takes most of the time where there are
        tens of thousands, or only as far as the rule needs it to draw.

    Raises
    ------
    TableError
        A column is missing, a coding is on an unknown unit or a span outside its text, or a rating is not a
        number.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `per_code`, `per_participant` or `seed` is out of range.

    References
    ----------
    Lincoln & Guba (1985), Naturalistic Inquiry, pp. 309–313 (negative case analysis). Patton (1999),
    Enhancing the quality and credibility of qualitative analysis, Health Services Research 34(5), 1189–1208.
    Booth, Carroll, Ilott, Low & Cooper (2013), Desperately seeking dissonance, Qualitative Health Research
    23(1), 126–141.

    Examples
    --------
    >>> from sense7_qual.frames import CODINGS
    >>> units = pd.DataFrame({"unit_id": ["m1"], "text": ["Mail ann@example.org about my sister."],
    ...     "document_id": ["t1"], "case_id": ["P07"], "position": [1]})
    >>> codings = CODINGS.empty()
    >>> codings.loc[0, ["unit_id", "coder", "code", "start", "end"]] = ["m1", "ana", "interest", 0, 20]
    >>> found = quote_candidates(codings, units, codebook=Codebook.read("sense7"))
    >>> found[["unit_id", "identifies", "drawn", "why"]].values.tolist()
    [['m1', 'email', True, 'drawn at random']]
    """
    check_arguments(quote_candidates, locals())
    passages = _choose_quotes.candidates(
        codings, units, codebook=codebook, per_code=per_code, per_participant=per_participant, rating=rating,
        decisions=decisions, quotes=quotes, names=names, seed=seed,
        screened=screened,
    )  # fmt: skip
    return CANDIDATES.frame(passages)
