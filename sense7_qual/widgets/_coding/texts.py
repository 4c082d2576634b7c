"""A coder's texts as a list and as a grid: which are asked for, in which order, and what a row shows."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._messages import did_you_mean
from sense7_qual.errors import ActError
from sense7_qual.frames import require_column
from sense7_qual.widgets._base import Asked
from sense7_qual.widgets._coding.session import Session
from sense7_qual.widgets._offsets import FoldedTexts, as_bits, as_numbers, find_folded, folded, shown_value

MOST_VALUES: Final = 12
"""Variables with more values than this are no conditions."""
STATES: Final = ("", "unfinished", "begun", "unsure", "memo", "review", "differs")
ORDERS: Final = ("plan", "document", "random")
GROUPS: Final = ("case_id", "document_id")
_MOST_LETTERS: Final = 40
_MOST_ROWS: Final = 200
_FIRST_ROWS: Final = 40
_WORDS: Final = 120  # characters of a text that a row shows
_BEFORE: Final = 24  # of them before the words that were looked for
_NEVER: Final = frozenset({"unit_id", "text", "document_id", "case_id", "position", "context"})
_EARLIER: Final = re.compile(  # names under which others keep what was coded, or by whom
    r"_?(label|cat|category|categories|code|coding|tag|annotation|annotator|coder|rater|answer)s?(_?id)?",
    re.IGNORECASE,
)

Places = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Query:
    """Which texts are asked for: those that fit all that is given."""

    find: str = field(default="", repr=False)
    state: str = ""
    code: str | None = None
    rating: str | None = None
    group: tuple[str, str] | None = None
    conditions: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, asked: Mapping[str, Any], *, show_rating: bool) -> Query:
        """Return the query that a browser sent; `rating` counts only where the ratings are on its screen."""
        group, conditions = asked.get("group"), asked.get("conditions")
        by_name = group if isinstance(group, Mapping) else {}
        return cls(
            find=folded(str(asked.get("find") or "")[:200]).strip(),
            state=one_of("state", str(asked.get("state") or ""), STATES),
            code=str(asked["code"]) if asked.get("code") else None,
            rating=str(asked["rating"]) if asked.get("rating") and show_rating else None,
            group=(one_of("group", by_name.get("by"), GROUPS), str(by_name.get("name"))) if by_name else None,
            conditions=dict(conditions) if isinstance(conditions, Mapping) else {},
        )


class TextList:
    """What the list of texts asks of one coder's session.

    Attributes
    ----------
    session : Session
        Whose texts they are, with what the coder did.
    units : DataFrame
        The same units with their variables.
    rating : str, optional
        The column that is shown as rating, which is no condition.
    shows_ratings : bool
        Whether the list shows ratings where the browser does; not where each waits for its text's finish.
    conditions : sequence of str, optional
        The variables by which the coder may choose; None: those of True and False, or of 2 to 12 short words,
        most of which come more than once. Numbers may be ratings, and what is called as a code is, or as a
        column of labels, may be somebody's coding: a blind coder is not to see either.
    differing : callable, optional
        Returns the places of the texts on which a colleague decided otherwise.
    """

    def __init__(
        self,
        session: Session,
        units: pd.DataFrame,
        *,
        rating: str | None = None,
        shows_ratings: bool = True,
        conditions: Sequence[str] | None = None,
        differing: Callable[[], list[int]] = list,
    ) -> None:
        self._session = session
        self._differing = differing
        self._units = units
        self._rating = rating
        self._shows_ratings = shows_ratings
        self._last_found: tuple[str, Places] = ("", np.zeros(0, dtype=bool))
        self._chosen = None if conditions is None else list(conditions)
        for name in self._chosen or ():
            require_column(units, name, frame_name="units")
        self.asked: Asked = {
            "choices": lambda asked: {"type": "choices", **self.choices(show_rating=self._shows(asked))},
            "progress": lambda asked: {"type": "progress", "groups": self.progress(str(asked.get("by")))},
            "rows": self._rows_at,
            "list": self._listed,
        }

    def __repr__(self) -> str:
        return f"TextList({len(self._units)} units)"

    def _shows(self, asked: Mapping[str, Any]) -> bool:
        return asked.get("show_rating") is True and self._shows_ratings

    def _rows_at(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        places, find = asked.get("places"), str(asked.get("find") or "")
        listed = places if isinstance(places, list) else [None]
        return {"type": "rows", "rows": self.rows(listed, find=find, show_rating=self._shows(asked))}

    def _listed(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Answer with the texts that match, and the rows that a browser shows first."""
        find, show_rating = str(asked.get("find") or ""), self._shows(asked)
        fits = self.matches(Query.read(asked, show_rating=show_rating))
        name = str(asked.get("order") or "plan")
        order = self.order(name)
        first = self._around(order, fits, asked.get("here"))
        return {
            "type": "list",
            "n": int(fits.sum()),
            "bits": None if fits.all() else as_bits(fits),
            # A browser that has this order already does not ask for it again.
            "order": as_numbers(order) if name != "plan" and asked.get("with_order") is True else None,
            "rows": self.rows(first, find=find, show_rating=show_rating),
        }

    @cached_property
    def _texts(self) -> FoldedTexts:
        """The id and text of each unit, which `find` searches."""
        session = self._session
        return FoldedTexts(
            f"{unit_id}\0{text}" for unit_id, text in zip(session.unit_ids, session.texts, strict=True)
        )

    @cached_property
    def _variables(self) -> dict[str, tuple[npt.NDArray[np.int64], list[str]]]:
        """Of each variable that may be chosen by: the number of its value on each unit, and the values."""
        names = self._chosen
        if names is None:
            names = [name for name in self._units.columns if self._is_condition(name)]
        numbered = {name: _numbered(self._units[name]) for name in names if name != self._rating}
        named = self._chosen is not None
        return {name: one for name, one in numbered.items() if named or self._are_groups(one[1])}

    @property
    def variables(self) -> list[str]:
        """The names of the variables that this coder may see."""
        return list(self._variables)

    def values_of(self, place: int, names: Sequence[str]) -> dict[str, str | None]:
        """Return the values of these variables on the unit at `place`; None where one is missing."""
        columns = {name: self._variables[name] for name in names}
        return {
            name: values[numbers[place]] if numbers[place] >= 0 else None
            for name, (numbers, values) in columns.items()
        }

    def _are_groups(self, values: Sequence[str]) -> bool:
        """Return True if the values sort units into groups: a participant's own words do not come twice."""
        few = 2 <= len(values) <= min(MOST_VALUES, len(self._units) // 2)
        if not few or pd.to_numeric(pd.Series(values), errors="coerce").notna().all():
            return False
        return not any(
            len(value) > _MOST_LETTERS or value.startswith("[") or self._is_code(value) for value in values
        )

    def _is_code(self, word: str) -> bool:
        return word.strip().casefold() in self._code_names

    @cached_property
    def _code_names(self) -> frozenset[str]:
        codes = self._session.codebook.codes
        return frozenset(name.casefold() for code in codes for name in (code.id, code.label))

    def _is_condition(self, name: object) -> bool:
        if not isinstance(name, str) or name in _NEVER or _EARLIER.fullmatch(name) or self._is_code(name):
            return False
        column = self._units[name]
        return not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column)

    @cached_property
    def _ratings(self) -> tuple[npt.NDArray[np.int64], list[str]]:
        return _numbered(self._units[self._rating]) if self._rating is not None else (np.array([]), [])

    def choices(self, *, show_rating: bool) -> dict[str, Any]:
        """Return by what texts can be chosen, and get them ready for being searched.

        Ratings are named only where they may be seen.
        """
        _ = self._texts
        ratings = self._ratings[1] if show_rating else []
        return {
            "conditions": [{"name": name, "values": values} for name, (_, values) in self._variables.items()],
            "ratings": ratings if len(ratings) <= 3 * MOST_VALUES else [],
            "groups": [name for name in GROUPS if self._units[name].notna().any()],
        }

    def matches(self, query: Query) -> Places:
        """Return for each unit whether the query asks for it."""
        fits = self._of_state(query.state)
        if query.code is not None:
            fits &= self._where(lambda mark: query.code in mark.codes)
        if query.rating is not None:
            fits &= _equal(self._ratings, query.rating)
        for name, value in query.conditions.items():
            fits &= _equal(self._variables[one_of("condition", name, self._variables)], str(value))
        if query.group is not None:
            by, name = query.group
            fits &= (self._units[by] == name).fillna(value=False).to_numpy(bool)
        return self._holding(query.find, fits) if query.find else fits

    def _holding(self, wanted: str, fits: Places) -> Places:
        """Mark the matching units with the wanted words in text, id or memo."""
        before, held_before = self._last_found
        # Who types on narrows down: only where the shorter words stood can the longer ones stand.
        held = self._texts.holding(wanted, fits & held_before if before and before in wanted else fits)
        if fits.all():
            self._last_found = wanted, held.copy()
        return held | fits & self._where(lambda mark: mark.memo is not None and wanted in mark.folded_memo)

    def _where(self, wanted: Any) -> Places:
        """Mark the units with codings or a memo that are `wanted`."""
        return self._at([place for place, mark in self._session.marks.items() if wanted(mark)])

    def _at(self, places: Sequence[int]) -> Places:
        fits = np.zeros(len(self._units), dtype=bool)
        fits[list(places)] = True
        return fits

    def _of_state(self, state: str) -> Places:
        match state:
            case "unsure":
                return self._where(lambda mark: mark.unsure)
            case "memo":
                return self._where(lambda mark: mark.memo is not None)
            case "review":
                return self._at(self._session.to_review)
            case "differs":
                return self._at(self._differing())
            case "":
                return np.ones(len(self._units), dtype=bool)
        flags = np.frombuffer(self._session.flags.encode("ascii"), dtype="S1")
        return np.asarray((flags == b"c") | (flags == (b"c" if state == "begun" else b".")))

    def order(self, name: str) -> npt.NDArray[np.uint32]:
        """Return the places of all units in this order: the plan's, by document, or a random one.

        The random order is the same each time for the same coder and number of units.
        """
        n_units = len(self._units)
        match one_of("order", name, ORDERS):
            case "document":
                return self._by_document
            case "random":
                seed = zlib.crc32(self._session.coder.encode())
                return np.random.default_rng(seed).permutation(n_units).astype(np.uint32)
        return np.arange(n_units, dtype=np.uint32)

    @cached_property
    def _by_document(self) -> npt.NDArray[np.uint32]:
        documents = pd.factorize(self._units["document_id"])[0]  # in the order in which they first come
        last = np.where(documents < 0, len(self._units), documents)
        position = pd.to_numeric(self._units["position"]).astype("Float64").to_numpy(float, na_value=np.inf)
        return np.lexsort((np.arange(len(self._units)), position, last)).astype(np.uint32)

    def chosen(self, asked: Mapping[str, Any]) -> list[int]:
        """Return the places of the texts that are asked for, in the order of the list."""
        order = self.order(str(asked.get("order") or "plan"))
        fits = self.matches(Query.read(asked, show_rating=self._shows(asked)))
        return [int(place) for place in order[fits[order]]]

    def beside(self, asked: Mapping[str, Any], place: int) -> tuple[list[int], list[int]]:
        """Return the places of the texts that are asked for, those before and those after a text."""
        ranks = np.argsort(self.order(str(asked.get("order") or "plan")))
        listed = self.chosen(asked)
        n_before = int(np.searchsorted(ranks[listed], ranks[place]))
        return listed[:n_before], [one for one in listed[n_before:] if one != place]

    def _around(self, order: npt.NDArray[np.uint32], fits: Places, here: object) -> list[int]:
        """Return the first places that fit in this order, or those around `here` where that fits."""
        places = order[fits[order]]
        start = 0
        if type(here) is int and 0 <= here < len(fits) and fits[here]:
            at = int(np.flatnonzero(places == here)[0])
            start = max(0, min(at - _FIRST_ROWS // 2, len(places) - _FIRST_ROWS))
        return [int(place) for place in places[start : start + _FIRST_ROWS]]

    def rows(
        self, places: Sequence[Any], *, find: str = "", show_rating: bool = False
    ) -> list[dict[str, Any]]:
        """Return the list rows of the units at `places` (at most 200)."""
        n_units = len(self._session.unit_ids)
        if len(places) > _MOST_ROWS or not all(type(one) is int and 0 <= one < n_units for one in places):
            raise ActError(
                f"rows: expected at most {_MOST_ROWS} places from 0 to {n_units - 1} – found {len(places)} "
                "with others – reload the page."
            )
        wanted = folded(find[:200]).strip()
        return [self._row(place, wanted, show_rating=show_rating) for place in places]

    def _row(self, place: int, wanted: str, *, show_rating: bool) -> dict[str, Any]:
        session = self._session
        mark, unit_id = session.marks.get(place), session.unit_ids[place]
        return {
            "place": place,
            "unit_id": unit_id,
            "words": _first_words(session.text(place), wanted),
            "memo": mark is not None and mark.memo is not None,
            "unsure": mark is not None and mark.unsure,
            "rating": session.rating(place) if show_rating else None,
            "review": session.review_of(place),
        }

    def progress(self, by: str) -> list[tuple[str, int, int]]:
        """Return for each participant or document its id, how many texts it has and how many are finished."""
        numbers, names = pd.factorize(self._units[one_of("group", by, GROUPS)])
        finished = np.isin(np.frombuffer(self._session.flags.encode("ascii"), dtype="S1"), [b"f", b"u"])
        has_value = numbers >= 0
        n_texts = np.bincount(numbers[has_value], minlength=len(names))
        n_finished = np.bincount(numbers[has_value & finished], minlength=len(names))
        return list(zip(map(str, names), n_texts.tolist(), n_finished.tolist(), strict=True))


def one_of(name: str, value: object, known: Any) -> str:
    """Return a word of a browser's message, which must be a known one."""
    if value not in known:
        raise ActError(
            f"texts: expected a known {name} – found {str(value)[:40]!r} – {did_you_mean(str(value), known)}"
        )
    return str(value)


def _numbered(column: pd.Series) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return the number of the value of each row, -1 where it is missing, and the values in order."""
    numbers, values = pd.factorize(column, sort=True)
    return numbers, [str(shown_value(value)) for value in values]


def _equal(numbered: tuple[npt.NDArray[np.int64], list[str]], value: str) -> Places:
    numbers, values = numbered
    return np.asarray(numbers == (values.index(value) if value in values else len(values)))


def _first_words(text: str, wanted: str) -> list[str]:
    """Return the beginning of the text, or where the wanted words stand: before them, they, after them."""
    start, end = find_folded(text, wanted) if wanted else (0, 0)
    first = 0
    if start > _WORDS // 2:  # from the next word on
        first = start - _BEFORE + text[start - _BEFORE : start].find(" ") + 1
    last = max(end, first + _WORDS)
    return ["…" * (first > 0) + text[first:start], text[start:end], text[end:last] + "…" * (last < len(text))]


LAYOUTS: Final = ("text", "grid")
_MOST_IN_GRID: Final = 100


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
        if not isinstance(places, list) or not known or len(places) > _MOST_IN_GRID:
            raise ActError(
                f"grid: expected at most {_MOST_IN_GRID} places from 0 to {n_units - 1} – found others or "
                "more – reload the page."
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
