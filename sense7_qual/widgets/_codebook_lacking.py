"""The themes that the codebook lacks, in the tray: each is proposed as a code, also as a model drafts it.

What is proposed is an act like a coder's (`acts.propose`), with the theme and the model as its origin. It
waits in the tray, and is no code until a person takes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, QualError
from sense7_qual.widgets._desk import field
from sense7_qual.widgets._later import Later
from sense7_qual.widgets._overview_board import Board
from sense7_qual.widgets._themes_edits import (
    asked_words,
    cost_words,
    draft,
    drafted_by,
    messages_for,
    proposed,
)
from sense7_qual.widgets._themes_reading import Reading

__all__ = ["LackingThemes"]

_QUOTED: Final = 5
_SHOWN: Final = ("theme", "label", "n_units", "n_cases", "stable", "coverage")


class LackingThemes:
    """The themes that no code covers, as one person may see it.

    Attributes
    ----------
    study : Store
        The study.
    viewer : str
        Whose tray it is.
    without_round : bool
        Whether what others coded in no round is counted.
    current : callable
        The current codebook.
    chat : callable or None
        A language model that drafts a code.
    tell : callable
        Tells all views something.
    save_once : callable
        Saves the act of this id, made where it is new.
    """

    def __init__(
        self,
        study: Any,
        *,
        viewer: str,
        without_round: bool,
        current: Callable[[], Codebook],
        chat: Callable[..., str] | None,
        tell: Callable[[Mapping[str, Any]], None],
        save_once: Callable[[str, Callable[[], Act]], Act],
    ) -> None:
        self._study, self._viewer, self._without_round = study, viewer, without_round
        self._current, self._chat, self._tell, self._save_once = current, chat, tell, save_once
        self._reading: Reading | None = None
        self._just_proposed: set[int] = set()
        self._drafting: tuple[int, list[str], str] = (0, [], "")
        self.looking = Later(lambda: self._or_say(self._look))
        self.asking = Later(lambda: self._or_say(self._ask_chat))

    def __repr__(self) -> str:
        return f"LackingThemes({self._reading!r})"

    def answer(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Answer what a browser asks of these themes."""
        if content["type"] == "lacking":
            self.looking.ask()
            return {"type": "looking"}
        theme = field(content, "theme", int)
        reading = self._now(theme)
        if content["type"] == "theme":
            return {"type": "theme", "theme": theme, "quotes": reading.quotes(theme, 0)["rows"][:_QUOTED]}
        units = self._units(theme, content.get("units"))
        asked = field(content, "id", str)
        if content["type"] == "propose_theme":
            label, terms = str(reading.theme(theme)["label"]), reading.terms(theme)
            self._propose(theme, draft(label, terms), units, asked, by_chat=False)
            return {"type": "theme_proposed", "theme": theme}
        messages = self._messages(theme, units)
        if content["type"] == "theme_cost":
            words = cost_words(self._chat, messages, len(units))
            return {"type": "theme_cost", "theme": theme, "words": words}
        if content.get("consent") is not True:
            raise ActError("chat: expected your consent – found none; nothing was sent – tick the box.")
        self._drafting = (theme, units, asked)
        self.asking.ask()
        return {"type": "asking", "theme": theme}

    def _now(self, theme: int) -> Reading:
        reading = self._reading
        here = set() if reading is None else {row["theme"] for row in self._rows(reading)}
        if reading is None or theme not in here - self._just_proposed:
            raise ActError(
                "theme: expected one that the codebook lacks – found another – open the proposals again."
            )
        return reading

    def _rows(self, reading: Reading) -> list[dict[str, Any]]:
        return [
            {**{name: row[name] for name in _SHOWN}, "terms": row["terms"],
             "sent_back": row["proposed"] == "answered"}
            for row in reading.rows()
            if row["verdict"] == "uncovered" and not row["dismissed"] and row["code"] is None
            and row["proposed"] != "waiting"
        ]  # fmt: skip

    def _look(self) -> None:
        """Read the study anew, and tell all views which themes the codebook lacks."""
        before = set(self._just_proposed)
        board = Board(
            self._study, viewer=self._viewer, codebook=self._current(), without_round=self._without_round
        )
        reading = self._reading = Reading(board, list(self._study.acts()))
        self._just_proposed -= before
        unsure = sum(not row["verdict"] and not row["dismissed"] for row in reading.rows())
        self._tell(
            {"type": "lacking", "rows": self._rows(reading), "n_themes": reading.n_themes,
             "n_unsure": unsure, "chats": self._chat is not None}
        )  # fmt: skip

    def _units(self, theme: int, units: object) -> list[str]:
        """Return the texts that were ticked, which are of the theme."""
        asked = units if isinstance(units, list) else []
        reading = self._now(theme)
        own = set(reading.members(theme)["unit_id"])
        if not asked or not all(isinstance(one, str) and one in own for one in asked):
            raise ActError(
                "quotes: expected texts of the theme that show it – found none, or others – tick one of them."
            )
        return asked

    def _messages(self, theme: int, units: Sequence[str]) -> list[dict[str, str]]:
        if self._chat is None:
            raise ActError("chat: expected a language model – found none – open the widget with chat=….")
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
        self._save_once(
            asked,
            lambda: proposed(
                theme, words, units, by_chat=by_chat, coder=self._viewer, codebook=self._current(),
                act_id=asked,
            ),
        )  # fmt: skip
        self._just_proposed.add(theme)
        self.looking.ask()

    def _or_say(self, do: Callable[[], None]) -> None:
        """Do it in a thread, and tell the views where it fails: an error there would vanish."""
        try:
            do()
        except QualError as error:
            self._tell({"type": "lacking_failed", "message": str(error)})
        except Exception as error:  # noqa: BLE001 – its text may hold quotes
            self._tell({"type": "lacking_failed", "message": f"it failed ({type(error).__name__})"})
