"""The widget in which the lead revises the codebook: a draft, what it makes stale, and saving it."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import pandas as pd
import traitlets

from sense7_qual import acts as record
from sense7_qual._arguments import check_arguments
from sense7_qual._messages import word
from sense7_qual.acts import check_coder
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, ArgumentError, CodebookError, QualError
from sense7_qual.widgets._codebook_conflict import combined, conflicts, different, shown
from sense7_qual.widgets._codebook_draft import Draft
from sense7_qual.widgets._codebook_preview import preview
from sense7_qual.widgets._codebook_seen import seen
from sense7_qual.widgets._codebook_shown import (
    shown_changes,
    shown_codes,
    shown_conflict,
    shown_preview,
    shown_revisions,
    shown_steps,
)
from sense7_qual.widgets._codebook_sight import Sight, answer_to
from sense7_qual.widgets._codebook_sorting import Sorting
from sense7_qual.widgets._coding import COMMANDS
from sense7_qual.widgets._desk import STATIC, Desk, acted, field
from sense7_qual.widgets._folded import folded
from sense7_qual.widgets._later import Later
from sense7_qual.widgets._new_code import alike

__all__ = ["CodebookWidget"]

_NEEDS: Final = (
    "units",
    "codebook",
    "codebooks",
    "acts",
    "append",
    "revise",
    "revisions",
    "current_codebook",
    "use_current_codebook",
)
_PAGE: Final = 20
#: The draft of each study and lead, for a page that is loaded anew.
_UNSAVED: Final[dict[str, Draft]] = {}
_DOING: Final = {
    "save": "saving", "sort": "saving", "send_back": "saving", "quotes": "reading the quotes",
    "step": "changing the draft", "compare": "comparing the versions", "sorting": "reading the texts",
}  # fmt: skip


class CodebookWidget(Desk):
    """Revise the codebook of a study: change, merge, split, retire codes, and see first what becomes stale.

    What is changed is a draft until it is saved. It is checked step by step, every step can be taken
    back. It outlives a kernel that dies, since the page keeps its steps, and a page that is loaded anew:
    the next widget for the same study and `coder` begins with it, as long as the kernel runs. Of the
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
    ) -> None:
        if isinstance(store, type) or not all(hasattr(store, name) for name in _NEEDS):
            raise ArgumentError(
                f"CodebookWidget: expected an open study as store – found {type(store).__name__} – open it: "
                "CodebookWidget(qual.Store(…), coder=…)."
            )
        check_arguments(CodebookWidget.__init__, locals())
        self._study, self._coder = store, check_coder(coder)
        self._without_round, self._embed = without_round, embed
        self._units: pd.DataFrame = store.units
        self._draft = self._new_draft(store.codebook)
        if draft is None:
            self._begin_with_unsaved()
        else:
            self._draft.do({"do": "load", "yaml": _like(draft, store.codebook).to_yaml().decode()})
        self._heard: dict[str, dict[str, Any]] = {}
        self._at_sorting: tuple[Sight, Sorting] | None = None
        self._done: list[tuple[str, tuple[str, ...], list[record.Act]]] = []
        self._sight: Sight | None = None
        self._counting = Later(self._count_or_say)
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
        if self._study.current_codebook() != self._study.codebook.fingerprint:
            self._study.use_current_codebook()
        book: Codebook = self._study.codebook
        return book

    def _new_draft(self, base: Codebook) -> Draft:
        reserved = {key: name for name, key in COMMANDS.items()}
        return Draft(base, versions=self._study.codebooks.values(), reserved=reserved)

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
                    **self._of_the_draft(),
                }
            case "step" | "undo" | "redo" | "leave_out" | "restore" | "discard":
                return self._change(content)
            case "alike":
                label, definition = field(content, "label", str), field(content, "definition", str)
                return {"type": "alike", **alike(self.draft, label, definition, embed=self._embed)}
            case "quotes":
                return self._quotes(content)
            case "proposals":
                return self._proposals()
            case "send_back":
                return self._send_back(content)
            case "versions":
                versions = shown_revisions(self._study.revisions(), self._study.codebooks)
                return {"type": "versions", "versions": versions}
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
                draft.do(field(content, "step", dict))
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

    def _begin_with_unsaved(self) -> None:
        """Begin with the draft that the widget before this one left unsaved, if it did."""
        left = _UNSAVED.get(self._outbox)
        if left is not None and left.state.base.fingerprint in self._study.codebooks:
            self._draft = self._new_draft(left.state.base)
            self._draft.restore(left.steps, left.undone)

    def _restore(self, content: Mapping[str, Any]) -> None:
        """Take over the steps of a draft that a page kept while its kernel died."""
        base = self._study.codebooks.get(field(content, "base", str))
        if base is None:
            raise CodebookError(
                "draft: expected the steps of a draft of this study – found those of another – discard them."
            )
        resumed = self._new_draft(base)
        resumed.restore(field(content, "steps", list), field(content, "undone", list))
        self._draft = resumed

    def _changed(self) -> None:
        """Tell all views of the draft, and foretell anew what becomes stale."""
        self.n_codes, self.n_steps = len(self._draft.state.codebook), len(self._draft.steps)
        _UNSAVED[self._outbox] = self._draft
        self._tell({"type": "draft", **self._of_the_draft()})
        self._counting.ask()

    def _of_the_draft(self) -> dict[str, Any]:
        draft, state = self._draft, self._draft.state
        moved_on = False
        with suppress(QualError):  # whatever is wrong is told where the draft is saved
            moved_on = self._study.current_codebook() != state.base.fingerprint
        return {
            "base": state.base.fingerprint,
            "moved_on": moved_on,
            "title": state.codebook.title or state.codebook.name,
            "codes": shown_codes(state),
            "changes": shown_changes(state),
            "steps": list(draft.steps),
            "undone": list(draft.undone),
            "said": shown_steps(draft),
            "merged": dict(state.merged),
            "taken": dict(state.taken),
        }

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

    def _proposals(self) -> dict[str, Any]:
        sight, taken = self._see(), self._draft.state.taken
        rows = [
            {
                **{
                    name: row[name]
                    for name in ("proposal_id", "coder", "at", "label", "definition", "unit_id")
                },
                "round": None if pd.isna(row["round"]) else row["round"],
                "words": sight.words_of(row),
                "taken": taken.get(row["proposal_id"]),
                "alike": alike(self.draft, row["label"], row["definition"])["codes"],
            }
            for row in sight.open_proposals()
        ]
        return {"type": "proposals", "rows": rows}

    def _send_back(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a proposal by a memo on its words, which its coder sees once the round is unblinded."""
        why = field(content, "why", str).strip()
        if not why:
            raise ActError(
                "proposal: expected the reason why it is sent back – found none – say it in a sentence."
            )
        row = self._see().proposal(field(content, "proposal", str))
        asked = field(content, "id", str)
        self._save_once(
            asked, lambda: answer_to(row, f"Sent back: {why}", self._coder, self._current(), asked)
        )
        self._look_again()
        return {"type": "sent_back", "proposal": row["proposal_id"]}

    # versions ---------------------------------------------------------------------------------------

    def _compare(self, content: Mapping[str, Any]) -> dict[str, Any]:
        books = [self._version(content.get(name)) for name in ("one", "other")]
        rows = [
            {
                "code": each.code,
                "label": _label(each.code, *books),
                "field": each.field,
                "one": shown(each.mine),
                "other": shown(each.theirs),
            }
            for each in different(*books)
        ]
        return {"type": "compare", "one": content.get("one"), "other": content.get("other"), "rows": rows}

    def _version(self, name: object) -> Codebook:
        if name == "draft":
            return self._draft.state.codebook
        book = self._study.codebooks.get(name) if isinstance(name, str) else None
        if book is None:
            raise CodebookError(
                f"versions: expected one of this study's – found {word(name)} – choose another."
            )
        checked: Codebook = book
        return checked

    # saving -----------------------------------------------------------------------------------------

    def _save_draft(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Save the draft, or say what another person changed meanwhile."""
        state, why = self._draft.state, field(content, "why", str)
        theirs = self._current()
        wished = state.codebook
        if theirs != state.base:
            choices = content.get("choices") or {}
            found = conflicts(state.base, wished, theirs)
            if any(choices.get(one.name) not in ("mine", "theirs") for one in found):
                return {
                    "type": "conflict",
                    **shown_conflict(found, state.base, theirs, self._study.revisions()),
                }
            wished = combined(state.base, wished, theirs, choices)
        before = len(self._study.revisions())
        if wished != theirs or not state.taken:
            gone = {code.id for code in theirs.codable} - {code.id for code in wished.codable}
            self._study.revise(
                wished, why=why, coder=self._coder,
                merged={code: into for code, into in state.merged.items() if code in gone},
                split={code: into for code, into in state.split.items() if code in gone},
            )  # fmt: skip
        answered = self._answer_taken(state.taken)
        self._at_sorting = None
        acted()
        made = self._study.revisions()[before:]
        self._draft = self._new_draft(self._current())
        self._look_again()
        self._changed()
        queues = self._queues()
        return {"type": "saved_draft", "n_changes": sum(len(one.changes) for one in made), "queues": queues,
                "unanswered": not answered}  # fmt: skip

    def _answer_taken(self, taken: Mapping[str, str]) -> bool:
        """Write under each proposal that was taken what became of it; return False where that failed."""
        book, sight = self._current(), self._see()
        memos = []
        for proposal, code in taken.items():
            asked = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{proposal} {book.fingerprint}"))
            words = f"Taken: the code “{book[code].label}”." if code in book else "Taken."
            memos.append(answer_to(sight.proposal(proposal), words, self._coder, book, asked))
        try:
            if memos:
                self._study.append(memos)
        except QualError:  # the codebook is saved: the proposals only stay in the tray
            return False
        return True

    def _queues(self) -> list[dict[str, Any]]:
        """Return for each coder how many texts wait for a review, and how the coder opens them."""
        cell = (
            "qual.widgets.CodingWidget(store, coder={0!r}{1}, review=qual.codings.stale("
            "store.codings(coder={0!r}), store.coverage(coder={0!r}), store.codebook, "
            "revisions=store.revisions()))"
        )
        return [
            {"coder": coder, "n": n, "cell": cell.format(coder, f", round={round!r}" if round else "")}
            for coder, round, n in self._see().waiting()
        ]

    # sorting ----------------------------------------------------------------------------------------

    def _to_sort(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Return which texts of a code that was split wait, and one page of them."""
        if content.get("fresh") is True or self._at_sorting is None:
            self._sight, self._done = None, []
            sight = self._see()
            order = self._units["unit_id"].tolist()
            sorting = Sorting(sight.seen, self._current(), viewer=self._coder, order=order)
            self._at_sorting = sight, sorting
        sight, sorting = self._at_sorting
        done = {(code, unit) for code, units, _ in self._done for unit in units}
        left = {
            one.code: [unit for unit in one.units if (one.code, unit) not in done] for one in sorting.splits
        }
        wanted = content.get("code")
        one = next((each for each in sorting.splits if each.code == wanted), next(iter(sorting.splits), None))
        find = folded(str(content.get("find") or "")[:200]).strip()
        units = (
            []
            if one is None
            else [unit for unit in left[one.code] if find in folded(sight.quotes.text(unit))]
        )
        first, book = _first(content), self._current()
        return {
            "type": "sorting",
            "splits": [{"code": each.code, "label": self._label(each.code), "n": len(left[each.code]),
                        "n_all": each.n_all} for each in sorting.splits],
            "code": None if one is None else one.code,
            "parts": [] if one is None else [{"id": part, "label": book[part].label} for part in one.parts],
            "n": len(units),
            "first": first,
            "ids": units,
            "can_undo": bool(self._done),
            "rows": [] if one is None else [
                {"unit_id": unit, "text": sight.quotes.text(unit),
                 "quotes": sight.quotes.of_unit(unit, one.sources)}
                for unit in units[first : first + _PAGE]
            ],
        }  # fmt: skip

    def _label(self, code: str) -> str:
        """Return what a code was called last, in any version of the codebook."""
        versions = [self._current(), *reversed(list(self._study.codebooks.values()))]
        return next(str(book[code].label) for book in versions if code in book)

    def _sort(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Record to which parts texts belong, or take that back; what was read stays good for the rest."""
        if self._at_sorting is None:
            raise ActError("sorting: expected texts that wait – found none that were shown – open it again.")
        if content["type"] == "unsort":
            if not self._done:
                raise ActError(
                    "sorting: expected texts that were sorted here – found none – nothing was done."
                )
            book = self._current()
            self._save([record.undo(act, codebook=book) for act in reversed(self._done[-1][2])])
            self._done.pop()
        else:
            code, units = field(content, "code", str), field(content, "units", list)
            done = {unit for one, others, _ in self._done if one == code for unit in others}
            if done & set(units):
                raise ActError(
                    "sorting: expected texts that wait – found some that are sorted – take it back."
                )
            made = self._at_sorting[1].acts(
                code, units, field(content, "parts", list), asked=field(content, "id", str)
            )
            self._save(made)
            self._done.append((code, tuple(units), made))
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
    {"step", "undo", "redo", "leave_out", "restore", "discard", "send_back", "save", "sort", "unsort"}
)


def _like(draft: Codebook, base: Codebook) -> Codebook:
    """Return the draft; of a CSV, which holds the codes alone, with what the base says of itself."""
    if draft.title == draft.name and not any((draft.version, draft.description, draft.source, draft.licence)):
        own = {
            name: getattr(base, name)
            for name in ("name", "title", "version", "description", "source", "licence")
        }
        return replace(draft, **own)
    return draft


def _label(code: str | None, *books: Codebook) -> str:
    return next((book[code].label for book in reversed(books) if code is not None and code in book), "")


def _first(content: Mapping[str, Any]) -> int:
    first = content.get("first")
    return first if type(first) is int and first > 0 else 0
