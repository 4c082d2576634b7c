"""The units that one coder codes: texts and ratings by place, and the words of them that a browser names."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import pandas as pd

from sense7_qual._messages import did_you_mean, word
from sense7_qual.errors import ActError
from sense7_qual.frames import UNITS, require_column
from sense7_qual.widgets._offsets import code_points, shown_value, turns

__all__ = ["Units"]


class Units:
    """What is coded, in this order.

    Attributes
    ----------
    units : DataFrame
        The units.
    rating : str, optional
        Their column with the rating that can be shown beside the text.
    """

    def __init__(self, units: pd.DataFrame, *, rating: str | None) -> None:
        table = UNITS.check(units, as_written=True)
        self.unit_ids: list[str] = table["unit_id"].tolist()
        self._text = table["text"]
        self._context = table["context"].array if "context" in table.columns else None
        if rating is not None:
            require_column(table, rating, frame_name="units")
        self._rating = None if rating is None else table[rating].array

    def __repr__(self) -> str:
        return f"Units({len(self.unit_ids)} units)"

    def context(self, place: int) -> list[dict[str, str]]:
        """Return what was said before the unit at `place`."""
        return turns(_value(self._context, place))

    @cached_property
    def _place(self) -> dict[str, int]:
        return dict(zip(self.unit_ids, range(len(self.unit_ids)), strict=True))

    @cached_property
    def texts(self) -> list[str]:
        """All texts, in order."""
        texts: list[str] = self._text.fillna("").tolist()
        return texts

    def text(self, place: int) -> str:
        """Return the text of the unit at `place`."""
        return _value(self._text.array, place) or ""

    @property
    def has_rating(self) -> bool:
        """Whether the units have a rating that can be shown."""
        return self._rating is not None

    def rating(self, place: int) -> str | None:
        """Return the rating of the unit at `place`, as it is shown."""
        return shown_value(_value(self._rating, place))

    def place_of(self, unit_id: object) -> int:
        """Return the place of a unit."""
        place = self._place.get(unit_id) if isinstance(unit_id, str) else None
        if place is None:
            near = difflib.get_close_matches(str(unit_id)[:100], self.unit_ids, n=1) or self.unit_ids
            raise ActError(
                f"unit_id: expected one of the units to code – found {word(unit_id)} – "
                f"{did_you_mean(str(unit_id), near)}"
            )
        return place

    def check_place(self, place: object) -> int:
        """Return `place`, or raise `ActError` where no unit has it."""
        if type(place) is not int or not 0 <= place < len(self.unit_ids):
            raise ActError(
                f"units: expected a place from 0 to {len(self.unit_ids) - 1} – found {word(place)} – go to "
                "another."
            )
        return place

    def words(self, message: Mapping[str, Any]) -> str:
        """Return the text, or the span of it, that the browser names."""
        unit_id = self.known_unit(message.get("unit_id"))
        span = self._target(message, unit_id)
        return self.text(self._place[unit_id])[span["start"] : span["end"]]

    def _target(self, message: Mapping[str, Any], unit_id: str) -> dict[str, Any]:
        """Return code, start and end (in code points) of a coding that the browser names."""
        code, start, end = str(message.get("code")), message.get("start"), message.get("end")
        if start is None and end is None:
            return {"code": code, "start": None, "end": None}
        if type(start) is not int or type(end) is not int:  # half a span, or a fraction, is no whole unit
            raise ActError(
                f"act on unit {unit_id!r}: expected two whole numbers as start and end – found "
                f"{type(start).__name__} and {type(end).__name__} – select again."
            )
        first, last = code_points(self.text(self._place[unit_id]), start, end)
        return {"code": code, "start": first, "end": last}

    def span(self, message: Mapping[str, Any], unit_id: str) -> dict[str, int]:
        """Return start and end, in code points, of the span that the browser names."""
        named = self._target(message, unit_id)
        if named["start"] is None:
            raise ActError(f"act on unit {unit_id!r}: expected words of the text – found none – select some.")
        return {"start": named["start"], "end": named["end"]}

    def find_place(self, unit_id: str | None) -> int | None:
        """Return the place of a unit; None where it is not among those that are coded here."""
        return None if unit_id is None else self._place.get(unit_id)

    def known_unit(self, unit_id: object) -> str:
        """Return the id of one of the units; raise `ActError` where there is no such one."""
        if not isinstance(unit_id, str) or unit_id not in self._place:
            raise ActError(
                f"act: expected one of the units to code – found {str(unit_id)[:60]!r} – "
                f"{did_you_mean(str(unit_id), self.unit_ids[:1000])}"
            )
        return unit_id


def _value(column: Any, place: int) -> Any:
    """Return the value at `place`; None where it is missing, or there is no column."""
    value = None if column is None else column[place]
    return None if pd.isna(value) else value
