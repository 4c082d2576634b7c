"""What the widgets on a whole study share: who may open them, what they read, what is begun and decided."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, Protocol

from sense7_qual import acts as record
from sense7_qual._messages import first_three
from sense7_qual.acts import Act, check_person
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, ArgumentError, QualError, StoreError
from sense7_qual.widgets._base import BaseWidget, desk_of, field
from sense7_qual.widgets._lead_view import Board, Seen, leads_of

_NEEDS: Final = (
    "units",
    "codebook",
    "codebooks",
    "acts",
    "append",
    "revise",
    "desk",
)


class Decisions(Protocol):
    """What was decided on one kind of thing."""

    def add(self, act: Act) -> None:
        """Take in a decision, or what takes one back."""

    def of(self, coder: str, *, undone: bool) -> list[list[Act]]:
        """Return a person's decisions that stand, or those that they took back, the last at the end.

        Those that were made together, in one step, are one.
        """


class LeadWidget(BaseWidget):
    """A widget on a study as a whole, opened by who leads it.

    Attributes
    ----------
    study : Store
        The study.
    coder : str
        Who opens it.
    without_round : bool
        Whether what others coded in no round counts.
    """

    _work: ClassVar[str]
    _alone: ClassVar[str] = ""  # what a leading role alone does here; empty: everybody may look
    _adders_too: ClassVar[bool] = False  # whether those who may add codes may open it, too
    _once: ClassVar[Collection[str]] = ()  # questions that change something, which a page may ask twice
    _codebook: Codebook  # the version under which is decided

    def __init__(self, study: Any, *, coder: str, without_round: bool) -> None:
        name = type(self).__name__
        if isinstance(study, type) or not all(hasattr(study, one) for one in _NEEDS):
            raise ArgumentError(
                f"{name}: expected an open study as store – found {type(study).__name__} – open it: "
                f"{name}(qual.Store(…), coder=…)."
            )
        if self._alone and not getattr(desk_of(study), "may_revise", True):
            raise StoreError(
                f"{name}: only a leading role {self._alone}, and this is a coder's – connect with the lead's "
                "role, or ask the lead."
            )
        self._study, self._coder, self._without_round = study, check_person(coder), without_round
        if self._alone:
            self._refuse_others()
        self._begun = Unsaved(study, self._work, coder=self._coder, name=self._work_id)
        self._heard: dict[str, dict[str, Any]] = {}
        self._done: dict[str, list[Act]] = {}
        self._look()
        super().__init__(study.append)

    def _refuse_others(self) -> None:
        """Refuse who is no lead, where the study names its leads; in a folder this is no lock."""
        study, coder, leads = self._study, self._coder, leads_of(self._study)
        may_add = self._adders_too and getattr(study.options, "new_codes", "") == "add"
        if leads and coder not in leads and not may_add:
            raise ActError(
                f"{type(self).__name__}: {coder!r} is not a lead of this study ({first_three(leads)}) – ask "
                f"{leads[0]}, who can add you: "
                f"store.set_options(leads={[*leads, coder]!r}, coder={leads[0]!r})."
            )

    def _look(self) -> None:
        """Read what is shown from the beginning."""

    def _answer(self, content: Mapping[str, Any]) -> dict[str, Any]:
        if content.get("type") not in self._once:
            return super()._answer(content)
        asked = field(content, "id", str)
        if asked not in self._heard:  # else asked once more, because the answer was lost or late
            self._heard[asked] = super()._answer(content)
        return self._heard[asked]

    @property
    def _work_id(self) -> str:
        """Names what is unsent or begun, so that a new widget of the same study takes it over."""
        path = str(getattr(self._study, "path", ""))
        named = [self._work, self._coder, path, *self._study.units["unit_id"][:100]]
        return hashlib.sha256("\x1f".join(named).encode()).hexdigest()[:32]

    # what is read -----------------------------------------------------------------------------------

    def _current(self) -> Codebook:
        """Return the codebook that the study names as current now."""
        if desk_of(self._study).current_codebook() != self._study.codebook.fingerprint:
            desk_of(self._study).use_current_codebook()
        book: Codebook = self._study.codebook
        return book

    def _seen(self, acts: Sequence[Act] | None = None) -> Seen:
        """Return the visible coding, in the codes of the current codebook."""
        return Seen(
            self._study,
            viewer=self._coder,
            codebook=self._current(),
            without_round=self._without_round,
            acts=acts,
        )

    def _board(self) -> Board:
        """Return the visible state of the study."""
        return Board(
            self._study, viewer=self._coder, codebook=self._current(), without_round=self._without_round
        )

    # what is decided --------------------------------------------------------------------------------

    def _decide(self, content: Mapping[str, Any], on: Decisions) -> tuple[list[Act], dict[str, Any]]:
        """Record a decision, take the last back or do it again; asked again by the same id, only say so."""
        asked, act_id = field(content, "act", dict), field(content, "id", str)
        acts = self._done.get(act_id)
        if acts is None:
            acts = self._save_step(act_id, lambda: self._acts(asked, act_id, on))
            self._done |= by_id(acts)
            for act in acts:
                on.add(act)
        first = acts[0]
        about = acts if first.target is None else self._done[first.target]
        return about, {
            "type": "done",
            "unit_id": about[0].unit_id,
            "code": about[0].code,
            "undone": first.kind == "undo",
            "redone": first.kind == "redo",
        }

    def _acts(self, asked: Mapping[str, Any], act_id: str, on: Decisions) -> list[Act]:
        common: dict[str, Any] = {"codebook": self._codebook, "act_id": act_id}
        match asked.get("kind"):
            case "undo":
                make, undone, what = record.undo, False, "to take back"
            case "redo":
                make, undone, what = record.redo, True, "that was taken back"
            case _:
                return self._decisions(asked, common)
        choices = on.of(self._coder, undone=undone)
        if not choices:
            raise ActError(f"act: you have no decision {what} – nothing was changed.")
        return [make(choices[-1], **common)]

    def _decisions(self, asked: Mapping[str, Any], common: Mapping[str, Any]) -> list[Act]:
        """Return the decisions that a browser asks for at once."""
        return [self._decision(asked, common)]

    def _decision(self, asked: Mapping[str, Any], common: Mapping[str, Any]) -> Act:
        """Return the decision that a browser asks for."""
        raise NotImplementedError


def by_id(acts: Iterable[Act]) -> dict[str, list[Act]]:
    """Return the acts of each step by its id and that of its first act; an act without one by its own."""
    steps: dict[str, list[Act]] = {}
    for act in acts:
        steps.setdefault(act.undone_by, []).append(act)
    return steps | {step[0].act_id: step for step in steps.values()}


def decisions_of(acts: Iterable[Act], coder: str, *, undone: bool) -> list[list[Act]]:
    """Return a person's decisions that stand, or those that they took back, the last of either at the end.

    `acts` are decisions, with what takes them back or does them again. As everywhere, a new decision leaves
    nothing to be done again. Those of one step are one.
    """
    made: dict[str, list[Act]] = {}
    taken: list[str] = []
    again: list[str] = []
    for act in (one for one in acts if one.coder == coder):
        if act.target is None:
            made.setdefault(act.undone_by, []).append(act)
            again = []
        elif act.kind == "undo":
            taken, again = [*taken, act.target], [*again, act.target]
        else:
            taken, again = ([one for one in each if one != act.target] for each in (taken, again))
    if undone:
        return [made[one] for one in again if one in made]
    return [step for one, step in made.items() if one not in taken]


#: Of studies that keep no drafts, for a page that is loaded anew.
IN_KERNEL: Final[dict[str, dict[str, Any]]] = {}


class Unsaved:
    """What one person has begun of one work.

    Attributes
    ----------
    study : Store
        A study with ``draft`` and ``keep_draft`` keeps it, so that it outlives the kernel too.
    work : str
        What it is a draft of.
    coder : str
        Whose it is.
    name : str
        Names study, work and person for the kernel.
    """

    def __init__(self, study: Any, work: str, *, coder: str, name: str) -> None:
        self._study, self._work, self._coder, self._name = study, work, coder, name

    def __repr__(self) -> str:
        return f"Unsaved({self._work!r}, {self._coder!r})"

    def read(self) -> dict[str, Any]:
        """Return the unsaved work; empty if there is none or it can no longer be read."""
        if self._name in IN_KERNEL or not hasattr(desk_of(self._study), "draft"):
            return IN_KERNEL.get(self._name, {})
        try:
            draft: dict[str, Any] = desk_of(self._study).draft(self._work, coder=self._coder) or {}
        except QualError:  # the next one takes its place; `Store.verify` says so of it
            return {}
        return draft

    def keep(self, draft: Mapping[str, Any]) -> None:
        """Keep a draft in the place of the one before; an empty one: nothing is begun any more.

        Where the study cannot keep it, it raises, and the kernel does, but where it has words of who
        withdrew.
        """
        IN_KERNEL.pop(self._name, None)
        try:
            keep = getattr(desk_of(self._study), "keep_draft", None)
            if keep is not None and keep(self._work, draft, coder=self._coder):
                return
        except ActError:
            raise
        except QualError:
            IN_KERNEL[self._name] = dict(draft)
            raise
        if draft:
            IN_KERNEL[self._name] = dict(draft)
