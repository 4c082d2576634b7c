"""Values that remember the call that gives them, so that no number comes into a text without one.

A `Traced` stands for a value and the Python expression that leads to it. What is done with it is done with
the value, and is written down at once: ``traced.units.shape[0]`` is the number of texts, and says
``store.units.shape[0]``. Number and call cannot come apart, because they are made by one line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib import metadata
from types import MappingProxyType, SimpleNamespace
from typing import Any, Final

from sense7_qual import acts, adjudication, agreement, codebook, codings, corpus, links, suggestions
from sense7_qual.report._review import review

__all__ = ["NAMES", "Traced", "trace", "written_as"]

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
