"""Two versions of a codebook side by side; one of them may be the draft."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sense7_qual._messages import word
from sense7_qual.codebook import Codebook
from sense7_qual.errors import CodebookError
from sense7_qual.widgets._codebook_conflict import different, shown

__all__ = ["compared"]


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
