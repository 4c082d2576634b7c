"""Who may see what: the only place that decides about blindness."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sense7_qual._arguments import check_arguments, read_once
from sense7_qual.acts import Act, check_coder
from sense7_qual.frames import is_model
from sense7_qual.rounds._rounds import Round, opened


@dataclass(frozen=True, slots=True, repr=False)
class Sight:
    """What a viewer may see of a record, and what counts in the numbers that a lead is shown.

    Attributes
    ----------
    viewer : str
        Their pseudonym.
    rounds : dict of str to Round
        The rounds of the record, by name.
    unblinded : frozenset of (str, str)
        The coder of every act of an unblinded round, except undo and redo, with its id and that of its step.
    proposed : frozenset of (str, str)
        The same for others' proposals outside rounds.
    asked : frozenset of str
        The ids of their own proposals.
    without_round : bool
        Whether others' codings outside rounds count.
    as_lead : bool
        Whether they lead, and so may read proposals outside rounds.
    assigned : bool
        Whether they assigned texts outside rounds.
    """

    viewer: str
    rounds: dict[str, Round]
    unblinded: frozenset[tuple[str, str]]
    proposed: frozenset[tuple[str, str]]
    asked: frozenset[str]
    without_round: bool
    as_lead: bool
    assigned: bool

    @classmethod
    def of(
        cls, acts: Iterable[Act], *, viewer: str, without_round: bool = False, as_lead: bool = False
    ) -> Sight:
        """Return the sight of `viewer`, from all acts of a record."""
        everything = list(acts)
        rounds = {one.name: one for one in opened(everything)}
        seen = {name for name, one in rounds.items() if not one.is_blind}
        done = [act for act in everything if act.target is None]
        return cls(
            viewer=viewer,
            rounds=rounds,
            without_round=without_round,
            as_lead=as_lead,
            unblinded=frozenset(
                (act.coder, one) for act in done if act.round in seen for one in (act.act_id, act.undone_by)
            ),
            proposed=frozenset(
                (act.coder, one)
                for act in done
                for one in (act.act_id, act.undone_by)
                if act.round is None and act.traits.subject == "proposal" and act.coder != viewer
            ),
            asked=frozenset(
                act.act_id for act in done if act.traits.subject == "proposal" and act.coder == viewer
            ),
            assigned=any(act.kind == "assign" and act.round is None and act.coder == viewer for act in done),
        )

    def sees(self, act: Act) -> bool:
        """Return True for their own, what was done for the team, and all of unblinded rounds.

        Of answers to proposals, in blind rounds and outside rounds, those to their own.
        """
        about = (act.coder, act.target or act.act_id)
        for_team = act.traits.by == "team" and (act.kind != "answer" or act.memo_id in self.asked)
        return act.coder == self.viewer or for_team or about in self.unblinded

    def counts(self, act: Act) -> bool:
        """Return True for what counts in a lead's numbers: no training, and no coding of a discussion."""
        one = self.rounds.get(str(act.round))
        if one is not None and (one.is_training or (one.discusses and act.traits.decides)):
            return False
        of_none = self.without_round and act.round is None and act.traits.decides
        return self.sees(act) or self._reads(act) or of_none

    def discussed(self, act: Act) -> bool:
        """Return True for what they may see of a discussion."""
        one = self.rounds.get(str(act.round))
        return one is not None and one.discusses is not None and self.sees(act)

    def follows(self, act: Act) -> bool:
        """Return True for what finishes or reopens texts of which they may know: how far coders are.

        That is never what they coded. It holds for rounds that are unblinded or that they lead, and for texts
        of no round where they assigned them.
        """
        if not (act.traits.subject == "coverage" or act.traits.takes_back) or is_model(act.coder):
            return False
        return act.coder == self.viewer or self.follows_round(act.round)

    def follows_round(self, name: str | None) -> bool:
        """Return True if they may know how far others are in a round, or (None) in no round."""
        if name is None:
            return self.without_round or self.assigned
        one = self.rounds.get(name)
        return one is not None and (not one.is_blind or self.viewer in one.leads)

    def _reads(self, act: Act) -> bool:
        about = (act.coder, act.target or act.act_id)
        is_answer = act.kind == "answer" and act.round is None
        return (self.as_lead or self.without_round) and (about in self.proposed or is_answer)


def visible(acts: Iterable[Act], *, viewer: str) -> list[Act]:
    """Return the acts that the coder `viewer` may see, in their order.

    These are their own, what the lead did for the team (rounds, unblinding, revisions, settings), the lead's
    answers to their proposals, and every act of an unblinded round, memos for the team among them, with all
    that takes it back or does it again. An act without a round, such as a memo of one's own or a ruling,
    stays its coder's.

    Examples
    --------
    >>> from sense7_qual import acts
    >>> from sense7_qual.codebook import Codebook
    >>> from sense7_qual.rounds import open_round, unblind
    >>> sense7 = Codebook.read("sense7")
    >>> opening = open_round("one", units=["m1"], coders=["ana", "ben"], coder="lead", codebook=sense7)
    >>> of_ben = acts.apply(coder="ben", unit_id="m1", code="interest", round="one", codebook=sense7)
    >>> [act.kind for act in visible([opening, of_ben], viewer="ana")]
    ['open_round']
    >>> ending = unblind("one", coder="lead", codebook=sense7)
    >>> [act.kind for act in visible([opening, of_ben, ending], viewer="ana")]
    ['open_round', 'apply', 'unblind']
    """
    everything = read_once(acts)
    check_arguments(visible, {"acts": everything, "viewer": viewer})
    sight = Sight.of(everything, viewer=check_coder(viewer))
    return [act for act in everything if sight.sees(act)]
