"""What is analysed otherwise than registered: every field of the two plans is compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

from sense7_qual._present import MISSING, coefficient, count, percent
from sense7_qual.acts import AnalysisPlan
from sense7_qual.report._deviation_checks import Deviation

__all__ = ["FIELDS", "of_analysis"]

#: What each field of a plan is called in print; a law holds that none is missing.
FIELDS: Final[Mapping[str, str]] = {
    "question": "Research question", "hypotheses": "Hypotheses", "coders": "Coders", "rounds": "Rounds",
    "n_units": "Number of texts", "n_participants": "Number of participants",
    "double_coded": "Share of texts coded by two or more", "n_repeated": "Texts coded twice by one coder",
    "level": "Codes put on (unit: whole texts; span: words of texts)", "codebook": "Codebook fixed or open",
    "blind": "Rounds unblinded only when finished", "new_codes": "New codes",
    "rating_shown": "Rating beside the text", "suggestions": "Suggestions of a model",
    "themes": "Use of a topic model", "discussion": "Discussion", "settled_by": "Disagreements settled by",
    "coding_until": "Last day of coding", "with_agreement": "Agreement as part of the argument",
    "min_alpha": "Alpha that each code is to reach", "rating": "Rating that codes are linked to",
    "cluster": "Participants", "n_boot": "Bootstrap resamples", "seed": "Seed of the intervals",
    "answers": "Answers in the form",
}  # fmt: skip
#: Of these a plan that says nothing says none: what the analysis adds was not planned.
_NONE_PLANNED: Final = ("hypotheses", "rating")
#: Of these an analysis that says nothing has none.
_NONE_ANALYSED: Final = ("hypotheses", "rating", "min_alpha")


def of_analysis(registered: AnalysisPlan, analysed: AnalysisPlan) -> Iterator[Deviation]:
    """Yield the fields in which what is analysed departs from what was registered.

    What the registered plan left open cannot be departed from, but that codes were linked to a rating, or
    hypotheses tested, of which it said nothing. What the analysis leaves open is not done otherwise: the
    record shows whether it was.
    """
    for one in fields(AnalysisPlan):
        planned, done = getattr(registered, one.name), getattr(analysed, one.name)
        if one.name == "answers":
            planned, done = _otherwise(planned, done)
        was_open = planned in (None, ()) and one.name not in _NONE_PLANNED
        is_open = done in (None, ()) and one.name not in _NONE_ANALYSED
        if planned != done and not was_open and not is_open:
            name = FIELDS[one.name]
            yield Deviation(
                kind=f"analysed_{one.name}", n=1, planned=f"{name}: {_printed(one.name, planned)}.",
                done=f"Analysed: {_printed(one.name, done)}.",
            )  # fmt: skip


def _otherwise(planned: Mapping[str, str], done: Mapping[str, str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the answers that both plans give, and give otherwise, with what they answer."""
    differing = [name for name in planned if name in done and planned[name] != done[name]]
    both = ([f"{name.replace('_', ' ')} – {of[name]}" for name in differing] for of in (planned, done))
    return next(both), next(both)


def _printed(name: str, value: Any) -> str:
    if value is None or value == ():
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list):
        return "; ".join(map(str, value)).rstrip(".")
    if name == "double_coded":
        return f"{percent(value)}%"
    if isinstance(value, float):
        return coefficient(value, 3)
    return count(value) if isinstance(value, int) else str(value).rstrip(".") or MISSING
