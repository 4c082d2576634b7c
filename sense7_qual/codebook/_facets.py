"""Facets: what a coding can say in addition to its code, such as whether an expectation was met.

A facet's name is a column of `codings`, and the record holds the names of values: both are plain words, and
the labels say the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sense7_qual._messages import UNPRINTABLE, did_you_mean, first_three, word
from sense7_qual.codebook._yaml_csv import refuse_twice
from sense7_qual.errors import CodebookError
from sense7_qual.frames import CODINGS, COVERAGE, DECISIONS, MEMOS, PLAN, PROPOSALS, UNITS

UNSTATED: Final = "unstated"
"""The name, in decisions by a facet, of a coding without a value; no value can have this name."""

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_VALUE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_COLUMNS: Final = frozenset(
    {
        name
        for contract in (CODINGS, COVERAGE, DECISIONS, MEMOS, PLAN, PROPOSALS, UNITS)
        for name in contract.columns
    }
    | {"context", "facet", "facets", "in_round", "finished_under", "was", "suggestions"}  # here or there
)
_FORM: Final = "write 'NAME: {values: [one, other]}', or with keys 'NAME: {values: {one: o, other: t}}'"


@dataclass(frozen=True, slots=True)
class FacetValue:
    """One value of a facet.

    Parameters
    ----------
    name : str
        A letter or digit, then letters, digits, ``_`` or ``-`` (40 at most); never ``unstated``.
    label : str
        What people read; by default the name.
    key : str, optional
        The one character that chooses the value in the coding widget, after the key for facets.

    Raises
    ------
    CodebookError
        A value does not have the form above.
    """

    name: str
    label: str = ""
    key: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _VALUE.fullmatch(self.name) or self.name == UNSTATED:
            raise CodebookError(
                "codebook: expected the name of a facet's value of letters, digits, '_' and '-', but "
                f"not {UNSTATED!r} – found {word(self.name)} – choose another, and keep the wording for its "
                "label."
            )
        _label(self, f"value {self.name!r}")
        if self.key is not None:
            check_key(self.key, f"value {self.name!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """What a coding can say in addition to its code: one of a few values, or none.

    Parameters
    ----------
    name : str
        A letter, then letters, digits or ``_`` (40 at most). It becomes a column of `codings`, so it must
        differ from the other columns.
    values : tuple of FacetValue
        At least one, in the order in which they are shown.
    label : str
        What people read; by default the name.
    codes : tuple of str
        The ids of its codes; empty for all.

    Raises
    ------
    CodebookError
        A value does not have the form above, or is duplicated.

    Examples
    --------
    >>> Facet(name="intensity", values=(FacetValue("low"), FacetValue("high", key="h")))["high"].label
    'high'
    """

    name: str
    values: tuple[FacetValue, ...]
    label: str = ""
    codes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise CodebookError(
                "codebook: expected a facet's name of a letter followed by letters, digits or '_' – found "
                f"{word(self.name)} – choose another, and keep the wording for its label."
            )
        if self.name.lower() in _COLUMNS:
            raise CodebookError(
                f"codebook: the facet name {self.name!r} is the name of another column – choose another."
            )
        _label(self, f"facet {self.name!r}")
        kinds: tuple[tuple[str, type], ...] = (("values", FacetValue), ("codes", str))
        for field, kind in kinds:
            held = getattr(self, field)
            if not isinstance(held, tuple) or not all(isinstance(one, kind) for one in held):
                raise CodebookError(
                    f"codebook: expected a tuple of {kind.__name__} as {field} of facet {self.name!r} – "
                    f"found {type(held).__name__} – correct it."
                )
        if not self.values:
            raise CodebookError(
                f"codebook: expected at least one value of facet {self.name!r} – found none – name them."
            )
        refuse_twice(f"value of facet {self.name!r}", self.names, "keep one of them")
        refuse_twice(f"code of facet {self.name!r}", self.codes, "keep one of them")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the values, in order."""
        return tuple(value.name for value in self.values)

    def __getitem__(self, name: str) -> FacetValue:
        """Return the value with this name, or raise `CodebookError` with the nearest name."""
        for value in self.values:
            if value.name == name:
                return value
        raise CodebookError(
            f"facet {self.name!r}: expected one of its values – found {word(name)} – "
            f"{did_you_mean(str(name), self.names)}"
        )


def check_key(key: object, where: str) -> None:
    """Raise `CodebookError` if `key` is not one printable character."""
    if not isinstance(key, str) or len(key) != 1 or not key.isprintable() or key == " ":
        raise CodebookError(
            f"codebook: expected one printable character as the key of {where} – found {word(key)} – choose "
            "a digit or a letter."
        )


def _label(named: Facet | FacetValue, where: str) -> None:
    """Give what has no label its name as one, so that both spellings are the same codebook."""
    label = named.label
    if not isinstance(label, str) or UNPRINTABLE.search(label) or len(label.strip().splitlines()) > 1:
        kind = "a control character or a line break" if isinstance(label, str) else type(label).__name__
        raise CodebookError(
            f"codebook: expected a line of text as the label of {where} – found {kind} – correct it."
        )
    object.__setattr__(named, "label", named.label.strip() or named.name)


def check_facets(facets: Sequence[Facet], codes: Iterable[str]) -> None:
    """Raise `CodebookError` if facets of a codebook clash, or are for other codes than `codes`."""
    if not isinstance(facets, tuple) or not all(isinstance(facet, Facet) for facet in facets):
        raise CodebookError(
            f"codebook: expected a tuple of Facet as facets – found {type(facets).__name__} – pass "
            "facets=(Facet(…), …)."
        )
    refuse_twice("facet", [facet.name.lower() for facet in facets], "give each a name of its own")
    keys = [value.key for facet in facets for value in facet.values if value.key is not None]
    refuse_twice("key of a facet's value", keys, "give each value a key of its own")
    known = list(codes)
    for facet in facets:
        unknown = [code for code in facet.codes if code not in known]
        if unknown:
            raise CodebookError(
                f"codebook: expected facet {facet.name!r} to be for codes that can be applied – found "
                f"{first_three(unknown)} – {did_you_mean(unknown[0], known)}"
            )


def plain_facets(facets: Iterable[Facet]) -> dict[str, Any]:
    """Return facets in the form of files, without defaults."""
    return {facet.name: _plain(facet) for facet in facets}


def _plain(facet: Facet) -> dict[str, Any]:
    values = {value.name: _plain_value(value) for value in facet.values}
    content: dict[str, Any] = {} if facet.label == facet.name else {"label": facet.label}
    content["values"] = values if any(values.values()) else list(values)
    return content | ({"codes": list(facet.codes)} if facet.codes else {})


def _plain_value(value: FacetValue) -> str | dict[str, str]:
    key = value.key or ""
    if value.label == value.name:
        return key
    return {"label": value.label} | ({"key": key} if key else {})


def facets_of_entries(entries: object) -> tuple[Facet, ...]:
    """Read facets from the entries of a file."""
    if not isinstance(entries, dict):
        raise _unreadable("facets", entries)
    return tuple(_facet(name, entry) for name, entry in entries.items())


def _facet(name: str, entry: object) -> Facet:
    where = f"facet {word(name)}"
    own = _own(entry, ("label", "values", "codes"), where)
    values, codes = own.get("values") or [], own.get("codes") or []
    if isinstance(values, list):
        values = dict.fromkeys(map(str, values), "") if _are_words(values) else None
    codes = [codes] if isinstance(codes, str) else codes
    if not isinstance(values, dict) or not isinstance(codes, list) or not _are_words(codes):
        raise _unreadable(where, own)
    named = tuple(_value(value, own_entry, where) for value, own_entry in values.items())
    return Facet(name=name, values=named, label=own.get("label") or "", codes=tuple(codes))


def _are_words(entries: Sequence[object]) -> bool:
    if all(isinstance(entry, str) for entry in entries):
        refuse_twice("value of a facet", entries, "keep one of them")
        return True
    return False


def _value(name: str, entry: object, where: str) -> FacetValue:
    own = {"key": entry} if isinstance(entry, str) else _own(entry, ("label", "key"), where)
    return FacetValue(name, label=own.get("label") or "", key=own.get("key") or None)


def _own(entry: object, names: Sequence[str], where: str) -> Mapping[str, Any]:
    if not isinstance(entry, dict):
        raise _unreadable(where, entry)
    unknown = [name for name in entry if name not in names]
    if unknown:
        raise CodebookError(
            f"codebook: expected {', '.join(names)} in {where} – found {first_three(unknown)} – "
            f"{did_you_mean(str(unknown[0]), names)}"
        )
    return entry


def _unreadable(where: str, found: object) -> CodebookError:
    return CodebookError(
        f"codebook: expected {where} as names with their values – found {type(found).__name__} of another "
        f"form – {_FORM}."
    )
