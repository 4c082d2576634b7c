"""The survey grid: short texts as rows, with their codings, rating and the variables that may be seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sense7_qual.errors import ActError
from sense7_qual.widgets._desk import Asked
from sense7_qual.widgets._session import Session
from sense7_qual.widgets._text_list import TextList, one_of

__all__ = ["LAYOUTS", "Grid"]

LAYOUTS: Final = ("text", "grid")
_MOST_ROWS: Final = 100


class Grid:
    """What the survey grid asks of one coder's session.

    Attributes
    ----------
    session : Session
        Whose texts they are.
    texts : TextList
        The list that the grid shows, which knows the variables that this coder may see.
    layout : {"text", "grid"}
        How a view that is opened begins; then as the coder left it.
    hides_ratings : bool
        Whether a rating waits for its text's finish: then none of another text is sent.
    """

    def __init__(
        self, session: Session, texts: TextList, *, layout: str = "text", hides_ratings: bool = False
    ) -> None:
        self._session = session
        self._texts = texts
        self._hides_ratings = hides_ratings
        self.layout = layout
        self.asked: Asked = {"grid": self._rows, "layout": self._use_layout}

    def __repr__(self) -> str:
        return f"Grid({len(self._session.unit_ids)} units, layout={self.layout!r})"

    def _use_layout(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        self.layout = one_of("layout", asked.get("layout"), LAYOUTS)
        return {"type": "layout", "variables": self._texts.variables, "has_rating": self._session.has_rating}

    def _rows(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        places, names = asked.get("places"), asked.get("variables")
        n_units = len(self._session.unit_ids)
        known = isinstance(places, list) and all(type(one) is int and 0 <= one < n_units for one in places)
        if not isinstance(places, list) or not known or len(places) > _MOST_ROWS:
            raise ActError(
                f"grid: expected at most {_MOST_ROWS} places from 0 to {n_units - 1} – found others or more "
                "– reload the page."
            )
        chosen = [
            one_of("variable", name, self._texts.variables)
            for name in (names if isinstance(names, list) else [])
        ]
        return {"type": "grid", "rows": [self._row(place, chosen) for place in places]}

    def _row(self, place: int, variables: list[str]) -> dict[str, Any]:
        unit = self._session.unit(place)
        if self._hides_ratings and not unit["finished"]:
            unit["rating"] = None
        return {
            "unit": unit,
            "variables": self._texts.values_of(place, variables),
            "review": self._session.review_of(place),
        }
