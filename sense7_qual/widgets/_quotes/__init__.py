"""The widget for choosing quotes for print: candidates, decisions, paraphrases."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import traitlets

from sense7_qual import acts as record
from sense7_qual._arguments import check_arguments, check_least
from sense7_qual.acts import QUOTE_ROLES, QUOTE_STATES, Act
from sense7_qual.errors import ActError
from sense7_qual.frames import require_column
from sense7_qual.rounds import visible
from sense7_qual.widgets._base import STATIC, Asked, field
from sense7_qual.widgets._codes import described_book
from sense7_qual.widgets._lead import LeadWidget, by_id
from sense7_qual.widgets._offsets import as_text, code_points
from sense7_qual.widgets._quotes.passages import Passages, Rule

__all__ = ["QuotesWidget"]

_DOING: Final = {
    "act": "saving",
    "hello": "reading the study",
    "code": "reading the passages",
    "keep": "keeping what you began",
}


class QuotesWidget(LeadWidget):
    """Choose quotes for print, code by code: approve, refuse, shorten or paraphrase them.

    The passages of each code are listed by an explicit rule (`report.quote_candidates`), with rating,
    participant, coders and the reason for each proposal; words that may identify somebody are marked.
    Decisions are recorded at once (`acts.quote`) and printed by `report.tables.quote` and `report.paper`. The
    widget shows only what `coder` may see: their own coding and finished texts of unblinded rounds. A study
    folder keeps unsaved paraphrases for this `coder`'s next widget. Widget traits hold no text, quote or
    paraphrase, so a saved notebook contains none.

    Parameters
    ----------
    store : Store
        The study.
    coder : str
        Pseudonym of the lead who decides; in PostgreSQL with a leading role.
    per_code : int
        Number of quotes wanted for each code.
    per_participant : int, optional
        Maximum number of proposed quotes of one participant over all codes.
    rating : str, optional
        Column of units with the rating, over which quotes are spread.
    names : collection of str
        Names to mark, as in `redact.find`.
    seed : int
        Seed of the rule.
    without_round : bool
        Whether to show codings outside rounds too. Nothing unblinds such codings, so set it only once the
        coders are done.

    Raises
    ------
    ArgumentError
        `store` is not an open study, or a number is out of range.
    TableError
        The units lack the rating column.
    ActError
        `coder` is not a valid pseudonym.
    StoreError
        The PostgreSQL role is a coder's.

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
    _work, _alone = "quotes", "decides what is printed"
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
        check_arguments(QuotesWidget.__init__, locals())
        check_least(QuotesWidget, 1, per_code=per_code, **_given(per_participant=per_participant))
        self._rule = Rule(per_code, per_participant, rating, names, seed)
        super().__init__(store, coder=coder, without_round=without_round)

    def __repr__(self) -> str:
        return f"QuotesWidget({self._coder!r}, {self.n_approved} of {self.n_wanted} approved)"

    def _look(self) -> None:
        """Read what may be seen, in the codes of the current codebook."""
        if self._rule.rating is not None:
            require_column(self._study.units, self._rule.rating, frame_name="units")
        everything = self._study.acts()
        self._read = self._seen(everything)
        self._codebook = self._read.codebook
        ids = {act.act_id for act in everything if act.kind == "quote"}
        made = [act for act in everything if act.act_id in ids or act.target in ids]
        self._done |= by_id(act for act in made if act.coder == self._coder)
        of_none = [act for act in everything if self._without_round and act.round is None]
        once_coded = {
            (str(act.unit_id), str(act.code))
            for act in (*visible(everything, viewer=self._coder), *of_none)
            if act.kind == "apply"
        }
        self._passages = Passages(
            self._read,
            self._rule,
            made,
            viewer=self._coder,
            once_coded=once_coded,
        )

    def _counts(self) -> Mapping[str, int]:
        rows = self._passages.progress()
        return {
            "n_approved": sum(row["n_approved"] for row in rows),
            "n_wanted": sum(row["n_wanted"] for row in rows),
        }

    # what is asked ----------------------------------------------------------------------------------

    def _asked(self) -> Sequence[Asked]:
        return (
            {
                "hello": self._welcome,
                "code": self._code,
                "text": self._text,
                "act": self._do,
                "keep": self._keep,
            },
        )

    def _code(self, content: Mapping[str, Any]) -> dict[str, Any]:
        if content.get("fresh") is True:
            self._look()
            self._count()
        page = self._passages.page(content.get("code"), field(content, "first", int))
        return {"type": "code", **page, "progress": self._passages.progress()}

    def _text(self, content: Mapping[str, Any]) -> dict[str, Any]:
        where = (content.get(name) for name in ("unit_id", "code", "start", "end"))
        return self._passages.text(*where)

    def _keep(self, content: Mapping[str, Any]) -> dict[str, Any]:
        drafts = field(content, "drafts", list)
        self._begun.keep({"drafts": drafts} if drafts else {})
        return {"type": "kept"}

    def _welcome(self, _: Mapping[str, Any]) -> dict[str, Any]:
        book = self._codebook
        return {
            "type": "welcome",
            "coder": self._coder,
            "work_id": self._work_id,
            "codebook": {**described_book(book), "version": book.version, "facets": []},
            "rating": self._rule.rating or "",
            "words": self._passages.words,
            "progress": self._passages.progress(),
            "unsaved": self._begun.read(),
        }

    # decisions --------------------------------------------------------------------------------------

    def _do(self, content: Mapping[str, Any]) -> dict[str, Any]:
        [about], done = self._decide(content, self._passages)
        rows = (
            self._passages.rows_of(str(about.unit_id), str(about.code))
            if about.code in self._codebook
            else []
        )
        return {**done, "rows": rows, "progress": self._passages.progress()}

    def _decision(self, asked: Mapping[str, Any], common: Mapping[str, Any]) -> Act:
        known = (("kind", ("quote",)), ("state", QUOTE_STATES), ("role", QUOTE_ROLES))
        if any(asked.get(name) not in values for name, values in known):
            raise ActError("act: this is no decision about a quote – reload the page.")
        text, span = self._passages.text_of(asked.get("unit_id")), None
        if asked.get("start") is not None:
            span = code_points(text, field(asked, "start", int), field(asked, "end", int))
        span = self._passages.words_for(asked, span)
        start, end = span or (None, None)
        said = as_text(asked.get("paraphrase")).strip() or None
        return record.quote(
            coder=self._coder,
            unit_id=str(asked["unit_id"]),
            code=str(asked["code"]),
            start=start,
            end=end,
            state=str(asked["state"]),
            role=str(asked["role"]),
            paraphrase=said,
            **common,
        )


def _given(**numbers: int | None) -> dict[str, int]:
    return {name: value for name, value in numbers.items() if value is not None}
