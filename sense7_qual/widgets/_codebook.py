"""The widget in which the lead revises the codebook: a draft, what it makes stale, and saving it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import pandas as pd
import traitlets

from sense7_qual._arguments import check_arguments
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, ArgumentError, QualError
from sense7_qual.widgets import _codebook_tray as tray
from sense7_qual.widgets._codebook_conflict import compared
from sense7_qual.widgets._codebook_draft import Draft, Step
from sense7_qual.widgets._codebook_lacking import LackingThemes
from sense7_qual.widgets._codebook_preview import preview
from sense7_qual.widgets._codebook_saving import (
    as_kept,
    from_file,
    left_unsaved,
    new_draft,
    put_together,
    queues,
    resumed,
    revised,
    still_typed,
)
from sense7_qual.widgets._codebook_seen import seen
from sense7_qual.widgets._codebook_shown import shown_draft, shown_preview, shown_revisions
from sense7_qual.widgets._codebook_sight import Sight, answer_to
from sense7_qual.widgets._codebook_sorting import SplitTexts, ThemesOfTexts
from sense7_qual.widgets._desk import STATIC, Desk, acted, field
from sense7_qual.widgets._later import Later
from sense7_qual.widgets._memo import as_text
from sense7_qual.widgets._new_code import alike
from sense7_qual.widgets._study import check_lead, desk_of
from sense7_qual.widgets._unsaved import Unsaved

__all__ = ["CodebookWidget"]

_NEEDS: Final = (
    "units", "codebook", "codebooks", "acts", "append", "revise", "desk",
)  # fmt: skip
_DOING: Final = {
    "save": "saving", "sort": "saving", "send_back": "saving", "quotes": "reading the quotes",
    "step": "changing the draft", "keep": "keeping what you began",
    "compare": "comparing the versions", "sorting": "reading the texts", "propose_theme": "saving",
}  # fmt: skip


class CodebookWidget(Desk):
    """Revise the codebook of a study: change, merge, split, retire codes, and see first what becomes stale.

    What is changed is a draft until it is saved. It is checked step by step, every step can be taken
    back. A study folder keeps it, and what is typed in a field, so that both outlive the kernel and the
    page: the next widget for the same study and `coder` begins with them. PostgreSQL keeps no drafts: there
    the page keeps the steps for a kernel that comes, and the kernel for a page that is loaded anew. Of the
    coding it counts and quotes only what `coder` may see: their own, and finished texts of rounds that
    are unblinded. No text, quote or definition is kept in the widget's traits, so a saved notebook holds
    none.

    Parameters
    ----------
    store : Store
        The study.
    coder : str
        The pseudonym of the lead, who revises; in PostgreSQL one of a leading role.
    draft : Codebook, optional
        A changed codebook to begin with, in the place of a draft that was not saved, such as one that was
        written by ``widget.draft.write("draft.yaml")`` and edited (``Codebook.read("draft.yaml")``).
    without_round : bool
        Whether what others coded in no round is counted and quoted too. Nothing says there that coders are
        blind to each other, nor when that ends: say True once they are done.
    embed : callable, optional
        Texts to an array of vectors (`models.embedder`): with it a new code is compared with the codebook by
        meaning too, and not by words alone.
    chat : callable, optional
        A language model (`models.chat`) that drafts a code of a theme that the codebook lacks. It is asked
        only after a consent in the form that says how many texts go where, and what it drafts is a proposal.

    Raises
    ------
    ArgumentError
        `store` is no open study.
    ActError
        `coder` is missing or no pseudonym.
    CodebookError
        `draft` cannot follow the current codebook: it gives an id again that a code had before, say.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> units = pd.DataFrame({"unit_id": ["m1"], "text": ["It listened."], "document_id": ["d1"],
    ...                       "case_id": ["p1"], "position": [1]})
    >>> from sense7_qual.store import Store
    >>> store = Store.create(Path(tempfile.mkdtemp()) / "s", units=units, codebook=Codebook.read("sense7"))
    >>> CodebookWidget(store, coder="lead")
    CodebookWidget('lead', 7 codes, 0 steps)
    """

    _esm = STATIC / "codebook.js"
    _css = STATIC / "codebook.css"
    _doing = _DOING
    n_codes = traitlets.Int(0).tag(sync=True)
    n_steps = traitlets.Int(0).tag(sync=True)

    def __init__(
        self,
        store: Any,
        *,
        coder: str,
        draft: Codebook | None = None,
        without_round: bool = False,
        embed: Callable[[list[str]], Any] | None = None,
        chat: Callable[..., str] | None = None,
    ) -> None:
        if isinstance(store, type) or not all(hasattr(store, name) for name in _NEEDS):
            raise ArgumentError(
                f"CodebookWidget: expected an open study as store – found {type(store).__name__} – open it: "
                "CodebookWidget(qual.Store(…), coder=…)."
            )
        check_arguments(CodebookWidget.__init__, locals())
        self._study, self._coder = store, check_lead(store, coder, widget="CodebookWidget", add=True)
        self._without_round, self._embed = without_round, embed
        self._units: pd.DataFrame = store.units
        self._draft = self._new_draft(store.codebook)
        self._begun = Unsaved(store, "codebook", coder=self._coder, name=self._outbox)
        self._typed: dict[str, str] = {}
        self._n_lost = 0
        if draft is None:
            self._take_up(self._begun.read())
        else:
            self._draft.do(from_file(draft, store.codebook))
        self._heard: dict[str, dict[str, Any]] = {}
        self._split_texts: SplitTexts | None = None
        self._sight: Sight | None = None
        self._counting = Later(self._count_or_say)
        self._lacking = LackingThemes(
            store, viewer=self._coder, without_round=without_round, current=self._current, chat=chat,
            tell=self._tell, save_once=self._save_in_thread,
        )  # fmt: skip
        super().__init__(
            store.append, n_codes=len(self._draft.state.codebook), n_steps=len(self._draft.steps)
        )

    def __repr__(self) -> str:
        return f"CodebookWidget({self._coder!r}, {len(self.draft)} codes, {len(self._draft.steps)} steps)"

    @property
    def draft(self) -> Codebook:
        """The codebook as the draft has it now; ``widget.draft.write("draft.yaml")`` writes it."""
        with self._lock:
            return self._draft.state.codebook

    def _current(self) -> Codebook:
        """Return the codebook that the study names as current now."""
        if desk_of(self._study).current_codebook() != self._study.codebook.fingerprint:
            desk_of(self._study).use_current_codebook()
        book: Codebook = self._study.codebook
        return book

    def _new_draft(self, base: Codebook) -> Draft:
        return new_draft(base, self._study.codebooks)

    def _take_up(self, kept: Mapping[str, Any]) -> None:
        """Begin with what was left unsaved."""
        left, self._n_lost = left_unsaved(kept, self._study.codebooks)
        self._draft, self._typed = left or self._draft, dict(kept.get("typed") or {})

    def _answer(self, content: Mapping[str, Any]) -> dict[str, Any]:
        asked = str(content.get("id"))
        if asked in self._heard:  # asked once more, because the answer was lost or late
            return self._heard[asked]
        answer = self._answer_once(content)
        if content.get("type") in _CHANGING:
            self._heard[asked] = answer
        return answer

    def _answer_once(self, content: Mapping[str, Any]) -> dict[str, Any]:
        match content.get("type"):
            case "hello":
                if not self._draft.steps:  # somebody may have revised the codebook since
                    self._draft = self._new_draft(self._current())
                self._look_again()
                return {
                    "type": "welcome",
                    "coder": self._coder,
                    "outbox": self._outbox,
                    "typed": self._typed,
                    "n_lost": self._n_lost,
                    **self._of_the_draft(),
                }
            case "step" | "undo" | "redo" | "leave_out" | "restore" | "discard":
                return self._change(content)
            case "keep":
                return self._keep_typed(field(content, "typed", dict))
            case "alike":
                label, definition = field(content, "label", str), field(content, "definition", str)
                return {"type": "alike", **alike(self.draft, label, definition, embed=self._embed)}
            case "quotes":
                return self._quotes(content)
            case "proposals":
                self._sight = None if content.get("fresh") is True else self._sight
                return self._proposals()
            case "lacking" | "theme" | "theme_cost" | "theme_chat" | "propose_theme":
                return self._lacking.answer(content)
            case "send_back":
                return self._send_back(content)
            case "versions":
                return self._versions()
            case "compare":
                return self._compare(content)
            case "save":
                return self._save_draft(content)
            case "sorting":
                return self._to_sort(content)
            case "sort" | "unsort":
                return self._sort(content)
            case other:
                raise ActError(
                    f"message: expected a question or a step – found {str(other)[:40]!r} – reload the page."
                )

    # the draft --------------------------------------------------------------------------------------

    def _change(self, content: Mapping[str, Any]) -> dict[str, Any]:
        draft = self._draft
        match content["type"]:
            case "step":
                step = self._whole(field(content, "step", dict))
                draft.do(step)
                self._typed = still_typed(self._typed, step)
            case "undo":
                draft.undo()
            case "redo":
                draft.redo()
            case "leave_out":
                draft.leave_out(field(content, "place", int))
            case "discard":
                self._draft = self._new_draft(self._current())
            case _:
                self._restore(content)
        self._changed()
        return {"type": "changed"}

    def _restore(self, content: Mapping[str, Any]) -> None:
        """Take over the steps of a draft that a page kept while its kernel died."""
        base, versions = field(content, "base", str), self._study.codebooks
        steps = [self._whole(step) for step in field(content, "steps", list)]
        self._draft = resumed(base, steps, field(content, "undone", list), versions)

    def _whole(self, step: Step) -> Step:
        """Return a step with what only the kernel knows: which model's a proposal is, and its texts."""
        return tray.with_origin(step, self._see()) if step.get("do") == "take" else step

    def _changed(self) -> None:
        """Tell all views of the draft, and foretell anew what becomes stale."""
        self.n_codes, self.n_steps = len(self._draft.state.codebook), len(self._draft.steps)
        try:
            self._begun.keep(as_kept(self._draft, self._typed))
        except QualError as error:  # the step is taken all the same
            self._tell({"type": "unkept", "message": str(error)})
        self._tell({"type": "draft", **self._of_the_draft()})
        self._counting.ask()

    def _keep_typed(self, typed: Mapping[str, object]) -> dict[str, Any]:
        """Keep what is typed and is no step yet, by the names that the page gives its fields."""
        self._typed = {name: as_text(text) for name, text in typed.items() if isinstance(text, str)}
        self._begun.keep(as_kept(self._draft, self._typed))
        return {"type": "kept"}

    def _of_the_draft(self) -> dict[str, Any]:
        moved_on = False
        with suppress(QualError):  # whatever is wrong is told where the draft is saved
            moved_on = desk_of(self._study).current_codebook() != self._draft.state.base.fingerprint
        return {"moved_on": moved_on, **shown_draft(self._draft)}

    # what may be seen -------------------------------------------------------------------------------

    def _look_again(self) -> None:
        """Read anew what may be seen of the coding, behind what is asked."""
        self._sight = None
        self._counting.ask()

    def _count_or_say(self) -> None:
        try:
            self._foretell()
        except QualError as error:
            self._tell({"type": "uncounted", "message": str(error)})
        except Exception as error:  # noqa: BLE001 – its text may hold quotes
            self._tell({"type": "uncounted", "message": f"counting failed ({type(error).__name__})"})

    def _foretell(self) -> None:
        """Tell what the draft makes stale, and how the codes are used where that was read anew."""
        sight, fresh = self._see(), self._figures_told is not self._sight
        with self._lock:
            state = self._draft.state
        said = shown_preview(preview(sight.seen, state), state)
        if not self._counting.asked_again:
            self._tell({"type": "preview", "words": sight.seen.words, **said})
        if fresh:
            self._figures_told = sight
            n_proposals = len(sight.open_proposals())
            self._tell({"type": "figures", "figures": sight.figures(), "n_proposals": n_proposals})

    _figures_told: Sight | None = None

    def _see(self) -> Sight:
        sight = self._sight
        if sight is None:
            read = seen(
                self._study,
                viewer=self._coder,
                codebook=self._current(),
                without_round=self._without_round,
            )
            sight = self._sight = Sight(read, self._current(), self._study.units)
        return sight

    def _quotes(self, content: Mapping[str, Any]) -> dict[str, Any]:
        code = field(content, "code", str)
        codes = [code, *(one for one, into in self._draft.state.merged.items() if into == code)]
        find, coder = str(content.get("find") or ""), str(content.get("coder") or "")
        page = self._see().quotes.page(codes, find=find, coder=coder, first=_first(content))
        return {"type": "quotes", "code": code, **page}

    def _save_in_thread(self, act_id: str, make: Callable[[], Act]) -> Act:
        """Save an act, whichever thread asks, and look again at what may be seen."""
        with self._lock:
            act = self._save_once(act_id, make)
            self._look_again()
        return act

    def _proposals(self) -> dict[str, Any]:
        return {"type": "proposals", "rows": tray.rows(self._see(), self._draft.state)}

    def _send_back(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a proposal by a memo on its words, which its coder sees once the round is unblinded."""
        why = tray.reason_of(field(content, "why", str))
        row = self._see().proposal(field(content, "proposal", str))
        asked = field(content, "id", str)
        self._save_once(
            asked, lambda: answer_to(row, f"Sent back: {why}", self._coder, self._current(), asked)
        )
        self._look_again()
        return {"type": "sent_back", "proposal": row["proposal_id"]}

    def _versions(self) -> dict[str, Any]:
        versions = shown_revisions(self._study.revisions, self._study.codebooks)
        return {"type": "versions", "versions": versions}

    def _compare(self, content: Mapping[str, Any]) -> dict[str, Any]:
        one, other = content.get("one"), content.get("other")
        rows = compared(one, other, versions=self._study.codebooks, draft=self._draft.state.codebook)
        return {"type": "compare", "one": one, "other": other, "rows": rows}

    # saving -----------------------------------------------------------------------------------------

    def _save_draft(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Save the draft, or say what another person changed meanwhile."""
        state, why = self._draft.state, field(content, "why", str)
        before = self._study.revisions
        wished = put_together(state, self._current(), content.get("choices") or {}, before)
        if not isinstance(wished, Codebook):
            return {"type": "conflict", **wished}
        revised(self._study, wished, state, why=why, coder=self._coder)
        answered = self._answer_taken(state.taken)
        self._split_texts = None
        acted()
        made = self._study.revisions[len(before) :]
        self._draft = self._new_draft(self._current())
        self._typed.pop("why", None)
        self._look_again()
        self._changed()
        n_changes = sum(len(one.changes) for one in made)
        return {"type": "saved_draft", "n_changes": n_changes, "queues": queues(self._see()),
                "unanswered": not answered}  # fmt: skip

    def _answer_taken(self, taken: Mapping[str, str]) -> bool:
        """Write under each proposal that was taken what became of it; return False where that failed."""
        made = tray.answers(taken, self._see(), self._current(), coder=self._coder)
        made += tray.links(taken, self._see(), self._study, coder=self._coder)
        try:
            if made:
                self._study.append(made)
        except QualError:  # the codebook is saved: the proposals only stay in the tray
            return False
        return True

    # sorting ----------------------------------------------------------------------------------------

    def _to_sort(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Return which texts of a code that was split wait, and one page of them."""
        if content.get("fresh") is True or self._split_texts is None:
            self._sight = None
            self._split_texts = SplitTexts(
                self._see(), self._current(), versions=self._study.codebooks, viewer=self._coder,
                order=self._units["unit_id"].tolist(),
                themes=ThemesOfTexts(self._study.acts(), self._study.units),
            )  # fmt: skip
        find = str(content.get("find") or "")
        theme = None if content.get("theme") is None else field(content, "theme", int)
        page = self._split_texts.page(content.get("code"), find=find, theme=theme, first=_first(content))
        return {"type": "sorting", **page}

    def _sort(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Record to which parts texts belong, or take that back; what was read stays good for the rest."""
        if self._split_texts is None:
            raise ActError("sorting: expected texts that wait – found none that were shown – open it again.")
        if content["type"] == "unsort":
            self._split_texts.take_back(codebook=self._current(), save=self._save)
        else:
            code, units = field(content, "code", str), field(content, "units", list)
            parts, asked = field(content, "parts", list), field(content, "id", str)
            self._split_texts.sort(code, units, parts, asked=asked, save=self._save)
        self._sight = None  # read anew where something else is asked
        return {"type": "sorted", "n": len(content.get("units") or [])}

    @property
    def _outbox(self) -> str:
        """Names the draft, so that a new widget of the same study takes over what a page kept of it."""
        named = [
            "codebook",
            self._coder,
            str(getattr(self._study, "path", "")),
            *self._units["unit_id"][:100],
        ]
        return hashlib.sha256("\x1f".join(named).encode()).hexdigest()[:32]


_CHANGING: Final = frozenset(
    {
        "step",
        "undo",
        "redo",
        "leave_out",
        "restore",
        "discard",
        "send_back",
        "save",
        "sort",
        "unsort",
        "propose_theme",
        "theme_chat",
    }
)


def _first(content: Mapping[str, Any]) -> int:
    first = content.get("first")
    return first if type(first) is int and first > 0 else 0
