"""Proposals in the tray: those that wait for an answer, and themes that become one."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual import themes as models
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, QualError
from sense7_qual.widgets._base import Asked, Later, field
from sense7_qual.widgets._codebook.draft import State, Step
from sense7_qual.widgets._codebook.in_use import InUse, answer_to
from sense7_qual.widgets._codes import alike
from sense7_qual.widgets._lead_view import Board
from sense7_qual.widgets._themes.reading import (
    Reading,
    asked_words,
    cost_words,
    draft,
    drafted_by,
    messages_for,
    proposed,
)

_SHOWN = ("proposal_id", "coder", "at", "label", "definition", "unit_id")


def proposal_rows(use: InUse, state: State) -> list[dict[str, Any]]:
    """Return the proposals that wait, each with its words, codes like it, and what the draft made of it."""
    return [
        {
            **{name: row[name] for name in _SHOWN},
            "round": None if pd.isna(row["round"]) else row["round"],
            "words": use.words_of(row),
            "origin": "" if pd.isna(row["origin"]) else row["origin"],
            "examples": use.further_examples(row["proposal_id"]),
            "taken": state.taken.get(row["proposal_id"]),
            "alike": alike(state.codebook, row["label"], row["definition"])["codes"],
        }
        for row in use.open_proposals()
    ]


def with_origin(step: Step, use: InUse) -> Step:
    """Return a step that takes a proposal with what the code gets of it: a model as its origin, and examples.

    The words that show it become examples where the step says so (`with_examples`).
    """
    row = next((one for one in use.open_proposals() if one["proposal_id"] == step.get("proposal")), None)
    whole = {name: value for name, value in step.items() if name != "with_examples"}
    if row is None or "into" in step or "values" in step:
        return whole
    values: dict[str, Any] = {}
    if not pd.isna(row["origin"]):
        values |= {"origin": "model", "source": f"{row['origin']}; accepted by a person"}
    if step.get("with_examples") is True:
        words = [use.words_of(row), *use.further_examples(row["proposal_id"])]
        values["examples"] = list(dict.fromkeys(words))
    return {**whole, "values": values} if values else whole


def reason_of(why: str) -> str:
    """Return the reason for which a proposal is sent back; refuse none."""
    if not why.strip():
        raise ActError("proposal: a reason is missing – say in a sentence why it is sent back.")
    return why.strip()


def answers(
    taken: Mapping[str, str], use: InUse, book: Codebook, *, before: Codebook, coder: str
) -> list[Act]:
    """Return the answers that tell of each proposal that was taken what became of it.

    One that was taken back or answered meanwhile gets none.
    """
    waiting = {row["proposal_id"]: row for row in use.open_proposals()}
    memos = []
    for proposal, code in taken.items():
        asked = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{proposal} {book.fingerprint}"))
        is_there = code in book
        how = "It went into" if code in before else "It became"
        words = f"{how} the code ‘{book[code].label}’." if is_there else "It was taken."
        if proposal in waiting:
            into = code if is_there else None
            memos.append(answer_to(waiting[proposal], words, coder, book, asked, into))
    return memos


def links(taken: Mapping[str, str], use: InUse, study: Any, *, coder: str) -> list[Act]:
    """Return the acts that link the themes whose proposals were taken to the codes that they went into.

    A theme that is gone meanwhile, or has its code already, gets none.
    """
    made: list[Act] = []
    for proposal, code in taken.items():
        said = use.seen.proposed.get(proposal)
        if said is not None and said.theme is not None and code in study.codebook:
            made += _link(said.theme, code, study, made, coder=coder)
    return made


def _link(theme: int, code: str, study: Any, made: Sequence[Act], *, coder: str) -> list[Act]:
    acts = [*study.acts(), *made]
    try:
        rows = models.recorded(acts, study.units).summary
        if not ((rows["theme"] == theme) & rows["code"].isna()).any():
            return []
        return [models.edit(theme, acts, study.units, coder=coder, codebook=study.codebook, code=code)]
    except QualError:  # the codebook is saved: the theme only stays without its code
        return []


_QUOTED: Final = 5
_OF_THEME: Final = ("theme", "label", "n_units", "n_cases", "stable", "coverage")


class LackingThemes:
    """The themes that no code covers, as one person may see it.

    Attributes
    ----------
    board : callable
        Reads what that person may see of where the study stands now.
    current : callable
        The current codebook.
    chat : callable or None
        A language model that drafts a code.
    tell : callable
        Tells all views something.
    save_by_id : callable
        Saves the act of this id, made where it is new.
    """

    def __init__(
        self,
        board: Callable[[], Board],
        current: Callable[[], Codebook],
        *,
        chat: Callable[..., str] | None,
        tell: Callable[[Mapping[str, Any]], None],
        save_by_id: Callable[[str, Callable[[], Act]], Act],
    ) -> None:
        self._board, self._current, self._chat = board, current, chat
        self._tell, self._save_by_id = tell, save_by_id
        self._reading: Reading | None = None
        self._just_proposed: set[int] = set()
        self._drafting: tuple[int, list[str], str] = (0, [], "")
        self.looking, self.asking = (Later(run, self._failed) for run in (self._look, self._ask_chat))
        self.asked: Asked = {
            "lacking": self._lacking,
            "theme": self._theme,
            "theme_cost": self._cost,
            "theme_chat": self._chat_about,
            "propose_theme": self._propose_it,
        }

    def __repr__(self) -> str:
        return f"LackingThemes({self._reading!r})"

    def _lacking(self, _: Mapping[str, Any]) -> dict[str, Any]:
        self.looking.ask()
        return {"type": "looking"}

    def _theme(self, content: Mapping[str, Any]) -> dict[str, Any]:
        theme = field(content, "theme", int)
        return {
            "type": "theme",
            "theme": theme,
            "quotes": self._now(theme).quotes(theme, 0)["rows"][:_QUOTED],
        }

    def _cost(self, content: Mapping[str, Any]) -> dict[str, Any]:
        theme, units = self._ticked(content)
        words = cost_words(self._chat, self._messages(theme, units), len(units))
        return {"type": "theme_cost", "theme": theme, "words": words}

    def _chat_about(self, content: Mapping[str, Any]) -> dict[str, Any]:
        theme, units = self._ticked(content)
        asked, _ = field(content, "id", str), self._messages(theme, units)
        if content.get("consent") is not True:
            raise ActError("chat: nothing was sent, because you have not consented – tick the box.")
        self._drafting = (theme, units, asked)
        self.asking.ask()
        return {"type": "asking", "theme": theme}

    def _propose_it(self, content: Mapping[str, Any]) -> dict[str, Any]:
        theme, units = self._ticked(content)
        reading = self._now(theme)
        words = draft(str(reading.theme(theme)["label"]), reading.terms(theme))
        self._propose(theme, words, units, field(content, "id", str), by_chat=False)
        return {"type": "theme_proposed", "theme": theme}

    def _failed(self, words: str) -> None:
        self._tell({"type": "lacking_failed", "message": words})

    def _now(self, theme: int) -> Reading:
        reading = self._reading
        here = set() if reading is None else {row["theme"] for row in self._rows(reading)}
        if reading is None or theme not in here - self._just_proposed:
            raise ActError("theme: the codebook no longer lacks this theme – open the proposals again.")
        return reading

    def _rows(self, reading: Reading) -> list[dict[str, Any]]:
        return [
            {
                **{name: row[name] for name in _OF_THEME},
                "terms": row["terms"],
                "sent_back": row["proposed"] == "answered",
            }
            for row in reading.rows()
            if row["verdict"] == "uncovered"
            and not row["dismissed"]
            and row["code"] is None
            and row["proposed"] != "waiting"
        ]

    def _look(self) -> None:
        """Read the study anew, and tell all views which themes the codebook lacks."""
        before = set(self._just_proposed)
        reading = self._reading = Reading(self._board())
        self._just_proposed -= before
        unsure = sum(not row["verdict"] and not row["dismissed"] for row in reading.rows())
        self._tell(
            {
                "type": "lacking",
                "rows": self._rows(reading),
                "n_themes": reading.n_themes,
                "n_unsure": unsure,
                "chats": self._chat is not None,
            }
        )

    def _ticked(self, content: Mapping[str, Any]) -> tuple[int, list[str]]:
        """Return the theme that is meant, and the texts of it that were ticked."""
        theme, units = field(content, "theme", int), content.get("units")
        asked = units if isinstance(units, list) else []
        own = set(self._now(theme).members(theme)["unit_id"])
        if not asked or not all(isinstance(one, str) and one in own for one in asked):
            raise ActError("quotes: no text of this theme is ticked – tick one that shows it.")
        return theme, asked

    def _messages(self, theme: int, units: Sequence[str]) -> list[dict[str, str]]:
        if self._chat is None:
            raise ActError("chat: there is no language model – open the widget with chat=….")
        reading = self._now(theme)
        return messages_for(reading.terms(theme), [reading.texts[one] for one in units])

    def _ask_chat(self) -> None:
        theme, units, asked = self._drafting
        words = drafted_by(asked_words(self._chat, self._messages(theme, units)))
        self._propose(theme, words, units, asked, by_chat=True)
        self._tell({"type": "theme_drafted", "theme": theme})

    def _propose(
        self, theme: int, words: Mapping[str, str], units: Sequence[str], asked: str, *, by_chat: bool
    ) -> None:
        viewer = self._now(theme).board.viewer
        self._save_by_id(
            asked,
            lambda: proposed(
                theme,
                words,
                units,
                by_chat=by_chat,
                coder=viewer,
                codebook=self._current(),
                act_id=asked,
            ),
        )
        self._just_proposed.add(theme)
        self.looking.ask()
