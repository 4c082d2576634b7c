"""What the same coder does in another window of the study, and why nothing is finished over it unseen.

A study may be open in two notebooks, or the coder's page in two tabs, each with a kernel of its own. The
coder's acts are locked in order to add one, so the acts that another window added are read at that moment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from sense7_qual.acts import Act
from sense7_qual.errors import ActError
from sense7_qual.widgets._session import Session
from sense7_qual.widgets._study import Given, desk_of

__all__ = ["OtherWindows", "of_session"]

_NEEDS_ALL_SHOWN: Final = {"finish": "Not finished", "undo": "Not undone", "redo": "Not done again"}


class _Unshown(ActError):
    """Acts on this text came from another window, and the coder has not seen them."""


class OtherWindows:
    """Saves the acts of a session, and takes in what the coder did elsewhere since it was read.

    Attributes
    ----------
    session : Session
        Whose acts they are.
    given : Given
        Where acts go; a study with `append_after`, as `Store` has, says what else was recorded.
    came : callable
        Called with the acts that the session has taken in.
    """

    def __init__(self, session: Session, given: Given, came: Callable[[list[Act]], object]) -> None:
        self._session, self._came, self._append = session, came, given.save
        self._append_after = getattr(desk_of(given.study), "append_after", None)
        self._n_read = len(given.acts)

    def __repr__(self) -> str:
        return f"OtherWindows({self._session.coder!r}, {self._n_read} acts read)"

    def save(self, acts: Sequence[Act]) -> None:
        """Record `acts`; return once they are safe, and what was recorded elsewhere is in the session.

        Raises `ActError` where one of them finishes a text, or takes something back, over acts on that text
        that came from elsewhere: the session has these now, and nothing was recorded.
        """
        if self._append_after is None:
            self._append(acts)
            return
        unread: list[Act] = []

        def meet(others: list[Act]) -> None:
            unread[:] = others  # a lost connection may call this twice
            self._refuse_unshown(acts, others)

        try:
            n_new = self._append_after(acts, n_read=self._n_read, meet=meet)
        except _Unshown:
            self._take_in(unread)
            raise
        own = {act.act_id for act in acts}
        self._take_in([act for act in unread if act.act_id not in own])
        self._n_read += n_new + len(unread)

    def _take_in(self, acts: list[Act]) -> None:
        new = self._session.take_in(acts)
        if new:
            self._came(new)

    def _refuse_unshown(self, acts: Sequence[Act], others: Sequence[Act]) -> None:
        recorded = {act.act_id for act in others}
        for act in acts:
            unshown = [one for one in others if one.unit_id == act.unit_id and self._session.would_show(one)]
            if act.kind in _NEEDS_ALL_SHOWN and unshown and act.act_id not in recorded:
                raise _Unshown(
                    f"{_NEEDS_ALL_SHOWN[act.kind]}: {_counted(unshown)} on this text came from another "
                    f"window. Look at {'it' if len(unshown) == 1 else 'them'}, then press again."
                )


def _counted(acts: Sequence[Act]) -> str:
    noun = "coding" if all(act.kind == "apply" for act in acts) else "change"
    return f"{len(acts)} {noun}{'s' * (len(acts) != 1)}"


def of_session(session: Session, acts: Sequence[Act]) -> dict[str, Any]:
    """Return what is told to all views once the session has taken in `acts` from another window."""
    places = {session.find_place(act.unit_id) for act in acts} - {None}
    return {
        "type": "elsewhere",
        "words": f"{_counted(acts)} came from another window",
        "places": sorted(place for place in places if place is not None),
        "flags": session.flags,
        "memos": session.free_memos,
        "n_finished": session.n_finished,
        "can_undo": session.can_undo,
        "can_redo": session.can_redo,
    }
