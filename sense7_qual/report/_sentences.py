"""Sentences out of words and traced values, each value printed in one way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import Formatter
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from sense7_qual import _present, _reasons
from sense7_qual.report._text import Number, Sentence
from sense7_qual.report._traced import Traced

__all__ = [
    "Part", "Phrase", "alpha", "coefficient", "count", "date", "grouped", "interval", "level", "listed",
    "named", "number", "p_value", "percent", "phrase", "plural", "quoted", "reason", "sentence", "times",
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
