"""The hash chain of one coder's acts: how it is made, and how it is checked fast.

A link is one row of the table `acts`. Its hash covers the hash before it and every field that the act has,
as canonical JSON (sorted names, no spaces); what is missing is left out, so that a column which a later
version adds changes no older hash. The first link stands on the study and the coder.

Where a coder worked in two copies of a study, `merging` appends the acts of the one behind those of the
other. Such a merged act keeps, inside its new link, the hash that it had (`branch`) and the moment at which
it was done there (`clock`). The clock of an act is its time, or the last clock before it where the computer's
clock ran backwards, with a counter: a hybrid logical clock (Kulkarni et al. 2014, "Logical Physical Clocks").
Acts are read in the order of their clocks, which is that of the chain until copies are merged; both copies
then read the same acts in the same order, whichever was merged into which.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from json.encoder import encode_basestring
from operator import itemgetter
from typing import Any, Final, NamedTuple

from sense7_qual.acts import KINDS, Act
from sense7_qual.errors import ActError, StoreError

__all__ = ["BOOKKEEPING", "Clock", "Link", "chained", "clocks", "genesis", "links", "ordered", "text_hash"]

BOOKKEEPING: Final = ("seq", "previous", "hash")
"""The columns of a link that its hash does not cover, because they are what it makes."""

_CHAIN: Final = 1  # the form of the chain; it did not change with the tables
_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode

Clock = tuple[str, int]
"""A time without its Z, and how many acts before it have the same."""


class Link(NamedTuple):
    """One act in its chain: its hash, its row and the shape that reads it, and the act itself (None where a
    later version of the package wrote a kind of act that this one does not know)."""

    hash: str
    row: Sequence[Any]
    shape: _Shape
    act: Act | None

    def __repr__(self) -> str:
        return f"Link({self.hash[:12]}…)"

    @property
    def fields(self) -> dict[str, Any]:
        """The fields as they are hashed: those that the act has."""
        return self.shape.fields(self.row)

    @property
    def branch(self) -> str:
        """The hash that the act had where it was first recorded."""
        return str(self.row[self.shape.places["branch"]]) if self.merged else self.hash

    @property
    def merged(self) -> bool:
        """Whether the act came from another copy of the study."""
        return "branch" in self.shape.places


def genesis(study: str, coder: str) -> str:
    """Return what the first link of the coder stands on."""
    return _sha256(_encode({"study": study, "coder": coder, "schema": _CHAIN}))


def chained(previous: str, fields: Mapping[str, Any]) -> str:
    """Return the hash of a link: over the hash before it and the fields that the act has."""
    return _sha256(previous + _encode(dict(fields)))


def text_hash(salt: object, text: object) -> str:
    """Return the hash that a quote or memo is known by; empty where one of the two is no text."""
    return _sha256(salt + text) if isinstance(salt, str) and isinstance(text, str) else ""


def links(
    names: Sequence[str],
    rows: Iterable[Sequence[Any]],
    texts: Mapping[str, str | None],
    *,
    first: str,
    broken: Callable[[str], StoreError],
    newer: bool = False,
) -> Iterator[Link]:
    """Yield the links of a chain, each checked against its own hash, its text and the link before.

    Parameters
    ----------
    names : sequence of str
        The columns of `rows`.
    rows : iterable of sequence
        The table `acts`, by seq.
    texts : mapping of str to str or None
        The quotes and memos by their hash, which were checked; None for an erased one.
    first : str
        What the first link stands on (`genesis`).
    broken : callable
        Makes the error that is raised, of what was found.
    newer : bool
        Whether a later version wrote the rows: kinds of act that this one does not know are then no damage.
    """
    shapes: dict[tuple[type, ...], _Shape] = {}
    seq_at, previous_at, hash_at = (names.index(name) for name in BOOKKEEPING)
    last = first
    for number, row in enumerate(rows, start=1):
        types = tuple(map(type, row))
        shape = shapes.get(types)
        if shape is None:
            shape = shapes[types] = _Shape(names, types)
        if row[seq_at] != number or row[previous_at] != last:
            raise broken(f"a break in the chain at act {number}")
        if shape.strange or _sha256(last + shape.content(row)) != row[hash_at]:
            raise broken(f"another content than was written in act {number}")
        last = row[hash_at]
        if newer and row[shape.places["kind"]] not in KINDS:
            yield Link(last, row, shape, None)
            continue
        try:
            act = shape.act(row, texts)
        except KeyError:
            raise broken(f"no quote or memo text where act {number} has one") from None
        except ActError:
            raise broken(f"an act {number} that cannot be one") from None
        yield Link(last, row, shape, act)


def clocks(chain: Iterable[Link]) -> Iterator[Clock]:
    """Yield when each act of a chain was done: a merged one as it says, any other after all before it."""
    high: Clock = ("", 0)
    for link in chain:
        fields = link.fields
        if link.merged:
            time, _, count = fields["clock"].rpartition("/")
            clock = (time, int(count))
        else:
            time = fields["at"].removesuffix("Z")
            clock = (time, 0) if time > high[0] else (high[0], high[1] + 1)
        high = max(high, clock)
        yield clock


def ordered(chain: Sequence[Link]) -> list[Link]:
    """Return the links in the order of their clocks; what two copies did in one moment, by act_id."""
    if not any(link.merged for link in chain):
        return list(chain)
    by_clock = zip(clocks(chain), (link.fields["act_id"] for link in chain), range(len(chain)), strict=True)
    return [chain[place] for _, _, place in sorted(by_clock)]


class _Shape:
    """How to read rows whose values have the same types: found out once, used for thousands."""

    __slots__ = (
        "_alike",
        "_applied",
        "_numbers",
        "_order",
        "_proven",
        "_strings",
        "_template",
        "_values",
        "_written",
        "places",
        "strange",
    )

    def __init__(self, names: Sequence[str], types: tuple[type, ...]) -> None:
        there = {name: place for place, name in enumerate(names) if types[place] is not type(None)}
        self.places = {name: place for name, place in there.items() if name not in BOOKKEEPING}
        hashed = sorted(self.places)
        merged = {"branch", "clock"} & set(hashed)
        self.strange = (
            any(types[place] not in (str, int, bool) for place in self.places.values())
            or not set(hashed) >= _ALWAYS
            or len(merged) == 1
        )
        self._template = "{" + ",".join(f'"{name}":%s' for name in hashed) + "}"
        self._written = tuple(self.places[name] for name in hashed)
        self._applied = hashed.index("applied") if "applied" in hashed else None
        # What an act has, by slot, out of a row with a None and the text behind it.
        behind = {"text": len(names) + 1}
        self._values = itemgetter(*(behind.get(n, self.places.get(n, len(names))) for n in Act.__slots__))
        self._alike = [self.places[name] for name in _ALIKE if name in self.places]
        self._proven: set[tuple[object, ...]] = set()
        self._order: Callable[[Sequence[Any]], tuple[Any, ...]] | None = None
        self._prepare(hashed, types)

    def _prepare(self, hashed: Sequence[str], types: Sequence[type]) -> None:
        """Prepare the content of the usual shapes: strings, and no number or the two of a span."""
        strings = [name for name in hashed if types[self.places[name]] is str]
        numbers = [name for name in hashed if name not in strings]
        if self.strange or numbers not in ([], ["end", "start"]):
            return
        self._strings = itemgetter(*(self.places[name] for name in strings))
        self._numbers = itemgetter(*(self.places[name] for name in numbers)) if numbers else _nothing
        found = [*strings, *numbers]
        self._order = itemgetter(*(found.index(name) for name in hashed))

    def content(self, row: Sequence[Any]) -> str:
        """Return the JSON that `chained` makes of the row's fields."""
        if self._order is not None:
            usual = (*map(encode_basestring, self._strings(row)), *self._numbers(row))
            return self._template % self._order(usual)
        values = [row[place] for place in self._written]
        parts: list[Any] = [encode_basestring(v) if type(v) is str else v for v in values]
        if self._applied is not None:
            parts[self._applied] = {0: "false", 1: "true"}.get(parts[self._applied], "?")
        return self._template % tuple(parts)

    def fields(self, row: Sequence[Any]) -> dict[str, Any]:
        """Return the row's fields that are there."""
        found = {name: row[place] for name, place in self.places.items()}
        if "applied" in found:
            found["applied"] = bool(found["applied"])  # SQLite has no truth values but 0 and 1
        return found

    def act(self, row: Sequence[Any], texts: Mapping[str, str | None]) -> Act:
        """Return the act of a row. The text of an erased memo is empty: the memo has ended, its act stays.

        The constructor checks the first act of each kind, coder and facet. The thousands alike are put
        together without it, after a check of what differs between them: reading takes half the time.
        """
        places = self.places
        kind = row[places["kind"]]
        text = texts[row[places["text_hash"]]] if "text_hash" in places else None
        alike = (kind, *[row[place] for place in self._alike])
        if alike not in self._proven or not self._differs_well(row):
            values = {name: value for name, value in self.fields(row).items() if name in _OF_AN_ACT}
            made = Act(**values, text="" if text is None and kind == "memo" else text)
            if kind in _PLAIN:
                self._proven.add(alike)
            return made
        act: Act = object.__new__(Act)
        for put, value in zip(_PUTS, self._values((*row, None, text)), strict=True):
            put(act, value)
        return act

    def _differs_well(self, row: Sequence[Any]) -> bool:
        places = self.places
        if not _ACT_ID.fullmatch(row[places["act_id"]]):
            return False
        if "start" not in places and "end" not in places:
            return True
        return "start" in places and "end" in places and 0 <= row[places["start"]] < row[places["end"]]


def _nothing(_: Sequence[Any]) -> tuple[()]:
    return ()


def _sha256(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


_OF_AN_ACT: Final = frozenset(Act.__slots__)
_ALWAYS: Final = frozenset({"act_id", "kind", "coder", "at", "codebook"})
_ALIKE: Final = ("coder", "valence", "confidence")
_PUTS: Final = tuple(getattr(Act, name).__set__ for name in Act.__slots__)
_PLAIN: Final = frozenset({"apply", "remove", "finish", "reopen"})
_ACT_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
