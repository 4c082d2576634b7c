"""The widget for reading, naming, merging and splitting themes, and for making codes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import pandas as pd
import traitlets

from sense7_qual import themes as models
from sense7_qual._arguments import check_arguments
from sense7_qual._present import PALETTE
from sense7_qual.acts import Act, undo
from sense7_qual.codebook import Code
from sense7_qual.errors import ActError, ArgumentError, TableError
from sense7_qual.widgets._base import STATIC, Asked, Later, acted, field, listen
from sense7_qual.widgets._codes import alike, code_made, described_book
from sense7_qual.widgets._lead import LeadWidget
from sense7_qual.widgets._themes.reading import (
    Reading,
    Remembered,
    Step,
    asked_words,
    cost_words,
    draft,
    drafted_by,
    foretold,
    messages_for,
    opposite,
    origin_words,
    proposed,
    step_asked,
    sub_id,
)

__all__ = ["ThemesWidget"]

_DOING: Final = {
    "hello": "reading the study",
    "act": "saving",
    "quotes": "reading the texts",
    "draft": "drafting a code",
    "selected": "reading the texts",
    "cost": "counting what would be sent",
}
_PAGE: Final = 50
_QUOTED: Final = 8
_SIDE: Final = 10_000  # of the map in the browser: its places are whole numbers


class ThemesWidget(LeadWidget):
    """Read the themes of a study in a list and on a map, and make codes of those the codebook lacks.

    A topic model proposes the themes (`themes.fit`), here or earlier (`Store.record_themes`). You name,
    merge, split and dismiss them; each step is recorded and can be undone. Labels and definitions of codes
    made of themes are drafts until you accept them. Counts cover only what `coder` may see: their own coding
    and finished texts of unblinded rounds. Widget traits hold no text, term or label, so a saved notebook
    contains none.

    Parameters
    ----------
    store : Store
        The study.
    coder : str
        Pseudonym of the lead; in PostgreSQL with a leading role.
    embed : callable, optional
        Maps texts to an array of vectors (`models.embedder`). Needed to compute themes here, to draw the map,
        and to compare a new code with the codebook by meaning.
    chat : callable, optional
        A language model (`models.chat`) that drafts a code. It is called only after consent to a form that
        says how many texts go where.
    without_round : bool
        Whether to count others' codings outside rounds too. Nothing unblinds such codings, so set it only
        once the coders are done.

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
    >>> widget = ThemesWidget(store, coder="lead")
    >>> widget, widget.selected
    (ThemesWidget('lead', 1 units, 0 themes), ())
    """

    _esm = STATIC / "themes.js"
    _css = STATIC / "themes.css"
    _doing = _DOING
    _work, _alone, _once = "themes", "records themes", ("act",)
    n_units = traitlets.Int(0).tag(sync=True)
    n_themes = traitlets.Int(0).tag(sync=True)

    def __init__(
        self,
        store: Any,
        *,
        coder: str,
        embed: Callable[[list[str]], Any] | None = None,
        chat: Callable[..., str] | None = None,
        without_round: bool = False,
    ) -> None:
        check_arguments(ThemesWidget.__init__, locals())
        self._embed = None if embed is None else Remembered(embed)
        self._chat = chat
        self._reading: Reading | None = None
        self._run: models.Themes | None = None
        self._map: pd.DataFrame | None = None
        self._selected: tuple[str, ...] = ()
        self._undo: list[list[Step]] = []
        self._made: dict[str, str] = {}
        self._wanted: tuple[float | None, bool] = (None, False)
        self._drafting: tuple[int, list[dict[str, str]]] = (0, [])
        self._looking = Later(self._look_anew, partial(self._failed, "undone", what="read"))
        self._fitting = Later(self._fit, partial(self._failed, "undone", what="run"))
        self._placing = Later(self._place, partial(self._failed, "undone", what="map"))
        self._asking = Later(self._ask_chat, partial(self._failed, "undone", what="chat"))
        super().__init__(store, coder=coder, without_round=without_round)
        listen(self)

    def __repr__(self) -> str:
        return f"ThemesWidget({self._coder!r}, {self.n_units} units, {self.n_themes} themes)"

    @property
    def selected(self) -> tuple[str, ...]:
        """Ids of the units selected on the map, e.g. for `CodingWidget(…, review=…)`."""
        with self._lock:
            return self._selected

    def _counts(self) -> Mapping[str, int]:
        n_themes = 0 if self._reading is None else self._reading.n_themes
        return {"n_units": len(self._study.units), "n_themes": n_themes}

    def _asked(self) -> Sequence[Asked]:
        return (
            {
                "hello": self._welcome,
                "themes": self._begin_to_look,
                "quotes": self._quotes,
                "map": self._of_the_map,
                "colours": self._colours,
                "select": self._select,
                "selected": self._of_the_selected,
                "run": self._begin_run,
                "discard": self._discard,
                "draft": self._draft,
                "cost": self._cost,
                "ask_chat": self._begin_chat,
                "alike": self._alike,
                "act": self._do,
            },
        )

    def _welcome(self, _: Mapping[str, Any]) -> dict[str, Any]:
        self._looking.ask()
        if self._embed is not None and self._map is None:
            self._placing.ask()
        return {
            "type": "welcome",
            "coder": self._coder,
            "work_id": self._work_id,
            "embeds": self._embed is not None,
            "chats": self._chat is not None,
            "mapped": self._map is not None,
            "n_selected": len(self._selected),
        }

    # the themes -------------------------------------------------------------------------------------

    def _acted(self) -> None:
        if self._reading is not None:
            self._looking.ask()

    def _begin_to_look(self, _: Mapping[str, Any]) -> dict[str, Any]:
        self._looking.ask()
        return {"type": "looking"}

    def _quotes(self, content: Mapping[str, Any]) -> dict[str, Any]:
        first = max(0, field(content, "first", int))
        return {"type": "quotes", **self._now().quotes(field(content, "theme", int), first)}

    def _look_anew(self) -> None:
        """Read the study again, and show its themes in all views."""
        reading = self._read()
        self._count()
        self._tell({"type": "themes", **self._shown(reading)})

    def _read(self) -> Reading:
        reading = self._reading = Reading(self._board())
        return reading

    def _now(self) -> Reading:
        return self._reading or self._read()

    def _up_to_date(self) -> Reading:
        """Return the last reading if the record has nothing newer, since reading all of it takes long."""
        reading = self._reading
        if reading is not None and reading.is_still(self._study.acts(), self._study.units):
            return reading
        return self._read()

    def _shown(self, reading: Reading) -> dict[str, Any]:
        book, themes = reading.board.codebook, reading.themes
        placed = None if themes is None else themes.assignments
        return {
            "recorded": reading.themes is not None,
            "rows": reading.rows(),
            "base": book.fingerprint,
            "words": reading.words,
            "can_undo": bool(self._undo),
            "n_outside": 0 if placed is None else int((placed["theme"] < 0).sum()),
            "n_later": 0 if placed is None else len(reading.units) - len(placed),
            "book": described_book(book, without=("examples", "counter_examples")),
            "palette": [{"light": light, "dark": dark} for light, dark in PALETTE],
        }

    # the map ----------------------------------------------------------------------------------------

    def _place(self) -> None:
        if self._embed is None:
            return
        self._map = models.text_map(
            self._study.units, embed=self._embed, progress=lambda *at: self._progress("mapping", *at)
        )
        self._tell({"type": "mapped"})

    def _progress(self, kind: str, stage: str, done: int, total: int) -> None:
        self._tell({"type": kind, "stage": stage, "done": done, "total": total})

    def _ids(self) -> list[str]:
        return [] if self._map is None else self._map["unit_id"].tolist()

    def _of_the_map(self, _: Mapping[str, Any]) -> dict[str, Any]:
        """Return the places of the texts as whole numbers; −1 for those without one."""
        if self._map is None:
            return {"type": "map", "side": _SIDE, "x": [], "y": []}
        whole = ((self._map[["x", "y"]] + 1) / 2 * _SIDE).round().fillna(-1).astype(int)
        return {"type": "map", "side": _SIDE, "x": whole["x"].tolist(), "y": whole["y"].tolist()}

    def _colours(self, content: Mapping[str, Any]) -> dict[str, Any]:
        by = field(content, "by", str)
        return {"type": "colours", "by": by, "values": self._now().colours(self._ids(), by)}

    def _select(self, content: Mapping[str, Any]) -> dict[str, Any]:
        places, ids = field(content, "places", list), self._ids()
        if not all(type(one) is int and 0 <= one < len(ids) for one in places):
            raise ActError("select: these places are not on the map – reload the page.")
        there = set(self._study.units["unit_id"])  # a participant may have withdrawn since
        self._selected = tuple(ids[one] for one in places if ids[one] in there)
        return {"type": "chosen", "n": len(self._selected)}

    def _of_the_selected(self, content: Mapping[str, Any]) -> dict[str, Any]:
        reading, first = self._now(), max(0, field(content, "first", int))
        theme_of = dict(zip(self._selected, reading.colours(list(self._selected), ""), strict=True))
        rows = [
            {"unit_id": one, "text": reading.texts.get(one, ""), "theme": theme_of[one]}
            for one in self._selected[first : first + _PAGE]
        ]
        return {"type": "selected", "first": first, "n": len(self._selected), "rows": rows}

    # a run ------------------------------------------------------------------------------------------

    def _begin_run(self, content: Mapping[str, Any]) -> dict[str, Any]:
        granularity = content.get("granularity")
        if self._embed is None:
            raise ActError(
                "run: there is no embedding model – open the widget with embed=qual.models.embedder()."
            )
        if granularity is not None and (type(granularity) not in (int, float) or not granularity > 0):
            raise ActError("run: the granularity must be above 0 – leave it empty, or try 2.")
        wanted = None if granularity is None else float(granularity)
        self._wanted = (wanted, content.get("expected") is True)
        self._fitting.ask()
        return {"type": "begun"}

    def _fit(self) -> None:
        if self._embed is None:
            return
        self._progress("running", "embed", 0, 0)
        granularity, expected = self._wanted
        run = models.fit(
            self._study.units,
            embed=self._embed,
            granularity=granularity,
            codebook=self._now().board.codebook if expected else None,
            progress=lambda *at: self._progress("running", *at),
        )
        with self._lock:
            self._run = run
            reading = self._now()
            numbers = models.match_recorded(run, reading.acts)
        labels = {row["theme"]: row["label"] for row in reading.rows()}
        self._tell({"type": "ran", **foretold(run, numbers, labels)})

    def _discard(self, _: Mapping[str, Any]) -> dict[str, Any]:
        self._run = None
        return {"type": "discarded"}

    # a code -----------------------------------------------------------------------------------------

    def _alike(self, content: Mapping[str, Any]) -> dict[str, Any]:
        label, definition = field(content, "label", str), field(content, "definition", str)
        embed = self._embed if content.get("meaning") is True else None
        return {"type": "alike", **alike(self._current(), label, definition, embed=embed)}

    def _draft(self, content: Mapping[str, Any]) -> dict[str, Any]:
        reading, theme = self._now(), field(content, "theme", int)
        label = str(reading.theme(theme)["label"])
        rows = reading.quotes(theme, 0)["rows"] + reading.quotes(theme, 5)["rows"]
        return {
            "type": "draft",
            "theme": theme,
            "quotes": rows[:_QUOTED],
            **draft(label, reading.terms(theme)),
        }

    def _cost(self, content: Mapping[str, Any]) -> dict[str, Any]:
        theme, messages, n = self._messages(content)
        return {"type": "cost", "theme": theme, "words": cost_words(self._chat, messages, n)}

    def _begin_chat(self, content: Mapping[str, Any]) -> dict[str, Any]:
        theme, messages, _ = self._messages(content)
        if content.get("consent") is not True:
            raise ActError("chat: nothing was sent, because you have not consented – tick the box.")
        self._drafting = (theme, messages)
        self._asking.ask()
        return {"type": "asking", "theme": theme}

    def _messages(self, content: Mapping[str, Any]) -> tuple[int, list[dict[str, str]], int]:
        reading, theme = self._now(), field(content, "theme", int)
        reading.theme(theme)
        if self._chat is None:
            raise ActError("chat: there is no language model – open the widget with chat=….")
        texts = self._quoted(reading, theme, content.get("units"))
        return theme, messages_for(reading.terms(theme), texts), len(texts)

    def _quoted(self, reading: Reading, theme: int, units: object) -> list[str]:
        """Return the texts of the units that were ticked, which are of the theme."""
        asked = units if isinstance(units, list) else []
        own = set(reading.members(theme)["unit_id"])
        if not all(isinstance(one, str) and one in own for one in asked):
            raise ActError(
                "quotes: the theme changed, and some of these texts are no longer in it – choose again."
            )
        return [reading.texts[one] for one in asked]

    def _ask_chat(self) -> None:
        theme, messages = self._drafting
        self._tell({"type": "drafted", "theme": theme, **drafted_by(asked_words(self._chat, messages))})

    # what is recorded -------------------------------------------------------------------------------

    def _do(self, content: Mapping[str, Any]) -> dict[str, Any]:
        asked, act_id = field(content, "act", dict), field(content, "id", str)
        try:
            done = self._done_as(asked.get("kind"), asked, act_id)
        except (ArgumentError, TableError) as error:  # sent again it would be no better
            raise ActError(str(error)) from None
        self._looking.ask()
        return {"type": "done", "kind": asked.get("kind"), **done}

    def _done_as(self, kind: object, asked: Mapping[str, Any], act_id: str) -> dict[str, Any]:
        match kind:
            case "edit_theme":
                return self._edit_theme(asked, act_id)
            case "undo":
                return self._take_back(act_id)
            case "record_themes":
                return self._record(act_id)
            case "revise":
                return self._make_code(asked, act_id)
            case "propose":
                return self._propose(asked, act_id)
            case _:
                raise ActError(f"act: there is no step {str(kind)[:40]!r} on themes – reload the page.")

    def _edit_theme(self, asked: Mapping[str, Any], act_id: str) -> dict[str, Any]:
        step = step_asked(asked, self._now(), self._selected)
        self._undo.append(self._carry_out([step], act_id))
        return {"theme": step.theme, "what": step.what}

    def _carry_out(self, steps: Sequence[Step], act_id: str) -> list[Step]:
        """Save each step once, and return what takes them back."""
        back: list[Step] = []
        for number, step in enumerate(steps):
            one = sub_id(act_id, number)
            reading = self._up_to_date()
            if any(act.act_id == one for act in reading.acts):
                continue  # saved before the kernel or the answer was lost
            row = {} if step.what == "merge_into" else reading.theme(step.theme)
            had = _numbers(reading)
            self._save_by_id(one, partial(self._edit, step, one, reading))
            has = _numbers(self._read()) if step.what == "parts" else had  # only a split makes numbers
            back = [*opposite(step, row, (had, has)), *back]
        return back

    def _edit(self, step: Step, act_id: str, reading: Reading) -> Act:
        if step.what == "withdraw":
            made = next(act for act in reading.acts if act.act_id == step.value)
            return undo(made, codebook=self._current(), act_id=act_id)
        act = models.edit(
            step.theme,
            reading.acts,
            reading.units,
            coder=self._coder,
            codebook=self._current(),
            **{step.what: step.value},
        )
        return replace(act, act_id=act_id)

    def _take_back(self, act_id: str) -> dict[str, Any]:
        if not self._undo:
            raise ActError("undo: this widget has no step to undo – undo older ones by their opposite.")
        steps = self._undo[-1]
        self._carry_out(steps, act_id)
        self._undo.pop()
        return {"theme": steps[0].theme if steps else 0, "what": "undo"}

    def _record(self, act_id: str) -> dict[str, Any]:
        reading = self._read()
        if not any(act.act_id == act_id for act in reading.acts):
            run = self._run
            if run is None:
                raise ActError("themes: there is no run to record – compute the themes again.")
            self._save_by_id(
                act_id,
                lambda: replace(
                    models.record(run, reading.acts, coder=self._coder, codebook=self._current())[0],
                    act_id=act_id,
                ),
            )
        self._run = None
        self._undo.clear()
        return {"theme": 0, "what": "record"}

    def _make_code(self, asked: Mapping[str, Any], act_id: str) -> dict[str, Any]:
        """Put the code into the codebook, where it is not there yet, and link the theme to it."""
        reading, theme = self._now(), field(asked, "theme", int)
        row = reading.theme(theme)
        if act_id not in self._made:
            texts = self._quoted(reading, theme, asked.get("units"))
            self._made[act_id] = self._added(asked, theme, int(row["n_units"]), texts)
            acted()
        self._undo.append(self._carry_out([Step(theme, "code", self._made[act_id])], act_id))
        return {"theme": theme, "what": "code", "code": self._made[act_id]}

    def _propose(self, asked: Mapping[str, Any], act_id: str) -> dict[str, Any]:
        """Propose a code of a theme: it waits in the codebook widget until a person answers it."""
        reading, theme = self._up_to_date(), field(asked, "theme", int)
        reading.theme(theme)
        self._quoted(reading, theme, asked.get("units"))
        if not any(act.act_id == act_id for act in reading.acts):
            words = {name: field(asked, name, str) for name in ("label", "definition")}
            self._save_by_id(
                act_id,
                lambda: proposed(
                    theme,
                    words,
                    field(asked, "units", list),
                    by_chat=asked.get("by_chat") is True,
                    coder=self._coder,
                    codebook=self._current(),
                    act_id=act_id,
                ),
            )
        self._undo.append([Step(theme, "withdraw", act_id)])
        return {"theme": theme, "what": "propose"}

    def _added(self, asked: Mapping[str, Any], theme: int, n_units: int, texts: list[str]) -> str:
        before = self._current()
        label, definition = field(asked, "label", str), field(asked, "definition", str)
        by_chat = asked.get("by_chat") is True
        source = origin_words(theme, by_chat=by_chat) + (", accepted by a person" if by_chat else "")
        same = [one for one in before if one.label == label.strip() and one.source == source]
        if same:  # added before the kernel or the answer was lost
            return same[0].id
        if before.fingerprint != asked.get("base"):
            self._looking.ask()
            raise ActError(
                "codebook: somebody else revised it after this form was opened. Nothing was saved, and what "
                "you wrote is kept – check the similar codes and send it again."
            )
        code: Code = code_made(
            before,
            self._study.codebooks.values(),
            label=label,
            definition=definition,
            examples=tuple(texts),
            source=source,
            origin="model",
        )
        self._study.revise(
            replace(before, codes=(*before.codes, code)),
            coder=self._coder,
            why=f"Made of theme {theme}, {n_units} texts that a topic model put together.",
        )
        return code.id


def _numbers(reading: Reading) -> set[int]:
    return set() if reading.themes is None else {int(one) for one in reading.themes.summary["theme"]}
