"""One recorded act of one person, and what makes it valid."""

from __future__ import annotations

import re
from dataclasses import dataclass
from operator import attrgetter
from types import NoneType
from typing import Final

from sense7_qual._arguments import is_name
from sense7_qual._messages import word
from sense7_qual.acts._kinds import KINDS, Kind
from sense7_qual.acts._validate import (
    SpanMemo,
    check_coder,
    check_paraphrase,
    check_reason,
    check_word,
    facet_values,
    quote_decision,
    reason_of,
    whole,
)
from sense7_qual.errors import ActError

__all__ = ["CONFIDENCES", "Act"]

CONFIDENCES: Final = ("sure", "unsure")

_ACT_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One recorded step of one person.

    Made by `apply`, `remove`, `finish`, `reopen`, `memo`, `rule`, `propose`, `quote`, `undo` and `redo`,
    which say what each kind needs. The repr leaves `text` out, because it holds participants' words.

    Parameters
    ----------
    act_id : str
        A UUID, so that sending the act twice changes nothing.
    kind : str
        One of the kinds in the table of this package.
    coder : str
        The pseudonym of the person, or the name of the model.
    at : str
        The time in UTC, as ISO 8601 with milliseconds.
    codebook : str
        The fingerprint of the codebook in use.
    unit_id, code : str, optional
        What the act is about.
    start, end : int, optional
        The span in Unicode code points, half-open; both missing for the whole unit.
    facets : str, optional
        The facets of a coding, sorted: ``intensity=high valence=met`` (`facet_values` reads them); the reason
        of a ruling: ``reason=slip`` (`reason` reads it); the decision about a quote: ``role=shows
        state=approved words=original``.
    confidence, round : str, optional
        Whether the coder is unsure of a coding; the round of coding it belongs to. A memo with a round is for
        the team, which sees it once the round is unblinded; only its writer sees one without.
    applied : bool, optional
        The decision of a ruling; None if both readings are kept (`rule`).
    target : str, optional
        The act that is undone or redone.
    target_kind, memo_id : str, optional
        What a memo is about, and the memo that it revises.
    text : str, optional
        The memo (`memo_text` reads it), the quote of a span, the proposed code, the note of a ruling, the
        paraphrase of a quote, or the content of suggestions, a round, a plan, a revision, a setting, themes,
        their change or an analysis plan. The store keeps it apart from the act.

    Raises
    ------
    ActError
        A value does not have the form above.
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
    facets: str | None = None
    confidence: str | None = None
    round: str | None = None
    applied: bool | None = None
    target: str | None = None
    target_kind: str | None = None
    memo_id: str | None = None
    text: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "coder", check_coder(self.coder))
        check_word("kind", self.kind, KINDS)
        if self.facets is not None:
            facet_values(self.facets)
        if self.confidence is not None:
            check_word("confidence", self.confidence, CONFIDENCES)
        if not isinstance(self.act_id, str) or not _ACT_ID.fullmatch(self.act_id):
            raise ActError(
                f"act: expected a lower-case UUID as act_id – found {word(self.act_id)} – leave act_id "
                "out to have one made."
            )
        if not _TEXT_OR_NONE.issuperset(map(type, _texts_of(self))):  # all at once: there may be a million
            self._check_texts()
        if self.round is not None and not is_name(self.round):
            raise ActError(
                "act: expected the name of a round – found one that is empty, not text, or has a space at "
                "an end or a control character – use the name of an open round, or leave it out."
            )
        if self.start is not None or self.end is not None:
            self._check_span()
        if self.at is None or self.codebook is None:
            raise ActError(
                "act: expected at and codebook – found none – make acts with acts.apply and the like."
            )
        for name in self.traits.needs:
            if getattr(self, name) is None:
                raise ActError(f"act: expected {name} for kind {self.kind!r} – found none – name it.")
        if self.traits.facets == "ruling":
            check_reason(self.reason, self.applied)
        if self.traits.facets == "quote":
            check_paraphrase(quote_decision(self.facets).paraphrased, self.text)

    def _check_texts(self) -> None:
        for name in _TEXTS:
            if not isinstance(getattr(self, name), str | None):
                raise ActError(
                    f"act: expected text as {name} – found {type(getattr(self, name)).__name__} – convert it "
                    "with str()."
                )

    def _check_span(self) -> None:
        for name, value in (("start", self.start), ("end", self.end)):
            if value is not None and type(value) is not int:  # a frame's integers are NumPy's
                object.__setattr__(self, name, whole(value, name))
        if self.start is None or self.end is None or not 0 <= self.start < self.end:
            raise ActError(
                f"act on unit {word(self.unit_id)}: expected a span with 0 ≤ start < end – found start "
                f"{self.start}, end {self.end} – count code points, half-open, or leave both out for the "
                "whole unit."
            )

    @property
    def traits(self) -> Kind:
        """What is true of every act of its kind."""
        return KINDS[self.kind]

    @property
    def facet_values(self) -> dict[str, str]:
        """The value of each facet that a coding states."""
        return {} if self.facets is None else facet_values(self.facets)

    @property
    def reason(self) -> str | None:
        """Why the ruling was needed, out of `REASONS`; None where it has no reason, and of other acts."""
        return reason_of(self.facets) if self.traits.facets == "ruling" else None

    @property
    def memo_text(self) -> str:
        """What a memo says, without the quote of one on a span; empty where it was ended or erased."""
        if self.target_kind != "span" or not self.text:
            return self.text or ""
        return SpanMemo.from_text(self.text).text

    def __repr__(self) -> str:
        shown = ("kind", "coder", "unit_id", "code", "start", "end", "at", "act_id")
        parts = (f"{name}={getattr(self, name)!r}" for name in shown if getattr(self, name) is not None)
        return f"Act({', '.join(parts)})"


_TEXTS: Final = ("at", "codebook", "unit_id", "code", "target", "target_kind", "memo_id", "text")
_texts_of: Final = attrgetter(*_TEXTS)
_TEXT_OR_NONE: Final = frozenset({str, NoneType})
