"""What waits for a coder: texts to look at again, answers, discussions, training, opened rounds."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import pandas as pd

from sense7_qual.codebook import Change, Codebook, Revision, path
from sense7_qual.errors import QualError
from sense7_qual.rounds import Round
from sense7_qual.widgets._base import Asked, desk_of
from sense7_qual.widgets._coding.revised import CAME, RULE, LookAgain, NewCodes, versions_alike
from sense7_qual.widgets._coding.session import Session
from sense7_qual.widgets._coding.study import of_study
from sense7_qual.widgets._lead_view import duration, pace

Item = dict[str, Any]
_WORK: Final = "inbox"  # the draft that says which news was read


class Inbox:
    """What waits for the coder of a session, read when a browser asks for it.

    Attributes
    ----------
    session : Session
        Whose inbox it is.
    study : object
        The study; without one, only the texts to look at again are known.
    new_codes : NewCodes
        Knows the texts that were finished before a code existed.
    newer : callable
        Whether the study has a newer codebook, and whether that can be loaded here.
    can_tell : bool
        Whether the texts to look at again follow from the study's revisions; otherwise somebody chose them.
    """

    def __init__(
        self,
        session: Session,
        study: Any,
        new_codes: NewCodes,
        *,
        newer: Callable[[], tuple[bool, bool]],
        can_tell: bool,
    ) -> None:
        self._session, self._study, self._can_tell = session, study, can_tell
        self._new_codes, self._newer = new_codes, newer
        self._read_here: set[str] = set()
        self.asked: Asked = {"inbox": self._listed, "again": self._again}

    def __repr__(self) -> str:
        return f"Inbox({self._session.coder!r})"

    def _listed(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Answer with all items; `read` names news that was just opened."""
        items = [*self._of_the_codebook()]
        with suppress(QualError):  # damage is reported where the study is opened
            items += [*self._of_the_study()]
        news = {item["id"] for item in items if item["is_news"]}
        read = self._read(news, asked.get("read"))
        return {"type": "inbox", "items": [item for item in items if item["id"] not in read]}

    def _read(self, news: set[str], opened: object) -> set[str]:
        """Return which news was read, and remember what was `opened`."""
        desk, coder = desk_of(self._study), self._session.coder
        kept = getattr(desk, "draft", None)
        draft = {} if kept is None or not news else kept(_WORK, coder=coder) or {}
        read = {*self._read_here, *draft.get("read", ())}
        if opened in news - read:
            read.add(str(opened))
            self._read_here.add(str(opened))
            if kept is not None:
                desk.keep_draft(_WORK, {"read": sorted(read & news)}, coder=coder)
        return read

    def _of_the_codebook(self) -> Iterator[Item]:
        """Yield a newer version, the texts to look at again, and what was only reworded."""
        session = self._session
        under, n_again = session.codebook.fingerprint, session.n_review
        is_there, can_be_taken = self._newer()
        if is_there:
            load, again = (
                "See what it means for your texts.",
                "Open the study again, then run this cell again.",
            )
            todo = load if can_be_taken else again
            yield _item("newer", "The codebook was revised", todo)
        if n_again:
            why = self._changed_codes() if self._can_tell else "You were asked to look through them."
            title = f"{_texts(n_again)} to look at again"
            yield _item("again", title, f"{why} {self._time(n_again)}".strip(), of=under, n=n_again)
        if session.n_earlier and not self._can_tell:
            coded = f"You coded {session.n_earlier} of these {_texts(len(session.unit_ids))}"
            yield _item(
                "earlier",
                f"{coded} with an earlier version of the codebook",
                "Ask the lead which of them to look at again.",
                of=under,
                is_news=True,
            )
        yield from self._of_new_codes()
        yield from self._of_rewordings()

    def _of_new_codes(self) -> Iterator[Item]:
        """Yield the texts that were finished before codes existed, if any wait."""
        waiting = self._new_codes.waiting()
        if waiting is not None:
            named, n = _labels(waiting["codes"], self._session.codebook), len(waiting["items"])
            title = f"{_texts(n)} finished before {named} existed"
            yield _item(
                "new",
                title,
                self._time(n),
                of="|".join(waiting["codes"]),
                n=n,
                codes=waiting["codes"],
                no=waiting["no"],
            )

    def _of_rewordings(self) -> Iterator[Item]:
        """Yield the codes that were only reworded."""
        session = self._session
        for revision, change in self._reworded():
            rule = self._rule(change.code, revision.base, revision.codebook)
            label = session.codebook[change.code].label
            yield _item(
                "reworded",
                f"‘{label}’ was reworded",
                "Its meaning stays. Nothing to do.",
                of=f"{change.code} {revision.codebook}",
                rule=rule,
                is_news=True,
            )

    def _changed_codes(self) -> str:
        """Say what the revisions did to the codes because of which texts are looked at again."""
        session = self._session
        codes = {code for place in session.to_review for code in session.review_of(place) or ()}
        revisions = [change for revision in self._revisions for change in revision.changes]
        named = [
            f"‘{code.label}’ {words}"
            for code in session.codebook.codable
            if code.id in codes and (words := _what_came(code.id, revisions))
        ]
        return f"{'; '.join(named[:3])}{' …' * (len(named) > 3)}." if named else ""

    def _time(self, n: int) -> str:
        """Return how long so many texts take at the coder's own pace; empty where that is unknown."""
        finishes = (act for act in self._session.history if act.kind == "finish")
        seconds = pace(finishes).get(self._session.coder)
        return "" if seconds is None else f"About {duration(n * seconds)}."

    @property
    def _revisions(self) -> Sequence[Revision]:
        with suppress(QualError):
            return tuple(getattr(self._study, "revisions", ()))
        return ()

    def _reworded(self) -> Iterator[tuple[Revision, Change]]:
        """Yield what was reworded after this coder had finished texts, up to the version in use."""
        revisions, now = self._revisions, self._session.codebook
        for one in revisions:
            is_in_use = path(revisions, one.codebook, now.fingerprint) is not None
            earlier = any(path(revisions, under, one.base) is not None for under in self._finished_under())
            for change in one.changes if is_in_use and earlier else ():
                if change.kind == "reword" and change.code in now:
                    yield one, change

    def _finished_under(self) -> set[str]:
        return set(self._session.last_finished.values())

    def _again(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Answer with the questions on each text, one per code, and the rule of each as it was and is."""
        session = self._session
        if asked.get("of") == "new":
            items = (self._new_codes.waiting() or {"items": []})["items"]
        else:
            items = [(place, session.review_of(place) or []) for place in sorted(session.to_review)]
        order = {code: n for n, code in enumerate(session.codebook.ids)}
        finished, places = session.last_finished, dict[tuple[str, str], int]()
        rules, steps = list[Item](), list[list[int]]()
        now = session.codebook.fingerprint
        for place, codes in items:
            for code in sorted(set(codes) & order.keys(), key=order.__getitem__):
                key = code, finished.get(session.unit_ids[place], now)
                if key not in places:
                    places[key] = len(rules)
                    rules.append(self._rule(*key, now))
                steps.append([place, places[key]])
        return {"type": "again", "steps": steps, "rules": rules, "under": now}

    def _rule(self, code: str, before: str, now: str) -> dict[str, Any]:
        """Return what is said of a code in two versions: each part as words that stayed, came and went."""
        books = {self._session.codebook.fingerprint: self._session.codebook}
        with suppress(QualError):
            books = {**getattr(self._study, "codebooks", {}), **books}
        new = books[now][code]
        old = books[before][code] if before in books and code in books[before] else new
        way: Sequence[Revision] = path(self._revisions, before, now) or ()
        made = [change for step in way for change in step.changes]
        return {
            "code": code,
            "what": _what_came(code, made),
            "of": [one.code for one in made if one.kind == "split" and code in one.into],
            "parts": [
                {"name": words, "words": differences(_in_lines(old, name), _in_lines(new, name))}
                for name, words in RULE.items()
                if _in_lines(old, name) or _in_lines(new, name)
            ],
        }

    def _of_the_study(self) -> Iterator[Item]:
        """Yield answers to this coder's proposals, and the rounds in which something is left to do."""
        study, session = self._study, self._session
        if not hasattr(study, "memos"):
            return
        memos = study.memos(viewer=session.coder)
        others = memos[memos["coder"] != session.coder]
        own = study.proposals(coder=session.coder).set_index("proposal_id")
        for memo in others[others["memo_id"].isin(own.index)].to_dict("records"):
            proposal = own.loc[memo["memo_id"]]
            place = session.find_place(proposal["unit_id"])
            yield _item(
                "answer",
                f"Your proposal ‘{proposal['label']}’",
                memo["text"],
                of=memo["memo_id"],
                place=place,
                is_news=True,
            )
        if session.round is not None:
            plan = study.plan
            own = plan[(plan["coder"] == session.coder) & plan["round"].isna()]
            there = set(own["unit_id"]) & set(study.units["unit_id"])
            n_left = len(there - set(study.coverage(coder=session.coder)["unit_id"]))
            if n_left:
                yield _item("round", f"Outside rounds: {_texts(n_left)} to go", "", here=False, round=None)
        for one in study.rounds:
            if session.coder in one.coders and (one.is_blind or one.discusses):
                yield from self._of_round(one, others)

    def _of_round(self, one: Round, others: pd.DataFrame) -> Iterator[Item]:
        # By its name: without one, rounds of training and discussion are left out.
        done = self._study.coverage(coder=self._session.coder, round=one.name)
        n_left = len(set(one.units) & set(self._study.units["unit_id"]) - set(done["unit_id"]))
        notes = others[others["round"] == one.name]
        n_new = int((notes["at"].astype(str) > str(done["finished_at"].max() if len(done) else "")).sum())
        here = one.name == self._session.round
        if not n_left and not (one.discusses and n_new):
            return
        if one.discusses:
            new = f", {n_new} new {'note' if n_new == 1 else 'notes'}" if n_new else ""
            of = f"‘{one.discusses}’: {_texts(n_left)} left{new}"
            title = f"Discussion of {of}" if len(one.coders) > 1 else f"Look again at texts of {of}"
        else:
            title = f"{'Training' if one.is_training else 'Round'} ‘{one.name}’: {_texts(n_left)} to go"
        if here and not (one.is_training or one.discusses):
            return  # the header says how far one is in it
        what = "discussion" if one.discusses else "training" if one.is_training else "round"
        yield _item(what, title, "", of=one.name, here=here, round=one.name)


def waiting(study: Any, *, coder: str, round: str | None) -> list[Item]:
    """List the inbox of a coder's widget on a round (None: no round), each item with its ``units``."""
    given = of_study(study, coder=coder, round=round)
    session = Session(
        given.units,
        given.codebook,
        coder=coder,
        acts=given.acts,
        rating=None,
        round=given.round,
        alike=versions_alike(study, given.codebook),
    )
    look_again = LookAgain(session, study, by_itself=True)
    look_again.show()
    new_codes = NewCodes(session, study, embed=None, look_again=look_again)
    inbox = Inbox(session, study, new_codes, newer=lambda: (False, False), can_tell=look_again.can_tell)
    new = (new_codes.waiting() or {"items": []})["items"]
    places = {"again": session.to_review, "new": [place for place, _ in new]}
    return [
        {**item, "units": [session.unit_ids[place] for place in places.get(item["what"], ())]}
        for item in inbox.asked["inbox"]({})["items"]
    ]


def _item(what: str, title: str, more: str, *, of: str = "", is_news: bool = False, **rest: Any) -> Item:
    return {"id": f"{what}:{of}", "what": what, "title": title, "more": more, "is_news": is_news, **rest}


def _texts(n: int) -> str:
    return "One text" if n == 1 else f"{n} texts"


def _labels(codes: Sequence[str], book: Codebook) -> str:
    return ", ".join(f"‘{book[code].label}’" for code in codes)


def _what_came(code: str, made: Sequence[Change]) -> str:
    """Say in words what changed the meaning of a code; the last change counts."""
    came = {
        one: "is a part of another code" if change.kind == "split" else CAME[change.kind]
        for change in made
        for one in (change.into if change.kind == "split" else (change.code,))
        if change.kind in ("add", "narrow", "widen", "redefine", "split", "reword")
    }
    return came.get(code, "")


def _in_lines(code: Any, name: str) -> str:
    value = getattr(code, name)
    return value if isinstance(value, str) else "\n".join(value)


def differences(before: str, now: str) -> list[list[str]]:
    """Return the words of two wordings in order, each run with ``=`` (in both), ``-`` (gone) or ``+`` (new).

    White space is no difference.

    >>> differences("Shows warm interest.", "Shows interest.")
    [['=', 'Shows '], ['-', 'warm '], ['=', 'interest.']]
    """
    one, other = (re.findall(r"\S+\s*", text) for text in (before, now))
    runs: list[list[str]] = []
    for kind, *places in _matched(one, other):
        old, new = "".join(one[places[0] : places[1]]), "".join(other[places[2] : places[3]])
        if kind == "equal":
            runs.append(["=", max(old, new, key=len)])  # with the space before what follows in either
            continue
        runs += [[sign, words] for sign, words in (("-", old), ("+", new)) if words]
    return runs


def _matched(one: Sequence[str], other: Sequence[str]) -> list[tuple[str, int, int, int, int]]:
    old, new = ([word.strip() for word in words] for words in (one, other))
    return list(difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes())
