"""The widget that shows the state of a study: progress, agreement so far, codes, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import pandas as pd
import traitlets

from sense7_qual._arguments import check_arguments
from sense7_qual.errors import ArgumentError
from sense7_qual.widgets._base import STATIC, Asked, Later, field, listen
from sense7_qual.widgets._codes import described_book
from sense7_qual.widgets._lead import LeadWidget
from sense7_qual.widgets._lead_view import Board
from sense7_qual.widgets._overview.attention import attention, page, text_of
from sense7_qual.widgets._overview.rows import (
    agreement_by_round,
    agreement_rows,
    agreement_words,
    alarms,
    change,
    frequency_rows,
    leaning_rows,
    progress_rows,
)

__all__ = ["OverviewWidget"]

_DOING: Final = {"hello": "reading the study", "count": "counting", "units": "listing the texts"}


class OverviewWidget(LeadWidget):
    """Show the state of a study: each coder's progress, agreement so far, and what to do next.

    Click a number to see the texts behind it, and a text to see its codings. Of others' coding, only what
    `coder` may see is shown: finished texts of unblinded rounds. Progress in a blind round is shown only to
    the leads of that round, its agreement to nobody. Coders of a study that names its leads see their inbox
    instead of the next steps. Widget traits hold no text, so a saved notebook contains none. The widget
    changes nothing in the study.

    Parameters
    ----------
    store : Store
        The study.
    coder : str
        Your pseudonym. Leads of a round also see its coders' progress.
    width : float
        Width of the agreement interval at which double coding is enough (`agreement.sequential`), at least
        0.001 and below 2. Choose it before the first look and keep it.
    without_round : bool
        Whether to count others' codings outside rounds too. Nothing unblinds such codings, so set it only
        once the coders are done.

    Raises
    ------
    ArgumentError
        `store` is not an open study, or `width` is out of range.
    ActError
        `coder` is not a valid pseudonym.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> units = pd.DataFrame({"unit_id": ["m1"], "text": ["It listened."], "document_id": ["d1"],
    ...                       "case_id": ["p1"], "position": [1]})
    >>> from sense7_qual.codebook import Codebook
    >>> from sense7_qual.store import Store
    >>> store = Store.create(Path(tempfile.mkdtemp()) / "s", units=units, codebook=Codebook.read("sense7"))
    >>> OverviewWidget(store, coder="lead")
    OverviewWidget('lead', 1 units)
    """

    _esm = STATIC / "overview.js"
    _css = STATIC / "overview.css"
    _doing = _DOING
    _work = "overview"
    n_units = traitlets.Int(0).tag(sync=True)

    def __init__(self, store: Any, *, coder: str, width: float = 0.3, without_round: bool = False) -> None:
        check_arguments(OverviewWidget.__init__, locals())
        if not 0.001 <= width < 2:
            raise ArgumentError(
                f"OverviewWidget: expected width of at least 0.001 and below 2 – found {width!r} – 0.3 is "
                "usual."
            )
        self._width = width
        self._read: Board | None = None
        self._parts: dict[str, dict[str, Any]] = {}
        self._decided: pd.DataFrame | None = None
        self._agreed: list[dict[str, Any]] = []
        self._by_round: list[dict[str, Any]] = []
        self._counting = Later(self._count_all, partial(self._failed, "uncounted"), doing="counting")
        super().__init__(store, coder=coder, without_round=without_round)
        listen(self)

    def __repr__(self) -> str:
        return f"OverviewWidget({self._coder!r}, {self.n_units} units)"

    def _counts(self) -> Mapping[str, int]:
        return {"n_units": len(self._study.units)}

    def _asked(self) -> Sequence[Asked]:
        return ({"hello": self._welcome, "count": self._recount, "units": self._units, "unit": self._unit},)

    def _welcome(self, _: Mapping[str, Any]) -> dict[str, Any]:
        self._counting.ask()
        return {
            "type": "welcome",
            "coder": self._coder,
            "book": self._book(),
            "parts": list(self._parts.values()),
        }

    def _recount(self, _: Mapping[str, Any]) -> dict[str, Any]:
        self._counting.ask()
        return {"type": "counting"}

    def _units(self, content: Mapping[str, Any]) -> dict[str, Any]:
        door, first = field(content, "door", dict), max(0, field(content, "first", int))
        rows = page(self._now(), door, first=first, find=str(content.get("find") or ""))
        return {"type": "units", "door": door, **rows}

    def _unit(self, content: Mapping[str, Any]) -> dict[str, Any]:
        return {"type": "unit", **text_of(self._now(), content.get("unit_id"))}

    def _book(self) -> dict[str, Any]:
        lists = ("use_when", "avoid_when", "examples", "counter_examples")
        return described_book(self._study.codebook, without=lists)

    # counting ---------------------------------------------------------------------------------------

    def _acted(self) -> None:
        self._tell({"type": "acted"})

    def _count_all(self) -> None:
        """Tell what is quickly known first, and each part that takes longer as it comes."""
        board = self._read = self._board()
        progress = progress_rows(board)
        at = datetime.now(UTC).isoformat(timespec="seconds")
        self._tell_part("rounds", at=at, rows=progress, book=self._book())
        n_finished = int(board.tally["unit_id"].nunique())
        words = board.read.words(board.read.decided)
        self._tell_part("codes", rows=frequency_rows(board), n_finished=n_finished, words=words)
        known = self._decided is not None and board.read.independent.equals(self._decided)
        agreed = self._agreed if known else []
        by_round = self._by_round if known else []
        of = {"of_coder": board.is_coder}
        self._tell_part("attention", **of, rows=attention(board, progress, agreed))
        if not known:
            agreed = agreement_rows(board, width=self._width)
            by_round = agreement_by_round(board)
        self._decided, self._agreed, self._by_round = board.read.independent, agreed, by_round
        said = agreement_words(board, agreed, width=self._width)
        basis = board.read.words(board.read.independent)
        self._tell_part("agreement", rows=agreed, basis=basis, words=said, by_round=by_round)
        leaning = leaning_rows(board)
        self._tell_part("leaning", rows=leaning)
        self._tell_part("change", **change(board))
        self._tell_part("attention", **of, rows=attention(board, progress, agreed, alarms(board), leaning))
        self._tell({"type": "counted"})

    def _tell_part(self, name: str, **content: Any) -> None:
        part = self._parts[name] = {"type": name, **content}
        self._tell(part)

    def _now(self) -> Board:
        self._read = self._read or self._board()
        return self._read
