"""What a person may see of the coding while it goes on: nothing of others in a blind round.

It is read here once, and everything that the codebook widget, the adjudication widget and the
overview count, quote or foretell is made of it; how far others are, the leads of a blind round may know.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual.acts import Act, Proposal, Record, before_suggestions, fold
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError
from sense7_qual.revisions import Revision
from sense7_qual.rounds import Round, Sight
from sense7_qual.suggestions import shown as shown_of
from sense7_qual.tables import is_model

__all__ = ["Seen", "pace", "participants", "seen"]

LONGEST_PAUSE: Final = 300.0
LEAST_GAPS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Seen:
    """What one person may see of a study.

    Attributes
    ----------
    codings, coverage, proposals : DataFrame
        As `tables` has them; none of others in a blind round, none of training, none of units that are gone.
    proposed : dict of str to Proposal
        What each of the proposals says, by its id.
    memos : DataFrame
        The person's own, and those for the team in rounds that are unblinded.
    before_suggestions : Record
        `codings` and `coverage` as they were before a model's suggestions were shown: what agreement is of.
    n_suggested : int
        On how many texts suggestions were shown.
    discussed : Record
        What was decided in unblinded discussions of rounds; `codings` and `coverage` are without it.
    rulings : tuple of Act
        The person's own, with what takes them back.
    team_rulings : tuple of Act
        Everybody's. Of others' only those may be shown that are on a disagreement which may be seen.
    revisions : tuple of Revision
        How the codebook came to be.
    pace : dict of str to float
        The seconds that each coder takes for a text (`pace`); who is not in it is unknown.
    rounds : tuple of str
        Which rounds are counted.
    blind : tuple of str
        Which rounds are not, because they are blind.
    without_round : bool
        Whether what others coded in no round is counted.
    leaves_out : bool
        Whether there is any that is not.
    """

    codings: pd.DataFrame
    coverage: pd.DataFrame
    proposals: pd.DataFrame
    proposed: dict[str, Proposal]
    memos: pd.DataFrame
    before_suggestions: Record
    n_suggested: int
    discussed: Record
    rulings: tuple[Act, ...]
    team_rulings: tuple[Act, ...]
    answered: frozenset[str]
    revisions: tuple[Revision, ...]
    pace: dict[str, float]
    rounds: tuple[str, ...]
    blind: tuple[str, ...]
    without_round: bool
    leaves_out: bool

    def __repr__(self) -> str:
        return f"Seen({len(self.codings)} codings, {len(self.coverage)} finished)"

    @property
    def words(self) -> str:
        """What is counted and what is not, in a sentence or two."""
        parts = ["your own codings", *(f"round {name!r}" for name in self.rounds)]
        parts += ["codings of no round"] * self.without_round
        said = f"Counted: finished texts of {_joined(parts)}."
        if self.blind:
            said += f" Not counted, because blind: {_joined([f'round {name!r}' for name in self.blind])}."
        if self.leaves_out:
            said += (
                " Not counted: what others coded in no round. Once they are done, "
                "without_round=True counts it too."
            )
        return said


def participants(units: pd.DataFrame, finished: Collection[str]) -> str | None:
    """Return the column of participants; None where one of the texts that were finished has none."""
    own = units.loc[units["unit_id"].isin(set(finished)), "case_id"]
    return None if own.isna().any() else "case_id"


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def seen(
    study: Any,
    *,
    viewer: str,
    codebook: Codebook,
    without_round: bool,
    acts: Sequence[Act] | None = None,
    as_lead: bool = True,
) -> Seen:
    """Return what `viewer` may see of a study.

    These are their own acts and those of rounds that are unblinded (`rounds.visible`); with `without_round`
    also what others coded in no round. A proposal in no round is the lead's to read in any case: who is none
    (`as_lead`) sees those of others with `without_round` alone. What models coded is left out. `acts` are
    those of the study, where they were read already.
    """
    read: Sequence[Act] = study.acts() if acts is None else acts
    everything = [act for act in read if not is_model(act.coder)]
    sight = Sight.of(everything, viewer=viewer, without_round=without_round, as_lead=as_lead)
    known = set(study.units["unit_id"])
    there = [act for act in everything if act.unit_id is None or act.unit_id in known]
    chosen = [act for act in there if sight.counts(act)]
    record = fold(chosen, codebook=codebook)
    before = before_suggestions(chosen)
    n_suggested = int(shown_of(chosen).sum())
    talked = [act for act in there if sight.discussed(act)]
    return Seen(
        codings=record.codings,
        coverage=record.coverage,
        proposals=record.proposals,
        proposed=_proposed(chosen, record.proposals),
        memos=record.memos,
        before_suggestions=fold(before, codebook=codebook) if n_suggested else record,
        n_suggested=n_suggested,
        discussed=fold(talked, codebook=codebook),
        rulings=_rulings(chosen),
        team_rulings=_rulings(there),
        answered=frozenset(record.memos["memo_id"]) & frozenset(record.proposals["proposal_id"]),
        revisions=tuple(study.revisions),
        pace=pace(act for act in chosen if act.kind == "finish"),
        rounds=tuple(_counted(sight.rounds.values(), unblinded=True)),
        blind=tuple(_counted(sight.rounds.values(), unblinded=False)),
        without_round=without_round,
        leaves_out=not without_round
        and any(act.kind == "finish" and act.round is None and act.coder != viewer for act in everything),
    )


def _proposed(acts: Sequence[Act], proposals: pd.DataFrame) -> dict[str, Proposal]:
    """Return what each proposal says that stands; those that cannot be read are left out."""
    stand, said = set(proposals["proposal_id"]), {}
    for act in acts:
        if act.kind == "propose" and act.act_id in stand:
            with suppress(ActError):
                said[act.act_id] = Proposal.from_text(act.text)
    return said


def _rulings(acts: Sequence[Act]) -> tuple[Act, ...]:
    """Return rulings with what takes them back or does them again."""
    ids = {act.act_id for act in acts if act.kind == "rule"}
    return tuple(act for act in acts if act.act_id in ids or act.target in ids)


def _counted(rounds: Iterable[Round], *, unblinded: bool) -> list[str]:
    """Return the rounds that count for agreement: no training, and none in which coders saw each other."""
    counting = [one for one in rounds if not (one.is_training or one.discusses or one.of_models)]
    return [one.name for one in counting if (one.unblinded_at is not None) is unblinded]


def pace(finishes: Iterable[Act]) -> dict[str, float]:
    """Return how many seconds each coder takes for a text: the median of the times between two finishes.

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
