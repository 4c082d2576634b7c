"""What one coder's session knows: units, acts, and what stands on each unit.

A session has no widget, no browser and no store in it: it turns the browser's deeds into acts, and acts
into what the browser shows. Offsets leave and enter here as UTF-16 code units.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual import acts as deeds
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError
from sense7_qual.tables import UNITS, require_column
from sense7_qual.widgets._utf16 import code_points, utf16_units

__all__ = ["Session"]

_UNTOUCHED, _CODED, _FINISHED, _UNSURE = ".", "c", "f", "u"
_HISTORY: Final = ("apply", "remove", "finish", "reopen", "memo")


class Session:
    """The state of one coder's work on a set of units.

    Parameters
    ----------
    units : DataFrame
        What is coded, in this order.
    codebook : Codebook
        The codes, and the version under which every act is made.
    coder : str
        Whose session it is.
    acts : sequence of Act
        What this coder did before, in order. Acts on units that are not in `units` are kept out.
    rating : str, optional
        The column of `units` with the rating that can be shown beside the text.
    round : str, optional
        The round of coding that finishing a unit belongs to.
    review : iterable of str
        Units to be looked at again: to be finished, until they are finished under `codebook`.

    Raises
    ------
    ActError
        `coder` is no pseudonym, or an act is another coder's.
    TableError
        `units` is not what its contract says, or has no such rating.
    """

    def __init__(
        self,
        units: pd.DataFrame,
        codebook: Codebook,
        *,
        coder: str,
        acts: Sequence[Act],
        rating: str | None,
        round: str | None,
        review: Iterable[str] = (),
    ) -> None:
        self.coder = deeds.check_coder(coder)
        self.codebook = codebook
        self.round = round
        self._review = frozenset(review)
        self.position = 0
        table = UNITS.check(units, as_written=True)
        self.unit_ids: list[str] = table["unit_id"].tolist()
        self._place = {unit_id: place for place, unit_id in enumerate(self.unit_ids)}
        self._texts: list[str] = table["text"].fillna("").tolist()
        self._contexts = _column(table, "context")
        if rating is not None:
            require_column(table, rating, frame_name="units")
        self._ratings = _column(table, rating)
        self._acts: defaultdict[str, list[Act]] = defaultdict(list)
        self._known: dict[str, Act] = {}
        self._done: list[Act] = []
        self._undone: list[Act] = []
        self._flags = [_UNTOUCHED] * len(self.unit_ids)
        self._earlier: set[str] = set()
        before = list(acts)
        self._refuse_others(before)
        for act in before:
            self._remember(act)
        for unit_id in self._acts:
            self._reflag(unit_id)
        self.position = self.next_unfinished(-1)

    def __repr__(self) -> str:
        return f"Session({self.coder!r}, {self.n_finished} of {len(self.unit_ids)} units finished)"

    @property
    def n_finished(self) -> int:
        """How many of the units this coder has finished."""
        return self._flags.count(_FINISHED) + self._flags.count(_UNSURE)

    @property
    def flags(self) -> str:
        """One character a unit: ``.`` untouched, ``c`` begun, ``f`` finished, ``u`` finished, unsure."""
        return "".join(self._flags)

    @property
    def n_earlier(self) -> int:
        """How many of the units, but those under review, this coder coded with another codebook alone."""
        return len(self._earlier)

    def flag(self, place: int) -> str:
        """Return the flag of the unit at `place` (see `flags`)."""
        return self._flags[place]

    def next_unfinished(self, after: int) -> int:
        """Return the place of the first unfinished unit behind `after`, else from the top, else the last."""
        order = [*range(after + 1, len(self._flags)), *range(after + 1)]
        unfinished = (place for place in order if self._flags[place] in (_UNTOUCHED, _CODED))
        return next(unfinished, max(len(self._flags) - 1, 0))

    def knows(self, act_id: str) -> Act | None:
        """Return the act of this id where it has been recorded."""
        return self._known.get(act_id)

    def unit(self, place: int) -> dict[str, Any]:
        """Return all that the browser shows of the unit at `place`."""
        if not 0 <= place < len(self.unit_ids):
            raise ActError(
                f"units: expected a place from 0 to {len(self.unit_ids) - 1} – found {place} – go to another."
            )
        unit_id, text = self.unit_ids[place], self._texts[place]
        now = self._now(unit_id)
        memo = next((act for act in now if act.kind == "memo" and act.target_kind == "unit"), None)
        return {
            "place": place,
            "unit_id": unit_id,
            "text": text,
            "context": _turns(self._contexts[place]) if self._contexts else [],
            "rating": _shown(self._ratings[place]) if self._ratings else None,
            "finished": any(self._finishes(act) for act in now),
            "codings": [_coding(act, text) for act in now if act.kind == "apply"],
            "memo": {"memo_id": memo.memo_id, "text": memo.text} if memo else None,
        }

    def act(self, deed: Mapping[str, Any]) -> Act:
        """Return the act that the browser's `deed` asks for; nothing is recorded yet.

        Raises
        ------
        ActError, CodebookError
            The deed names an unknown unit or code, a span outside the text, or there is nothing to undo.
        """
        kind, common = str(deed.get("kind")), {"codebook": self.codebook, "act_id": str(deed.get("act_id"))}
        if kind in ("undo", "redo"):
            return self._about_last(kind, common)
        unit_id = self._known_unit(deed.get("unit_id"))
        mine: dict[str, Any] = {**common, "coder": self.coder, "unit_id": unit_id}
        if kind == "apply":
            facets: dict[str, Any] = {name: deed.get(name) for name in ("valence", "confidence")}
            return deeds.apply(**mine, **self._target(deed, unit_id), **facets, round=self.round)
        if kind == "remove":
            return deeds.remove(**mine, **self._target(deed, unit_id), round=self.round)
        if kind == "finish":
            return deeds.finish(**mine, round=self.round)
        if kind == "reopen":
            return deeds.reopen(**mine, round=self.round)
        if kind == "memo":
            return deeds.memo(**mine, text=_memo_text(deed.get("text")), memo_id=self._memo_id(deed, unit_id))
        raise ActError(f"deed: expected one of {', '.join(_HISTORY)}, undo, redo – found {kind[:40]!r}.")

    def record(self, act: Act) -> int:
        """Take an act that has been saved into what stands; return the place of its unit."""
        self._remember(act)
        self._reflag(str(act.unit_id))
        return self._place[str(act.unit_id)]

    @property
    def can_undo(self) -> bool:
        """Whether there is an act to take back."""
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        """Whether there is an undone act to do again."""
        return bool(self._undone)

    def _remember(self, act: Act) -> None:
        if act.act_id in self._known or act.unit_id not in self._place:
            return
        self._known[act.act_id] = act
        self._acts[act.unit_id].append(act)
        if act.kind in _HISTORY:
            # Undoing what another round decided would change its coverage, and nothing here would show it.
            if act.kind != "memo" and act.round != self.round:
                return
            self._done.append(act)
            self._undone.clear()
        elif act.kind == "undo":
            _move(act.target, self._done, self._undone)
        elif act.kind == "redo":
            _move(act.target, self._undone, self._done)

    def _reflag(self, unit_id: str) -> None:
        now = self._now(unit_id)
        coded = any(act.kind in ("apply", "memo") for act in now)
        flag = _CODED if coded else _UNTOUCHED
        if any(self._finishes(act) for act in now):
            flag = _UNSURE if any(act.confidence == "unsure" for act in now) else _FINISHED
        self._flags[self._place[unit_id]] = flag
        decided = [act for act in now if act.kind == "finish"] or [act for act in now if act.kind == "apply"]
        is_earlier = bool(decided) and all(act.codebook != self.codebook.fingerprint for act in decided)
        (self._earlier.add if is_earlier and unit_id not in self._review else self._earlier.discard)(unit_id)

    def _now(self, unit_id: str) -> list[Act]:
        """Return what stands on the unit in this round: each is coded afresh, memos are for all of them."""
        now = deeds.standing(self._acts.get(unit_id, ()))
        return [act for act in now if act.kind == "memo" or act.round == self.round]

    def _finishes(self, act: Act) -> bool:
        if act.kind != "finish" or act.round != self.round:
            return False
        return act.unit_id not in self._review or act.codebook == self.codebook.fingerprint

    def _about_last(self, kind: str, common: dict[str, Any]) -> Act:
        stack = self._done if kind == "undo" else self._undone
        if not stack:
            raise ActError(f"{kind}: expected an act to {kind} – found none.")
        make = deeds.undo if kind == "undo" else deeds.redo
        return make(stack[-1], **common)

    def _target(self, deed: Mapping[str, Any], unit_id: str) -> dict[str, Any]:
        """Return code, start and end (in code points) of a coding that the browser names."""
        code, start, end = str(deed.get("code")), deed.get("start"), deed.get("end")
        if start is None and end is None:
            return {"code": code, "start": None, "end": None}
        if type(start) is not int or type(end) is not int:  # half a span, or a fraction, is no whole unit
            raise ActError(
                f"deed on unit {unit_id!r}: expected two whole numbers as start and end – found "
                f"{type(start).__name__} and {type(end).__name__} – select again."
            )
        first, last = code_points(self._texts[self._place[unit_id]], start, end)
        return {"code": code, "start": first, "end": last}

    def _memo_id(self, deed: Mapping[str, Any], unit_id: str) -> str | None:
        """Return which memo the deed revises, never one of another unit; None for a new memo."""
        memo_id: Any = deed.get("memo_id")
        elsewhere = (act.memo_id for act in self._known.values() if act.unit_id != unit_id)
        if memo_id is not None and (not isinstance(memo_id, str) or memo_id in elsewhere):
            raise ActError(
                f"deed on unit {unit_id!r}: expected a memo of this unit – found {str(memo_id)[:40]!r} – "
                "write a new one."
            )
        return memo_id

    def _known_unit(self, unit_id: object) -> str:
        if not isinstance(unit_id, str) or unit_id not in self._place:
            raise ActError(
                f"deed: expected one of the units to code – found {str(unit_id)[:60]!r} – "
                f"{did_you_mean(str(unit_id), self.unit_ids[:1000])}"
            )
        return unit_id

    def _refuse_others(self, acts: Sequence[Act]) -> None:
        others = sorted({act.coder for act in acts} - {self.coder})
        if others:
            raise ActError(
                f"acts: expected acts of {self.coder!r} alone – found acts of {first_three(others)} – pass "
                f"store.acts(coder={self.coder!r}), so that coders stay blind to each other."
            )


def _move(act_id: str | None, source: list[Act], target: list[Act]) -> None:
    place = next((place for place in reversed(range(len(source))) if source[place].act_id == act_id), None)
    if place is not None:
        target.append(source.pop(place))


def _column(table: pd.DataFrame, name: str | None) -> list[Any]:
    if name is None or name not in table.columns:
        return []
    return [None if pd.isna(value) else value for value in table[name]]


def _turns(context: str | None) -> list[dict[str, str]]:
    """Return the earlier turns as the browser shows them: role and text."""
    if not context:
        return []
    return [
        {"role": str(turn.get("role") or ""), "text": str(turn.get("text") or "")}
        for turn in json.loads(context)
    ]


def _shown(value: object) -> str | None:
    if value is None:
        return None
    # A column with a missing rating holds floats: 2 is shown as it was given, not as 2.0.
    if isinstance(value, float | np.floating) and value.is_integer():
        return str(int(value))
    return str(value)


def _memo_text(text: object) -> str:
    """Return the memo's text; half of an emoji, which a text field can hold, becomes U+FFFD."""
    if not isinstance(text, str | None):
        raise ActError(f"deed: expected text as memo – found {type(text).__name__} – write it again.")
    return (text or "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _coding(act: Act, text: str) -> dict[str, Any]:
    span: tuple[int | None, int | None] = (None, None)
    if act.start is not None and act.end is not None:
        span = utf16_units(text, act.start, act.end)
    return {
        "code": act.code,
        "start": span[0],
        "end": span[1],
        "valence": act.valence,
        "confidence": act.confidence,
    }
