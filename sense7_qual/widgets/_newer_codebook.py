"""The study's current codebook, taken in while somebody codes; before, what it means for their codings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual.acts import fold
from sense7_qual.codebook import Codebook
from sense7_qual.codings import carried
from sense7_qual.errors import ActError
from sense7_qual.revisions import Change, Revision, path
from sense7_qual.widgets._new_code import KEEPING, versions_alike
from sense7_qual.widgets._session import Session
from sense7_qual.widgets._study import desk_of

__all__ = ["NewerCodebook", "what_it_means"]

_CAME: Final = {
    "add": "is new", "rename": "has another label", "move": "stands elsewhere", "annotate": "has other notes",
    "redefine": "is defined otherwise", "retire": "is gone",
}  # fmt: skip


class NewerCodebook:
    """What the coding widget does once others have revised the codebook of its study.

    Attributes
    ----------
    session : Session
        Whose codebook it is.
    study : object, optional
        What has `use_current_codebook` and `revisions`, as `Store` has.
    """

    def __init__(self, session: Session, study: Any) -> None:
        self._session, self._study = session, study

    def __repr__(self) -> str:
        return f"NewerCodebook({self._session.coder!r})"

    @property
    def can_be_taken(self) -> bool:
        """Whether the study can be asked for it."""
        return hasattr(desk_of(self._study), "use_current_codebook")

    def take(self, agreed: object) -> tuple[dict[str, Any], Codebook | None]:
        """Go on under the study's current codebook, where its changes leave what was coded as it is.

        `agreed` is the fingerprint of the version whose meaning the coder has seen. Returns the answer and
        the codebook to go on with, None where nothing was changed.

        Where they do not, only what that means is said, until the coder has `agreed` to this very version.
        """
        if not self.can_be_taken:
            raise ActError(
                "codebook: expected a study that can be asked for its codebook – found none – run the cell "
                "again."
            )
        session, now = self._session, desk_of(self._study).use_current_codebook()
        if now == session.codebook:
            return {"type": "taken", "words": ""}, None
        revisions = self._study.revisions
        way = path(revisions, session.codebook.fingerprint, now.fingerprint)
        if way is None:
            raise ActError(
                "codebook: expected revisions that lead from the version that is coded with here to the "
                "study's – found none, since two copies were revised apart – ask the lead to join them "
                "(store.revise)."
            )
        made = [change for step in way for change in step.changes]
        keeps = all(change.kind in KEEPING for change in made)
        if not keeps and agreed != now.fingerprint:
            words = what_it_means(session, now, made, revisions)
            return {"type": "newer", "under": now.fingerprint, "words": words}, None
        came = [f"{name} {words}" for name, words in _named(made, session.codebook, now)]
        session.use(now, keeps=keeps, alike=versions_alike(self._study, now))
        return {"type": "taken", "words": "; ".join(came[:3]) + " …" * (len(came) > 3)}, now


def what_it_means(
    session: Session, now: Codebook, made: Sequence[Change], revisions: Sequence[Revision]
) -> list[str]:
    """Return, in sentences, what a version of the codebook makes of this coder's finished texts.

    They are counted by the rule of `codings.carried`, by which the statistics count them as well.
    """
    before = fold(session.acts_of_round)
    coded, undecided = carried(before.codings, before.coverage, now, revisions=revisions, round=session.round)
    finished = before.codings[before.codings["unit_id"].isin(before.coverage["unit_id"])]
    changed = [f"{name} {words}" for name, words in _named(made, session.codebook, now)]
    concerned = [*_of_codings(session, now, finished, coded), *_of_texts(now, undecided)]
    none = [] if concerned else ["Nothing on the texts that you finished is touched by it."]
    return [f"{'; '.join(changed)}.", *concerned, *none]


def _named(made: Sequence[Change], before: Codebook, now: Codebook) -> Iterator[tuple[str, str]]:
    for change in dict.fromkeys(made):
        into = " and ".join(_label(code, now, before) for code in change.into)
        words = {**_CAME, "merge": f"went into {into}", "split": f"was divided into {into}"}
        yield _label(change.code, before, now), words[change.kind]


def _label(code: str, *books: Codebook) -> str:
    return next((f"‘{book[code].label}’" for book in books if code in book), f"‘{code}’")


def _of_codings(session: Session, now: Codebook, codings: pd.DataFrame, coded: pd.DataFrame) -> Iterator[str]:
    """Yield what becomes of codings whose code went into another one, or is gone."""
    books = session.codebook, now
    both = zip(coded["was"].astype(str), coded["code"].astype(str), strict=True)
    pairs = [(was, code) for were, code in both for was in were.split(", ")]
    for (was, code), n in Counter(pair for pair in pairs if pair[0] != pair[1]).items():
        yield f"{_codings(n, was, books)} {'counts' if n == 1 else 'count'} as {_label(code, *books)}."
    known = {code.id for code in now.codable} | {was for was, _ in pairs}
    for code, n in Counter(str(code) for code in codings["code"] if code not in known).items():
        yield f"{_codings(n, code, books)} {'counts' if n == 1 else 'count'} no more."


def _codings(n: int, code: str, books: tuple[Codebook, Codebook]) -> str:
    return f"{'Your coding' if n == 1 else f'Your {n} codings'} with {_label(code, *books)}"


def _of_texts(now: Codebook, undecided: pd.DataFrame) -> Iterator[str]:
    """Yield on how many finished texts a code is undecided, and why."""
    why = {
        "add": "it was not there", "redefine": "it meant something else", "split": "it was part of another"
    }  # fmt: skip
    for code in now.codable:
        rows = undecided[undecided["code"] == code.id]
        for reason, n in Counter(rows["reason"]).items():
            texts = "one text that you finished" if n == 1 else f"{n} texts that you finished"
            yield (
                f"{_label(code.id, now)} is neither applied nor absent on {texts}, since {why[reason]}: "
                f"look at {'it' if n == 1 else 'them'} again."
            )
