"""Which finished texts a coder must look at again, because the codebook was revised since."""

from __future__ import annotations

from typing import Any

import pandas as pd

from sense7_qual.acts import fold
from sense7_qual.codings import stale
from sense7_qual.errors import QualError
from sense7_qual.widgets._session import Session

__all__ = ["LookAgain"]


class LookAgain:
    """What is undecided on the finished texts of a session under its codebook (`codings.stale`).

    Texts that lack a decision on new codes alone are decided by one key each (`only_new`); all others must be
    looked at as a whole, and the session shows these as not finished.

    Attributes
    ----------
    session : Session
        Whose texts they are.
    study : object
        What has `revisions`, as `Store` has; without it nothing can be told.
    by_itself : bool
        Whether the session shows those texts as to be looked at again; else it has been told which ones are.
    """

    def __init__(self, session: Session, study: Any, *, by_itself: bool) -> None:
        self._session, self._study, self._by_itself = session, study, by_itself
        self._read: tuple[int, str] | None = None
        self._frame = pd.DataFrame()

    def __repr__(self) -> str:
        return f"LookAgain({self._session.coder!r})"

    @property
    def can_tell(self) -> bool:
        """Whether the study says what its revisions changed."""
        return self._by_itself and "revisions" in dir(self._study)

    def show(self) -> None:
        """Have the session show what is to be looked at again under its codebook."""
        if self.can_tell:
            self._session.look_again(self._undecided(only_new=False))

    def only_new(self) -> pd.DataFrame:
        """Return unit_id and code of the finished texts on which nothing but new codes is undecided."""
        return self._undecided(only_new=True)

    def _undecided(self, *, only_new: bool) -> pd.DataFrame:
        now = self._session.n_acts, self._session.codebook.fingerprint
        if self._read != now:
            self._read, self._frame = now, self._stale()
        is_new = (self._frame["reason"] == "add").groupby(self._frame["unit_id"]).transform("all")
        return self._frame[is_new.astype(bool) == only_new]

    def _stale(self) -> pd.DataFrame:
        session = self._session
        none = pd.DataFrame({"unit_id": [], "coder": [], "code": [], "reason": []})
        if "revisions" not in dir(self._study) or session.finished_under <= {session.codebook.fingerprint}:
            return none
        record = fold(session.acts_of_round)
        try:
            return stale(
                record.codings, record.coverage, session.codebook, revisions=self._study.revisions,
                round=session.round,
            )  # fmt: skip
        except QualError:  # what is damaged is told of where the study is read
            return none
