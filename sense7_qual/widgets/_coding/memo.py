"""A memo in the coding widget: the act that a browser asks for, and what the browser shows of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from sense7_qual import acts as record
from sense7_qual._messages import did_you_mean
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError
from sense7_qual.widgets._offsets import as_text, utf16_units

__all__ = ["KINDS", "free_memos", "memo_act", "on_text"]

KINDS: Final = ("unit", "span", "code", "study")


class Writer(Protocol):
    """What is asked of the session in which a memo is written."""

    coder: str
    codebook: Codebook
    round: str | None

    def known_unit(self, unit_id: object) -> str:
        """Return the id of one of the units."""

    def span(self, message: Mapping[str, Any], unit_id: str) -> dict[str, int]:
        """Return start and end of the span that the browser names."""

    def first_of_memo(self, memo_id: object) -> Act | None:
        """Return the act with which a memo was first written."""


def memo_act(session: Writer, message: Mapping[str, Any], common: Mapping[str, Any]) -> Act:
    """Return the memo that the browser asks for: on the text, a span of it, a code or the study."""
    kind = message.get("target_kind") or "unit"
    if kind not in KINDS:
        raise ActError(
            f"memo: expected it on one of {', '.join(KINDS)} – found {str(kind)[:40]!r} – "
            f"{did_you_mean(str(kind), KINDS)}"
        )
    about: dict[str, Any] = {"target_kind": kind}
    if kind in ("unit", "span"):
        about["unit_id"] = session.known_unit(message.get("unit_id"))
    if kind == "span":
        about |= session.span(message, about["unit_id"])
    if kind == "code":
        about["code"] = session.codebook[str(message.get("code"))].id
    memo_id = message.get("memo_id")
    before = _revised(session, memo_id, about)
    round = before.round if before is not None else session.round if message.get("team") is True else None
    if before is None and message.get("team") is True and round is None:
        raise ActError(
            "memo: expected a round that is coded, whose unblinding lets the team see it – found none – "
            "write it for yourself, or open the widget for a round: CodingWidget(…, round=…)."
        )
    return record.memo(
        **common,
        coder=session.coder,
        text=as_text(message.get("text")),
        **about,
        memo_id=memo_id,
        round=round,
    )


def _revised(session: Writer, memo_id: object, about: Mapping[str, Any]) -> Act | None:
    """Return the first act of the memo that is revised, never one on something else; None for a new memo."""
    before = None if memo_id is None else session.first_of_memo(memo_id)
    is_other = before is not None and any(getattr(before, name) != value for name, value in about.items())
    if is_other or not isinstance(memo_id, str | None):
        raise ActError(
            f"memo: expected a memo of one's own on the same thing – found {str(memo_id)[:40]!r} – write a "
            "new one."
        )
    return before


def on_text(act: Act, text: str | None) -> dict[str, Any]:
    """Return what the browser needs to show and to revise a memo; its span in UTF-16 code units of `text`."""
    start, end = act.start, act.end
    if text is not None and start is not None and end is not None:
        start, end = utf16_units(text, start, end)
    return {
        "memo_id": act.memo_id,
        "on": act.target_kind,
        "code": act.code if act.target_kind == "code" else None,
        "start": start,
        "end": end,
        "text": act.memo_text,
        "team": act.round is not None,
    }


def free_memos(acts: Sequence[Act]) -> list[dict[str, Any]]:
    """Return the memos on codes and on the study that stand after `acts`."""
    return [on_text(act, None) for act in record.standing(acts, subject="memo")]
