"""What a study did otherwise than it had registered: a list for the paper, found in record and analysis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._present import counted
from sense7_qual.acts import AnalysisPlan, preregistrations
from sense7_qual.errors import ArgumentError
from sense7_qual.report._deviation_checks import CHECKS, Deviation, Done, minute
from sense7_qual.report._deviations_of_analysis import of_analysis
from sense7_qual.report._notes import made_with
from sense7_qual.report._review_facts import Facts, Study, require_study
from sense7_qual.report._table import Table

__all__ = ["Deviations", "deviations"]


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
            "store.preregister(acts.AnalysisPlan(…), coder=…)."
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
