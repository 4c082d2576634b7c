"""What a memo on some words of a text holds: what was written, and the words that it is about."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sense7_qual._arguments import check_arguments
from sense7_qual.errors import ActError

__all__ = ["SpanMemo"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SpanMemo:
    """A memo on a span: its text, and the quote, which the store fills in. The repr says neither.

    Raises
    ------
    ActError
        One of the two is no text, or the text is empty: an act with an empty text ends the memo.
    """

    text: str
    quote: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not isinstance(self.quote, str) or not self.text:
            raise ActError(
                "memo: expected words as `text` and as `quote`, text not empty – found something else – make "
                "it with acts.memo; an empty text ends a memo."
            )

    def __repr__(self) -> str:
        return f"SpanMemo({len(self.text)} characters on {len(self.quote)})"

    def to_text(self) -> str:
        """Return what the act of a memo on a span holds as its text."""
        return json.dumps({"memo": self.text, "quote": self.quote}, ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_text(cls, text: str | None) -> SpanMemo:
        """Return the memo of an act of kind ``memo`` on a span.

        Raises
        ------
        ActError
            The text is not what `to_text` wrote.
        """
        check_arguments(SpanMemo.from_text, locals())
        try:
            content: dict[str, Any] = json.loads(str(text))
            memo = cls(text=content["memo"], quote=content["quote"])
            if memo.to_text() != text:
                raise ValueError("more, or in another form")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise ActError(
                "memo: expected a memo with the words that it is about – found something else – make it with "
                "acts.memo."
            ) from None
        return memo
