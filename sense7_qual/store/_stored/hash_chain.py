"""The hash chain of one coder's acts: how it is made, and how it is checked fast.

A link is one row of the table `acts`. Its hash covers the hash before it and every field that the act has,
as canonical JSON (sorted names, no spaces); what is missing is left out, so that a column which a later
version adds changes no older hash. The first link is bound to the study and the coder.

Where a coder worked in two copies of a study, `merge` appends the acts of the one behind those of the
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
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from sense7_qual.acts import KINDS, Act, kinds_where
from sense7_qual.errors import ActError, StoreError

BOOKKEEPING: Final = ("seq", "previous", "hash")
"""The columns of a link that its hash does not cover, because they are what it makes."""

_CHUNK: Final = 100  # rows that are checked together
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
    def text_hash(self) -> str | None:
        """The hash by which the act's quote or memo is kept, if it has one."""
        place = self.shape.places.get("text_hash")
        return None if place is None else str(self.row[place])

    @property
    def previous(self) -> str:
        """The hash of the link before it, in the chain that it was read from."""
        return str(self.row[self.shape.previous_at])

    @property
    def branch(self) -> str:
        """The hash that the act had where it was first recorded."""
        return str(self.row[self.shape.places["branch"]]) if self.merged else self.hash

    @property
    def merged(self) -> bool:
        """Whether the act came from another copy of the study."""
        return self.shape.merged


def genesis(study: str, coder: str) -> str:
    """Return the hash before the coder's first link."""
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

    `rows` is the table `acts`, by seq, with the columns `names`; `texts` has the quotes and memos by their
    hash, which were checked, None for an erased one. `first` is what the first link builds on (`genesis`),
    and `broken` makes the error of what was found. With `newer`, kinds of act that only a later version knows
    are no damage.
    """
    shapes, last, number = _Shapes(names), first, 0
    hash_at, rest = names.index("hash"), iter(rows)
    while chunk := list(islice(rest, _CHUNK)):
        shaped = [shapes[tuple(map(type, row))] for row in chunk]
        if not shapes.chained(chunk, shaped, number, last):
            _refuse_the_first(chunk, shaped, number, last, broken)
        for row, shape in zip(chunk, shaped, strict=True):
            number += 1
            if newer and row[shape.places["kind"]] not in KINDS:
                yield Link(row[hash_at], row, shape, None)
                continue
            try:
                act = shape.act(row, texts)
            except KeyError:
                raise broken(f"no quote or memo text where act {number} has one") from None
            except ActError:
                raise broken(f"an act {number} that cannot be one") from None
            yield _link(Link, (row[hash_at], row, shape, act))
        last = chunk[-1][hash_at]


def _refuse_the_first(
    chunk: Sequence[Sequence[Any]],
    shaped: Sequence[_Shape],
    number: int,
    last: str,
    broken: Callable[[str], StoreError],
) -> None:
    """Raise of the first row that is not what was written; none where values only have what JSON escapes."""
    for row, shape in zip(chunk, shaped, strict=True):
        number += 1
        if (row[shape.seq_at], row[shape.previous_at]) != (number, last):
            raise broken(f"a break in the chain at act {number}")
        if shape.strange or chained(last, shape.fields(row)) != row[shape.hash_at]:
            raise broken(f"another content than was written in act {number}")
        last = row[shape.hash_at]


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


def relinked(
    chain: Sequence[Link], times: Sequence[Clock], *, last: str, as_own: bool = True
) -> Iterator[dict[str, Any]]:
    """Yield the rows of links that are appended behind the hash `last`, without their numbers.

    A link that follows there anyway stays as it is; any other keeps the hash and the clock that it had. With
    `as_own` False each says that it was merged.
    """
    for link, (time, count) in zip(chain, times, strict=True):
        fields = link.fields
        if not (as_own and link.previous == last) and not link.merged:
            fields |= {"branch": link.hash, "clock": f"{time}/{count}"}
        row = {**fields, "previous": last, "hash": chained(last, fields)}
        last = row["hash"]
        yield row


class _Shapes(dict[tuple[type, ...], "_Shape"]):
    """The shapes of one table, by the types of the values in a row."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.names = names

    def __missing__(self, types: tuple[type, ...]) -> _Shape:
        made = self[types] = _Shape(self.names, types)
        return made

    def chained(
        self, chunk: Sequence[Sequence[Any]], shaped: Sequence[_Shape], number: int, last: str
    ) -> bool:
        """Return True if all rows, which follow act `number` with the hash `last`, are as they were written.

        Also false where a value has something that JSON escapes, which `chained` must tell. Together they
        take half the time that they take one by one.
        """
        seq_at, previous_at, hash_at = (self.names.index(name) for name in BOOKKEEPING)
        if any(shape.strange for shape in shaped):
            return False
        hashes = [row[hash_at] for row in chunk]
        before = [last, *hashes[:-1]]
        content = [shape.form % shape.written(row) for shape, row in zip(shaped, chunk, strict=True)]
        return (
            [row[seq_at] for row in chunk] == list(range(number + 1, number + 1 + len(chunk)))
            and [row[previous_at] for row in chunk] == before
            # No quotes but those of the form, so that no value can pass for two.
            and "".join(content).count('"') == sum(shape.n_quotes for shape in shaped)
            and [_sha256(link + plain) for link, plain in zip(before, content, strict=True)] == hashes
        )


class _Shape:
    """How to read rows whose values have the same types: found out once, used for thousands."""

    __slots__ = (
        "_alike",
        "_id_at",
        "_proven",
        "_span_at",
        "_text_at",
        "_unlike",
        "form",
        "hash_at",
        "merged",
        "n_quotes",
        "places",
        "previous_at",
        "seq_at",
        "strange",
        "written",
    )

    def __init__(self, names: Sequence[str], types: tuple[type, ...]) -> None:
        column_places = {name: place for place, name in enumerate(names) if types[place] is not type(None)}
        self.seq_at, self.previous_at, self.hash_at = (names.index(name) for name in BOOKKEEPING)
        self.places = {name: place for name, place in column_places.items() if name not in BOOKKEEPING}
        self.merged = "branch" in self.places
        self.strange = (
            any(types[place] not in _TYPES.get(name, _ANY) for name, place in column_places.items())
            or not column_places.keys() >= _ALWAYS
            or self.merged != ("clock" in column_places)
        )
        if self.strange:
            return
        hashed = sorted(self.places)
        self.written = itemgetter(*(self.places[name] for name in hashed))
        form = ['"%s"' if types[self.places[name]] is str else "%s" for name in hashed]
        self.form = "{" + ",".join(f'"{n}":{f}' for n, f in zip(hashed, form, strict=True)) + "}"
        self.n_quotes = self.form.count('"')
        # What an act has, by slot, out of a row with a None and the text behind it.
        where = {"text": len(names) + 1, **self.places}
        self._alike = itemgetter(*(where.get(name, len(names)) for name in _ALIKE))
        self._unlike = itemgetter(*(where.get(name, len(names)) for name in _UNLIKE))
        self._proven: dict[tuple[object, ...], tuple[Any, ...]] = {}
        self._id_at, self._text_at = self.places["act_id"], self.places.get("text_hash")
        span = [self.places[name] for name in ("start", "end") if name in self.places]
        self._span_at = (span[0], span[-1]) if span else None  # half a span is no 0 <= x < x

    def fields(self, row: Sequence[Any]) -> dict[str, Any]:
        """Return the row's fields that are not missing."""
        fields = {name: row[place] for name, place in self.places.items()}
        if "applied" in fields:  # SQLite has no truth values but 0 and 1
            fields["applied"] = {0: False, 1: True}.get(fields["applied"], fields["applied"])
        return fields

    def act(self, row: Sequence[Any], texts: Mapping[str, str | None]) -> Act:
        """Return the act of a row. The text of an erased memo is empty: the memo has ended, its act stays.

        The constructor checks the first act of each kind, coder and so on. The thousands alike are put
        together without it, after a check of what differs between them, and share the words they have in
        common: reading takes half the time and two thirds of the memory.
        """
        text = None if self._text_at is None else texts[row[self._text_at]]
        values = (*row, None, text)
        alike = self._proven.get(self._alike(values))
        if not (
            alike
            and _ACT_ID.fullmatch(row[self._id_at])
            and (self._span_at is None or 0 <= row[self._span_at[0]] < row[self._span_at[1]])
        ):
            return self._checked(values)
        draft = _Draft()
        (
            draft.kind,
            draft.coder,
            draft.codebook,
            draft.code,
            draft.facets,
            draft.confidence,
            draft.round,
            draft.found_by,
        ) = alike
        (
            draft.act_id,
            draft.at,
            draft.unit_id,
            draft.start,
            draft.end,
            draft.applied,
            draft.target,
            draft.target_kind,
            draft.memo_id,
            draft.step,
            draft.moved_from,
            draft.answers,
            draft.text,
        ) = self._unlike(values)
        draft.__class__ = Act  # type: ignore[assignment]
        return cast(Act, draft)

    def _checked(self, values: Sequence[Any]) -> Act:
        alike, text = self._alike(values), values[-1]
        fields = {name: value for name, value in self.fields(values).items() if name in _OF_AN_ACT}
        erased = self._text_at is not None and text is None
        made = Act(**fields, text="" if erased and KINDS[str(fields["kind"])].text == "written" else text)
        if made.kind in _PLAIN:
            self._proven[alike] = alike
        return made


class _Draft:
    """An act before it is one: its slots can still be set, which the frozen class refuses slowly."""

    __slots__ = Act.__slots__
    if TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None: ...


def _sha256(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


_OF_AN_ACT: Final = frozenset(Act.__slots__)
_ALWAYS: Final = frozenset({"act_id", "kind", "coder", "at", "codebook", *BOOKKEEPING})
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    **dict.fromkeys([*Act.__slots__, *BOOKKEEPING, "text_hash", "branch", "clock"], (str,)),
    **dict.fromkeys(["seq", "start", "end"], (int,)),
    "applied": (int, bool),
}
_ANY: Final = (str, int, bool)  # of a column that a later version adds
_ALIKE: Final = ("kind", "coder", "codebook", "code", "facets", "confidence", "round", "found_by")
_UNLIKE: Final = tuple(name for name in Act.__slots__ if name not in _ALIKE)
_link: Final = tuple.__new__  # three times as fast as the constructor of a named tuple
_PLAIN: Final = frozenset(kinds_where(lambda kind: kind.subject in ("coding", "coverage")))
_ACT_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
