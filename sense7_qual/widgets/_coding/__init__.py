"""The coding widget: one text at a time with the codebook next to it; every key press is saved."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, Literal

import pandas as pd
import traitlets

from sense7_qual._arguments import check_arguments
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, ArgumentError, QualError
from sense7_qual.report import Table
from sense7_qual.suggestions import Screening
from sense7_qual.widgets._base import STATIC, Asked, BaseWidget, desk_of, field
from sense7_qual.widgets._codes import COMMANDS, code_keys, code_keys_of_others, commands, described
from sense7_qual.widgets._coding.finding import Finding
from sense7_qual.widgets._coding.inbox import Inbox
from sense7_qual.widgets._coding.lists import History, MemoList
from sense7_qual.widgets._coding.others import Colleagues, SuggestionsOfTexts, Training, check_blind
from sense7_qual.widgets._coding.revised import LookAgain, NewCodes, NewerCodebook, versions_alike
from sense7_qual.widgets._coding.session import Session
from sense7_qual.widgets._coding.study import Given, of_study, one_by_one
from sense7_qual.widgets._coding.texts import Grid, TextList

__all__ = ["COMMANDS", "CodingWidget"]

_RATING: Final[Mapping[str, bool | Literal["finished"]]] = {
    "hidden": False,
    "shown": True,
    "finished": "finished",
}
_DOING: Final = {
    "act": "saving",
    "add_code": "adding the code",
    "alike": "comparing the code",
    "take_codebook": "taking in the codebook",
}


def _as_told(study: Given) -> bool | Literal["finished"]:
    """Return when the rating is shown, as the options of the study say."""
    return _RATING[getattr(getattr(study.study, "options", None), "rating", "hidden")]


class CodingWidget(BaseWidget):
    """Code texts one by one, with the codebook next to them.

    Each key press is stored before its coding is shown as saved. If saving fails, the coding stays on screen
    as not saved and is sent again. Widget traits hold no text, so a saved notebook contains none.

    Parameters
    ----------
    store : Store
        The study. It provides the units that its plan assigns to the coder (`Store.assign`), in that order
        (all units where there is no plan), the codebook and the coder's earlier acts, and it records new
        acts. Any object with `units`, `codebook`, `acts` and `append` works too.
    coder : str
        Pseudonym of the person who codes.
    units, codebook, acts, save : optional
        Instead of a study: the units to code (DataFrame) in their order; the Codebook; this coder's earlier
        acts; a function that takes new acts and returns only once they are stored.
    rating : str, optional
        Column of `units` that can be shown next to the text.
    show_rating : bool or "finished"
        True shows the rating from the start, "finished" only on finished texts. The default is the lead's
        setting (`Store.set_options`), otherwise hidden: seeing the rating may influence the coding.
    round : str, optional
        Name of the round to code, opened by the lead (`rounds.open_round`). Every act carries the name. By
        default the texts assigned outside rounds; where the coder has none, the oldest round with texts left.
        The inbox opens the others.
    review : "stale", iterable of str, or DataFrame
        Units to review: shown as unfinished until they are finished under `codebook`. By default the units
        left undecided by a revision of the codebook (`codings.stale`), which the inbox lists; "stale" begins
        with these. Pass unit ids or the result of ``codings.stale(…)`` for others, ``()`` for none.
    conditions : sequence of str, optional
        Variables of `units` that the coder may filter by and show as grid columns. By default Booleans and
        variables with 2 to 12 short values; never numbers (they may be ratings) or variables that may hold
        somebody's coding (named like a code or a label, or with a code among the values). ``()`` hides all.
    embed : callable, optional
        Maps texts to an array of vectors (`models.embedder`), to compare a new code with the codebook by
        meaning as well as by words.
    suggest : callable, optional
        Maps units to a frame of suggestions: the result of `suggestions.fit`, or your own function.
        Suggestions appear once the text is finished, or as the lead has set it (`Store.set_options`); a
        random tenth of the texts gets none, to measure the effect. Shown and rejected suggestions are
        recorded as acts; a suggestion is never a coding.
    screening : Screening, optional
        The result of `suggestions.screen` on the same codebook: where suggestions are shown, the codes that
        it decided absent from a text are dimmed there. They can be applied as ever, and nothing is recorded
        of dimming. It spares work if the lead shows suggestions from the start (``suggestions="shown"``).
    layout : {"text", "grid"}
        Start with one text at a time, or with many short texts as rows of a grid. The key ``#`` or a button
        switches.
    keys : mapping, optional
        Other keys for commands, e.g. ``{"memo": "i"}``; `COMMANDS` lists the commands.

    Raises
    ------
    ArgumentError
        Neither a study nor all of `units`, `codebook`, `acts` and `save`, or both; or `suggest` learned from
        decisions to which the coder is blind;
        or `screening` without `suggest`.
    ActError
        `coder` is missing, not a valid pseudonym, or has no texts in the study's plan; the round does not
        exist; `acts` include another coder's; or two commands or codes share a key.
    TableError
        `units` violates its contract, or lacks the rating column.

    Examples
    --------
    >>> import pandas as pd
    >>> units = pd.DataFrame({"unit_id": ["m1"], "text": ["It listened."], "document_id": ["d1"],
    ...                       "case_id": ["p1"], "position": [1]})
    >>> sense7, saved = Codebook.read("sense7"), []
    >>> CodingWidget(units=units, codebook=sense7, coder="ana", acts=saved, save=saved.extend)
    CodingWidget('ana', 0 of 1 units finished)

    With a study: ``CodingWidget(store, coder="ana")``.
    """

    _esm = STATIC / "coding.js"
    _css = STATIC / "coding.css"
    _doing = _DOING
    n_units = traitlets.Int(0).tag(sync=True)
    n_finished = traitlets.Int(0).tag(sync=True)

    def __init__(
        self,
        store: Any = None,
        codebook: Codebook | None = None,
        *,
        coder: str | None = None,
        units: pd.DataFrame | None = None,
        acts: Sequence[Act] | None = None,
        save: Callable[[Sequence[Act]], object] | None = None,
        rating: str | None = None,
        show_rating: bool | Literal["finished"] | None = None,
        round: str | None = None,
        review: Literal["stale"] | Iterable[str] | pd.DataFrame | None = None,
        conditions: Sequence[str] | None = None,
        embed: Callable[[list[str]], Any] | None = None,
        suggest: Callable[[pd.DataFrame], pd.DataFrame] | None = None,
        screening: Screening | None = None,
        layout: Literal["text", "grid"] = "text",
        keys: Mapping[str, str] | None = None,
    ) -> None:
        if coder is None:
            raise ActError(
                "coder: no coder was named – give your pseudonym: CodingWidget(store, coder='ana')."
            )
        check_arguments(CodingWidget.__init__, locals(), but=("coder",))
        if isinstance(store, pd.DataFrame) and units is None:
            store, units = None, store
        parts = {"units": units, "codebook": codebook, "acts": acts, "save": save}
        study = one_by_one(**parts) if store is None else of_study(store, coder=coder, round=round, **parts)
        self._show_rating = show_rating = _as_told(study) if show_rating is None else show_rating
        self._of_round = partial(
            CodingWidget,
            store,
            coder=coder,
            rating=rating,
            show_rating=show_rating,
            conditions=conditions,
            embed=embed,
            suggest=suggest,
            screening=screening,
            layout=layout,
            keys=keys,
        )
        session = self._begin(study, coder=coder, rating=rating, round=study.round or round, review=review)
        self._colleagues = Colleagues(session, study.study)
        self._texts = TextList(
            session,
            study.units,
            rating=rating,
            shows_ratings=show_rating != "finished",
            conditions=conditions,
            differing=self._colleagues.differing,
        )
        self._grid = Grid(session, self._texts, layout=layout, hides_ratings=show_rating == "finished")
        self._suggestions = self._suggesting(session, study, suggest, screening)
        self._new_codes = NewCodes(session, study.study, embed=embed, look_again=self._look_again)
        self._commands = commands(COMMANDS, keys or {})
        self._use(study)
        self._inbox = self._asking(session, study)
        super().__init__(self._recorder.save)

    def _suggesting(
        self,
        session: Session,
        study: Given,
        suggest: Callable[[pd.DataFrame], pd.DataFrame] | None,
        screening: Screening | None,
    ) -> SuggestionsOfTexts:
        """Return what suggests codes for texts, if it learned nothing from what the coder may not see."""
        check_blind(suggest, study, session.coder)
        if screening is not None and suggest is None:
            raise ArgumentError(
                "screening: codes are dimmed where suggestions are shown – pass the suggester, too (suggest)."
            )
        return SuggestionsOfTexts(
            session,
            study,
            suggest,
            screening,
            save=lambda acts: self._save(acts),
            tell=self._suggestions_are_ready,
        )

    def _asking(self, session: Session, study: Given) -> Inbox:
        """Return what is asked of the coder and told."""
        return Inbox(
            session,
            study.study,
            self._new_codes,
            newer=lambda: (self._moved_on, self._can_take),
            can_tell=self._look_again.can_tell,
        )

    def _begin(self, study: Given, *, review: Any, **named: Any) -> Session:
        """Begin the coder's session with the first text that waits; return it."""
        by_itself = review is None or (isinstance(review, str) and review == "stale")
        self._begins_again = by_itself and review is not None
        self._of_rounds: dict[str | None, CodingWidget] = {}
        self._session = session = Session(
            study.units,
            study.codebook,
            acts=study.acts,
            review=() if by_itself else review,
            **named,
            alike=versions_alike(study.study, study.codebook),
        )
        self._look_again = LookAgain(session, study.study, by_itself=by_itself)
        self._look_again.show()
        session.position = session.next_unfinished(-1)
        return session

    def _use(self, study: Given) -> None:
        """Have what needs no choice: memos, history, training, the codebook as others revise it."""
        session = self._session
        self._newer, self._training = NewerCodebook(session, study.study), Training(session, study.study)
        self._finding = Finding(session, self._texts)
        self._memos, self._history = MemoList(session, study.study, study.units), History(session)
        self._code_keys = code_keys(study.codebook, self._commands)
        self._current, self._moved_on = study.current, False
        self._look_at_the_codebook()
        self._recorder = Recorder(session, study, self._came)

    def __repr__(self) -> str:
        session = self._session
        return f"CodingWidget({session.coder!r}, {session.n_finished} of {self.n_units} units finished)"

    @property
    def notice(self) -> str:
        """What the widget tells the coder about the codebook; empty if there is nothing to tell.

        Whether it was revised since the study was opened, and how many texts to review.
        """
        session = self._session
        n_review, n_earlier = session.n_review, session.n_earlier
        take = "Load the new version" if self._can_take else "Open the study again, then run this cell again"
        notices = [
            f"The codebook was revised after you opened the study. {take}. Until then, your coding "
            "counts as coded with the earlier version."
        ] * self._moved_on
        if n_review:
            texts, them = (f"{n_review} texts need", "them") if n_review > 1 else ("One text needs", "it")
            why = f": the codebook was revised after you finished {them}" if self._look_again.can_tell else ""
            notices.append(f"{texts} another look{why}.")
        if n_earlier and not self._look_again.can_tell:
            notices.append(
                f"You coded {n_earlier} of these {len(session.unit_ids)} texts with an earlier version of "
                "the codebook. Ask the lead which of them to look at again."
            )
        return " ".join(notices)

    @property
    def _can_take(self) -> bool:
        """Whether there is a newer codebook that can be taken in here."""
        return self._moved_on and self._newer.can_be_taken

    def goto(self, unit_id: str) -> None:
        """Go to a unit in every open view of this widget; views opened later start there.

        Parameters
        ----------
        unit_id : str
            Id of one of the units coded here.

        Raises
        ------
        ActError
            The unit is not coded here.

        Examples
        --------
        To revisit a disagreement: ``widget.goto("m17")``.
        """
        check_arguments(CodingWidget.goto, locals())
        with self._lock:
            place = self._session.position = self._session.place_of(unit_id)
            self._tell({"type": "goto", "place": place})

    def memos(self) -> Table:
        """Tabulate this coder's memos, and the team's in unblinded rounds, newest first.

        Returns
        -------
        Table
            One row per memo: time (UTC), author, target, the words it is about, the memo, and for whom.
            ``widget.memos().write("memos.docx")`` writes it; .csv and .md work too. Output shown in a cell is
            saved with the notebook.
        """
        with self._lock:
            return self._memos.table()

    def _look_at_the_codebook(self) -> None:
        """Ask the study whether the codebook of this widget is still the current one."""
        if self._current is not None:
            with suppress(QualError):  # whatever is wrong is told where the next act is saved
                self._moved_on = self._current() != self._session.codebook.fingerprint

    def _counts(self) -> Mapping[str, int]:
        return {"n_units": len(self._session.unit_ids), "n_finished": self._session.n_finished}

    def _asked(self) -> Sequence[Asked]:
        own: Asked = {
            "hello": self._welcome,
            "unit": self._unit,
            "act": self._do,
            "alike": self._new_codes.alike,
            "add_code": lambda content: self._go_on_with(*self._new_codes.add(content)),
            "take_codebook": self._take_codebook,
            "open_round": self._open_round,
        }
        features = (
            self._colleagues,
            self._training,
            self._suggestions,
            self._memos,
            self._history,
            self._texts,
            self._grid,
            self._inbox,
            self._finding,
        )
        return own, *(one.asked for one in features)

    def _open_round(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Answer with the widget of another round (None: texts outside rounds), which replaces this one."""
        name = None if content.get("round") is None else field(content, "round", str)
        if name not in self._of_rounds:
            self._of_rounds[name] = self._of_round(round=name)
        return {"type": "opened_round", "model": self._of_rounds[name].model_id}

    def _unit(self, content: Mapping[str, Any]) -> dict[str, Any]:
        unit = self._session.unit(field(content, "place", int))
        if not content.get("peek"):
            self._session.position = unit["place"]
            self._look_at_the_codebook()
            self._suggestions.look_ahead(unit["place"])
        return {"type": "unit", "unit": unit, **self._noticed()}

    def _came(self, acts: list[Act]) -> None:
        """Tell all views what the session took in from another window."""
        words = f"{_counted(acts)} came from another window"
        self._tell({**elsewhere_message(self._session, acts, words), **self._noticed()})
        self._count()
        self.revision += 1

    def _suggestions_are_ready(self, place: int) -> None:
        self._tell({"type": "suggested", "place": place})

    def _take_codebook(self, content: Mapping[str, Any]) -> dict[str, Any]:
        if self._unsaved:
            raise ActError(
                "codebook: some of your acts are not saved yet – take the new codebook in once everything is "
                "saved."
            )
        return self._go_on_with(*self._newer.take(content.get("agreed")))

    def _go_on_with(self, answer: dict[str, Any], codebook: Codebook | None) -> dict[str, Any]:
        """Tell all views of the codebook that is used now, if it is another; return the answer."""
        if codebook is not None:
            self._look_again.show()
            self._code_keys = code_keys_of_others(codebook, self._commands)
            self._look_at_the_codebook()
            self._tell({"type": "codebook", **self._of_the_codebook()})
            self._count()
            self.revision += 1
        return answer

    def _noticed(self) -> dict[str, Any]:
        n_review = self._session.n_review
        return {"newer": self._can_take, "n_review": n_review}

    def _of_the_codebook(self) -> dict[str, Any]:
        session = self._session
        return {
            "codebook": described(session.codebook, self._code_keys),
            "under": session.codebook.fingerprint,
            "work_id": self._work_id,
            **self._noticed(),
            "flags": session.flags,
            "n_finished": session.n_finished,
        }

    def _do(self, content: Mapping[str, Any]) -> dict[str, Any]:
        act_id = field(content, "id", str)
        message = {**field(content, "act", dict), "act_id": act_id}
        act = self._session.knows(act_id)
        made = [act] if act else self._save_step(act_id, lambda: self._session.acts_from(message))
        place, act = self._session.take_saved(made), self._session.knows(act_id) or made[0]
        if act.kind == "finish":  # the next unit is often here already, and nothing asks for it
            self._look_at_the_codebook()
        if act.traits.takes_back and self._session.is_finished_earlier(place):
            self._look_again.show()  # taken back, it may have to be looked at once more
        if len(self._session.places_of(made)) > 1:
            self._tell({**elsewhere_message(self._session, made, _said(made)), **self._noticed()})
        unit = self._session.unit(place)
        free = {"memos": self._session.free_memos} if act.unit_id is None else {}
        return {
            "type": "done",
            "kind": act.kind,
            "unit": unit,
            **self._noticed(),
            **free,
            **self._counts_at(place),
        }

    def _counts_at(self, place: int) -> dict[str, Any]:
        session = self._session
        return {
            "flag": session.flag(place),
            "n_finished": session.n_finished,
            "can_undo": session.can_undo,
            "can_redo": session.can_redo,
        }

    def _welcome(self, _: Mapping[str, Any]) -> dict[str, Any]:
        self._look_at_the_codebook()
        session = self._session
        self._suggestions.look_ahead(session.position)
        return {
            "type": "welcome",
            "coder": session.coder,
            **self._of_the_codebook(),
            "new_codes": self._new_codes.mode,
            "colleagues": self._colleagues.state(),
            "training": self._training.progress(),
            "suggest": self._suggestions.when,
            "commands": dict(self._commands),
            "round": session.round,
            "memos": session.free_memos,
            "show_rating": self._show_rating,
            "layout": self._grid.layout,
            "again": self._begins_again,
            "unit": session.unit(session.position) if session.unit_ids else None,
            **(self._counts_at(session.position) if session.unit_ids else {}),
        }

    @property
    def _work_id(self) -> str:
        """Names what unsent acts belong to, so that a new widget for the same work can send them."""
        session = self._session
        named = [session.coder, session.codebook.fingerprint, str(session.round), *session.unit_ids]
        return hashlib.sha256("\x1f".join(named).encode()).hexdigest()[:32]


class _Unshown(ActError):
    """Acts on this text came from another window, and the coder has not seen them."""


class Recorder:
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
        return f"Recorder({self._session.coder!r}, {self._n_read} acts read)"

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
            is_of_all = act.kind == "finish" or act.traits.takes_back or act.step is not None
            if is_of_all and unshown and act.act_id not in recorded:
                raise _Unshown(
                    f"Not done: {_counted(unshown)} on this text came from another window. Look at "
                    f"{'it' if len(unshown) == 1 else 'them'}, then press again."
                )


def _counted(acts: Sequence[Act]) -> str:
    noun = "coding" if all(act.kind == "apply" for act in acts) else "change"
    return f"{len(acts)} {noun}{'s' * (len(acts) != 1)}"


def _said(acts: Sequence[Act]) -> str:
    """Return in words what was done on several texts at once."""
    if acts[0].traits.takes_back:
        return "Undone" if acts[0].kind == "undo" else "Done again"
    return f"{_counted(acts)} made"


def elsewhere_message(session: Session, acts: Sequence[Act], words: str) -> dict[str, Any]:
    """Return the message to all views about `acts` on other texts than the one on screen."""
    return {
        "type": "elsewhere",
        "words": words,
        "places": session.places_of(acts),
        "flags": session.flags,
        "memos": session.free_memos,
        "n_finished": session.n_finished,
        "can_undo": session.can_undo,
        "can_redo": session.can_redo,
    }
