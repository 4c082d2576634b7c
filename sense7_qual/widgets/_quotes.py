"""The widget in which the lead chooses quotes for print: candidates, decisions, paraphrases."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from typing import Any, Final

import traitlets

from sense7_qual import acts as record
from sense7_qual._arguments import check_arguments, check_least
from sense7_qual.acts import QUOTE_ROLES, QUOTE_STATES, Act
from sense7_qual.errors import ActError, ArgumentError, StoreError
from sense7_qual.rounds import visible
from sense7_qual.tables import require_column
from sense7_qual.widgets._codebook_seen import seen
from sense7_qual.widgets._desk import STATIC, Desk, field
from sense7_qual.widgets._keys import described_codes
from sense7_qual.widgets._memo import as_text
from sense7_qual.widgets._quotes_board import Board, Rule
from sense7_qual.widgets._shown import code_points
from sense7_qual.widgets._study import check_lead, desk_of
from sense7_qual.widgets._unsaved import Unsaved

__all__ = ["QuotesWidget"]

_NEEDS: Final = (
    "units", "codebook", "acts", "append", "desk",
)  # fmt: skip
_DOING: Final = {
    "act": "saving", "hello": "reading the study", "code": "reading the passages",
    "keep": "keeping what you began",
}  # fmt: skip


class QuotesWidget(Desk):
    """Choose quotes for print, code by code: approve, refuse, shorten, or put a paraphrase in their place.

    The passages of each code stand in the order of a stated rule (`report.quote_candidates`), with rating,
    participant, coders, why each is proposed, and with a mark on what might tell who somebody is. What is
    decided is recorded at once (`acts.quote`), and printed by `report.quote_table` and `report.paper`. Only
    what `coder` may see is shown: their own coding, and finished texts of rounds that are unblinded. A
    paraphrase that is typed and not saved a study folder keeps for the next widget of the same study and
    `coder`. No text, quote or paraphrase is kept in the widget's traits, so a saved notebook holds none.

    Parameters
    ----------
    store : Store
        The study.
    coder : str
        The pseudonym of the lead, who decides; in PostgreSQL one of a leading role.
    per_code : int
        How many quotes are wanted for each code.
    per_participant : int, optional
        Most proposed quotes of one participant over all codes.
    rating : str, optional
        The column of units with the rating, over which quotes are spread.
    names : collection of str
        Names to mark, as in `redact.find`.
    seed : int
        Of the rule.
    without_round : bool
        Whether codings in no round are shown too. Nothing says there that coders are blind to each other, nor
        when that ends: say True once they are done.

    Raises
    ------
    ArgumentError
        `store` is no open study, or a number is out of range.
    TableError
        The units have no such column of ratings.
    ActError
        `coder` is missing or no pseudonym.
    StoreError
        The role in PostgreSQL is a coder's, which may not decide.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from sense7_qual.codebook import Codebook
    >>> units = pd.DataFrame({"unit_id": ["m1"], "text": ["It listened."], "document_id": ["d1"],
    ...                       "case_id": ["p1"], "position": [1]})
    >>> from sense7_qual.store import Store
    >>> store = Store.create(Path(tempfile.mkdtemp()) / "s", units=units, codebook=Codebook.read("sense7"))
    >>> QuotesWidget(store, coder="lead")
    QuotesWidget('lead', 0 of 21 approved)
    """

    _esm = STATIC / "quotes.js"
    _css = STATIC / "quotes.css"
    _doing = _DOING
    n_approved = traitlets.Int(0).tag(sync=True)
    n_wanted = traitlets.Int(0).tag(sync=True)

    def __init__(
        self,
        store: Any,
        *,
        coder: str,
        per_code: int = 3,
        per_participant: int | None = None,
        rating: str | None = None,
        names: Collection[str] = (),
        seed: int = 0,
        without_round: bool = False,
    ) -> None:
        if isinstance(store, type) or not all(hasattr(store, name) for name in _NEEDS):
            raise ArgumentError(
                f"QuotesWidget: expected an open study as store – found {type(store).__name__} – open it: "
                "QuotesWidget(qual.Store(…), coder=…)."
            )
        check_arguments(QuotesWidget.__init__, locals())
        check_least(QuotesWidget, 1, per_code=per_code, **_given(per_participant=per_participant))
        if not getattr(desk_of(store), "may_revise", True):
            raise StoreError(
                "QuotesWidget: expected a role that leads the study, which alone decides what is printed – "
                "found a coder's – connect with the lead's role, or ask the lead."
            )
        if rating is not None:
            require_column(store.units, rating, frame_name="units")
        self._study, self._coder = store, check_lead(store, coder, widget="QuotesWidget")
        self._without_round = without_round
        self._rule = Rule(per_code, per_participant, rating, names, seed)
        self._done: dict[str, Act] = {}
        self._look()
        self._begun = Unsaved(store, "quotes", coder=self._coder, name=self._outbox)
        super().__init__(store.append, **self._counts())

    def __repr__(self) -> str:
        return f"QuotesWidget({self._coder!r}, {self.n_approved} of {self.n_wanted} approved)"

    def _look(self) -> None:
        """Read what may be seen, in the codes of the current codebook."""
        study = self._study
        if desk_of(study).current_codebook() != study.codebook.fingerprint:
            desk_of(study).use_current_codebook()
        self._codebook, self._units = study.codebook, study.units
        everything = study.acts()
        self._seen = seen(
            study, viewer=self._coder, codebook=self._codebook, without_round=self._without_round,
            acts=everything,
        )  # fmt: skip
        ids = {act.act_id for act in everything if act.kind == "quote"}
        made = [act for act in everything if act.act_id in ids or act.target in ids]
        self._done |= {act.act_id: act for act in made if act.coder == self._coder}
        of_none = [act for act in everything if self._without_round and act.round is None]
        once_coded = {
            (str(act.unit_id), str(act.code))
            for act in (*visible(everything, viewer=self._coder), *of_none) if act.kind == "apply"
        }  # fmt: skip
        self._board = Board(
            self._seen, self._codebook, self._units, self._rule, made, viewer=self._coder,
            once_coded=once_coded,
        )  # fmt: skip

    def _counts(self) -> dict[str, int]:
        rows = self._board.progress()
        return {"n_approved": sum(row["n_approved"] for row in rows),
                "n_wanted": sum(row["n_wanted"] for row in rows)}  # fmt: skip

    def _count(self) -> None:
        for name, value in self._counts().items():
            setattr(self, name, value)

    # what is asked ----------------------------------------------------------------------------------

    def _answer(self, content: Mapping[str, Any]) -> dict[str, Any]:
        match content.get("type"):
            case "hello":
                return self._welcome()
            case "code":
                if content.get("fresh") is True:
                    self._look()
                    self._count()
                page = self._board.page(content.get("code"), field(content, "first", int))
                return {"type": "code", **page, "progress": self._board.progress()}
            case "text":
                return self._board.text(*(content.get(name) for name in ("unit_id", "code", "start", "end")))
            case "act":
                return self._do(field(content, "act", dict), field(content, "id", str))
            case "keep":
                drafts = field(content, "drafts", list)
                self._begun.keep({"drafts": drafts} if drafts else {})
                return {"type": "kept"}
            case other:
                raise ActError(
                    f"message: expected a question or a decision – found {str(other)[:40]!r} – reload the "
                    "page."
                )

    def _welcome(self) -> dict[str, Any]:
        book = self._codebook
        codes = described_codes(book)
        return {
            "type": "welcome",
            "coder": self._coder,
            "outbox": self._outbox,
            "codebook": {"title": book.title, "version": book.version, "facets": [], "codes": codes},
            "rating": self._rule.rating or "",
            "words": self._seen.words,
            "progress": self._board.progress(),
            "unsaved": self._begun.read(),
        }

    # decisions --------------------------------------------------------------------------------------

    def _do(self, asked: Mapping[str, Any], act_id: str) -> dict[str, Any]:
        """Record a decision, take the last back or do it again; asked again by the same id, only say so."""
        act = self._done.get(act_id)
        if act is None:
            act = self._save_once(act_id, lambda: self._made(asked, act_id))
            self._done[act_id] = act
            self._board.add(act)
        meant = act if act.kind == "quote" else self._done[str(act.target)]
        unit_id, code = str(meant.unit_id), str(meant.code)
        rows = self._board.rows_of(unit_id, code) if code in self._codebook else []
        return {
            "type": "done",
            "unit_id": unit_id,
            "code": code,
            "undone": act.kind == "undo",
            "redone": act.kind == "redo",
            "rows": rows,
            "progress": self._board.progress(),
        }

    def _made(self, asked: Mapping[str, Any], act_id: str) -> Act:
        common: dict[str, Any] = {"codebook": self._codebook, "act_id": act_id}
        if asked.get("kind") == "undo":
            return record.undo(self._board.last_of(self._coder, undone=False), **common)
        if asked.get("kind") == "redo":
            return record.redo(self._board.last_of(self._coder, undone=True), **common)
        known = (("kind", ("quote",)), ("state", QUOTE_STATES), ("role", QUOTE_ROLES))
        if any(asked.get(name) not in values for name, values in known):
            raise ActError(
                "act: expected a decision about a quote, undo or redo – found none of them – reload the page."
            )
        text, span = self._board.text_of(asked.get("unit_id")), None
        if asked.get("start") is not None:
            span = code_points(text, field(asked, "start", int), field(asked, "end", int))
        span = self._board.words_for(asked, span)
        start, end = span or (None, None)
        said = as_text(asked.get("paraphrase")).strip() or None
        return record.quote(
            coder=self._coder, unit_id=str(asked["unit_id"]), code=str(asked["code"]), start=start, end=end,
            state=str(asked["state"]), role=str(asked["role"]), paraphrase=said, **common,
        )  # fmt: skip

    @property
    def _outbox(self) -> str:
        """Names what unsent decisions belong to, so that a new widget of the same study sends them."""
        named = ["quotes", self._coder, str(getattr(self._study, "path", "")), *self._units["unit_id"][:100]]
        return hashlib.sha256("\x1f".join(named).encode()).hexdigest()[:32]


def _given(**numbers: int | None) -> dict[str, int]:
    return {name: value for name, value in numbers.items() if value is not None}
