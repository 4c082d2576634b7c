"""What a person may see of a study while coding goes on: frames over `rounds.Sight`, which decides it.

Everything that the widgets on a whole study count, quote or foretell is made of them; how far others are, the
leads of a blind round may know.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual import adjudication, agreement, codings
from sense7_qual._basis import Basis
from sense7_qual.acts import Act, Record, about, fold, shows_suggestions
from sense7_qual.acts.contents import Proposal
from sense7_qual.adjudication import Choice
from sense7_qual.codebook import Codebook, Revision
from sense7_qual.errors import ActError
from sense7_qual.frames import is_model, people
from sense7_qual.rounds import Round, Sight, opened, planned

LONGEST_PAUSE: Final = 300.0
LEAST_GAPS: Final = 5
_PAIR: Final = ["unit_id", "coder"]


class Seen:
    """What one person may see of the coding, read once: their own, and that of rounds that are unblinded.

    A proposal in no round is the lead's to read in any case: who is none sees those of others with
    `without_round` alone. What models coded is left out, and so are training and units that are gone. Which
    decisions count is decided by `adjudication.decide`, as for `Store.decisions`.

    Attributes
    ----------
    study : Store
        The study.
    viewer : str
        Who looks.
    codebook : Codebook
        The version in whose codes it is read.
    without_round : bool
        Whether what others coded in no round is counted.
    acts : sequence of Act, optional
        Those of the study, where they were read already.
    as_lead : bool
        Whether they lead.
    codings, coverage, proposals, memos : DataFrame
        As `tables` has them.
    rulings : tuple of Act
        The person's own, with what takes them back.
    team_rulings : tuple of Act
        Everybody's. Of others' only those may be shown that are on a disagreement which may be seen.
    rounds, blind : tuple of str
        Which rounds are counted, and which are not because they are blind.
    follows_round : callable
        Whether they may know how far others are in a round.
    leaves_out : bool
        Whether there is any that others coded in no round, and is not counted.
    """

    def __init__(
        self,
        study: Any,
        *,
        viewer: str,
        codebook: Codebook,
        without_round: bool,
        acts: Sequence[Act] | None = None,
        as_lead: bool = True,
    ) -> None:
        self.codebook, self.units = codebook, study.units
        record = list(study.acts() if acts is None else acts)
        everything = [act for act in record if not is_model(act.coder)]
        sight = Sight.of(everything, viewer=viewer, without_round=without_round, as_lead=as_lead)
        known = set(self.units["unit_id"])
        there = [act for act in everything if act.unit_id is None or act.unit_id in known]
        of_units = [act for act in record if act.unit_id is None or act.unit_id in known]
        self._there, self._deciding = there, that_decide(of_units, sight)
        self._counted = [act for act in there if sight.counts(act)]
        self._talked = [act for act in there if sight.discussed(act)]
        self._record = counted = fold(self._counted, codebook=codebook)
        self.codings, self.coverage = counted.codings, counted.coverage
        self.proposals, self.memos = counted.proposals, counted.memos
        self.rulings, self.team_rulings = (tuple(about(each, "ruling")) for each in (self._counted, there))
        self.revisions: tuple[Revision, ...] = tuple(study.revisions)
        self.rounds = _counting(sight.rounds.values(), unblinded=True)
        self.follows_round = sight.follows_round
        self.blind = _counting(sight.rounds.values(), unblinded=False)
        self.leaves_out = not without_round and any(
            act.kind == "finish" and act.round is None and act.coder != viewer for act in everything
        )

    def __repr__(self) -> str:
        return f"Seen({len(self.codings)} codings, {len(self.coverage)} finished)"

    def words(
        self,
        decisions: pd.DataFrame,
        *,
        alpha: pd.DataFrame | None = None,
        called: Callable[[str], str] = str,
    ) -> str:
        """What numbers rest on that come from these decisions, and what this person may not see of them.

        With `alpha`, what agreement that is shown beside them rests on. `called` says how to name coders.
        """
        said = [f"{'Basis' if alpha is None else 'Texts and shares'}: {_line(decisions, called)}."]
        if alpha is not None:
            said.append(f"Alpha: {_line(alpha, called)}.")
        if self.blind:
            said.append(f"Not counted, because blind: {_listed([f'round {name!r}' for name in self.blind])}.")
        if self.leaves_out:
            said.append(
                "Not counted: what others coded outside rounds. Once they are done, count it with "
                "without_round=True."
            )
        return " ".join(said)

    @cached_property
    def texts(self) -> dict[str, str]:
        """The text of each unit, in the order of the study."""
        return dict(zip(self.units["unit_id"], self.units["text"].fillna(""), strict=True))

    @cached_property
    def contexts(self) -> dict[str, object]:
        """What was said before each unit, where it is known."""
        known = self.units["context"] if "context" in self.units else [None] * len(self.units)
        return dict(zip(self.units["unit_id"], known, strict=True))

    @cached_property
    def independent(self) -> pd.DataFrame:
        """Each coder's first independent decisions: what agreement is of."""
        return self.decisions(Choice())

    @cached_property
    def decided(self) -> pd.DataFrame:
        """Each coder's own last decisions, discussions among them: what the study holds in the end."""
        return self.decisions(Choice(settled_by="nothing"))

    def decisions(self, choice: Choice) -> pd.DataFrame:
        """Return decisions as `Store.decisions` has them, of what may be seen."""
        return adjudication.decide(self._deciding, self.codebook, self.revisions, choice)

    @cached_property
    def talked(self) -> Record:
        """What was decided in discussions of rounds; `codings` and `coverage` are without it."""
        return fold(self._talked, codebook=self.codebook)

    @cached_property
    def standing(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Codings on finished texts in the codes of the version, and what is undecided under it."""
        return self._carried(self._record)

    @cached_property
    def last(self) -> Record:
        """`codings` and `coverage` with what was decided in discussions."""
        if not len(self.talked.coverage):
            return self._record
        ids = {id(act) for act in (*self._counted, *self._talked)}
        return fold([act for act in self._there if id(act) in ids], codebook=self.codebook)

    @cached_property
    def in_the_end(self) -> pd.DataFrame:
        """`standing` codings as their coders left them last, in discussions too: those of `decided`."""
        return self._carried(self.last)[0]

    def _carried(self, record: Record) -> tuple[pd.DataFrame, pd.DataFrame]:
        return codings.carried(record.codings, record.coverage, self.codebook, revisions=self.revisions)

    @cached_property
    def answered(self) -> frozenset[str]:
        """The proposals that somebody has answered."""
        return frozenset(self.memos["memo_id"]) & frozenset(self.proposals["proposal_id"])

    @cached_property
    def proposed(self) -> dict[str, Proposal]:
        """What each proposal says that stands, by its id; those that cannot be read are left out."""
        stand, said = set(self.proposals["proposal_id"]), {}
        for act in self._counted:
            if act.act_id in stand:
                with suppress(ActError):
                    said[act.act_id] = Proposal.from_text(act.text)
        return said

    @cached_property
    def pace(self) -> dict[str, float]:
        """The seconds that each coder takes for a text (`pace`); who is not in it is unknown."""
        return pace(act for act in self._counted if act.kind == "finish")


def that_decide(acts: Sequence[Act], sight: Sight) -> list[Act]:
    """Return the acts of which decisions are made: those that a person may see, in their order.

    A ruling of somebody else's is in no round. For who leads, it counts on the texts of which two coders'
    decisions, or all that there are, may be seen. What was suggested outside rounds counts with what was
    coded there.
    """
    seen = [act for act in acts if sight.sees(act) or _is_of_no_round(act, sight)]
    by, by_all = _finished_by(seen if sight.as_lead else ()), _finished_by(acts)
    open_to_see = {unit for unit, coders in by.items() if len(coders) > 1 or coders == by_all[unit]}
    ruled = {act.act_id for act in acts if act.kind == "rule" and act.unit_id in open_to_see}
    there = {(act.coder, act.act_id) for act in seen}
    return [
        act for act in acts if (act.coder, act.act_id) in there or act.act_id in ruled or act.target in ruled
    ]


def _is_of_no_round(act: Act, sight: Sight) -> bool:
    is_about_coding = act.traits.decides or shows_suggestions(act)
    return sight.without_round and act.round is None and is_about_coding


def _finished_by(acts: Iterable[Act]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for act in acts:
        if act.kind == "finish" and not is_model(act.coder):
            found.setdefault(str(act.unit_id), set()).add(act.coder)
    return found


def _line(decisions: pd.DataFrame, called: Callable[[str], str]) -> str:
    basis = Basis.of(decisions)
    return str(replace(basis, coders=tuple(sorted((called(name), n) for name, n in basis.coders))))


def to_review(decisions: pd.DataFrame) -> dict[str, str]:
    """Return for each code that waits for review how many of its decisions do, in words."""
    return {one.code: f"{one.n:,} of {one.of:,} to be reviewed" for one in Basis.of(decisions).waiting}


def with_figures(agreement: pd.DataFrame) -> dict[str, dict[Any, Any]]:
    """Return the rows of an agreement by code, without codes of which nothing counts until it is reviewed."""
    rows = agreement[agreement["n_units"].notna()].set_index("code").to_dict("index")
    return {str(code): row for code, row in rows.items()}


def participants(units: pd.DataFrame, finished: Collection[str]) -> str | None:
    """Return the column of participants; None where one of the texts that were finished has none."""
    own = units.loc[units["unit_id"].isin(set(finished)), "case_id"]
    return None if own.isna().any() else "case_id"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _counting(rounds: Iterable[Round], *, unblinded: bool) -> tuple[str, ...]:
    """Return the rounds that count for agreement: no training, and none in which coders saw each other."""
    counting = [one for one in rounds if not (one.is_training or one.discusses or one.of_models)]
    return tuple(one.name for one in counting if one.is_blind is not unblinded)


def pace(finishes: Iterable[Act]) -> dict[str, float]:
    """Return each coder's seconds per text: the median time between two finishes.

    Times of more than five minutes are pauses and left out; so is a coder with fewer than five others.
    """
    times: dict[str, list[float]] = {}
    for act in finishes:
        times.setdefault(act.coder, []).append(datetime.fromisoformat(act.at).timestamp())
    paces = {}
    for coder, at in times.items():
        gaps = np.diff(np.sort(at))
        working = gaps[(gaps > 0) & (gaps <= LONGEST_PAUSE)]
        if len(working) >= LEAST_GAPS:
            paces[coder] = float(np.median(working))
    return paces


def duration(seconds: float) -> str:
    """Return a time in words, no finer than one can know it.

    >>> duration(20), duration(1490), duration(7810)
    ('1 min', '25 min', '2 h 10')
    """
    minutes = seconds / 60
    if minutes < 10:
        return f"{max(1, round(minutes))} min"
    fives = 5 * round(minutes / 5)
    if fives < 60:
        return f"{fives} min"
    tens = 10 * round(minutes / 10)
    return f"{tens // 60} h {tens % 60:02d}" if tens % 60 else f"{tens // 60} h"


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
    acts : list of Act
        The acts of the study.
    """

    def __init__(self, study: Any, *, viewer: str, codebook: Codebook, without_round: bool) -> None:
        acts: Sequence[Act] = study.acts()
        self.study, self.acts = study, list(acts)
        self.viewer, self.codebook, self.without_round = viewer, codebook, without_round
        self.units: pd.DataFrame = study.units
        self.codebooks = study.codebooks
        self.places = {unit_id: place for place, unit_id in enumerate(self.units["unit_id"])}
        self.rounds = [_of_units(one, self.places) for one in opened(acts) if not one.of_models]
        self.plan = people(planned(acts, units=self.places.keys()))
        self._sight = sight = Sight.of(acts, viewer=viewer, without_round=without_round)
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
        return self._sight.follows_round(round)

    def label(self, code: str) -> str:
        """Return a code's label."""
        return self.codebook[code].label if code in self.codebook else code

    @cached_property
    def read(self) -> Seen:
        """What may be seen of the coding."""
        read = Seen(
            self.study,
            viewer=self.viewer,
            codebook=self.codebook,
            without_round=self.without_round,
            acts=self.acts,
            as_lead=self.is_lead,
        )
        if not self.is_lead:  # who leads nothing does not know whether others coded, but whether they were to
            read.leaves_out = not self.without_round and bool(self.plan["round"].isna().any())
        return read

    @cached_property
    def tally(self) -> pd.DataFrame:
        """unit_id, code, n_coders, n_applied of each coder's last decisions."""
        return codings.tally(self.read.decided)

    @cached_property
    def independent_tally(self) -> pd.DataFrame:
        """The same of the first independent ones, which agreement is of."""
        return codings.tally(self.read.independent)

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
        """Each coder × code of the independent decisions, as `agreement.drift` has them."""
        of, done = self.read.independent, self.read.coverage
        pairs = [pd.MultiIndex.from_frame(frame[_PAIR]) for frame in (done, of)]
        return agreement.drift(of, done[pairs[0].isin(pairs[1])], plan=self.seen_plan)

    @cached_property
    def leanings(self) -> pd.DataFrame:
        """The coders who surely apply a code more or less than the others, the largest difference first.

        As `coders` of `adjudication.profile`; empty for whoever is no lead of a study that names its leads.
        """
        by: dict[str, Any] = {"units": self.units, "cluster": self.cluster} if self.cluster else {}
        decided = self.read.independent.iloc[: 0 if self.is_coder else None]
        coders = adjudication.coder_profiles(decided, rulings=self._rulings, **by)
        coders = coders[coders["leans"].notna()]
        return coders.loc[coders["difference"].abs().sort_values(ascending=False, kind="stable").index]

    @cached_property
    def against(self) -> pd.DataFrame:
        """unit_id, coder, code, applied where a coder decided against most of the others."""
        frame = adjudication.against_others(self.read.independent)
        apart: pd.DataFrame = frame[frame["applied"] != frame["others"]]
        return apart

    @cached_property
    def queue(self) -> pd.DataFrame:
        """The disagreements, hardest first, with the rulings on them: of who leads nothing, their own."""
        return adjudication.queue(self.read.decided, rulings=self._rulings)

    @cached_property
    def _rulings(self) -> list[Act]:
        made = self.read.team_rulings if self.is_lead else self.read.rulings
        return codings.rulings(made, self.codebook, revisions=self.read.revisions)

    @cached_property
    def stale(self) -> pd.DataFrame:
        """What must be looked at again: unit_id, coder, code, reason, and the round it was finished in."""
        if not self.read.revisions:
            return pd.DataFrame(columns=[*_PAIR, "code", "reason", "round"], dtype="string")
        return self.read.standing[1].merge(self.order[[*_PAIR, "round"]], on=_PAIR)

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


def leads_of(study: Any) -> tuple[str, ...]:
    """Return the leads that the study names (`Store.set_options`); none where it names nobody."""
    return tuple(getattr(getattr(study, "options", None), "leads", ()))
