"""The widget for revising the codebook: a draft, the texts it makes stale, and saving it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

import traitlets

from sense7_qual._arguments import check_arguments
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, QualError
from sense7_qual.widgets._base import STATIC, Asked, Later, acted, desk_of, field, first_of
from sense7_qual.widgets._codebook.draft import Draft, State, Step
from sense7_qual.widgets._codebook.in_use import (
    InUse,
    answer_to,
    figures,
    preview,
    prices,
    shown_draft,
    shown_preview,
    shown_revisions,
)
from sense7_qual.widgets._codebook.proposals import (
    LackingThemes,
    answers,
    links,
    proposal_rows,
    reason_of,
    with_origin,
)
from sense7_qual.widgets._codebook.saving import (
    as_kept,
    compared,
    from_file,
    left_unsaved,
    new_draft,
    put_together,
    queues,
    resumed,
    revised,
    still_typed,
)
from sense7_qual.widgets._codebook.sorting import Sorting, SplitTexts, ThemesOfTexts
from sense7_qual.widgets._codes import alike
from sense7_qual.widgets._lead import LeadWidget
from sense7_qual.widgets._offsets import as_text

__all__ = ["CodebookWidget"]

_DOING: Final = {
    "save": "saving",
    "sort": "saving",
    "send_back": "saving",
    "quotes": "reading the quotes",
    "step": "changing the draft",
    "keep": "keeping what you began",
    "compare": "comparing the versions",
    "sorting": "reading the texts",
    "propose_theme": "saving",
}


class CodebookWidget(LeadWidget):
    """Revise the codebook: edit, merge, split and retire codes, and preview which texts become stale.

    Changes are a draft until they are saved. Each step is checked and can be undone. A study folder keeps the
    draft and what is typed in a field, so both survive a restart of the kernel or the page; the next widget
    of this `coder` starts with them. PostgreSQL keeps no drafts: there, the page keeps the steps for a
    restarted kernel, and the kernel for a reloaded page. Counts and quotes cover only what `coder` may see:
    their own coding and finished texts of unblinded rounds. Widget traits hold no text, quote or definition,
    so a saved notebook contains none.

    Parameters
    ----------
    store : Store
        The study.
    coder : str
        Pseudonym of the lead who revises; in PostgreSQL with a leading role.
    draft : Codebook, optional
        A changed codebook to start with instead of the unsaved draft, e.g. one that was written by
        ``widget.draft.write("draft.yaml")`` and edited (``Codebook.read("draft.yaml")``).
    without_round : bool
        Whether to count and quote others' codings outside rounds too. Nothing unblinds such codings, so set
        it only once the coders are done.
    embed : callable, optional
        Maps texts to an array of vectors (`models.embedder`), to compare a new code with the codebook by
        meaning as well as by words.
    chat : callable, optional
        A language model (`models.chat`) that drafts a code for a theme that the codebook lacks. It is called
        only after consent to a form that says how many texts go where; its draft is a proposal.

    Raises
    ------
    ArgumentError
        `store` is not an open study.
    ActError
        `coder` is not a valid pseudonym.
    StoreError
        The PostgreSQL role is a coder's.
    CodebookError
        `draft` cannot follow the current codebook, e.g. because it reuses the id of an earlier code.

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
    _work, _alone, _adders_too = "codebook", "revises the codebook", True
    _once = (
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
    )
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
        check_arguments(CodebookWidget.__init__, locals())
        self._embed, self._from_file = embed, draft
        self._typed: dict[str, str] = {}
        self._n_lost = 0
        self._split_texts: SplitTexts | None = None
        self._use: InUse | None = None
        self._counting = Later(self._foretell, partial(self._failed, "uncounted"), doing="counting")
        self._lacking = LackingThemes(
            self._board, self._current, chat=chat, tell=self._tell, save_by_id=self._save_in_thread
        )
        super().__init__(store, coder=coder, without_round=without_round)

    def _look(self) -> None:
        """Begin with the codebook of a file, or with what was left unsaved."""
        self._draft = self._new_draft(self._study.codebook)
        if self._from_file is not None:
            self._draft.do(from_file(self._from_file, self._study.codebook))
            return
        kept = self._begun.read()
        left, self._n_lost = left_unsaved(kept, self._study.codebooks)
        self._draft, self._typed = left or self._draft, dict(kept.get("typed") or {})

    def _counts(self) -> Mapping[str, int]:
        return {"n_codes": len(self._draft.state.codebook), "n_steps": len(self._draft.steps)}

    def __repr__(self) -> str:
        return f"CodebookWidget({self._coder!r}, {len(self.draft)} codes, {len(self._draft.steps)} steps)"

    @property
    def draft(self) -> Codebook:
        """The codebook as drafted so far; ``widget.draft.write("draft.yaml")`` writes it."""
        with self._lock:
            return self._draft.state.codebook

    def _new_draft(self, base: Codebook) -> Draft:
        return new_draft(base, self._study.codebooks)

    def _asked(self) -> Sequence[Asked]:
        changes: Asked = {
            name: partial(self._change, does)
            for name, does in {
                "step": self._step,
                "undo": lambda _: self._draft.undo(),
                "redo": lambda _: self._draft.redo(),
                "leave_out": lambda content: self._draft.leave_out(field(content, "place", int)),
                "discard": self._discard,
                "restore": self._restore,
            }.items()
        }
        return (
            changes,
            self._lacking.asked,
            {
                "hello": self._welcome,
                "keep": self._keep_typed,
                "alike": self._alike,
                "quotes": self._quotes,
                "proposals": self._proposals,
                "send_back": self._send_back,
                "versions": self._versions,
                "compare": self._compare,
                "save": self._save_draft,
                "sorting": self._to_sort,
                "sort": self._sort,
                "unsort": self._unsort,
            },
        )

    def _welcome(self, _: Mapping[str, Any]) -> dict[str, Any]:
        if not self._draft.steps:  # somebody may have revised the codebook since
            self._draft = self._new_draft(self._current())
        self._look_again()
        return {
            "type": "welcome",
            "coder": self._coder,
            "work_id": self._work_id,
            "typed": self._typed,
            "n_lost": self._n_lost,
            **self._of_the_draft(),
        }

    def _alike(self, content: Mapping[str, Any]) -> dict[str, Any]:
        label, definition = field(content, "label", str), field(content, "definition", str)
        return {"type": "alike", **alike(self.draft, label, definition, embed=self._embed)}

    # the draft --------------------------------------------------------------------------------------

    def _change(
        self, change: Callable[[Mapping[str, Any]], object], content: Mapping[str, Any]
    ) -> dict[str, Any]:
        change(content)
        self._changed()
        return {"type": "changed"}

    def _step(self, content: Mapping[str, Any]) -> None:
        step = self._whole(field(content, "step", dict))
        self._draft.do(step)
        self._typed = still_typed(self._typed, step)

    def _discard(self, _: Mapping[str, Any]) -> None:
        self._draft = self._new_draft(self._current())

    def _restore(self, content: Mapping[str, Any]) -> None:
        """Take over the steps of a draft that a page kept while its kernel died."""
        base, versions = field(content, "base", str), self._study.codebooks
        steps = [self._whole(step) for step in field(content, "steps", list)]
        self._draft = resumed(base, steps, field(content, "undone", list), versions)

    def _whole(self, step: Step) -> Step:
        """Return a step with what only the kernel knows: which model's a proposal is, and its texts."""
        return with_origin(step, self._in_use()) if step.get("do") == "take" else step

    def _changed(self) -> None:
        """Show the draft in all views, and count again which texts become stale."""
        self._count()
        try:
            self._begun.keep(as_kept(self._draft, self._typed))
        except QualError as error:  # the step is taken all the same
            self._tell({"type": "unkept", "message": str(error)})
        self._tell({"type": "draft", **self._of_the_draft()})
        self._counting.ask()

    def _keep_typed(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Keep what is typed and is no step yet, by the names that the page gives its fields."""
        typed = field(content, "typed", dict)
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
        """Read the visible coding again, in the background."""
        self._use = None
        self._counting.ask()

    def _foretell(self) -> None:
        """Tell which texts the draft makes stale, and the use of codes if it was read again."""
        use, fresh = self._in_use(), self._figures_told is not self._use
        with self._lock:
            state = self._draft.state
        said = shown_preview(preview(use.seen, state), state)
        if not self._counting.asked_again:
            words = use.seen.words(use.seen.decided)
            self._tell({"type": "preview", "words": words, **said, "prices": prices(use.seen, state)})
        if fresh:
            self._figures_told = use
            n_split = sum(len(split.units) for split in Sorting(use.seen, viewer=self._coder).splits)
            words = use.seen.words(use.seen.decided, alpha=use.seen.independent)
            self._tell(
                {
                    "type": "figures",
                    "figures": figures(use.seen),
                    "words": words,
                    "n_split": n_split,
                    "n_proposals": len(use.open_proposals()),
                }
            )

    _figures_told: InUse | None = None

    def _in_use(self) -> InUse:
        use = self._use
        if use is None:
            use = self._use = InUse(self._seen())
        return use

    def _quotes(self, content: Mapping[str, Any]) -> dict[str, Any]:
        code = field(content, "code", str)
        codes = [code, *(one for one, into in self._draft.state.merged.items() if into == code)]
        find, coder = str(content.get("find") or ""), str(content.get("coder") or "")
        page = self._in_use().quotes.page(codes, find=find, coder=coder, first=first_of(content))
        return {"type": "quotes", "code": code, **page}

    def _save_in_thread(self, act_id: str, make: Callable[[], Act]) -> Act:
        """Save an act, whichever thread asks, and look again at what may be seen."""
        with self._lock:
            act = self._save_by_id(act_id, make)
            self._look_again()
        return act

    def _proposals(self, content: Mapping[str, Any]) -> dict[str, Any]:
        self._use = None if content.get("fresh") is True else self._use
        return {"type": "proposals", "rows": proposal_rows(self._in_use(), self._draft.state)}

    def _send_back(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a proposal; its coder sees that at once."""
        why = reason_of(field(content, "why", str))
        row = self._in_use().proposal(field(content, "proposal", str))
        asked = field(content, "id", str)
        self._save_by_id(
            asked, lambda: answer_to(row, f"Sent back: {why}", self._coder, self._current(), asked)
        )
        self._look_again()
        return {"type": "sent_back", "proposal": row["proposal_id"]}

    def _versions(self, _: Mapping[str, Any]) -> dict[str, Any]:
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
        answered = self._answer_taken(state)
        self._split_texts = None
        acted()
        made = self._study.revisions[len(before) :]
        self._draft = self._new_draft(self._current())
        self._typed.pop("why", None)
        self._look_again()
        self._changed()
        n_changes = sum(len(one.changes) for one in made)
        return {
            "type": "saved_draft",
            "n_changes": n_changes,
            "queues": queues(self._in_use()),
            "unanswered": not answered,
        }

    def _answer_taken(self, state: State) -> bool:
        """Answer each proposal that was taken; return False where that failed."""
        use, book = self._in_use(), self._current()
        made = answers(state.taken, use, book, before=state.base, coder=self._coder)
        made += links(state.taken, self._in_use(), self._study, coder=self._coder)
        try:
            if made:
                self._study.append(made)
        except QualError:  # the codebook is saved: the proposals only stay in the tray
            return False
        return True

    # sorting ----------------------------------------------------------------------------------------

    def _to_sort(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Answer with the waiting texts of a split code, page by page."""
        if content.get("fresh") is True or self._split_texts is None:
            self._use = None
            self._split_texts = SplitTexts(
                self._in_use(),
                versions=self._study.codebooks,
                viewer=self._coder,
                themes=ThemesOfTexts(self._study.acts(), self._study.units),
            )
        find = str(content.get("find") or "")
        theme = None if content.get("theme") is None else field(content, "theme", int)
        page = self._split_texts.page(content.get("code"), find=find, theme=theme, first=first_of(content))
        return {"type": "sorting", **page}

    def _sort(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Record to which parts texts belong; what was read stays good for the rest."""
        code, units = field(content, "code", str), field(content, "units", list)
        parts, asked = field(content, "parts", list), field(content, "id", str)
        self._shown_texts().sort(code, units, parts, asked=asked, save=self._save)
        return self._sorted(len(units))

    def _unsort(self, content: Mapping[str, Any]) -> dict[str, Any]:
        self._shown_texts().take_back(codebook=self._current(), save=self._save)
        return self._sorted(len(content.get("units") or []))

    def _shown_texts(self) -> SplitTexts:
        if self._split_texts is None:
            raise ActError("sorting: no texts are open for sorting – open the split texts again.")
        return self._split_texts

    def _sorted(self, n: int) -> dict[str, Any]:
        self._use = None  # read anew where something else is asked
        return {"type": "sorted", "n": n}
