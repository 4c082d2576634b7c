"""The widget for a model that codes: prompts, consent, five texts, all texts, what is missing, the record."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import pandas as pd
import traitlets

from sense7_qual._arguments import check_arguments
from sense7_qual._reasons import reason_words
from sense7_qual.acts import check_coder
from sense7_qual.coders import Asking, Run, prompts
from sense7_qual.errors import ActError, ArgumentError
from sense7_qual.frames import is_model
from sense7_qual.widgets._base import STATIC, Asked, Later, acted, desk_of, field, listen
from sense7_qual.widgets._codes import described_book
from sense7_qual.widgets._lead import LeadWidget
from sense7_qual.widgets._lead_view import Board
from sense7_qual.widgets._offsets import turns, utf16_units

__all__ = ["ModelCoderWidget"]

_DOING: Final = {"hello": "reading the study", "text": "reading the text", "missing": "counting the answers"}
_BASE: Final = "base"
_FEW: Final = 5
_LISTED: Final = 50
_REPLY_TOKENS: Final = 60
_SECONDS: Final = 0.2  # between two messages about how far it is


class _Stopped(Exception):
    """The person pressed Stop."""


class ModelCoderWidget(LeadWidget):
    """Let a language model code: read its prompts, try five texts, code all, record.

    Nothing is sent before you have ticked the consent, which says how many prompts go where. Coding runs in
    the background and can be stopped; what was answered stays, and the rest is asked later (also by another
    kernel, if `chat` has a cache). The model's answers are shown only on texts that `coder` has finished or
    need not code, so that they cannot influence a coding. Widget traits hold no text, prompt or answer, so a
    saved notebook contains none.

    Parameters
    ----------
    store : Store
        The study.
    coder : str
        Pseudonym of the lead; in PostgreSQL with a leading role.
    chat : callable, optional
        A language model (`models.chat`, `models.local_chat`) or your own function, as for `coders.code`.
        Without one the prompts can be read.
    model : str
        Pseudonym of the model in the record, ``model-…``.
    plan : DataFrame, optional
        Repetitions that show how steady it is (`coders.variants`).
    with_context : bool
        Whether the model also reads what was said before a text.
    n_parallel : int
        Prompts asked at the same time, 1 to 16.
    lead_codes : bool
        Whether `coder` codes too, in a study that assigns no texts: then they see the model's answer on a
        text only after they have finished it.

    Raises
    ------
    ArgumentError
        `store` is not an open study.
    ActError
        `coder` is not a valid pseudonym.
    StoreError
        The PostgreSQL role is a coder's.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> units = pd.DataFrame({"unit_id": ["m1"], "text": ["It listened."], "document_id": ["d1"],
    ...                       "case_id": ["p1"], "position": [1]})
    >>> from sense7_qual.codebook import Codebook
    >>> from sense7_qual.store import Store
    >>> store = Store.create(Path(tempfile.mkdtemp()) / "s", units=units, codebook=Codebook.read("sense7"))
    >>> widget = ModelCoderWidget(store, coder="lead")
    >>> widget, widget.run
    (ModelCoderWidget('lead', 'model-a', 0 answers), None)
    """

    _esm = STATIC / "modelcoder.js"
    _css = STATIC / "modelcoder.css"
    _doing = _DOING
    _work, _alone, _once = "modelcoder", "records what a model coded", ("try", "code", "stop", "record")
    n_answers = traitlets.Int(0).tag(sync=True)

    def __init__(
        self,
        store: Any,
        *,
        coder: str = "lead",
        chat: Callable[..., str] | None = None,
        model: str = "model-a",
        plan: pd.DataFrame | None = None,
        with_context: bool = True,
        n_parallel: int = 1,
        lead_codes: bool = True,
    ) -> None:
        check_arguments(ModelCoderWidget.__init__, locals())
        if not is_model(check_coder(model)):
            raise ArgumentError(
                f"ModelCoderWidget: expected the name of a model, model-… – found {model!r} – call it "
                "'model-a', say."
            )
        self._chat, self._model, self._n_parallel, self._lead_codes = chat, model, n_parallel, lead_codes
        self._how: dict[str, Any] = {"coder": model, "plan": plan, "with_context": with_context}
        self._asking: Asking | None = None
        self._hidden: set[str] = set()
        self._run: Run | None = None
        self._offered: dict[str, tuple[str, int]] = {}
        self._cost, self._busy, self._recorded = "", "", False
        self._agreed: tuple[str, int] = ("", 0)
        self._only: list[str] | None = None
        self._stop, self._told_at, self._going = False, 0.0, (0, 0)
        self._renewing = threading.Lock()
        self._preparing, self._coding, self._recording = (
            Later(run, partial(self._failed, "undone"), doing=doing)
            for run, doing in (
                (self._prepare, "reading the study"),
                (self._code, "asking the model"),
                (self._record, "recording"),
            )
        )
        super().__init__(store, coder=coder, without_round=False)
        listen(self)

    def __repr__(self) -> str:
        return f"ModelCoderWidget({self._coder!r}, {self._model!r}, {self.n_answers:,} answers)"

    @property
    def run(self) -> Run | None:
        """What the model answered, once everything was asked; None before."""
        with self._lock:
            return self._run

    def _counts(self) -> Mapping[str, int]:
        return {"n_answers": 0 if self._asking is None else len(self._asking.answers)}

    def _asked(self) -> Sequence[Asked]:
        return (
            {
                "hello": self._welcome,
                "text": self._text,
                "missing": self._missing,
                "try": self._begin_to_try,
                "code": self._begin_to_code,
                "stop": self._end,
                "record": self._begin_to_record,
            },
        )

    def _acted(self) -> None:
        self._preparing.ask()

    # what is shown ----------------------------------------------------------------------------------

    def _welcome(self, _: Mapping[str, Any]) -> dict[str, Any]:
        self._preparing.ask()
        book = self._current()
        return {
            "type": "welcome",
            "coder": self._coder,
            "work_id": self._work_id,
            "model": self._model,
            "chats": self._chat is not None,
            "n_texts": len(self._study.units),
            "codebook": {**described_book(book), "version": book.version, "facets": []},
        }

    def _text(self, content: Mapping[str, Any]) -> dict[str, Any]:
        units, place = self._study.units, field(content, "place", int)
        code = field(content, "code", str)
        if not 0 <= place < len(units) or code not in self._codes:
            raise ActError("text: the study has no such text or code any more – reload the page.")
        unit = units.iloc[[place]]
        unit_id, text = str(unit["unit_id"].iloc[0]), str(unit["text"].fillna("").iloc[0])
        asked = prompts(unit, self._study.codebook, with_context=self._how["with_context"])
        asked = asked.loc[asked["code"] == code, "messages"]
        hidden = unit_id in self._hidden
        return {
            "type": "text",
            "place": place,
            "code": code,
            "unit_id": unit_id,
            "text": text,
            "context": turns(unit["context"].iloc[0] if "context" in unit else None),
            "messages": [each for messages in asked for each in self._sent(messages)],
            "hidden": hidden,
            "answer": None if hidden else self._answered(unit_id, code, text),
            "verdicts": {} if hidden else {one: self._verdict(unit_id, one) for one in self._codes},
        }

    @property
    def _codes(self) -> list[str]:
        return [code.id for code in self._study.codebook.codable]

    def _sent(self, messages: Any) -> Any:
        """Return messages as the chat sends them: it may redact them."""
        as_sent = getattr(self._chat, "as_sent", None)
        return messages if as_sent is None else as_sent(messages)

    def _read(self, unit_id: str, code: str) -> Any:
        return None if self._asking is None else self._asking.answers.get((_BASE, unit_id, code))

    def _verdict(self, unit_id: str, code: str) -> str:
        read = self._read(unit_id, code)
        return "" if read is None else str(read.verdict) if read.reason is None else "missing"

    def _answered(self, unit_id: str, code: str, text: str) -> dict[str, Any] | None:
        read = self._read(unit_id, code)
        if read is None:
            return None
        span = (None, None) if read.start is None else utf16_units(text, read.start, read.end)
        return {
            "verdict": self._verdict(unit_id, code),
            "why": read.why or "",
            "start": span[0],
            "end": span[1],
            "reason": "" if read.reason is None else reason_words(read.reason),
        }

    def _missing(self, _: Mapping[str, Any]) -> dict[str, Any]:
        """Return the missing answers by reason; on texts that are still to be coded, their number alone."""
        units = self._study.units
        places = {unit_id: place for place, unit_id in enumerate(units["unit_id"])}
        found: dict[str, list[tuple[str, str]]] = {}
        for (variant, unit_id, code), read in self._answers():
            if variant == _BASE and read.reason is not None and unit_id in places:
                found.setdefault(str(read.reason), []).append((unit_id, code))
        blank = units.loc[units["text"].fillna("").str.strip() == "", "unit_id"]
        if len(blank):
            found["blank_text"] = [(unit_id, code) for unit_id in blank for code in self._codes]
        rows = []
        for reason, where in sorted(found.items(), key=lambda one: -len(one[1])):
            seen = sorted(
                (one for one in where if one[0] not in self._hidden), key=lambda one: places[one[0]]
            )
            texts = [{"place": places[unit_id], "unit_id": unit_id, "code": code} for unit_id, code in seen]
            rows.append(
                {
                    "reason": reason,
                    "words": reason_words(reason),
                    "n": len(where),
                    "n_hidden": len(where) - len(seen),
                    "texts": texts[:_LISTED],
                }
            )
        return {"type": "missing", "rows": rows}

    def _answers(self) -> list[tuple[Any, Any]]:
        return [] if self._asking is None else list(self._asking.answers.items())

    def _show(self) -> None:
        """Show all views how far it is."""
        asking, base = self._asking, [read for key, read in self._answers() if key[0] == _BASE]
        self._told_at = time.monotonic()
        self._tell(
            {
                "type": "state",
                "ready": asking is not None,
                "doing": self._busy,
                "done": self._going[0],
                "total": self._going[1],
                "n_prompts": 0 if asking is None else len(asking.prompts),
                "n_answers": self._counts()["n_answers"],
                "n_hidden": len(self._hidden),
                "n_missing": sum(read.reason is not None for read in base),
                "n_tokens": 0 if asking is None else sum(asking.tokens),
                "cost": self._cost,
                "complete": self._run is not None,
                "recorded": self._recorded,
            }
        )

    # what is asked of the model ---------------------------------------------------------------------

    def _prepare(self) -> None:
        with self._renewing:
            if not self._busy:
                self._renew()
        self._show()
        self._count()

    def _renew(self) -> None:
        """Read the study again: texts, codebook, and on which texts answers must not be seen yet."""
        desk_of(self._study).use_current_codebook()
        asking = Asking(self._study.units, self._study.codebook, **self._how)
        if self._asking is not None:
            asking.take(self._asking)
        self._hidden = _to_finish(self._board(), self._coder, codes=self._lead_codes)
        self._recorded = self._model in self._study.coders
        self._asking = asking
        self._settle()

    def _settle(self) -> None:
        """Say what is left to be asked, and make the run where nothing is."""
        asking = self._asking
        if asking is None:
            return
        whole = 0 < len(asking.prompts) == len(asking.answers)
        self._run = asking.run() if whole else None
        self._cost, offer = _cost(self._chat, asking.left)
        self._offered[self._cost] = offer

    def _begin_to_try(self, content: Mapping[str, Any]) -> dict[str, Any]:
        asking = self._agree(content)
        ids = pd.Series(asking.left["unit_id"].unique())
        drawn = ids.sample(len(ids), random_state=0)  # the same ones each time, and any order is as good
        few = sorted(drawn, key=lambda unit_id: unit_id in self._hidden)[:_FEW]
        places = {unit_id: place for place, unit_id in enumerate(self._study.units["unit_id"])}
        self._begin("trying", few)
        return {"type": "begun", "places": [places[one] for one in few if one in places]}

    def _begin_to_code(self, content: Mapping[str, Any]) -> dict[str, Any]:
        self._agree(content)
        self._begin("coding", None)
        return {"type": "begun", "places": []}

    def _agree(self, content: Mapping[str, Any]) -> Asking:
        """Refuse to send what the person has not consented to, in the words that were on the screen."""
        if self._chat is None:
            raise ActError("chat: there is no language model – open the widget with chat=….")
        if self._busy or self._asking is None:
            raise ActError("chat: the widget is busy – wait until it is done, or stop it.")
        words = field(content, "consent", str)
        if not words or words not in self._offered:
            raise ActError("chat: nothing was sent, because you have not consented – tick the box.")
        self._agreed = self._offered[words]
        return self._asking

    def _begin(self, doing: str, only: list[str] | None) -> None:
        self._busy, self._only, self._stop, self._going = doing, only, False, (0, 0)
        self._show()
        self._coding.ask()

    def _code(self) -> None:
        try:
            with self._renewing:
                self._renew()
            asking, (consent, most) = self._asking, self._agreed
            if asking is None or self._chat is None:
                return
            if len(asking.left) > most:
                raise ActError(
                    "chat: nothing was sent, because the codebook changed since you consented – read what "
                    "would be sent now, and tick the box again."
                )
            chat: Any = replace(self._chat, consent=consent) if consent else self._chat  # type: ignore[type-var]
            asking.ask(chat, only=self._only, n_parallel=self._n_parallel, progress=self._progress)
        except _Stopped:
            pass
        finally:
            self._busy = ""
            with self._renewing:
                self._settle()
            self._show()
            self._count()

    def _progress(self, done: int, total: int) -> None:
        self._going = (done, total)
        if self._stop and done < total:
            raise _Stopped
        if time.monotonic() - self._told_at > _SECONDS:
            self._show()

    def _end(self, _: Mapping[str, Any]) -> dict[str, Any]:
        self._stop = True
        return {"type": "stopping"}

    # what is recorded -------------------------------------------------------------------------------

    def _begin_to_record(self, _: Mapping[str, Any]) -> dict[str, Any]:
        if self._busy or self._run is None:
            raise ActError("record: the model has not answered everything yet – code all texts first.")
        self._busy, self._going = "recording", (0, 0)
        self._show()
        self._recording.ask()
        return {"type": "begun", "places": []}

    def _record(self) -> None:
        try:
            if self._run is not None:
                self._study.record_model(self._run, coder=self._coder)
                self._recorded = True
        finally:
            self._busy = ""
            self._show()
        acted()


def _to_finish(board: Board, coder: str, *, codes: bool) -> set[str]:
    """Return the texts that a person has yet to finish; with `codes`, all where none are assigned."""
    rounds = board.plan.loc[board.plan["coder"] == coder, "round"]
    names = {None if pd.isna(one) else str(one) for one in rounds}
    if board.plan.empty and codes:
        names = {None}
    return {
        unit_id
        for name in names
        for unit_id in set(board.planned_units(name, coder)) - board.finished_units(name, coder)
    }


def _cost(chat: Any, left: pd.DataFrame) -> tuple[str, tuple[str, int]]:
    """Return in words what would be sent where, and the consent to that with the most prompts it is for."""
    if chat is None or left.empty:
        return "", ("", 0)
    if hasattr(chat, "estimate"):
        cost = chat.estimate(left, reply_tokens=_REPLY_TOKENS)
        return f"{cost}.", (cost.consent, len(left))
    n = sum(len(message["content"]) for messages in left["messages"] for message in messages)
    words = (
        f"{len(left):,} prompts ({n:,} characters) would be passed to your chat function. Where it sends "
        "them is not known here."
    )
    return words, ("", len(left))
