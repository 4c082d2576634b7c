"""Sentences out of words and traced values, each value printed in one way."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from string import Formatter
from types import MappingProxyType, SimpleNamespace
from typing import Any, Final, TypeAlias

import numpy as np
import pandas as pd

from sense7_qual import (
    _present,
    _reasons,
    acts,
    adjudication,
    agreement,
    codebook,
    codings,
    corpus,
    links,
    suggestions,
)
from sense7_qual.report._review import review
from sense7_qual.report._text import Number, Sentence

__all__ = [
    "NAMES",
    "Part",
    "Phrase",
    "Traced",
    "alpha",
    "coefficient",
    "count",
    "date",
    "grouped",
    "interval",
    "level",
    "listed",
    "named",
    "number",
    "p_value",
    "percent",
    "phrase",
    "plural",
    "quoted",
    "reason",
    "sentence",
    "times",
    "trace",
    "written_as",
]

Part: TypeAlias = str | Number
Phrase: TypeAlias = tuple[Part, ...]


def phrase(template: str, **parts: Part | Phrase) -> Phrase:
    """Return words with what stands between them, as ``{name}``."""
    made: list[Part] = []
    for words, name, _, _ in Formatter().parse(template):
        made += [words] if words else []
        if name is not None:
            part = parts[name]
            made += part if isinstance(part, tuple) else [part]
    return tuple(made)


def sentence(template: str, **parts: Part | Phrase) -> Sentence:
    """Return a sentence, as `phrase` makes it."""
    return Sentence(phrase(template, **parts))


def listed(items: Sequence[Part | Phrase], *, between: str = ", ", last: str = " and ") -> Phrase:
    """Return items one after the other, with ``and`` before the last."""
    made: list[Part] = []
    for place, item in enumerate(items):
        if place:
            made.append(last if place == len(items) - 1 else between)
        made += item if isinstance(item, tuple) else [item]
    return tuple(made)


def count(traced: Traced) -> Number:
    """Return a count, with commas between thousands."""
    return _number(traced, _present.count)


def plural(traced: Traced, one: str, several: str | None = None, *, none: str = "no") -> Phrase:
    """Return a count with its noun or verb; of none the word for it."""
    number = count(traced) if traced.value else _number(traced, lambda _: none)
    return (number, " ", one if traced.value == 1 else several or f"{one}s")


def times(traced: Traced) -> Phrase:
    """Return a count of occasions in words: "once", or "n times"."""
    return (_number(traced, lambda _: "once"),) if traced.value == 1 else plural(traced, "time")


def percent(traced: Traced) -> Number:
    """Return a share of 0 to 1 as a percentage, without the sign."""
    return _number(traced, _present.percent)


def level(traced: Traced) -> Number:
    """Return a confidence level as a percentage, with as many decimals as it has."""
    return _number(traced, lambda share: f"{100 * share:.10g}")


def alpha(traced: Traced) -> Number:
    """Return Krippendorff's alpha as the tables print it."""
    return _number(traced, lambda value: _present.alpha(value, 2))


def p_value(traced: Traced) -> Phrase:
    """Return a p value with its sign of equality."""
    printed = _number(traced, _present.p_value)
    return (printed,) if printed.printed.startswith(("<", ">")) else ("= ", printed)


def reason(traced: Traced) -> Number:
    """Return why a number is missing, in words."""
    return _number(traced, _reasons.reason_words)


def grouped(items: Sequence[tuple[str, Part]]) -> dict[str, list[Part]]:
    """Return the second of each pair under its first, in order."""
    groups: dict[str, list[Part]] = {}
    for key, item in items:
        groups.setdefault(key, []).append(item)
    return groups


def coefficient(traced: Traced, digits: int = 2) -> Number:
    """Return a number that cannot exceed 1."""
    return _number(traced, lambda value: _present.coefficient(value, digits))


def number(traced: Traced, digits: int = 2) -> Number:
    """Return any other number."""
    return _number(traced, lambda value: _present.number(value, digits))


def interval(of: Traced, low: Part, high: Part) -> Phrase:
    """Return an interval as tables head it, ``95% CI [.61, .80]``; `of` is its confidence level."""
    return phrase("{level}% CI [{low}, {high}]", level=level(of), low=low, high=high)


def quoted(names: Sequence[Part]) -> Phrase:
    """Return names in quotation marks, one after the other."""
    return listed([phrase("“{name}”", name=name) for name in names])


def date(traced: Traced) -> Number:
    """Return the day of a time in UTC."""
    return _number(traced[:10], str)


def named(traced: Traced) -> Number:
    """Return a name, as it stands in the record."""
    return _number(traced, lambda value: " ".join(str(value).split()))


def _number(traced: Traced, printed: Callable[[Any], str]) -> Number:
    value = traced.value.item() if isinstance(traced.value, np.generic) else traced.value
    value = None if value is pd.NA else value
    return Number(printed(traced.value), value, traced.call, traced.where)


NAMES: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "acts": acts, "adjudication": adjudication, "agreement": agreement, "codebook": codebook,
        "codings": codings, "corpus": corpus, "json": json, "links": links, "metadata": metadata,
        "report": SimpleNamespace(review=review), "suggestions": suggestions,
    }
)  # fmt: skip
"""What stands in calls beside ``store``: packages of sense7_qual, json, and metadata of importlib."""


class Traced:
    """A value, the call that gives the frame or object it is taken from, and where it stands in that."""

    __slots__ = ("_known", "call", "value", "where")

    def __init__(self, value: Any, call: str, where: str = "", known: dict[str, Any] | None = None) -> None:
        self.value, self.call, self.where = value, call, where
        self._known: dict[str, Any] = {} if known is None else known

    def __repr__(self) -> str:
        return f"Traced({self.expression})"

    @property
    def expression(self) -> str:
        """The Python expression whose value it is."""
        return self.call + self.where

    def __getattr__(self, name: str) -> Traced:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._step(f".{name}", lambda: getattr(self.value, name))

    def __getitem__(self, key: Any) -> Traced:
        return self._step(f"[{written_as(key)}]", lambda: self.value[_plain(key)])

    def __call__(self, *given: Any, **named: Any) -> Traced:
        words = [*map(written_as, given), *(f"{name}={written_as(value)}" for name, value in named.items())]
        return self._step(
            f"({', '.join(words)})",
            lambda: self.value(*map(_plain, given), **{name: _plain(value) for name, value in named.items()}),
        )

    def __truediv__(self, other: Traced) -> Traced:
        expression = f"{self.expression} / {other.expression}"
        return Traced(self.value / other.value, expression, "", self._known)

    def how_many(self) -> Traced:
        """Return how many items the value has."""
        return Traced(len(self.value), f"len({self.expression})", "", self._known)

    def given(self, expression: str, value: Any) -> Traced:
        """Return a value whose call cannot be written step by step, such as one that counts in a loop."""
        return Traced(value, expression, "", self._known)

    def _step(self, written: str, compute: Callable[[], Any]) -> Traced:
        """Return what one step leads to, which is computed once for each expression."""
        expression = self.expression + written
        if expression not in self._known:
            self._known[expression] = compute()
        value = self._known[expression]
        if not self.where and (self.call in _ROOTS or callable(self.value)):
            return Traced(value, expression, "", self._known)
        return Traced(value, self.call, self.where + written, self._known)


_ROOTS: Final = frozenset({"store", *NAMES})


def trace(store: Any) -> dict[str, Traced]:
    """Return the study and the packages, traced, by the names that they have in calls."""
    known: dict[str, Any] = {}
    return {name: Traced(value, name, "", known) for name, value in {**NAMES, "store": store}.items()}


def written_as(value: Any) -> str:
    """Return a value as it is written in a call, texts in double quotation marks where they can be.

    >>> written_as(["case_id", 3]), written_as(slice(None, 10))
    ('["case_id", 3]', ':10')
    """
    if isinstance(value, Traced):
        return value.expression
    if isinstance(value, slice):
        return ":".join("" if end is None else repr(end) for end in (value.start, value.stop))
    if isinstance(value, list | tuple):
        inside = ", ".join(map(written_as, value))
        return f"[{inside}]" if isinstance(value, list) else inside
    if isinstance(value, str):
        text = repr(value)
        return text if '"' in text else f'"{text[1:-1]}"'
    return repr(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Traced):
        return value.value
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value))
    return value
