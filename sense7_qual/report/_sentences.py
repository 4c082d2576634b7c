"""Sentences out of words and traced values, each value printed in one way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import Formatter
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from sense7_qual import _present
from sense7_qual.report._text import Number, Sentence
from sense7_qual.report._traced import Traced

__all__ = [
    "Part", "Phrase", "coefficient", "count", "date", "listed", "named", "number", "percent", "phrase",
    "plural", "sentence",
]  # fmt: skip

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


def plural(traced: Traced, one: str, several: str | None = None) -> Phrase:
    """Return a count with its noun."""
    return (count(traced), " ", one if traced.value == 1 else several or f"{one}s")


def percent(traced: Traced) -> Number:
    """Return a share of 0 to 1 as a percentage, without the sign."""
    return _number(traced, _present.percent)


def coefficient(traced: Traced, digits: int = 2) -> Number:
    """Return a number that cannot exceed 1."""
    return _number(traced, lambda value: _present.coefficient(value, digits))


def number(traced: Traced, digits: int = 2) -> Number:
    """Return any other number."""
    return _number(traced, lambda value: _present.number(value, digits))


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
