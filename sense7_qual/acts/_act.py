"""One recorded act of one person, and what makes it valid."""

from __future__ import annotations

import re
from dataclasses import dataclass
from operator import attrgetter
from types import NoneType
from typing import Final

from sense7_qual._checks import is_name
from sense7_qual._messages import word
from sense7_qual.acts._validate import (
    check_coder,
    check_word,
    whole,
)
from sense7_qual.codebook import VALENCES
from sense7_qual.errors import ActError

__all__ = ["CONFIDENCES", "KINDS", "LEAD_KINDS", "Act"]

LEAD_KINDS: Final = ("open_round", "unblind", "assign", "revise")
"""What the lead does for the whole team: seen by everybody at once, and never undone."""

KINDS: Final = ("apply", "remove", "finish", "reopen", "memo", "rule", "undo", "redo", *LEAD_KINDS)
CONFIDENCES: Final = ("sure", "unsure")

_ACT_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One recorded deed of one person.

    Made by `apply`, `remove`, `finish`, `reopen`, `memo`, `rule`, `undo` and `redo`, which say what each
    kind needs. The repr leaves `text` out, because it holds participants' words.

    Parameters
    ----------
    act_id : str
        A UUID made where the deed was done, so that sending it twice changes nothing.
    kind : str
        One of `KINDS`.
    coder : str
        The pseudonym of the person (or the name of the model) whose deed it is.
    at : str
        When, in UTC, as ISO 8601 with milliseconds.
    codebook : str
        The fingerprint of the codebook that the person had before them.
    unit_id, code : str, optional
        What the deed is about.
    start, end : int, optional
        The span in Unicode code points, half-open; both missing for the whole unit.
    valence, confidence, round : str, optional
        Facets of a coding; the round of coding it belongs to.
    applied : bool, optional
        The verdict of a ruling.
    target : str, optional
        The act that is undone or done again.
    target_kind, memo_id : str, optional
        What a memo is about, and which memo it revises.
    text : str, optional
        The memo, the quote of a span, or what a round, a plan or a revision consists of. Kept apart from the
        act in the store.

    Raises
    ------
    ActError
        A value is not of the form above.
    """

    act_id: str
    kind: str
    coder: str
    at: str
    codebook: str
    unit_id: str | None = None
    code: str | None = None
    start: int | None = None
    end: int | None = None
    valence: str | None = None
    confidence: str | None = None
    round: str | None = None
    applied: bool | None = None
    target: str | None = None
    target_kind: str | None = None
    memo_id: str | None = None
    text: str | None = None

    def __post_init__(self) -> None:
        check_coder(self.coder)
        check_word("kind", self.kind, KINDS)
        if self.valence is not None:
            check_word("valence", self.valence, VALENCES)
        if self.confidence is not None:
            check_word("confidence", self.confidence, CONFIDENCES)
        if not isinstance(self.act_id, str) or not _ACT_ID.fullmatch(self.act_id):
            raise ActError(
                f"act: expected a lower-case UUID as act_id – found {word(self.act_id)} – leave act_id "
                "out to have one made."
            )
        self._check_texts()
        if self.round is not None and not is_name(self.round):
            raise ActError(
                "act: expected the name of a round – found one that is empty, no text, has a space at an "
                "end or a control character – write it as the lead opened it, or leave it out."
            )
        self._check_span()
        if self.at is None or self.codebook is None:
            raise ActError(
                "act: expected at and codebook – found none – make acts with `apply` and the others."
            )
        for name in _NEEDS[self.kind]:
            if getattr(self, name) is None:
                raise ActError(f"act: expected {name} for kind {self.kind!r} – found none – name it.")

    def _check_texts(self) -> None:
        if _TEXT_OR_NONE.issuperset(map(type, _texts_of(self))):
            return  # at once: there may be a million
        for name in _TEXTS:
            if not isinstance(getattr(self, name), str | None):
                raise ActError(
                    f"act: expected text as {name} – found {type(getattr(self, name)).__name__} – convert it "
                    "with str()."
                )

    def _check_span(self) -> None:
        if self.start is None and self.end is None:
            return
        for name in ("start", "end"):
            if type(getattr(self, name)) not in (int, type(None)):  # a frame's integers are NumPy's
                object.__setattr__(self, name, whole(getattr(self, name), name))
        if self.start is None or self.end is None or not 0 <= self.start < self.end:
            raise ActError(
                f"act on unit {word(self.unit_id)}: expected a span with 0 ≤ start < end – found start "
                f"{self.start}, end {self.end} – count code points, half-open, or leave both out for the "
                "whole unit."
            )

    def __repr__(self) -> str:
        shown = ("kind", "coder", "unit_id", "code", "start", "end", "at", "act_id")
        parts = (f"{name}={getattr(self, name)!r}" for name in shown if getattr(self, name) is not None)
        return f"Act({', '.join(parts)})"


_TEXTS: Final = ("at", "codebook", "unit_id", "code", "target", "target_kind", "memo_id", "text")
_texts_of: Final = attrgetter(*_TEXTS)
_TEXT_OR_NONE: Final = frozenset({str, NoneType})

_NEEDS: Final[dict[str, tuple[str, ...]]] = {
    "apply": ("unit_id", "code"),
    "remove": ("unit_id", "code"),
    "finish": ("unit_id",),
    "reopen": ("unit_id",),
    "memo": ("target_kind", "memo_id", "text"),
    "rule": ("unit_id", "code", "applied"),
    "undo": ("target",),
    "redo": ("target",),
    "open_round": ("round", "text"),
    "unblind": ("round",),
    "assign": ("text",),
    "revise": ("text",),
}
