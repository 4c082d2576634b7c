"""Tables of words: quotes and memos."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual._basis import line_of_people
from sense7_qual._messages import first_three
from sense7_qual._present import MISSING
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError
from sense7_qual.frames import MEMOS, UNITS
from sense7_qual.redact import KINDS
from sense7_qual.report import _choose_quotes
from sense7_qual.report._quote_passages import LeftOut, approved, has_approved, participant_of, passages_of
from sense7_qual.report._table import Table, made_with


def quote(
    codings: pd.DataFrame,
    units: pd.DataFrame,
    *,
    codebook: Codebook,
    per_code: int = 3,
    per_participant: int | None = None,
    max_length: int = 200,
    rating: str | None = None,
    decisions: pd.DataFrame | None = None,
    quotes: pd.DataFrame | None = None,
    names: Collection[str] = (),
    seed: int = 0,
    notes: Sequence[str] = (),
) -> Table:
    """Tabulate quotes for each code with participant, rating and coders: those approved, or else drawn.

    If `quotes` has approved ones, the table prints these, whole, in the words that were approved;
    the foot says by whom, and names codes and participants with more of them than asked for. Else quotes are
    drawn by the rule of `quote_candidates`: at most `per_code` for a code and one per participant and code,
    spread over the ratings, seeded; a passage in which `redact.find` finds something that might tell who
    somebody is has a row without its words, and is drawn only where there is no other. One case that speaks
    against the code, if there is one, follows the quotes of each code. The foot says all this. A
    participant or rating that is not known is printed as "–".

    Words that an approved paraphrase replaces are printed nowhere, under no code: "[paraphrase]" marks it.
    An approved quote is left out, and the foot says why, if its words are no longer coded, its code is gone,
    or a paraphrase under another code replaces its words.

    Parameters
    ----------
    codings, units : DataFrame
        The current codings (`frames.CODINGS`) and the texts (`frames.UNITS`).
    codebook : Codebook
        Gives the labels and the order of the codes.
    per_code : int
        Most quotes per code; a case that speaks against it is one more.
    per_participant : int, optional
        Most quotes of one participant in the whole table; under one code it is always one.
    max_length : int
        Characters (code points) after which a drawn quote is cut at a word boundary and ends in "[…]". A
        quote that was approved is never cut: there "[…]" marks the side on which words of the coded passage
        were left out.
    rating : str, optional
        The column of `units` with the rating.
    decisions : DataFrame, optional
        What was decided, for the rule and its disconfirming cases (`quote_candidates`).
    quotes : DataFrame, optional
        What is decided about quotes (`Store.quotes`).
    names : collection of str
        Names to look for in quotes, as in `redact.find`.
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
        `per_code`, `per_participant`, `max_length` or `seed` is out of range.

    References
    ----------
    Tong, Sainsbury & Craig (2007), COREQ, International Journal for Quality in Health Care 19(6), 349–357,
    items 29 and 32: quotations with participant numbers, diverse cases. For disconfirming cases see
    `quote_candidates`.

    Examples
    --------
    >>> from sense7_qual.frames import CODINGS
    >>> units = pd.DataFrame({"unit_id": ["m1"], "text": ["It asked how my sister was doing."],
    ...     "document_id": ["t1"], "case_id": ["P07"], "position": [1], "EmpathyOverall": [4.0]})
    >>> codings = CODINGS.empty()
    >>> codings.loc[0, ["unit_id", "coder", "code", "start", "end"]] = ["m1", "ana", "interest", 3, 32]
    >>> table = quote(codings, units, codebook=Codebook.read("sense7"), rating="EmpathyOverall", seed=7)
    >>> table.rows
    (('Interest', 'asked how my sister was doing', 'P07', '4', 'ana'),)
    """
    check_arguments(quote, locals())
    _choose_quotes.check_bounds(per_code, per_participant, seed)
    _choose_quotes.shortened("", max_length)
    rule = Rule(per_code, per_participant, max_length, rating, seed, decisions is not None)
    are_approved = has_approved(quotes)
    if quotes is not None and are_approved:
        passages = passages_of(codings, units, codebook, rating)
        rows, left_out = approved(quotes, passages, units, codebook=codebook, rating=rating, names=names)
        told = list(approval_notes(rows, left_out, rule, codebook))
    else:
        drawn = _choose_quotes.select(
            codings,
            units,
            codebook=codebook,
            per_code=per_code,
            per_participant=per_participant,
            rating=rating,
            decisions=decisions,
            quotes=quotes,
            names=names,
            seed=seed,
        )
        rows = [_drawn(row, max_length) for row in drawn.to_dict("records")]
        told = list(draw_notes(drawn, rule, codebook))
    rated = rating is not None
    return Table(
        title="Quotes by code",
        headers=("Code", "Quote", "Participant", *([str(rating)] if rated else []), "Coders"),
        rows=tuple(_quote_row(row, codebook, rated=rated) for row in rows),
        notes=(
            *([] if decisions is None else [f"Basis: {line_of_people(decisions)}"]),
            *told,
            *screening_notes(rows, codebook, are_approved=are_approved, names=names),
            *notes,
            made_with(codebook),
        ),
        alignments=("left", "left", "left", "right", "left") if rated else ("left",) * 4,
    )


def _drawn(row: Mapping[Any, Any], max_length: int) -> dict[str, Any]:
    """Return a drawn passage as it is printed; one that may tell who somebody is nobody approved."""
    found = row["identifies"]
    words = f"[not printed: {found}]" if found else _choose_quotes.shortened(row["quote"], max_length)
    return {str(name): value for name, value in row.items()} | {"words": words, "is_paraphrase": False}


def _quote_row(row: Mapping[str, Any], codebook: Codebook, *, rated: bool) -> tuple[str, ...]:
    case = MISSING if pd.isna(row["case_id"]) else str(row["case_id"])
    rating = _present.number(row["rating"], 2).removesuffix(".00")
    against = " (disconfirming case)" if row["role"] == "disconfirms" else ""
    words = f"{row['words']}{f' {PARAPHRASE}' if row['is_paraphrase'] else ''}"
    words += f" {IDENTIFYING}" if row["identifies"] else ""
    cells = (f"{codebook[row['code']].label}{against}", words, case)
    return (*cells, *([rating] if rated else []), row["coders"] or MISSING)


PARAPHRASE = "[paraphrase]"
IDENTIFYING = "†"
_SOURCES = "negative case analysis, Lincoln & Guba 1985; Booth et al. 2013"


class Rule(NamedTuple):
    """By which rule quotes are drawn."""

    per_code: int
    per_participant: int | None
    max_length: int
    rating: str | None
    seed: int
    with_decisions: bool


def draw_notes(drawn: pd.DataFrame, rule: Rule, codebook: Codebook) -> Iterator[str]:
    """Yield the rule of the draw, the codes with too few quotes, and the disconfirming cases."""
    rated = f"each next one with the rating ({rule.rating}) farthest from those chosen"
    bound = (
        ""
        if rule.per_participant is None
        else f", and at most {rule.per_participant} per participant in the whole table, codes taking turns"
    )
    yield (
        f"Selection: up to {rule.per_code} quotes per code and at most one per participant and code{bound}, "
        f"drawn at random (seed {rule.seed}){f'; the first at random, {rated}' if rule.rating else ''}. A "
        f"coding of a span shows the span, one of a whole text the text; over {rule.max_length} characters "
        "it is cut at a word boundary: […]. Coders = all who applied the code to that text."
    )
    if rule.with_decisions:
        yield (
            "A text shows a code where all coders of it applied the code, or where it was settled that it "
            "applies."
        )
    yield from _shortages(drawn[drawn["role"] == "shows"], rule, codebook)
    if rule.with_decisions:
        yield from against_notes(drawn.to_dict("records"), codebook)


def _shortages(shown: pd.DataFrame, rule: Rule, codebook: Codebook) -> Iterator[str]:
    counts = shown["code"].value_counts()
    few = [
        f"{code.label} ({counts.get(code.id, 0)})"
        for code in codebook.codable
        if counts.get(code.id, 0) < rule.per_code
    ]
    if few:
        more = "" if rule.per_participant is None else ", or are open to be quoted,"
        yield f"Fewer than {rule.per_code} participants have the code{more}: {', '.join(few)}."
    if shown["case_id"].isna().any():
        yield f"{MISSING} as participant = not known; such a text counts as a participant of its own."


def against_notes(rows: Sequence[Mapping[Any, Any]], codebook: Codebook) -> Iterator[str]:
    """Yield the reason for each disconfirming case, and the codes without one."""
    cases = [row for row in rows if row["role"] == "disconfirms"]
    without = [code.label for code in codebook.codable if code.id not in {str(row["code"]) for row in cases}]
    if cases:
        why = "; ".join(
            f"{codebook[row['code']].label}: {row['why'] or 'chosen by who approved it'}" for row in cases
        )
        yield f"Disconfirming cases ({_SOURCES}): {why}."
    if without:
        yield f"Without a disconfirming case, because none was found: {', '.join(without)}."


def approval_notes(
    printed: Sequence[Mapping[str, Any]], left_out: Sequence[LeftOut], rule: Rule, codebook: Codebook
) -> Iterator[str]:
    """Yield the people who approved quotes, the paraphrases, and the quotes left out."""
    by = Counter(str(row["coder"]) for row in printed)
    named = ", ".join(f"{coder} ({n})" for coder, n in sorted(by.items()))
    last = max((str(row["at"])[:10] for row in printed), default="")
    yield (
        f"Selection: chosen one by one and approved by {named or 'nobody'}"
        f"{f', the last on {last}' if last else ''}; […] = words of the coded passage that were left out. "
        "Coders = all who applied the code to that text."
    )
    if any(row["is_paraphrase"] for row in printed):
        yield f"{PARAPHRASE} = in words of the researchers; the participant's own are not printed."
    if left_out:
        told = Counter(left_out)
        reasons = [f"{label}: {n} ({why})" for (label, why), n in told.items()]
        yield f"Approved and not printed: {'; '.join(reasons)}."
    yield from _beyond(printed, rule, codebook)
    yield from against_notes([{**row, "why": ""} for row in printed], codebook)


def _beyond(printed: Sequence[Mapping[str, Any]], rule: Rule, codebook: Codebook) -> Iterator[str]:
    """Yield where more or fewer were approved than asked for; what was approved is printed all the same."""
    counts = Counter(str(row["code"]) for row in printed if row["role"] == "shows")
    of = [(code.label, counts[code.id]) for code in codebook.codable]
    fewer = [f"{label} ({n})" for label, n in of if n < rule.per_code]
    more = [f"{label} ({n})" for label, n in of if n > rule.per_code]
    if fewer:
        yield f"Fewer than {rule.per_code} approved: {', '.join(fewer)}."
    if more:
        yield f"More than {rule.per_code} approved: {', '.join(more)}."
    if rule.per_participant is not None:
        people = Counter(participant_of(row) for row in printed)
        many = [f"{who} ({n})" for (_, who), n in sorted(people.items()) if n > rule.per_participant]
        if many:
            yield f"More than {rule.per_participant} of one participant: {', '.join(many)}."


def screening_notes(
    rows: Sequence[Mapping[Any, Any]], codebook: Codebook, *, are_approved: bool, names: Collection[str]
) -> Iterator[str]:
    """Yield the kinds of identifiers looked for, and those found."""
    found = Counter(
        (codebook[row["code"]].label, str(row["identifies"])) for row in rows if row["identifies"]
    )
    listed = f"{len(names)} listed" if names else "none listed"
    what = "printed, since approved" if are_approved else "not printed unless approved"
    each = [f"{label}: {kinds}{f' (×{n})' if n > 1 else ''}" for (label, kinds), n in found.items()]
    told = f"{IDENTIFYING} = found, {what} – {'; '.join(each)}" if found else "nothing was found"
    yield (
        f"Identifiability: quotes were searched for {', '.join(KINDS[:-1])} and names ({listed}); {told}. "
        "Places, employers and events are not found: before publishing, read each quote for what could "
        "identify a person."
    )


def memo(
    memos: pd.DataFrame,
    units: pd.DataFrame,
    *,
    codebook: Codebook,
    earlier: Collection[Codebook] = (),
    max_length: int = 200,
    notes: Sequence[str] = (),
) -> Table:
    """Tabulate memos with the words that they are about, the newest first.

    One row per memo: when it was written (UTC), by whom, on what, the words of the span or text, the memo,
    and whether it is for the team or its writer's own. A text that is not among `units` is printed as "–".

    Parameters
    ----------
    memos, units : DataFrame
        The current memos (`frames.MEMOS`; ``store.memos(viewer="ana")`` leaves out what ana may not see)
        and the texts (`frames.UNITS`).
    codebook : Codebook
        Gives the labels of codes.
    earlier : collection of Codebook
        Its earlier versions, in their order (``store.codebooks.values()``), which give the labels of codes
        that are gone; a code that is in none is printed by its id.
    max_length : int
        Characters (code points) after which the words of a text are cut; a memo is printed whole.
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    TableError
        A column is missing, or a span lies outside its text.
    ArgumentError
        `max_length` is out of range.

    References
    ----------
    Birks, Chapman & Francis (2008), Memoing in qualitative research, Journal of Research in Nursing 13(1),
    68–75.

    Examples
    --------
    >>> from sense7_qual import acts
    >>> sense7 = Codebook.read("sense7")
    >>> units = pd.DataFrame({"unit_id": ["m1"], "text": ["It asked how my sister was."],
    ...                       "document_id": ["t1"], "case_id": ["P07"], "position": [1]})
    >>> note = acts.memo(coder="ana", text="Curious, or polite?", target_kind="span", unit_id="m1", start=3,
    ...                  end=8, codebook=sense7, at="2026-01-31T12:00:00.000Z")
    >>> memo(acts.fold([note]).memos, units, codebook=sense7).rows
    (('2026-01-31 12:00', 'ana', 'm1', 'asked', 'Curious, or polite?', 'ana'),)
    """
    check_arguments(memo, locals())
    checked = MEMOS.check(memos, as_written=True)
    table = UNITS.check(units, as_written=True)
    texts: dict[str, str] = dict(zip(table["unit_id"], table["text"].fillna(""), strict=True))
    newest = checked.sort_values("at", ascending=False, kind="stable").astype(object)
    rows = newest.where(newest.notna(), None).to_dict("records")
    _refuse_outside(rows, texts)
    own = int(checked["round"].isna().sum())
    labels = {code.id: code.label for book in (*earlier, codebook) for code in book.codes}
    return Table(
        title="Memos",
        headers=("Written (UTC)", "Coder", "On", "Words", "Memo", "For"),
        rows=tuple(_memo_row(row, texts, labels, max_length) for row in rows),
        notes=(
            *([f"{own} of {len(rows)} memos are private, not shared with the team."] if own else []),
            f"{MISSING} = no words of a text. Memos and words are printed as written: check each for what "
            "could identify a person before publishing.",
            *notes,
            made_with(codebook),
        ),
    )


def _memo_row(
    row: Mapping[Any, Any], texts: Mapping[str, str], labels: Mapping[str, str], max_length: int
) -> tuple[str, ...]:
    kind, target = row["target_kind"], row["target_id"]
    on = {
        "code": f"the code {labels.get(target, target)}",
        "study": "the study",
    }
    words = texts.get(target) if kind in ("unit", "span") else None
    if words is not None and kind == "span":
        words = words[row["start"] : row["end"]]
    return (
        str(row["at"]).replace("T", " ")[:16],
        row["coder"],
        on.get(kind, str(target)),
        MISSING if words is None else _choose_quotes.shortened(words, max_length),
        row["text"],
        row["coder"] if row["round"] is None else f"the team, with round {row['round']}",
    )


def _refuse_outside(rows: Sequence[Mapping[Any, Any]], texts: Mapping[str, str]) -> None:
    spans = [row for row in rows if row["target_kind"] == "span" and row["target_id"] in texts]
    outside = [
        row["memo_id"]
        for row in spans
        if row["start"] is None
        or row["end"] is None
        or not 0 <= row["start"] < row["end"] <= len(texts[row["target_id"]])
    ]
    if outside:
        raise TableError(
            f"memos: expected spans within their texts – found others in memos {first_three(outside)} – pass "
            "the units that the memos were written on."
        )
