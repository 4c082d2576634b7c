"""Contracts: each frame declared once, with its columns, their types and meaning, and the meaning of a row.

A frame that a function takes is checked by its contract (`Contract.check`); one that a function returns is
made by it (`Contract.frame`), described by it in the docstring (`Contract.returns`) and on the page of
frames, and asked for by it where it is printed (`Contract.require`).
"""

from __future__ import annotations

import inspect
import math
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, Final, Literal, TypeVar

import pandas as pd

from sense7_qual._arguments import check_arguments, require_column
from sense7_qual._coder_names import check_coder_names, check_people
from sense7_qual._messages import first_three
from sense7_qual._missing_words import missing_ids
from sense7_qual.errors import TableError

Kind = Literal[
    "id",
    "string",
    "integer",
    "number",
    "probability",
    "boolean",  # of frames that are taken
    "count",
    "float",
    "answer",
    "word",
    "any",  # of those that are returned alone
]
Returning = TypeVar("Returning", bound=Callable[..., Any])
Of = TypeVar("Of")

_DTYPES: Final[Mapping[Kind, Any]] = {
    "id": "string",
    "string": "string",
    "integer": "Int64",
    "number": "Float64",
    "probability": "Float64",
    "boolean": "bool",
    "count": "int64",
    "float": "float64",
    "answer": "boolean",
    "word": "str",
}
_AFTER_RETURNS: Final = re.compile(r"^(Raises|Warns|Notes|References|Examples)\n-+$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its kind, what it is, its least and largest value, and whether a value may be missing."""

    kind: Kind
    what: str = ""
    low: float = -math.inf
    high: float = math.inf
    missing: bool = True

    @property
    def is_number(self) -> bool:
        """Whether the column holds numbers."""
        return self.kind in ("integer", "number", "probability", "count", "float")


def text(what: str = "", *, missing: bool = False) -> Column:
    """Return a column of words or ids."""
    return Column("string", what, missing=missing)


def word(what: str = "", *, missing: bool = False) -> Column:
    """Return a column of words in the type that pandas chooses."""
    return Column("word", what, missing=missing)


def reason(what: str) -> Column:
    """Return a column of reason codes, each in backticks in `what`; missing where there is none."""
    return text(f"missing, or {what}", missing=True)


def count(what: str = "", *, missing: bool = False) -> Column:
    """Return a column of whole numbers from 0."""
    return Column("integer" if missing else "count", what, low=0, missing=missing)


def flag(what: str = "", *, missing: bool = False) -> Column:
    """Return a column of True and False."""
    return Column("answer" if missing else "boolean", what, missing=missing)


def number(what: str = "", low: float = -math.inf, high: float = math.inf) -> Column:
    """Return a column of numbers; `what` names the range if it is not plain."""
    return Column("float", what, low, high)


def share(what: str = "", then: str = "") -> Column:
    """Return a column of numbers from 0 to 1; `then` follows the range in the description."""
    return number(_with_range(what, "0–1", then), 0, 1)


def coefficient(what: str = "", then: str = "") -> Column:
    """Return a column of numbers up to 1; `then` follows the range in the description."""
    return number(_with_range(what, "at most 1", then), high=1)


def _with_range(what: str, of: str, then: str) -> str:
    return "; ".join(filter(None, (", ".join(filter(None, (what, of))), then)))


def estimated(name: str, column: Column, low: str = "_low", high: str = "_high") -> dict[str, Column]:
    """Return the column of an estimate, and those of the ends of its interval."""
    ends = number("ends of its interval", column.low, column.high)
    return {name: column, f"{name}{low}, {name}{high}": ends}


def settings(undefined: str, *, aside: Sequence[str] = ()) -> dict[str, Column]:
    """Return the columns of the settings of intervals; those in `aside` are not printed."""
    n_boot, n_undefined, seed = (name + "*" * (name in aside) for name in ("n_boot", "n_undefined", "seed"))
    resamples = (
        f"resamples, and {undefined}; the interval is computed from the others. Missing where no resampling "
        "was done"
    )
    return {
        f"{n_boot}, {n_undefined}": count(resamples, missing=True),
        "confidence_level": number("as given, in every row, so that tables and figures state it", 0, 1),
        seed: count("as given, in every row", missing=True),
    }


@dataclass(frozen=True)
class Contract:
    """The declaration of a frame: its name, columns, key, and the meaning of a row.

    Columns that are described together are declared together (``"alpha_low, alpha_high": …``). A star after
    a name marks a column that no table and no figure needs.
    """

    name: str
    key: tuple[str, ...]
    columns: Mapping[str, Column]
    missing_in_key: frozenset[str] = frozenset()
    row: str = ""
    printed: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        names = {
            name: column
            for group, column in self.columns.items()
            for name in group.split(", ")
            for column in [self.columns[group]]
        }
        object.__setattr__(self, "printed", tuple(name for name in names if name[-1] != "*"))
        object.__setattr__(self, "columns", {name.rstrip("*"): one for name, one in names.items()})

    @cached_property
    def dtypes(self) -> Mapping[str, str]:
        """The type of each column, as pandas names it."""
        return {name: _DTYPES[one.kind] for name, one in self.columns.items() if one.kind != "any"}

    @cached_property
    def _no_rows(self) -> pd.DataFrame:
        # Made once: typed columns take pandas milliseconds, and every fold needs three frames of them.
        dtypes = self.dtypes
        return pd.DataFrame({name: pd.Series(dtype=dtypes.get(name, "object")) for name in self.columns})

    def empty(self) -> pd.DataFrame:
        """Return an empty frame with every contracted column in its type."""
        return self._no_rows.copy()

    def frame(self, rows: Any) -> pd.DataFrame:
        """Make a frame of exactly the contracted columns, each in its type, from rows, columns or a frame."""
        check_arguments(Contract.frame, locals())
        return pd.DataFrame(rows, columns=list(self.columns)).astype(dict(self.dtypes))

    def example(self, **columns: object) -> pd.DataFrame:
        """Return an example frame of the given values (lists: a row per item); the rest is missing, or 0."""
        check_arguments(Contract.example, locals())
        wanting = ("boolean", "count")
        given = {name: 0 if one.kind in wanting else None for name, one in self.columns.items()} | columns
        listed = any(isinstance(value, list) for value in given.values())
        return self.frame(pd.DataFrame(given, index=None if listed else [0]))

    def require(self, frame: pd.DataFrame) -> None:
        """Raise `TableError` where `frame` lacks a column that is printed."""
        check_arguments(Contract.require, locals())
        for name in self.printed:
            require_column(frame, name, frame_name=self.name)

    def returns(self, function: Returning) -> Returning:
        """Decorate a function that returns this frame: add the frame's description to its docstring."""
        check_arguments(Contract.returns, locals())
        starred = "details" in function.__code__.co_varnames
        _add_returns(function, "DataFrame", self.described(starred=starred))
        function.__dict__["_returns"] = self
        return function

    def described(self, *, starred: bool = False) -> str:
        """Describe the row and each column in words; with `starred`, mark columns that are not printed."""
        check_arguments(Contract.described, locals())
        lines = textwrap.wrap(f"{self.row}:", 106, break_on_hyphens=False)
        lines.append("")
        for _, group in groupby(self.columns.items(), key=lambda item: id(item[1])):
            names, (column, *_) = zip(*group, strict=True)
            shown = (name + "*" * (starred and name not in self.printed) for name in names)
            line = f"{', '.join(shown)}: {column.what}".removesuffix(": ")
            lines += textwrap.wrap(f"- {line}", 106, subsequent_indent="  ", break_on_hyphens=False)
        return "\n".join(lines)

    def check(self, frame: pd.DataFrame, *, as_written: bool = False) -> pd.DataFrame:
        """Check that a frame meets the contract, and return a typed copy.

        Further columns are kept unchanged; the index is replaced by 0 … n − 1. White space around ids is
        removed: "ana " and "ana" are one coder. With `as_written`, for the record and imports, ids are kept
        as they are, and one id in two such spellings is refused.

        Raises
        ------
        TableError
            A column is missing or duplicated, an id is missing or empty, a key is duplicated, or a value has
            the wrong type; coders differ only in upper and lower case, or a person has the name of computed
            decisions; a coder's decisions lack what was absent (`check_people`). The message names rows
            (from 0), never a value.
        """
        check_arguments(Contract.check, locals(), but=("frame",))
        if not isinstance(frame, pd.DataFrame):
            raise TableError(
                f"{self.name}: expected a pandas DataFrame – found {type(frame).__name__} – "
                f"pass the frame with columns {', '.join(self.columns)}."
            )
        twice = first_three(frame.columns[frame.columns.duplicated()].unique())
        if twice:
            raise TableError(
                f"{self.name}: expected every column once – found {twice} twice – rename or drop one."
            )
        for name in self.columns:
            require_column(frame, name, frame_name=self.name)
        typed = {name: self._typed(frame[name], column.kind) for name, column in self.columns.items()}
        for name in (name for name, column in self.columns.items() if column.kind == "id"):
            if as_written:
                one_spelling(typed[name], name=name, frame_name=self.name)
            else:
                typed[name] = typed[name].str.strip()
        is_input = not as_written and getattr(self.columns.get("coder"), "kind", "") == "id"
        if is_input and "applied" not in self.columns:
            check_coder_names(typed["coder"].dropna().unique(), frame_name=self.name)
        checked = frame.assign(**typed).reset_index(drop=True)
        self._check_key(checked, as_written=as_written)
        if is_input and "applied" in self.columns:
            check_people(checked)
        return checked

    def _typed(self, column: pd.Series, kind: Kind) -> pd.Series:
        if kind == "any":
            return column
        if kind == "boolean":
            return self._boolean(column)
        try:
            typed = column.astype(_DTYPES[kind])
        except (TypeError, ValueError, OverflowError):
            # `from None`, and rows in place of values: a wrong column may hold participants' words.
            bad = [row for row, value in enumerate(column) if not _fits(value, kind)]
            problem = f"others in {len(bad)} rows (first: row {first_three(bad)})" if bad else "mixed types"
            what = "number" if kind == "probability" else kind
            raise TableError(
                f"{self.name}: expected {what} values in column {column.name!r} – found {problem} – correct "
                "them, or choose another column."
            ) from None
        if kind == "probability" and len(outside := typed[(typed < 0) | (typed > 1)]):
            raise TableError(
                f"{self.name}: expected probabilities from 0 to 1 in column {column.name!r} – found "
                f"{len(outside)} others, from {outside.min():g} to {outside.max():g} – divide percentages by "
                "100; leave out scores that are not probabilities."
            )
        return typed

    def _boolean(self, column: pd.Series) -> pd.Series:
        if column.dtype == bool:
            return column
        bad = [row for row, fits in enumerate(column.isin([True, False])) if not fits]
        if bad:
            raise TableError(
                f"{self.name}: expected True or False in column {column.name!r} – found others in "
                f"{len(bad)} rows (first: row {first_three(bad)}) – drop these rows: a unit without a "
                "decision has no row."
            )
        return column.astype(bool)

    def _check_key(self, frame: pd.DataFrame, *, as_written: bool) -> None:
        for name in self.key:
            if name in self.missing_in_key:
                continue
            if as_written or self.columns[name].kind != "id":
                missing = (frame[name].isna() | (frame[name] == "")).to_numpy(dtype=bool)
            else:
                missing = missing_ids(frame[name]).to_numpy(dtype=bool)
            if missing.any():
                raise TableError(
                    f"{self.name}: expected {name!r} in every row – it is missing in {int(missing.sum())} "
                    f"rows (first: row {first_three(frame.index[missing])}) – fill it in or drop the rows."
                )
        twice = frame.duplicated(list(self.key), keep=False)
        if twice.any():
            rows = frame.loc[twice, list(self.key)].drop_duplicates()
            named = [" / ".join(str(value) for value in row) for row in rows.itertuples(index=False)]
            raise TableError(
                f"{self.name}: expected one row per {', '.join(self.key)} – found some more than once: "
                f"{first_three(named)} – keep one of each."
            )


def holding(**frames: Contract) -> Callable[[Of], Of]:
    """Decorate a class of frames, or a function that returns one: describe the frames in its docstring."""

    def add(of: Of) -> Of:
        if isinstance(of, type):
            docstring = inspect.cleandoc(of.__doc__ or "") + "\n"
            for name, contract in frames.items():
                line = f"{name} : DataFrame\n"
                docstring = docstring.replace(
                    line, line + textwrap.indent(contract.described(), "    ") + "\n"
                )
            of.__doc__ = docstring.rstrip()
            type.__setattr__(of, "_holds", frames)
        else:
            parts = (f"{name} : {contract.described()}\n" for name, contract in frames.items())
            _add_returns(of, of.__annotations__["return"], "\n".join(parts).rstrip())
        return of

    return add


def _add_returns(function: Any, what: str, described: str) -> None:
    """Put the part "Returns" into a docstring that has none (with python -OO there is no docstring)."""
    docstring = inspect.cleandoc(function.__doc__ or "")
    if docstring and "\nReturns\n---" not in docstring:
        after = _AFTER_RETURNS.search(docstring)
        place = after.start() if after else len(docstring)
        section = f"Returns\n-------\n{what}\n{textwrap.indent(described, '    ')}"
        function.__doc__ = "\n\n".join(filter(None, (docstring[:place].rstrip(), section, docstring[place:])))


def one_spelling(ids: pd.Series, *, name: str, frame_name: str) -> None:
    """Raise `TableError` if an id occurs both with and without white space around it."""
    check_arguments(one_spelling, locals())
    if (ids.str.strip() == ids).all():  # of 100,000 ids this takes a tenth of the time
        return
    known = pd.Index(ids.dropna().unique()).astype("string")
    bare = known.str.strip()
    alike = known[bare.duplicated(keep=False)]
    if len(alike):
        raise TableError(
            f"{frame_name}: expected one spelling of each {name} – found {first_three(alike)} with and "
            "without white space around it – make the spelling the same, or they would count as two."
        )


def _fits(value: object, kind: Kind) -> bool:
    try:
        pd.array([value], dtype=_DTYPES[kind])
    except (TypeError, ValueError, OverflowError):
        return False
    return True
