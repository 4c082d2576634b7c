"""What a study did otherwise than it had registered: a list for the paper, found in record and analysis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._present import MISSING, coefficient, count, counted, percent
from sense7_qual.acts import preregistrations
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.errors import ArgumentError
from sense7_qual.report._deviation_checks import CHECKS, Deviation, Done, minute
from sense7_qual.report._notes import made_with
from sense7_qual.report._review_facts import Facts, Study, require_study
from sense7_qual.report._table import Table

__all__ = ["FIELDS", "Deviations", "deviations", "of_analysis"]


@dataclass(frozen=True, slots=True)
class Deviations:
    """What was done otherwise than planned; its `repr` has counts only.

    Attributes
    ----------
    deviations
        Tuple of deviations, each with `kind` (a word), `planned`, `done` (what the record shows, with its
        numbers) and `n` (how many texts, codes, coders, rounds or acts).
    registered
        When and by whom the plan that counts was registered, its fingerprint, and what shows that this was
        before anything was unblinded.
    """

    deviations: tuple[Deviation, ...]
    registered: str
    codebook_line: str

    def __repr__(self) -> str:
        return f"Deviations({len(self.deviations)} of what was planned)"

    def __iter__(self) -> Iterator[Deviation]:
        return iter(self.deviations)

    def __len__(self) -> int:
        return len(self.deviations)

    @property
    def frame(self) -> pd.DataFrame:
        """One row per deviation: kind, planned, done, n."""
        rows = [(one.kind, one.planned, one.done, one.n) for one in self.deviations]
        kinds = {"kind": "string", "planned": "string", "done": "string", "n": "Int64"}
        return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)

    @property
    def table(self) -> Table:
        """The deviations as a table that can be written, with a last column for what it means."""
        none = (("–", "Nothing that was settled beforehand was done otherwise.", ""),)
        rows = tuple((one.planned, one.done, "Why, and what it changes: …") for one in self.deviations)
        return Table(
            title="Deviations from the registered plan",
            headers=("Planned", "Done", "To be said by the authors"),
            rows=rows or none,
            notes=(self.registered, self.codebook_line),
        )


def deviations(store: Study, *, analysis_plan: AnalysisPlan | None = None) -> Deviations:
    """Compare what a study did with what it had registered, and return every departure.

    The plan that counts is the last one that was registered before coding began; without one, the first.
    What it left open cannot be departed from, and what the record does not hold, such as how participants
    were found, is not compared. With `analysis_plan` every field of the two plans is compared too.

    Parameters
    ----------
    store : Store
        The study, with all that it shows to who has it open. Nothing of participants' texts is returned.
    analysis_plan : AnalysisPlan, optional
        What is analysed, as in `paper`: another question, rating, seed, number of resamples or anything else
        than registered is a deviation, and so is a rating or a hypothesis where the plan names none.

    Returns
    -------
    Deviations
        As values (`Deviations.deviations`), as a DataFrame (`frame`) and as a `Table` (`table`).

    Raises
    ------
    ArgumentError
        `store` is no open study, or registered no plan.

    Notes
    -----
    That a plan was registered before a round was unblinded is proved where one person did both: the hash of
    each act goes into the next one of that person. Otherwise it is told by the two computers' clocks.

    Examples
    --------
    ``report.deviations(store).table``
    """
    check_arguments(deviations, locals(), but=("store",))
    require_study(store)
    plans = preregistrations(store.acts())
    if not plans:
        raise ArgumentError(
            "deviations: expected a study that registered a plan – found none – register one before coding: "
            "store.preregister(acts.contents.AnalysisPlan(…), coder=…)."
        )
    done = Done(Facts(store, n_boot=2, seed=0))
    found = [one for check in CHECKS for one in check(done)]
    if analysis_plan is not None:
        found += of_analysis(done.plan, analysis_plan)
    return Deviations(tuple(found), _registered(done), made_with(store.codebook))


def _registered(done: Done) -> str:
    one, unblinding = done.counted, done.first_unblinding
    line = f"Registered {minute(one.at)} by {one.coder}, SHA-256 {one.plan.fingerprint}"
    if unblinding is None:
        return f"{line}; no round was unblinded."
    when = "before" if done.registered_before_unblinding else "after"
    if unblinding.coder == one.coder:
        n = abs(done.chain_place(unblinding.act_id, one.coder) - done.chain_place(one.act_id, one.coder))
        return f"{line}; {counted(n, 'act')} {when} the first unblinding in the chain of {one.coder}'s acts."
    return f"{line}; {when} the first unblinding, by {unblinding.coder}, as their computers' clocks tell."


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
