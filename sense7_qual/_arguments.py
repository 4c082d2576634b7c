"""What a function does first: check its arguments, check a text, show its progress."""

from __future__ import annotations

import collections.abc as abc
import inspect
import math
import numbers
import os
import re
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin

import numpy as np
import pandas as pd

from sense7_qual._messages import UNPRINTABLE, did_you_mean, first_three, word
from sense7_qual.errors import ArgumentError, ImportRefused, TableError

_IN_ORDER: Final = (
    list,
    tuple,
    abc.Sequence,
    abc.KeysView,
    abc.ValuesView,
    np.ndarray,
    pd.Index,
    pd.Series,
    pd.api.extensions.ExtensionArray,
)
_NO_LIST: Final = (str, bytes, bytearray, memoryview, pd.DataFrame)
_Item = TypeVar("_Item")
_Name = TypeVar("_Name")
_LARGEST: Final = 2**63  # whole numbers of the results have 64 bits


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a value must be: in words, as a test, and of a list the kind of what it holds."""

    words: str
    fits: Callable[[Any], bool]
    item: _Kind | None = None
    types: tuple[type, ...] = ()  # where these alone decide


def check_arguments(
    function: Callable[..., Any], arguments: Mapping[str, Any], *, but: Collection[str] = ()
) -> None:
    """Refuse arguments that do not fit the annotations of `function`.

    `arguments` are the function's `locals()`, taken first; `but` names parameters with a better check of
    their own. Anything but a DataFrame where one is required is a `TableError`, any other an `ArgumentError`.

    Numbers must be finite, integers fit in 64 bits, booleans are not numbers, strings are not lists, and
    neither are sets (no order) or generators (read once). A Series with unique names as its index is accepted
    as a mapping where no list is; `read_mapping` reads it.

    Examples
    --------
    >>> def half(number: float, names: Sequence[str]) -> float:
    ...     check_arguments(half, locals())
    ...     return number / 2
    >>> half(3, "ana")
    Traceback (most recent call last):
    sense7_qual.errors.ArgumentError: half: expected names to be a list of text – found 'ana' – put it in [ ].
    """
    for name, kind in _kinds(getattr(function, "__func__", function)):
        value = arguments[name]
        if name not in but and not kind.fits(value):
            error = TableError if kind.words == _FRAME else ArgumentError
            called = function.__qualname__
            raise error(
                f"{called}: expected {name} to be {kind.words} – found {_shown(value, kind)} – "
                f"{_remedy(value, kind) or f'see help({called})'}."
            )


def check_least(function: Callable[..., Any], least: float, **numbers: float) -> None:
    """Refuse a number below `least`; the error names its parameter."""
    for name, value in numbers.items():
        if value < least:
            raise ArgumentError(
                f"{function.__qualname__}: expected {name} to be {least} or more – found {value} – raise it."
            )


def refuse_removed(arguments: Mapping[str, object], instead: Mapping[str, str], *, function: str) -> None:
    """Raise `ArgumentError` for an argument that there is no more; `instead` says what took its place."""
    for name in arguments:
        other = instead.get(name, "an argument that its documentation lists")
        raise ArgumentError(f"{function}: expected no argument {name!r} – found it – pass {other}.")


def require_column(frame: pd.DataFrame, column: str, *, frame_name: str) -> None:
    """Raise `TableError`, with the nearest column's name, if `frame` lacks a column."""
    check_arguments(require_column, locals())
    if column not in frame.columns:
        # Where a file had no header, its first row of texts became the names: long ones are not shown.
        names = [str(name) for name in frame.columns if len(str(name)) <= 60]
        raise TableError(
            f"{frame_name}: expected a column {column!r} – found {first_three(names) or 'no column names'} – "
            f"{did_you_mean(column, names)}"
        )


def read_once(values: Iterable[_Item]) -> Iterable[_Item]:
    """Return a generator's items as a list, to be checked and read; anything else unchanged."""
    return list(values) if isinstance(values, Iterator) else values


def read_mapping(values: Mapping[_Name, _Item] | None) -> dict[_Name, _Item]:
    """Return a mapping, or a Series indexed by name, as a dict; None as an empty one.

    >>> read_mapping(pd.Series({"good": 1, "unknown": pd.NA}, dtype="Int64"))
    {'good': 1, 'unknown': None}
    """
    if isinstance(values, pd.Series):
        return {name: None if value is pd.NA else value for name, value in values.to_dict().items()}
    return dict(values or {})


@cache
def _kinds(function: Callable[..., Any]) -> tuple[tuple[str, _Kind], ...]:
    """Return the kind of each parameter whose annotation says one."""
    hints, parameters = typing.get_type_hints(function), inspect.signature(function).parameters.values()
    single = [each.name for each in parameters if each.kind is not each.VAR_KEYWORD and each.name in hints]
    kinds = [(name, _kind(hints[name])) for name in single]
    return tuple((name, kind) for name, kind in kinds if kind is not _ANYTHING)


def _kind(hint: Any) -> _Kind:
    """Return the kind that an annotation says; anything where it says none that can be tested."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is None and hint in _PLAIN:
        return _PLAIN[hint]
    if origin is Literal:
        return _Kind(" or ".join(map(repr, inner)), lambda value: _is_plain(value) and value in inner)
    if origin in (Union, types.UnionType):
        return _any_of([_kind(each) for each in inner])
    if origin is type:
        return _Kind(f"a class of {inner[0].__name__}", lambda value: _is_class(value, inner[0]))
    if origin is abc.Callable:
        return _Kind("a function", callable)
    if origin in (dict, Mapping):
        return _MAPPING
    if origin in (list, tuple, Sequence, Collection, Iterable):
        return _listed(origin, [_kind(each) for each in inner if each is not Ellipsis])
    if origin is os.PathLike:
        return _PLAIN[Path]
    of = origin or hint
    if not isinstance(of, type) or getattr(of, "_is_protocol", False) or of is object:
        return _ANYTHING
    return _of_type(f"a {of.__name__}", of)


def _of_type(words: str, *of: type) -> _Kind:
    return _Kind(words, lambda value: isinstance(value, of), types=of)


def _any_of(kinds: list[_Kind]) -> _Kind:
    if _ANYTHING in kinds:
        return _ANYTHING
    words = " or ".join(dict.fromkeys(kind.words for kind in kinds))
    item = next((kind.item for kind in kinds if kind.item is not None), None)
    if item is not None:  # a Series is a list there
        kinds = [_of_type(kind.words, Mapping) if kind is _MAPPING else kind for kind in kinds]
    of = tuple(one for kind in kinds for one in kind.types)
    others = [kind.fits for kind in kinds if not kind.types]
    if not others:
        return _of_type(words, *of)
    return _Kind(words, lambda value: isinstance(value, of) or any(fits(value) for fits in others), item)


def _listed(origin: Any, of: list[_Kind]) -> _Kind:
    """Return the kind of a list; of so many items where each has a kind of its own."""
    # A list of lists is looked through where it is read, but for tuples, which can be read twice.
    mixed = len({kind.words for kind in of}) > 1
    item = _ANYTHING if mixed or (of[0].item is not None and origin is not tuple) else of[0]
    length = len(of) if origin is tuple and len(of) > 1 else None
    may_be = origin if origin in (Collection, Iterable) else _IN_ORDER

    def fits(value: Any) -> bool:
        if origin is Iterable and isinstance(value, Iterator):
            return True  # what it gives is seen when it is read
        if not isinstance(value, may_be) or isinstance(value, _NO_LIST) or getattr(value, "ndim", 1) != 1:
            return False
        if length not in (None, len(value)):
            return False
        if mixed:
            return all(kind.fits(one) for kind, one in zip(of, value, strict=True))
        return item is _ANYTHING or all(map(item.fits, value))

    if mixed:
        return _Kind(f"a pair of {' and '.join(kind.words for kind in of)}", fits, item)
    words = item.words.removeprefix("a ") + "s" * item.words.endswith("number")
    return _Kind(f"a list of {f'{length} ' if length else ''}{words}", fits, item)


def _is_mapping(value: object) -> bool:
    if not isinstance(value, pd.Series):
        return isinstance(value, Mapping)
    return value.index.inferred_type == "string" and value.index.is_unique and not value.index.hasnans


def _is_class(value: object, of: type) -> bool:
    return isinstance(value, type) and issubclass(value, of)


def _is_plain(value: object) -> bool:
    return isinstance(value, str | numbers.Integral) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    return whole and -_LARGEST <= value < _LARGEST  # type: ignore[operator]


def _is_finite(value: object) -> bool:
    try:
        return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # a whole number that no float holds
        return False


def _shown(value: object, kind: _Kind) -> str:
    """Show the value found: a number or a word itself, otherwise only its type."""
    if isinstance(value, str):
        return word(value)
    if value is None or isinstance(value, float | bool | np.generic) or _is_whole(value):
        return str(value)
    holds = next((one for one in _items(value) if kind.item is not None and not kind.item.fits(one)), value)
    return type(value).__name__ + (f" that holds {type(holds).__name__}" if holds is not value else "")


def _items(value: object) -> Iterable[object]:
    listed = isinstance(value, _IN_ORDER) and not isinstance(value, _NO_LIST)
    return value if listed and getattr(value, "ndim", 1) == 1 else ()  # type: ignore[return-value]


def _remedy(value: object, kind: _Kind) -> str:
    if kind.item is not None and kind.item is not _ANYTHING and kind.item.fits(value):
        return "put it in [ ]"
    if isinstance(value, pd.Series) and kind.item is None and _MAPPING.words in kind.words:
        return "index it by name, each name once"
    if isinstance(value, pd.Series | pd.Index | pd.DataFrame) and kind.words.startswith(_TEXT):
        return "pass its name alone"
    known = [each.strip("'") for each in kind.words.split(" or ") if each.startswith("'")]
    return did_you_mean(value, known).rstrip("?") if isinstance(value, str) and known else ""


_FRAME: Final = "a pandas DataFrame"
_TEXT: Final = "text"
_MAPPING: Final = _Kind("a mapping", _is_mapping)
_ANYTHING: Final = _Kind("anything", lambda value: True)
_PLAIN: Final[Mapping[Any, _Kind]] = {
    Any: _ANYTHING,
    Path: _of_type("a path", os.PathLike),
    types.NoneType: _of_type("None", types.NoneType),
    str: _of_type(_TEXT, str),
    bytes: _of_type("bytes", bytes),
    bool: _of_type("True or False", bool, np.bool_),
    int: _Kind("a whole number", _is_whole),
    float: _Kind("a finite number", _is_finite),
    pd.DataFrame: _of_type(_FRAME, pd.DataFrame),
}


def canonical(text: str) -> str:
    """Return the canonical form of a text, in which it is stored, hashed and counted.

    A byte order mark at the start is removed, and CRLF and CR become LF. Nothing else changes: no Unicode
    normalisation, no trimming. Applying it twice gives the same result.

    Raises
    ------
    ImportRefused
        The text contains NUL or half of a surrogate pair, which files and databases do not preserve.

    Examples
    --------
    >>> canonical("\\ufeffI felt heard.\\r\\nMostly.\\r")
    'I felt heard.\\nMostly.\\n'
    """
    check_arguments(canonical, locals())
    bad = re.search("[\x00\ud800-\udfff]", text)
    if bad:
        raise ImportRefused(
            f"expected valid text – found U+{ord(bad[0]):04X} at character {bad.start()} – remove it."
        )
    return text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def is_name(value: object) -> bool:
    """Return True if a value can name a round: text without control characters or spaces at its ends."""
    return (
        isinstance(value, str)
        and bool(value)
        and value == value.strip()
        and UNPRINTABLE.search(value) is None
    )


def is_unicode(value: str) -> bool:
    """Return True if a text contains no half of a surrogate pair."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


Progress = Callable[[int, int], None]


@contextmanager
def reporting(
    progress: Progress | bool | None, total: int, *, doing: str, unit: str
) -> Iterator[Callable[[int, int], Any]]:
    """Turn the `progress` argument into a function (done, total), closing the bar in the end."""
    if callable(progress):
        yield progress
    elif progress:
        from tqdm.auto import tqdm  # type: ignore[import-untyped]

        with tqdm(total=total, desc=doing, unit=unit, leave=False) as bar:
            yield lambda done, _: bar.update(done - bar.n)
    else:
        yield lambda done, total: None
