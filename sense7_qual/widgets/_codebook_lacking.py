"""The themes that the codebook lacks, in the tray: each is proposed as a code, also as a model drafts it.

What is proposed is an act like a coder's (`acts.propose`), with the theme and the model as its origin. It
waits in the tray, and is no code until a person takes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError
from sense7_qual.widgets._desk import Asked, field
from sense7_qual.widgets._later import Later
from sense7_qual.widgets._lead_view import Board
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
    board : callable
        Reads what that person may see of where the study stands now.
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
        board: Callable[[], Board],
        current: Callable[[], Codebook],
        *,
        chat: Callable[..., str] | None,
        tell: Callable[[Mapping[str, Any]], None],
        save_once: Callable[[str, Callable[[], Act]], Act],
    ) -> None:
        self._board, self._current, self._chat = board, current, chat
        self._tell, self._save_once = tell, save_once
        self._reading: Reading | None = None
        self._just_proposed: set[int] = set()
        self._drafting: tuple[int, list[str], str] = (0, [], "")
        self.looking, self.asking = (Later(run, self._failed) for run in (self._look, self._ask_chat))
        self.asked: Asked = {
            "lacking": self._lacking, "theme": self._theme, "theme_cost": self._cost,
            "theme_chat": self._chat_about, "propose_theme": self._propose_it,
        }  # fmt: skip

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
            raise ActError("chat: expected your consent – found none; nothing was sent – tick the box.")
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
        reading = self._reading = Reading(self._board())
        self._just_proposed -= before
        unsure = sum(not row["verdict"] and not row["dismissed"] for row in reading.rows())
        self._tell(
            {"type": "lacking", "rows": self._rows(reading), "n_themes": reading.n_themes,
             "n_unsure": unsure, "chats": self._chat is not None}
        )  # fmt: skip

    def _ticked(self, content: Mapping[str, Any]) -> tuple[int, list[str]]:
        """Return the theme that is meant, and the texts of it that were ticked."""
        theme, units = field(content, "theme", int), content.get("units")
        asked = units if isinstance(units, list) else []
        own = set(self._now(theme).members(theme)["unit_id"])
        if not asked or not all(isinstance(one, str) and one in own for one in asked):
            raise ActError(
                "quotes: expected texts of the theme that show it – found none, or others – tick one of them."
            )
        return theme, asked

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
        viewer = self._now(theme).board.viewer
        self._save_once(
            asked,
            lambda: proposed(
                theme, words, units, by_chat=by_chat, coder=viewer, codebook=self._current(),
                act_id=asked,
            ),
        )  # fmt: skip
        self._just_proposed.add(theme)
        self.looking.ask()
