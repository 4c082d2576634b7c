"""Versions of a codebook side by side, and what conflicts where two people changed it at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from sense7_qual._messages import word
from sense7_qual.codebook import Code, Codebook, combine
from sense7_qual.errors import CodebookError

__all__ = ["Conflict", "combined", "compared", "conflicts", "different", "shown"]

_CODE: Final = tuple(one.name for one in fields(Code) if one.name != "id")
_BOOK: Final = tuple(one.name for one in fields(Codebook) if one.name != "codes")


@dataclass(frozen=True, slots=True)
class Conflict:
    """What both sides changed, differently.

    `code` is None for the codebook's own fields, `field` is None where a whole code was added or taken away.
    """

    code: str | None
    field: str | None
    base: Any
    mine: Any
    theirs: Any

    @property
    def name(self) -> str:
        """What a choice names it by."""
        return f"{self.code or ''}\x1f{self.field or ''}"

    @property
    def both(self) -> tuple[str, ...] | None:
        """Both sides' entries of a list, without those that one took away; None where it is no list."""
        sides = (self.base, self.mine, self.theirs)
        if not all(isinstance(side, tuple) and all(isinstance(one, str) for one in side) for side in sides):
            return None
        kept = [one for one in self.base if one in self.mine and one in self.theirs]
        new = [one for side in (self.mine, self.theirs) for one in side if one not in self.base]
        return tuple(dict.fromkeys([*kept, *new]))

    @property
    def choices(self) -> tuple[str, ...]:
        """What can be chosen."""
        return ("mine", "theirs") if self.both is None else ("mine", "theirs", "both")


def conflicts(base: Codebook, mine: Codebook, theirs: Codebook) -> list[Conflict]:
    """Return what `combine` cannot decide."""
    return [
        one
        for one in _compared(base, mine, theirs)
        if one.base not in (one.mine, one.theirs) and one.mine != one.theirs
    ]


def combined(base: Codebook, mine: Codebook, theirs: Codebook, choices: Mapping[str, str]) -> Codebook:
    """Return both sides' changes, and of what conflicts the side that is chosen ("mine" or "theirs"),
    or of lists "both".
    """
    for one in conflicts(base, mine, theirs):
        chosen = choices.get(one.name)
        if chosen == "mine":
            theirs = _put(theirs, one, one.base, like=base)
        elif chosen == "theirs":
            mine = _put(mine, one, one.theirs, like=theirs)
        elif chosen == "both" and one.both is not None:
            mine, theirs = (_put(book, one, one.both, like=book) for book in (mine, theirs))
        else:
            raise CodebookError(
                f"save: expected a choice for {one.field or 'all'} of {one.code or 'the codebook'} – found "
                "none – choose mine or theirs."
            )
    return combine(base, mine, theirs)


def different(one: Codebook, other: Codebook) -> list[Conflict]:
    """Return what is different between two versions; `mine` is of the first, `theirs` of the second."""
    return [each for each in _compared(one, one, other) if each.mine != each.theirs]


def shown(value: Any) -> list[str]:
    """Return a value of a field as lines; none where there is nothing."""
    if isinstance(value, Code):
        return [value.label, *([value.definition] if value.definition else [])]
    if isinstance(value, tuple):
        return [line if isinstance(line, str) else line.label or line.name for line in value]
    return [] if value in (None, "") else [str(value)]


def _compared(base: Codebook, mine: Codebook, theirs: Codebook) -> Iterator[Conflict]:
    """Yield each field of the three, and whole codes that not all of them have."""
    for name in _BOOK:
        yield Conflict(None, name, *(getattr(book, name) for book in (base, mine, theirs)))
    for code_id in dict.fromkeys([*mine.ids, *theirs.ids, *base.ids]):
        sides = [next((code for code in book if code.id == code_id), None) for book in (base, mine, theirs)]
        if None in sides:
            yield Conflict(code_id, None, *sides)
            continue
        for name in _CODE:
            yield Conflict(code_id, name, *(getattr(code, name) for code in sides))


def _put(book: Codebook, where: Conflict, value: Any, *, like: Codebook) -> Codebook:
    """Return the codebook with the value that a conflict is about; a code comes where `like` has it."""
    if where.code is None:
        return replace(book, **{str(where.field): value})
    if where.field is not None:
        value = replace(book[where.code], **{where.field: value})
    codes = {code.id: code for code in book if code.id != where.code}
    if value is None:
        return replace(book, codes=tuple(codes.values()))
    order = list(codes)
    own = book.ids if where.code in book else like.ids
    behind = own[own.index(where.code) + 1 :]
    place = next((order.index(one) for one in behind if one in codes), len(order))
    order.insert(place, where.code)
    return replace(book, codes=tuple({**codes, where.code: value}[one] for one in order))


def compared(
    one: object, other: object, *, versions: Mapping[str, Codebook], draft: Codebook
) -> list[dict[str, Any]]:
    """Return what differs between two versions, named by their fingerprints or as "draft"."""
    books = [_version(name, versions, draft) for name in (one, other)]
    return [
        {
            "code": each.code,
            "label": _label(each.code, *books),
            "field": each.field,
            "one": shown(each.mine),
            "other": shown(each.theirs),
        }
        for each in different(*books)
    ]


def _version(name: object, versions: Mapping[str, Codebook], draft: Codebook) -> Codebook:
    if name == "draft":
        return draft
    book = versions.get(name) if isinstance(name, str) else None
    if book is None:
        raise CodebookError(f"versions: expected one of this study's – found {word(name)} – choose another.")
    return book


def _label(code: str | None, *books: Codebook) -> str:
    return next((book[code].label for book in reversed(books) if code is not None and code in book), "")
