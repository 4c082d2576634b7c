"""What one person may see of where a study stands, at one moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import pandas as pd

from sense7_qual import adjudication, agreement, codings
from sense7_qual.acts import Act, fold
from sense7_qual.codebook import Codebook
from sense7_qual.corpus import planned
from sense7_qual.rounds import Round, Sight, opened
from sense7_qual.tables import people
from sense7_qual.widgets._codebook_seen import Seen, participants, seen
from sense7_qual.widgets._study import leads_of

__all__ = ["Board"]

_PAIR: Final = ["unit_id", "coder"]


class Board:
    """What `viewer` may see of a study, read once.

    Attributes
    ----------
    study : Store
        The study.
    viewer : str
        Whose overview it is.
    codebook : Codebook
        The current version.
    without_round : bool
        Whether what others coded in no round is counted.
    """

    def __init__(self, study: Any, *, viewer: str, codebook: Codebook, without_round: bool) -> None:
        acts: Sequence[Act] = study.acts()
        self._study, self.acts = study, list(acts)
        self.viewer, self.codebook, self.without_round = viewer, codebook, without_round
        self.units: pd.DataFrame = study.units
        self.codebooks = study.codebooks
        self.places = {unit_id: place for place, unit_id in enumerate(self.units["unit_id"])}
        self.rounds = [_of_units(one, self.places) for one in opened(acts) if not one.of_models]
        self.plan = people(planned(acts, units=self.places.keys()))
        sight = Sight.of(acts, viewer=viewer, without_round=without_round)
        self.assigns = sight.assigned
        leads = leads_of(study)
        self.is_coder = bool(leads) and viewer not in leads
        """Whether the study names its leads, and the viewer is none."""
        self.finishes = [act for act in acts if act.unit_id in self.places and sight.follows(act)]
        self.finished: pd.DataFrame = fold(self.finishes, codebook=codebook).coverage

    def __repr__(self) -> str:
        return f"Board({self.viewer!r}, {len(self.units)} units, {len(self.rounds)} rounds)"

    @property
    def is_lead(self) -> bool:
        """Whether the viewer leads any round, or assigned the texts that are coded in none."""
        return self.assigns or any(self.viewer in one.leads for one in self.rounds)

    def leads(self, round: str | None) -> bool:
        """Return True if the viewer leads a round, or assigned the texts that are coded in none."""
        one = self.round(round)
        return self.assigns if one is None else self.viewer in one.leads

    def round(self, name: str | None) -> Round | None:
        """Return the round of this name; None where there is none."""
        return next((one for one in self.rounds if one.name == name), None)

    def follows(self, round: str | None) -> bool:
        """Return True if the viewer may know how far others are in a round."""
        one = self.round(round)
        is_open = self.without_round if one is None else one.unblinded_at is not None
        return is_open or self.leads(round)

    def label(self, code: str) -> str:
        """Return a code's label."""
        return self.codebook[code].label if code in self.codebook else code

    @cached_property
    def read(self) -> Seen:
        """What may be seen of the coding."""
        return seen(
            self._study, viewer=self.viewer, codebook=self.codebook, without_round=self.without_round,
            acts=self.acts, as_lead=self.is_lead,
        )  # fmt: skip

    @cached_property
    def texts(self) -> dict[str, str]:
        """The text of each unit."""
        return dict(zip(self.units["unit_id"], self.units["text"].fillna(""), strict=True))

    @cached_property
    def decided(self) -> pd.DataFrame:
        """The decisions that may be seen, as `Store.decisions` has them."""
        read = self.read
        return codings.decisions(read.codings, read.coverage, self.codebook, revisions=read.revisions)

    @cached_property
    def independent(self) -> pd.DataFrame:
        """These decisions as they were before suggestions were shown: what agreement is of."""
        if not self.read.n_suggested:
            return self.decided
        before = self.read.before_suggestions
        return codings.decisions(
            before.codings, before.coverage, self.codebook, revisions=self.read.revisions
        )

    @cached_property
    def tally(self) -> pd.DataFrame:
        """unit_id, code, n_coders, n_applied of these decisions."""
        return codings.tally(self.decided)

    @cached_property
    def order(self) -> pd.DataFrame:
        """Each coder's last finished round of each unit that may be seen: as `Store.coverage`."""
        return codings.of_round(self.read.codings, self.read.coverage)[1]

    @cached_property
    def finish_order(self) -> pd.DataFrame:
        """Each coder's finished units that may be seen, as `codings.finish_order` has them."""
        return codings.finish_order(self.read.coverage, plan=self.seen_plan)

    @cached_property
    def cluster(self) -> str | None:
        """The column of participants; None where a text that was finished has none."""
        return participants(self.units, self.order["unit_id"])

    @property
    def seen_plan(self) -> pd.DataFrame:
        """The plan of the rounds whose decisions may be seen: of a blind round the viewer's own part."""
        names = self.plan["round"]
        own = (self.plan["coder"] == self.viewer) & names.fillna("").isin(set(self.order["round"].fillna("")))
        all_of = names.isin(self.read.rounds) | (names.isna() & self.without_round)
        plan: pd.DataFrame = self.plan[(own | all_of).astype(bool)]
        return plan.reset_index(drop=True)

    @cached_property
    def drift(self) -> pd.DataFrame:
        """Each coder × code of these decisions, as `agreement.drift` has them."""
        return agreement.drift(self.decided, self.read.coverage, plan=self.seen_plan)

    @cached_property
    def standing(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Codings on finished texts in the codes of the current version, and what is undecided under it."""
        read = self.read
        return codings.carried(read.codings, read.coverage, self.codebook, revisions=read.revisions)

    @cached_property
    def queue(self) -> pd.DataFrame:
        """The disagreements, hardest first, with the rulings on them: of who leads nothing, their own."""
        read = self.read
        made = read.team_rulings if self.is_lead else read.rulings
        rulings = codings.rulings(made, self.codebook, revisions=read.revisions)
        return adjudication.queue(self.decided, rulings=rulings)

    @cached_property
    def stale(self) -> pd.DataFrame:
        """What must be looked at again: unit_id, coder, code, reason, and the round it was finished in."""
        if not self.read.revisions:
            return pd.DataFrame(columns=[*_PAIR, "code", "reason", "round"], dtype="string")
        return self.standing[1].merge(self.order[[*_PAIR, "round"]], on=_PAIR)

    @cached_property
    def proposals(self) -> pd.DataFrame:
        """The proposals that nobody has answered."""
        frame = self.read.proposals
        return frame[~frame["proposal_id"].isin(self.read.answered)]

    def planned_units(self, round: str | None, coder: str | None = None) -> list[str]:
        """Return the units of a round, or of one coder in it, in their order."""
        here = self.plan["round"].isna() if round is None else self.plan["round"] == round
        plan = self.plan[here if coder is None else here & (self.plan["coder"] == coder)]
        ids = list(dict.fromkeys(plan["unit_id"]))
        return list(self.places) if round is None and not len(self.plan[here]) else ids

    def finished_units(self, round: str | None, coder: str | None = None) -> set[str]:
        """Return the units that were finished in a round, by a coder or by anybody, as far as is known."""
        done = self.finished
        here = done["round"].isna() if round is None else done["round"] == round
        if coder is not None:
            here &= done["coder"] == coder
        return set(done.loc[here, "unit_id"])


def _of_units(round: Round, known: dict[str, int]) -> Round:
    """Return the round without the units of participants who withdrew."""
    return replace(round, units=tuple(unit for unit in round.units if unit in known))
