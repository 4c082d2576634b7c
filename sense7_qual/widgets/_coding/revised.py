"""What the codebook of a coder lacks, and what its revisions mean for what they coded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import pandas as pd

from sense7_qual._messages import first_three
from sense7_qual.acts import fold
from sense7_qual.codebook import MEANINGS, Change, Code, Codebook, Revision, changes, path
from sense7_qual.codings import carried, stale
from sense7_qual.errors import ActError, QualError
from sense7_qual.widgets._base import desk_of
from sense7_qual.widgets._codes import Embed, alike, code_made
from sense7_qual.widgets._coding.session import Session, typed

KEEPING: Final = frozenset({"add", "rename", "move", "annotate", "reword"})
"""The kinds of change of a codebook that leave what was coded as it is."""

DECLINED: Final = "I leave the texts undecided on this code that I finished before it was there."
"""The line of a memo on a code by which a coder is asked no more to look at earlier texts for it."""


class NewCodes:
    """What the coding widget does with codes that its codebook lacks.

    Attributes
    ----------
    session : Session
        Whose codebook it is.
    study : object, optional
        What has `revise`, `codebooks`, `revisions` and `options`, as `Store` has; without it codes are
        proposed alone.
    embed : callable, optional
        Texts to an array of vectors: what is alike in meaning.
    look_again : LookAgain
        Knows the texts that were finished before a code was there.
    """

    def __init__(self, session: Session, study: Any, *, embed: Embed | None, look_again: LookAgain) -> None:
        self._session, self._study, self._embed, self._look_again = session, study, embed, look_again
        self._added: dict[str, dict[str, Any]] = {}

    @property
    def mode(self) -> str:
        """What becomes of a new code: "add" or "propose"."""
        settled = getattr(getattr(self._study, "options", None), "new_codes", "propose")
        can_revise = hasattr(self._study, "revise") and hasattr(self._study, "codebooks")
        may_add = settled == "add" and can_revise and getattr(desk_of(self._study), "may_revise", True)
        return "add" if may_add else "propose"

    def alike(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Answer which codes are like the one that is being written."""
        label, definition = typed(content, "label"), typed(content, "definition")
        return {"type": "alike", **alike(self._session.codebook, label, definition, embed=self._embed)}

    def add(self, content: Mapping[str, Any]) -> tuple[dict[str, Any], Codebook | None]:
        """Add a code to the study's codebook; asked once more by the same id, change nothing.

        Returns the answer and the codebook to go on with, None where the code was added before.
        """
        asked = str(content.get("id"))
        if asked in self._added:
            return self._added[asked], None
        if self.mode != "add":
            raise ActError(
                "new code: in this study coders do not add codes themselves – send it to the lead as a "
                "proposal."
            )
        session, before = self._session, self._study.codebook
        code = self._made(content, before)
        wished = replace(before, codes=(*before.codes, code))
        now = self._study.revise(wished, why="A code that was missing while coding.", coder=session.coder)
        others = [one for one in changes(session.codebook, now) if one != Change("add", code.id)]
        came = first_three([f"{one.kind} {one.code!r}" for one in others])
        self._added[asked] = {"type": "added", "code": code.id, "label": code.label, "came": came}
        keeps = all(one.kind in KEEPING for one in others)
        session.use(now, keeps=keeps, alike=versions_alike(self._study, now))
        return self._added[asked], now

    def _made(self, content: Mapping[str, Any], before: Codebook) -> Code:
        return code_made(
            before,
            self._study.codebooks.values(),
            label=typed(content, "label"),
            definition=typed(content, "definition"),
            origin="inductive",
            examples=(self._session.words(content),) if content.get("example") is True else (),
        )

    def waiting(self) -> dict[str, Any] | None:
        """List the texts finished before a code existed that wait for a decision on it, or None.

        Texts that wait for more than that (a code that was redefined or split, say) are not among them: they
        must be looked at as a whole (`Session.to_review`).
        """
        session = self._session
        order = {code_id: n for n, code_id in enumerate(session.codebook.ids)}
        items = [
            (session.place_of(unit_id), sorted(codes, key=order.__getitem__))
            for unit_id, codes in self._look_again.only_new().groupby("unit_id", sort=False)["code"]
        ]
        codes = sorted({code for _, own in items for code in own}, key=order.__getitem__)
        if not set(codes) - self._declined:
            return None
        return {"codes": codes, "items": sorted(items), "no": DECLINED}

    @property
    def _declined(self) -> set[str]:
        """The codes for which this coder said that earlier texts are not looked at: by a memo on the code."""
        memos = self._session.free_memos
        return {
            memo["code"] for memo in memos if memo["on"] == "code" and DECLINED in memo["text"].split("\n")
        }


def versions_alike(study: Any, codebook: Codebook) -> set[str]:
    """Return the versions of the study's codebook from which nothing that is coded changed its meaning."""
    alike = {codebook.fingerprint}
    with suppress(QualError):
        revisions = getattr(study, "revisions", ())
        for _ in revisions:  # each may lead to one that was found before it
            keeping = (one for one in revisions if all(change.kind in KEEPING for change in one.changes))
            alike |= {one.base for one in keeping if one.codebook in alike}
    return alike


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
                record.codings,
                record.coverage,
                session.codebook,
                revisions=self._study.revisions,
                round=session.round,
            )
        except QualError:  # what is damaged is told of where the study is read
            return none


CAME: Final = {
    "add": "is new",
    "rename": "has a new label",
    "move": "was moved",
    "annotate": "has new notes",
    "reword": "is worded differently and means the same",
    "narrow": "applies to less than before",
    "widen": "applies to more than before",
    "redefine": "has a new definition",
    "retire": "was retired",
}


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
            raise ActError("codebook: there is no study to take it from – run the cell again.")
        session, now = self._session, desk_of(self._study).use_current_codebook()
        if now == session.codebook:
            return {"type": "taken", "words": ""}, None
        revisions = self._study.revisions
        way = path(revisions, session.codebook.fingerprint, now.fingerprint)
        if way is None:
            raise ActError(
                "codebook: no revisions lead from your version to the study's, because two copies were "
                "revised separately – ask the lead to join them (store.revise)."
            )
        made = [change for step in way for change in step.changes]
        keeps = all(change.kind in KEEPING for change in made)
        is_told = not keeps or any(change.kind == "reword" for change in made)
        if is_told and agreed != now.fingerprint:
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
    none = [] if concerned else ["The texts that you finished are not affected."]
    return [f"{'; '.join(changed)}.", *_wordings(made, session.codebook, now), *concerned, *none]


def _wordings(made: Sequence[Change], before: Codebook, now: Codebook) -> Iterator[str]:
    """Yield the earlier and the present wording of each changed definition or rule."""
    for code in dict.fromkeys(change.code for change in made if change.kind in MEANINGS):
        if code not in before or code not in now:
            continue
        for name, words in RULE.items():
            one, other = (_in_a_line(getattr(book[code], name)) for book in (before, now))
            if one != other:
                yield f"{_label(code, now)}, {words}, before: {one or '–'}"
                yield f"{_label(code, now)}, {words}, now: {other or '–'}"


def _in_a_line(value: str | Sequence[str]) -> str:
    return f"“{value}”" if value and isinstance(value, str) else "; ".join(f"“{one}”" for one in value)


RULE: Final = {"definition": "definition", "use_when": "use when", "avoid_when": "not when"}


def _named(made: Sequence[Change], before: Codebook, now: Codebook) -> Iterator[tuple[str, str]]:
    for change in dict.fromkeys(made):
        into = " and ".join(_label(code, now, before) for code in change.into)
        words = {**CAME, "merge": f"was merged into {into}", "split": f"was split into {into}"}
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
        yield f"{_codings(n, code, books)} {'no longer counts' if n == 1 else 'no longer count'}."


def _codings(n: int, code: str, books: tuple[Codebook, Codebook]) -> str:
    return f"{'Your coding' if n == 1 else f'Your {n} codings'} with {_label(code, *books)}"


def _of_texts(now: Codebook, undecided: pd.DataFrame) -> Iterator[str]:
    """Yield on how many finished texts a code is undecided, and why."""
    why = {
        "add": "it did not exist then",
        "redefine": "it meant something else",
        "narrow": "it applies to less than when you applied it",
        "widen": "it applies to more than when you finished",
        "split": "it was part of another",
    }
    for code in now.codable:
        rows = undecided[undecided["code"] == code.id]
        for reason, n in Counter(rows["reason"]).items():
            texts = "one text that you finished" if n == 1 else f"{n} texts that you finished"
            yield (
                f"{_label(code.id, now)} is undecided on {texts}, because {why[reason]}: "
                f"look at {'it' if n == 1 else 'them'} again."
            )
