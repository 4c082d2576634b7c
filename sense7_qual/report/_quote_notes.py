"""What the foot of a quote table says: how quotes were chosen, cut, screened and approved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from sense7_qual._present import MISSING
from sense7_qual.codebook import Codebook
from sense7_qual.redact import KINDS
from sense7_qual.report._approved_quotes import LeftOut
from sense7_qual.report._quote_passages import participant_of

__all__ = ["IDENTIFYING", "PARAPHRASE", "Rule", "approval_notes", "draw_notes", "screening_notes"]

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
    """Yield how quotes were drawn, where there were too few, and what speaks against the codes."""
    rated = f"each next one with the rating ({rule.rating}) farthest from those chosen"
    bound = (
        "" if rule.per_participant is None
        else f", and at most {rule.per_participant} per participant in the whole table, codes taking turns"
    )  # fmt: skip
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
        for code in codebook.codable if counts.get(code.id, 0) < rule.per_code
    ]  # fmt: skip
    if few:
        more = "" if rule.per_participant is None else ", or are open to be quoted,"
        yield f"Fewer than {rule.per_code} participants have the code{more}: {', '.join(few)}."
    if shown["case_id"].isna().any():
        yield f"{MISSING} as participant = not known; such a text counts as a participant of its own."


def against_notes(rows: Sequence[Mapping[Any, Any]], codebook: Codebook) -> Iterator[str]:
    """Yield why each case that speaks against a code is one, and which codes have none."""
    cases = [row for row in rows if row["role"] == "disconfirms"]
    without = [
        code.label for code in codebook.codable if code.id not in {str(row["code"]) for row in cases}
    ]  # fmt: skip
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
    """Yield who approved quotes, in whose words they are, and which were left out."""
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
    """Yield what was looked for that might tell who somebody is, and what was found."""
    found = Counter(
        (codebook[row["code"]].label, str(row["identifies"])) for row in rows if row["identifies"]
    )
    listed = f"{len(names)} listed" if names else "none listed"
    what = "printed, since approved" if are_approved else "not printed unless approved"
    each = [f"{label}: {kinds}{f' (×{n})' if n > 1 else ''}" for (label, kinds), n in found.items()]
    told = f"{IDENTIFYING} = found, {what} – {'; '.join(each)}" if found else "nothing was found"
    yield (
        f"Identifiability: quotes were searched for {', '.join(KINDS[:-1])} and names ({listed}); {told}. "
        "What has no form is not found (a place, an employer, what is told): read each before publishing, it "
        "could identify a person."
    )
